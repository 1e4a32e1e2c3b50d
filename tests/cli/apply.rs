//! `scrip apply`: a catalog as code, against a running server.

use std::{path::Path, process::Output};

use kit::Server;
use serde_json::Value;

const PROJECTS: &str = "/api/admin/v1/projects";

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/catalog.example.toml");

fn apply(server: &Server, file: &Path, more: &[&str]) -> Output {
    let words = [&["apply", file.to_str().unwrap()], more].concat();
    server.command(&words).output().expect("the binary starts")
}

fn printed(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The products of the project that the example creates.
async fn products(server: &Server) -> (String, Vec<Value>) {
    let projects = server.admin().get(PROJECTS).await.expect(200);
    let shop = projects["projects"]
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p["name"] == "Shop");
    let id = shop.expect("the project")["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let body = server
        .admin()
        .get(&format!("{PROJECTS}/{id}/products"))
        .await;
    let body = body.expect(200);
    (id, body["products"].as_array().unwrap().clone())
}

#[tokio::test]
async fn the_example_is_created_once() {
    let server = Server::start().await;
    let output = printed(&apply(&server, EXAMPLE.as_ref(), &["--dry-run"]));
    assert!(output.contains("none made"), "{output}");
    let projects = server.admin().get(PROJECTS).await.expect(200);
    assert_eq!(projects["projects"].as_array().unwrap().len(), 1);

    let output = printed(&apply(&server, EXAMPLE.as_ref(), &[]));
    let secret = output
        .lines()
        .find_map(|line| line.split_once("shown only now: "));
    let (_, secret) = secret.expect("the secret key is printed");
    let me = server
        .instance()
        .client(secret)
        .get("/api/v1/me")
        .await
        .expect(200);
    assert_eq!(me["project"], "Shop");
    let (_, made) = products(&server).await;
    assert_eq!(made.len(), 3);
    assert_eq!(made[0]["prices"].as_array().unwrap().len(), 2);
    assert_eq!(made[1]["prices"][0]["creditsProductId"], made[0]["id"]);

    let output = printed(&apply(&server, EXAMPLE.as_ref(), &[]));
    assert_eq!(output.trim(), "nothing to change");
    assert_eq!(products(&server).await.1, made);
}

#[tokio::test]
async fn only_differences_are_made_and_nothing_is_switched_off_silently() {
    let server = Server::start().await;
    printed(&apply(&server, EXAMPLE.as_ref(), &[]));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("catalog.toml");
    let text = std::fs::read_to_string(EXAMPLE).unwrap();
    std::fs::write(
        &file,
        text.replace("amountCents = 500", "amountCents = 600"),
    )
    .unwrap();
    let output = printed(&apply(&server, &file, &["--project", "Shop"]));
    assert!(
        output.contains("+ price \"100 images\" 6.00 EUR"),
        "{output}"
    );
    assert!(output.contains("left as it is: price 5.00 EUR"), "{output}");
    let (_, after) = products(&server).await;
    let prices = after[0]["prices"].as_array().unwrap();
    assert_eq!(prices.len(), 3);
    assert!(prices.iter().all(|price| price["active"] == true));
}

#[tokio::test]
async fn a_project_gets_the_sandbox_from_the_file() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("catalog.toml");
    let text = std::fs::read_to_string(EXAMPLE).unwrap();
    std::fs::write(&file, text.replace("# provider = ", "provider = ")).unwrap();
    printed(&apply(&server, &file, &[]));
    let projects = server.admin().get(PROJECTS).await.expect(200);
    assert_eq!(projects["projects"][1]["provider"]["kind"], "sandbox");
    let output = printed(&apply(&server, &file, &[]));
    assert_eq!(output.trim(), "nothing to change");
}

#[tokio::test]
async fn what_was_typed_in_by_hand_gives_way_to_the_file() {
    let server = Server::start().await;
    printed(&apply(&server, EXAMPLE.as_ref(), &[]));
    let (project, made) = products(&server).await;
    let path = format!(
        "{PROJECTS}/{project}/products/{}",
        made[0]["id"].as_str().unwrap()
    );
    let change = serde_json::json!({"description": "By hand", "freeGrant": null});
    server.admin().patch(&path, &change).await.expect(200);
    let output = printed(&apply(&server, EXAMPLE.as_ref(), &[]));
    assert!(output.contains("~ product \"Images\""), "{output}");
    assert_eq!(products(&server).await.1, made);
}

#[tokio::test]
async fn a_refusal_of_the_server_is_one_sentence() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("catalog.toml");
    let text = std::fs::read_to_string(EXAMPLE).unwrap();
    std::fs::write(
        &file,
        text.replace("currency = \"EUR\"", "currency = \"eur\""),
    )
    .unwrap();
    let output = apply(&server, &file, &[]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        errors.contains("the server refused (400 invalid_request): currency:"),
        "{errors}"
    );

    let output = apply(
        &server,
        EXAMPLE.as_ref(),
        &["--admin-token", "not-the-token"],
    );
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        errors.contains("does not know this administrator token"),
        "{errors}"
    );
}

#[tokio::test]
async fn a_changed_rate_card_is_shown_price_by_price() {
    let server = Server::start().await;
    printed(&apply(&server, EXAMPLE.as_ref(), &[]));
    let (project, products) = products(&server).await;
    let path = format!("{PROJECTS}/{project}/rate-cards");
    let made = server.admin().get(&path).await.expect(200);
    let card = &made["rateCards"][0];
    assert_eq!(card["productId"], products[0]["id"]);
    assert_eq!(card["rates"].as_array().unwrap().len(), 4);
    assert_eq!(card["rates"][2]["above"][0]["from"], 100_000);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("catalog.toml");
    let text = std::fs::read_to_string(EXAMPLE).unwrap();
    let text = text
        .replace(r#"image = "2.5""#, r#"image = "2.50""#)
        .replace(r#"output = "3200""#, r#"output = "2800.5""#)
        .replace(r#"{ input = "600" }"#, r#"{ output = "5000" }"#)
        .replace(r#"{ image = "1" }"#, r#"{ image = "1", per = "7" }"#)
        .replace(r#"kind = "preview""#, r#"kind = "thumbnail""#);
    std::fs::write(&file, &text).unwrap();
    let dry_run = printed(&apply(&server, &file, &["--dry-run"]));
    let lines = [
        r#"~ rate card "images""#,
        "    ~ kind image: per none -> 7",
        "    - kind preview",
        "    + kind thumbnail: free true, per 1",
        "    ~ model gpt-image-*: input above 100000 input 600 -> none, output 3200 -> 2800.5, \
         output above 100000 input none -> 5000",
        "1 changes, none made: this was a dry run",
    ];
    assert_eq!(dry_run.lines().collect::<Vec<_>>(), lines);
    assert_eq!(server.admin().get(&path).await.expect(200), made);

    let again = [
        "    { match = { kind = \"thumbnail\" }, free = true },\n]",
        "]",
    ];
    std::fs::write(&file, text.replace(again[0], again[1])).unwrap();
    printed(&apply(&server, &file, &[]));
    let changed = server.admin().get(&path).await.expect(200);
    assert_eq!(changed["rateCards"][0]["version"], 2);
    let output = printed(&apply(&server, &file, &[]));
    assert_eq!(output.trim(), "nothing to change");

    // A card that the file does not have is kept.
    let (products, _) = text.split_once("[[rateCards]]").unwrap();
    std::fs::write(&file, products).unwrap();
    let output = printed(&apply(&server, &file, &[]));
    assert!(
        output.contains(r#"left as it is: rate card "images""#),
        "{output}"
    );
    assert_eq!(server.admin().get(&path).await.expect(200), changed);
}

#[tokio::test]
async fn a_rate_card_may_begin_later() {
    let server = Server::start().await;
    printed(&apply(&server, EXAMPLE.as_ref(), &[]));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("catalog.toml");
    let text = std::fs::read_to_string(EXAMPLE).unwrap();
    let later = text.replace(
        "slug = \"images\"",
        "slug = \"images\"\neffectiveFrom = 2099-01-01T00:00:00Z",
    );
    std::fs::write(&file, later.replace(r#"image = "1""#, r#"image = "3""#)).unwrap();
    let output = printed(&apply(&server, &file, &[]));
    assert!(output.contains("~ kind image: image 1 -> 3"), "{output}");
    let output = printed(&apply(&server, &file, &[]));
    assert_eq!(output.trim(), "nothing to change");
    let output = printed(&apply(&server, EXAMPLE.as_ref(), &[]));
    assert_eq!(output.trim(), "nothing to change");
}

#[tokio::test]
async fn what_is_pulled_is_what_was_applied() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("catalog.toml");
    let text = std::fs::read_to_string(EXAMPLE).unwrap();
    let text = text
        .replace("# provider = ", "provider = ")
        .replace(
            "interval = \"one_time\"\n",
            "interval = \"one_time\"\nactive = false\n",
        )
        .replace("\"One credit, one image.\"", r#""\"One\" \\ #credit""#);
    std::fs::write(&file, text).unwrap();
    printed(&apply(&server, &file, &[]));
    let pull = |project: &str| {
        let output = server.command(&["pull", "--project", project]).output();
        printed(&output.expect("the binary starts"))
    };
    let pulled = pull("Shop");
    assert!(pulled.contains(r#"creditsProduct = "Images""#), "{pulled}");
    std::fs::write(&file, &pulled).unwrap();
    let output = printed(&apply(&server, &file, &[]));
    assert_eq!(output.trim(), "nothing to change", "{pulled}");

    // Another project of it is the same.
    let copy = pulled.replace("name = \"Shop\"", "name = \"Copy\"");
    std::fs::write(&file, &copy).unwrap();
    printed(&apply(&server, &file, &[]));
    assert_eq!(pull("Copy"), copy);
}
