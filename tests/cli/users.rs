//! `scrip users`: who works with the dashboard, from the terminal.

use kit::{Server, client::unled_http};

use crate::{errors, failure_of, run, stdout_of};

/// The link of an invitation.
fn link(printed: &str) -> String {
    let mut words = printed.split_whitespace();
    let link = words.find(|word| word.contains("/dashboard/invitation#"));
    link.expect("a link").to_owned()
}

#[tokio::test]
async fn people_are_invited_changed_and_removed_by_their_address() {
    let server = Server::start().await;
    assert_eq!(stdout_of(&server, &["users", "list"]), "no users\n");
    let invite = [
        "users",
        "invite",
        "--name",
        "Ann",
        "--email",
        "Ann@Example.com",
        "--role",
        "support",
    ];
    let limited = [&invite[..], &["--grant-limit-per-day", "100"]].concat();
    let link = link(&stdout_of(&server, &limited));
    let listed = stdout_of(&server, &["users", "list"]);
    for shown in ["usr_", "Ann", "ann@example.com", "support", "invited"] {
        assert!(listed.contains(shown), "{shown}: {listed}");
    }
    let output = failure_of(&server, &invite);
    assert!(
        output.contains("Another user has this e-mail address"),
        "{output}"
    );
    let again = ["users", "invite-again", "--user-id", "ann@example.com"];
    let again = self::link(&stdout_of(&server, &again));
    assert_ne!(again, link, "another link");

    let change = [
        "users",
        "update",
        "--user-id",
        "ANN@example.com",
        "--role",
        "viewer",
        "--disabled",
        "true",
        "--json",
    ];
    let changed: serde_json::Value = serde_json::from_str(&stdout_of(&server, &change)).unwrap();
    assert_eq!(
        (&changed["role"], &changed["status"]),
        (&"viewer".into(), &"disabled".into())
    );
    assert_eq!(changed["grantLimitPerDay"], 100, "what was not named stays");
    let id = changed["id"].as_str().unwrap();
    let wrong = run(&["users", "update", "--user-id", id, "--role", "king"]);
    assert!(
        errors(&wrong).contains("possible values: owner"),
        "{wrong:?}"
    );
    let nobody = ["users", "remove", "--user-id", "bob@example.com"];
    let nobody = failure_of(&server, &nobody);
    assert!(nobody.contains("none of the users is called"), "{nobody}");
    let json = stdout_of(&server, &["users", "list", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["users"][0]["id"], *id);
    let removed = stdout_of(&server, &["users", "remove", "--user-id", id]);
    assert_eq!(removed, "Removed.\n");
    assert!(stdout_of(&server, &["users", "list"]).contains("no users"));
    let gone = failure_of(&server, &["users", "invite-again", "--user-id", id]);
    assert!(gone.contains("No such user"), "{gone}");
}

#[tokio::test]
async fn a_session_is_listed_and_ended() {
    let server = Server::start().await;
    assert!(stdout_of(&server, &["users", "sessions"]).contains("no sessions"));
    let http = unled_http();
    let url = |path: &str| server.url(path);
    let form = format!("token={}", server.admin().key().replace(' ', "+"));
    let signing_in = http.post(url("/dashboard/sign-in")).body(form);
    let kind = "application/x-www-form-urlencoded";
    let signed = signing_in
        .header("content-type", kind)
        .send()
        .await
        .unwrap();
    assert_eq!(signed.status(), 303);
    let cookie = signed.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let status = async || {
        let request = http.get(url("/dashboard")).header("cookie", &cookie);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status().await, 200);
    let listed = stdout_of(&server, &["users", "sessions"]);
    let session = listed
        .split_whitespace()
        .find(|word| word.starts_with("ses_"));
    let end = ["users", "end-session", "--session-id", session.unwrap()];
    assert_eq!(stdout_of(&server, &end), "Ended.\n");
    assert_eq!(status().await, 303, "out at once");
    assert!(stdout_of(&server, &["users", "sessions"]).contains("no sessions"));
}
