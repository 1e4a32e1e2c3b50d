//! A person of each role, with a session in the dashboard.

use kit::{Client, browser::Browser, launch::ADMIN_TOKEN};
use scrip::identity::TotpSecret;
use serde_json::{Value, json};

use crate::{
    secrets::{Secret, SecretKind},
    visitors::{Holder, Visitor},
};

const PASSWORD: &str = "a password that no one reads";

/// Invites a person, accepts the invitation and signs in; returns their id, visit and secrets.
pub(crate) async fn person(
    (admin, base): (&Client, &str),
    (name, role, projects): (&str, &str, Option<&str>),
    holder: Holder,
) -> (String, Visitor, Vec<Secret>) {
    let email = format!("{name}@people.example");
    let projects: Value = projects.map_or(Value::Null, |id| json!([id]));
    let new = json!({"name": name, "email": email, "role": role, "projects": projects});
    let created = admin.post("/api/admin/v1/users", &new).await.expect(201);
    let link = created["invitationUrl"].as_str().unwrap();
    let invitation = link.split_once('#').unwrap().1;
    let mut browser = Browser::new(base);
    let path = "/dashboard/invitation";
    let chosen = [("secret", invitation), ("password", PASSWORD)];
    let page = browser.post_as_it_is(path, &chosen, &[]).await;
    let ticket = page.value("ticket").unwrap().to_owned();
    let totp = TotpSecret::read(page.between("secret=", "&")).unwrap();
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let now = domain::Timestamp(i64::try_from(now.as_millis()).unwrap());
    let code = totp.code_at(now);
    let page = browser
        .post_as_it_is(path, &[("ticket", &ticket), ("code", &code)], &[])
        .await;
    assert_eq!(page.status, 200, "{}", page.html);
    browser.take_cookie(&page);
    let cookie = browser.cookie.clone().unwrap();
    let recovery = page.between("<li><code>", "</code>").to_owned();
    let session = cookie.split_once('=').unwrap().1;
    let once = |what: &str, text: &str| {
        Secret::new(
            SecretKind::ShownOnce,
            &format!("{what} of {name}"),
            text,
            None,
        )
    };
    let secrets = vec![
        once("the invitation", invitation).of_buyer(&email),
        once("the password", PASSWORD),
        once("the second factor", &totp.text()),
        once("a recovery code", &recovery),
        once("the session", session),
    ];
    let id = created["id"].as_str().unwrap().to_owned();
    (id, Visitor::with_cookie(name, holder, &cookie), secrets)
}

/// A browser of the holder of the administrator's token.
pub(crate) async fn administrator(base: &str) -> Visitor {
    let mut browser = Browser::new(base);
    let page = browser.sign_in(&[("token", ADMIN_TOKEN)]).await;
    assert_eq!(page.status, 303, "{}", page.html);
    let cookie = browser.cookie.unwrap();
    Visitor::with_cookie(
        "the administrator's browser",
        Holder::Administrator,
        &cookie,
    )
}
