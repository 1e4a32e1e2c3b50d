//! Rate cards as an administrator writes them: versions, and what no card may say.

use kit::{Client, Reply, Server};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{ADMIN, assert_invalid, get, project};

async fn put(server: &Server, slug: &str, body: &Value) -> Reply {
    let path = format!("{ADMIN}{}/rate-cards/{slug}", project(server));
    let request = server.admin().request(Method::PUT, &path).json(body);
    Client::send(request).await.unwrap()
}

fn card(server: &Server, rates: Value) -> Value {
    json!({"productId": server.product(), "rates": rates})
}

fn priced(price: &str) -> Value {
    json!([{"match": {"model": "m"}, "unitPrices": {"input": price}, "per": 1000}])
}

#[tokio::test]
async fn a_change_is_the_next_version_and_former_ones_are_kept() {
    let mut server = Server::start().await;
    let first = put(&server, "chat", &card(&server, priced("3")))
        .await
        .expect(200);
    assert_eq!(
        (&first["slug"], &first["version"]),
        (&json!("chat"), &json!(1))
    );
    let again = put(&server, "chat", &card(&server, priced("3")))
        .await
        .expect(200);
    assert_eq!(again, first, "nothing changed");
    let second = put(&server, "chat", &card(&server, priced("4")))
        .await
        .expect(200);
    assert_eq!(second["version"], 2);
    server.crash().await;
    server.start_again().await;
    let (admin, base) = (server.admin(), format!("{}/rate-cards", project(&server)));
    assert_eq!(
        get(&admin, &base).await.expect(200),
        json!({"rateCards": [second]})
    );
    assert_eq!(
        get(&admin, &format!("{base}/chat")).await.expect(200),
        second
    );
    let version = |number: u32| format!("{base}/chat?version={number}");
    assert_eq!(get(&admin, &version(1)).await.expect(200), first);
    assert_eq!(get(&admin, &version(3)).await.code(), "rate_card_not_found");

    let path = format!("{ADMIN}{base}/chat");
    let close = || admin.request(Method::DELETE, &path);
    assert_eq!(Client::send(close()).await.unwrap().status, 204);
    assert_eq!(
        Client::send(close()).await.unwrap().code(),
        "rate_card_not_found"
    );
    assert_eq!(
        get(&admin, &format!("{base}/chat")).await.code(),
        "rate_card_not_found"
    );
    assert_eq!(
        get(&admin, &version(1)).await.expect(200),
        first,
        "kept for good"
    );
    let opened = put(&server, "chat", &card(&server, priced("4")))
        .await
        .expect(200);
    assert_eq!(opened["version"], 3);
}

#[tokio::test]
async fn what_no_card_may_say_is_named() {
    let server = Server::start().await;
    for price in [
        "1e3",
        "1,5",
        "NaN",
        "-0",
        "-1",
        "+1",
        "",
        ".5",
        "0.0000000001",
        &"1".repeat(30),
    ] {
        let refused = put(&server, "chat", &card(&server, priced(price))).await;
        assert_invalid(&refused, "rates[0].unitPrices.input");
    }
    let rate = |extra: Value| {
        let mut rate = json!({"match": {}, "unitPrices": {"input": "1"}});
        for (name, value) in extra.as_object().unwrap() {
            rate[name] = value.clone();
        }
        json!([rate])
    };
    for (rates, param) in [
        (rate(json!({"per": 3})), "rates[0].per"),
        (
            rate(json!({"unitPrices": {"input": "0"}})),
            "rates[0].unitPrices",
        ),
        (rate(json!({"free": true})), "rates[0].unitPrices"),
        (
            rate(json!({"free": true, "unitPrices": {}, "minimum": "1"})),
            "rates[0].minimum",
        ),
        (
            rate(json!({"match": {"model": "a*b"}})),
            "rates[0].match.model",
        ),
        (rate(json!({"minumum": "1"})), "rates[0].minumum"),
        (json!([]), "rates"),
        (
            json!([{"match": {"a": "x"}, "unitPrices": {"i": "1"}}, {"match": {"b": "y"}, "unitPrices": {"i": "1"}}]),
            "rates[1].match",
        ),
    ] {
        assert_invalid(&put(&server, "chat", &card(&server, rates)).await, param);
    }
    let past = json!({"productId": server.product(), "rates": priced("1"), "effectiveFrom": "2020-01-01T00:00:00Z"});
    assert_invalid(&put(&server, "chat", &past).await, "effectiveFrom");
    assert_invalid(
        &put(&server, "Chat", &card(&server, priced("1"))).await,
        "slug",
    );
    let many: Vec<_> = (0..1001)
        .map(|number| json!({"match": {"model": format!("m{number}")}, "unitPrices": {"input": "1"}}))
        .collect();
    let most = card(&server, json!(many[..1000]));
    assert_eq!(put(&server, "many", &most).await.expect(200)["version"], 1);
    assert_invalid(
        &put(&server, "many", &card(&server, json!(many))).await,
        "rates",
    );
    let unknown = json!({"productId": "prod_none", "rates": priced("1")});
    assert_eq!(
        put(&server, "chat", &unknown).await.code(),
        "product_not_found"
    );
}
