//! API keys, idempotency keys, and refusals.

use reqwest::Method;

use super::*;
use stripe::Error;

#[tokio::test]
async fn only_the_projects_own_key_opens_it() {
    let stage = Stage::new().await;
    let client = |project: ProjectId, key: String| {
        let api = Api::new(stage.base(project).parse().unwrap()).unwrap();
        api.client(SecretKey::new(&key).unwrap())
    };
    for (project, key, status) in [
        (PROJECT, "sk_test_wrong".into(), 401),
        (PROJECT, format!("sk_test_{OTHER}"), 401),
        (FOREIGN, format!("sk_test_{FOREIGN}"), 404),
        (PROJECT, format!("sk_test_{PROJECT}"), 0),
        (OTHER, format!("sk_test_{OTHER}"), 0),
    ] {
        match client(project, key).find_price(&new_price(1, 1000)).await {
            Ok(found) => assert_eq!((status, found), (0, None)),
            Err(Error::Refused(refusal)) => assert_eq!(refusal.status, status),
            Err(error) => panic!("{error}"),
        }
    }
    let url = format!("{}/v1/prices", stage.base(PROJECT));
    let basic = stage
        .http
        .get(&url)
        .basic_auth(format!("sk_test_{PROJECT}"), Some(""));
    assert_eq!(basic.send().await.unwrap().status(), 200);
    assert_eq!(stage.http.get(&url).send().await.unwrap().status(), 401);
    let nowhere = format!("{}/sandbox/proj_x/v1/prices", stage.host.public_url());
    assert_eq!(stage.http.get(nowhere).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn an_operation_is_done_once_for_its_key() {
    let stage = Stage::new().await;
    let client = stage.client();
    let key = Operation::new("checkout/1").unwrap();
    let session = new_session(&credits(), &Promotion::None);
    let path = ["checkout", "sessions"];
    let first: Session = client.post(&path, &session, &key).await.unwrap();
    let again: Session = client.post(&path, &session, &key).await.unwrap();
    assert_eq!(again, first);
    let session = new_session(&credits(), &Promotion::BuyerMayEnter);
    let other = client.post::<Session>(&path, &session, &key).await;
    let Err(Error::Refused(refusal)) = other else {
        panic!("taken");
    };
    assert_eq!((refusal.status, &*refusal.kind), (400, "idempotency_error"));
    for replayed in [None, Some("true")] {
        let request = stage
            .ask(Method::POST, "customers")
            .header("idempotency-key", "k");
        let answer = request.send().await.unwrap();
        let header = answer.headers().get("idempotent-replayed");
        assert_eq!(header.map(|value| value.to_str().unwrap()), replayed);
        assert!(
            answer.headers()["request-id"]
                .to_str()
                .unwrap()
                .starts_with("req_")
        );
    }
}

#[tokio::test]
async fn what_is_unknown_is_named() {
    let stage = Stage::new().await;
    let (status, body) = stage
        .send("customers", "email=a@b.example&colour=red")
        .await;
    assert_eq!(status, 400);
    assert_eq!(body["error"]["code"], "parameter_unknown");
    assert_eq!(body["error"]["param"], "colour");
    assert_eq!(body["error"]["type"], "invalid_request_error");
    for path in [
        "customers/cus_none",
        "nonsense",
        "checkout/sessions/cs_none/nonsense",
    ] {
        let answer = stage.ask(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{path}");
    }
    let json = stage
        .ask(Method::POST, "customers")
        .header("content-type", "application/json");
    assert_eq!(json.body("{}").send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn a_save_that_fails_was_no_change() {
    let mut stage = Stage::new().await;
    let session = stage.session(credits(), Promotion::None).await;
    let url = session.url.unwrap();
    *stage.note_store.is_broken.lock() = true;
    assert_eq!(stage.act(&url, "pay", "").await.0, 503);
    *stage.note_store.is_broken.lock() = false;
    let view = stage
        .get(&format!("checkout/sessions/{}", session.id))
        .await;
    assert_eq!(view["status"], "open");
    stage.silent();
    assert_eq!(stage.act(&url, "pay", "").await.0, 200);
}

#[tokio::test]
async fn the_largest_checkout_fits_into_one_save() {
    let stage = Stage::new().await;
    let price = stage.price(1, 1900).await;
    let value = "v".repeat(490);
    let metadata = |prefix: &str| {
        ["a", "b", "c"]
            .map(|key| format!("&{prefix}[{key}]={value}"))
            .concat()
    };
    let url = format!("https://shop.example/{}", "u".repeat(2000));
    let form = format!(
        "mode=subscription&line_items[0][price]={}&line_items[0][quantity]=1&success_url={url}\
         &cancel_url={url}{}{}",
        price.id,
        metadata("metadata"),
        metadata("subscription_data[metadata]"),
    );
    let (status, session) = stage.send("checkout/sessions", &form).await;
    assert_eq!(status, 200, "{session}");
    let (status, answer) = stage.act(session["url"].as_str().unwrap(), "pay", "").await;
    assert_eq!(status, 200, "{answer}");
}
