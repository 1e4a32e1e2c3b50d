//! Wallets and orders by the admin API.

use kit::{Server, service::Service};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{ADMIN, assert_invalid, get, post, project};

/// The wallets that a search finds.
async fn found(server: &Server, wanted: &str) -> Vec<Value> {
    let query: String = url::form_urlencoded::byte_serialize(wanted.as_bytes()).collect();
    let path = format!("{}/wallets?query={query}", project(server));
    let body = get(&server.admin(), &path).await.expect(200);
    body["wallets"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_wallet_is_found_by_its_user_and_by_its_code_and_no_code_is_shown() {
    let server = Server::start().await;
    let user = "ann/? é@shop";
    server.grant(user, 100, "g1").await;
    let wallet = server.browser().post("/api/v1/wallets", &Value::Null).await;
    let code = wallet.expect(200)["code"].as_str().unwrap().to_owned();

    let [ann] = &found(&server, user).await[..] else {
        panic!("one wallet");
    };
    assert_eq!(ann["externalUserId"], user);
    assert_eq!(ann["balances"][0]["balance"], 100);
    let [coded] = &found(&server, &format!(" {} ", code.to_lowercase())).await[..] else {
        panic!("one wallet");
    };
    assert_eq!(coded["externalUserId"], Value::Null);
    assert!(!coded.to_string().contains(&code));
    let hold = json!({"externalUserId": user, "amount": 30, "idempotencyKey": "h"});
    let holds = "/api/v1/wallets/external/holds";
    let hold = server.client().post(holds, &hold).await.expect(200);
    let hold = hold["holdId"].as_str().unwrap();
    let [held] = &found(&server, hold).await[..] else {
        panic!("one wallet");
    };
    assert_eq!(held["ref"], ann["ref"]);
    for wallet in [held, coded] {
        for name in ["ref", "walletId"] {
            let again = found(&server, wallet[name].as_str().unwrap()).await;
            assert_eq!(&again[..], std::slice::from_ref(wallet), "{name}");
        }
    }
    for nothing in [
        "nobody",
        "OLIVE-0000-0000-0000",
        "wal_01m7xe18mve1d9wd5x2twzf7cm",
    ] {
        assert_eq!(
            found(&server, nothing).await,
            Vec::<Value>::new(),
            "{nothing}"
        );
    }
    let path = format!("{}/wallets?query=", project(&server));
    assert_invalid(&get(&server.admin(), &path).await, "query");
}

#[tokio::test]
async fn a_manual_grant_is_made_once_and_is_in_the_ledger() {
    let server = Server::start().await;
    let wallets = format!("{}/wallets", project(&server));
    let admin = server.admin();
    let body = json!({"externalUserId": "bea"});
    let new_wallet = post(&admin, &wallets, &body).await.expect(200);
    assert_eq!(post(&admin, &wallets, &body).await.expect(200), new_wallet);
    let wallet = format!("{wallets}/{}", new_wallet["ref"].as_str().unwrap());
    let grant = json!({
        "productId": server.product(), "amount": 50, "idempotencyKey": "support-7",
        "meta": {"reason": "an outage"},
    });
    let credit = format!("{wallet}/credit");
    let first = post(&admin, &credit, &grant).await.expect(200);
    assert_eq!(first, json!({"balance": 50, "credited": true}));
    let again = post(&admin, &credit, &grant).await;
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(again.expect(200), json!({"balance": 50, "credited": false}));
    assert_invalid(
        &post(
            &admin,
            &credit,
            &json!({"productId": server.product(), "amount": 0}),
        )
        .await,
        "amount",
    );
    // The project's own key sees the same grant.
    let own = server.grant("bea", 50, "support-7").await;
    assert_eq!(own, json!({"balance": 50, "credited": false}));

    let page = get(&admin, &format!("{wallet}/ledger?reason=manual"))
        .await
        .expect(200);
    let entries = page["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["meta"], json!({"reason": "an outage"}));
    let view = get(&admin, &wallet).await.expect(200);
    assert_eq!(view["balances"][0]["balance"], 50);
    // By the name that the API has for it as well.
    let by_id = format!("{wallets}/{}", view["walletId"].as_str().unwrap());
    assert_eq!(get(&admin, &by_id).await.expect(200), view);
    let same = get(&admin, &format!("{by_id}/ledger?reason=manual")).await;
    assert_eq!(same.expect(200), page);
    let again = post(&admin, &format!("{by_id}/credit"), &grant).await;
    assert_eq!(again.expect(200)["credited"], false);

    let export = async |query: &str, accept: &str| {
        let path = format!("{ADMIN}{wallet}/ledger?limit=1{query}");
        let request = admin.request(Method::GET, &path).header("accept", accept);
        let reply = request.send().await.unwrap();
        let kind = reply.headers()["content-type"].to_str().unwrap().to_owned();
        assert!(kind.starts_with("text/csv"), "{kind}");
        reply.text().await.unwrap()
    };
    let all = export("&format=csv", "*/*").await;
    assert_eq!(export("", "text/csv").await, all);
    let lines: Vec<_> = all.lines().collect();
    assert_eq!(lines.len(), 2, "{all}");
    assert!(lines[0].starts_with("at,id,reason,"), "{all}");
    assert!(lines[1].contains(",manual,"), "{all}");
    let none = export("&format=csv&reason=deduction", "*/*").await;
    assert_eq!(none.lines().count(), 1, "the filters count");
    let unknown = wallet.replace("/wallets/", "/wallets/x");
    let refused = get(&admin, &format!("{unknown}/ledger?format=csv")).await;
    assert_eq!(refused.code(), "wallet_not_found");
}

#[tokio::test]
async fn a_project_has_its_own_wallets_and_orders_alone() {
    let server = Server::start().await;
    server.grant("ann", 100, "g1").await;
    server.set_provider(&json!({"kind": "sandbox"})).await;
    let price = server.add_price(10).await;
    let body =
        json!({"externalUserId": "ann", "priceId": price, "customerEmail": "a@mail.example"});
    let checkout = server
        .client()
        .post("/api/v1/checkout", &body)
        .await
        .expect(200);
    let order = checkout["orderId"].as_str().unwrap();
    let name = found(&server, "ann").await[0]["ref"]
        .as_str()
        .unwrap()
        .to_owned();

    let other = post(&server.admin(), "/projects", &json!({"name": "Other"}))
        .await
        .expect(201);
    let other = format!("/projects/{}", other["id"].as_str().unwrap());
    for (path, code) in [
        (format!("{other}/wallets/{name}"), "wallet_not_found"),
        (format!("{other}/wallets/{name}/ledger"), "wallet_not_found"),
        (format!("{other}/orders/{order}"), "order_not_found"),
        (
            format!("{}/wallets/wref_1", project(&server)),
            "wallet_not_found",
        ),
        (
            format!("{}/orders/ord_1", project(&server)),
            "order_not_found",
        ),
    ] {
        let reply = get(&server.admin(), &path).await;
        assert_eq!((reply.status, reply.code()), (404, code), "{path}");
    }
    let grant = json!({"productId": server.product(), "amount": 1, "idempotencyKey": "k"});
    let reply = post(
        &server.admin(),
        &format!("{other}/wallets/{name}/credit"),
        &grant,
    )
    .await;
    assert_eq!(reply.status, 404);
    assert_eq!(server.balance("ann").await.balance, 100);
    for search in [name.as_str(), order, "ann"] {
        let hits = get(&server.admin(), &format!("{other}/wallets?query={search}")).await;
        assert_eq!(
            hits.expect(200),
            json!({"wallets": [], "nextCursor": null}),
            "{search}"
        );
    }
    let empty = get(&server.admin(), &format!("{other}/orders"))
        .await
        .expect(200);
    assert_eq!(empty, json!({"orders": [], "nextCursor": null}));
    // And the project's keys do not open the admin API.
    for client in [server.client(), server.browser()] {
        for path in ["/wallets?query=ann", "/orders"] {
            let path = format!("{}{path}", project(&server));
            assert_eq!(get(&client, &path).await.status, 401);
        }
    }
}

#[tokio::test]
async fn an_order_and_a_buyers_address_lead_to_the_wallet() {
    let service = Service::start().await;
    let admin = kit::Client::new(&service.base, kit::service::ADMIN_TOKEN);
    let path = format!("/api/admin/v1/projects/{}", service.project.id);
    let provider = admin
        .request(Method::PATCH, &path)
        .json(&json!({"provider": {"kind": "sandbox"}}));
    kit::Client::send(provider).await.unwrap().expect(200);
    let price = service.add_price(100).await;
    let buy = json!({"priceId": price, "customerEmail": "Buyer@mail.example"});
    let checkout_page = service
        .secret
        .post("/api/v1/checkout", &buy)
        .await
        .expect(200);
    let order = checkout_page["orderId"].as_str().unwrap();
    let search = |text: &str| format!("{path}/wallets?query={text}");
    // Before it is paid, the order's wallet cannot be found.
    for text in [order, "buyer@mail.example"] {
        let hits = admin.get(&search(text)).await.expect(200);
        assert_eq!(hits, json!({"wallets": [], "nextCursor": null}), "{text}");
    }
    let page = checkout_page["url"].as_str().unwrap();
    let pay = page.strip_prefix(&service.base).expect("a page of its own");
    admin
        .post(&format!("{pay}/pay"), &json!({}))
        .await
        .expect(200);
    service.advance(1).await;

    let order_view = admin
        .get(&format!("{path}/orders/{order}"))
        .await
        .expect(200);
    let to_the_project = service.secret.get(&format!("/api/v1/orders/{order}")).await;
    assert_eq!(order_view, to_the_project.expect(200));
    assert_eq!(order_view["status"], "paid");
    let orders = admin
        .get(&format!("{path}/orders?limit=1"))
        .await
        .expect(200);
    assert_eq!(orders["orders"][0], order_view);
    let checkout = checkout_page["checkoutId"].as_str().unwrap();
    for text in [
        order,
        checkout,
        "buyer@mail.example",
        order_view["code"].as_str().unwrap(),
    ] {
        let hits = admin.get(&search(text)).await.expect(200);
        let wallets = hits["wallets"].as_array().unwrap();
        assert_eq!(wallets.len(), 1, "{text}");
        assert_eq!(wallets[0]["walletId"], order_view["walletId"], "{text}");
        assert_eq!(wallets[0]["balances"][0]["balance"], 100);
    }
}

#[tokio::test]
async fn a_wallet_is_frozen_by_its_ref_or_its_id_in_its_own_project_alone() {
    let server = Server::start().await;
    server.grant("ann", 100, "g1").await;
    let ann = found(&server, "ann").await.remove(0);
    let admin = server.admin();
    let freeze = |project: &str, name: &Value| {
        format!("{project}/wallets/{}/freeze", name.as_str().unwrap())
    };
    let own = project(&server);
    for (name, frozen) in [("ref", true), ("walletId", false), ("walletId", true)] {
        let body = json!({"frozen": frozen, "reason": "a stolen card"});
        let answer = post(&admin, &freeze(&own, &ann[name]), &body).await;
        assert_eq!(answer.expect(200)["frozen"], frozen, "{name}");
    }
    assert_eq!(
        found(&server, "ann").await[0]["frozenReason"],
        "a stolen card"
    );
    let other = post(&admin, "/projects", &json!({"name": "Other"})).await;
    let other = other.expect(201);
    let other = format!("/projects/{}", other["id"].as_str().unwrap());
    for name in ["ref", "walletId"] {
        let path = freeze(&other, &ann[name]);
        let reply = post(&admin, &path, &json!({"frozen": false})).await;
        assert_eq!((reply.status, reply.code()), (404, "wallet_not_found"));
    }
    let reply = post(&admin, &freeze(&own, &ann["ref"]), &json!({})).await;
    assert_invalid(&reply, "frozen");
}

/// The path of the one wallet that a text leads to.
async fn path_of(server: &Server, text: &str) -> String {
    let wallet = found(server, text).await.remove(0);
    format!(
        "{}/wallets/{}",
        project(server),
        wallet["ref"].as_str().unwrap()
    )
}

#[tokio::test]
async fn a_code_is_replaced_also_after_a_thief_replaced_it() {
    let server = Server::start().await;
    let wallet = server.browser().post("/api/v1/wallets", &Value::Null).await;
    let code = wallet.expect(200)["code"].as_str().unwrap().to_owned();
    let wallet = path_of(&server, &code).await;
    let session = json!({"code": code});
    let session = server.client().post("/api/v1/sessions", &session).await;
    let session = server
        .instance()
        .client(session.expect(200)["token"].as_str().unwrap());
    let stolen = format!("/api/v1/wallets/{code}/rotate");
    let stolen = server.browser().post(&stolen, &Value::Null).await;
    let stolen = stolen.expect(200)["code"].as_str().unwrap().to_owned();

    let replace = format!("{wallet}/replace-code");
    let body = json!({"idempotencyKey": "r1"});
    let first = post(&server.admin(), &replace, &body).await.expect(200);
    let again = post(&server.admin(), &replace, &body).await;
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(again.expect(200), first);
    let new = first["code"].as_str().unwrap();
    let open = |code: &str| format!("/api/v1/wallets/{code}");
    server.browser().get(&open(new)).await.expect(200);
    for old in [&code, &stolen] {
        let reply = server.browser().get(&open(old)).await;
        assert_eq!((reply.status, reply.code()), (404, "wallet_not_found"));
    }
    assert_eq!(session.get("/api/v1/wallets/code").await.status, 401);
    // Without a key each call makes another code, and an old key no longer knows the present one.
    let other = post(&server.admin(), &replace, &Value::Null).await;
    assert_ne!(other.expect(200)["code"], new);
    let third = post(&server.admin(), &replace, &body).await.expect(200);
    assert_ne!(
        third["code"], new,
        "a code that was replaced never comes back"
    );
}

#[tokio::test]
async fn only_a_wallet_with_a_code_and_a_buyer_gets_one_by_mail() {
    let server = Server::start().await;
    server.grant("ann", 1, "g1").await;
    let ann = format!("{}/replace-code", path_of(&server, "ann").await);
    for body in [json!({}), json!({"mail": true})] {
        let reply = post(&server.admin(), &ann, &body).await;
        assert_eq!((reply.status, reply.code()), (409, "no_recovery_code"));
    }
    let wallet = server.browser().post("/api/v1/wallets", &Value::Null).await;
    let code = wallet.expect(200)["code"].as_str().unwrap().to_owned();
    let path = format!("{}/replace-code", path_of(&server, &code).await);
    let reply = post(&server.admin(), &path, &json!({"mail": true})).await;
    assert_eq!((reply.status, reply.code()), (409, "no_purchase"));
    server
        .browser()
        .get(&format!("/api/v1/wallets/{code}"))
        .await
        .expect(200);
}

#[tokio::test]
async fn the_first_buyer_or_whom_an_operator_names_is_mailed_the_new_code() {
    let service = Service::start().await;
    let admin = kit::Client::new(&service.base, kit::service::ADMIN_TOKEN);
    let path = format!("/api/admin/v1/projects/{}", service.project.id);
    let provider = admin
        .request(Method::PATCH, &path)
        .json(&json!({"provider": {"kind": "sandbox"}}));
    kit::Client::send(provider).await.unwrap().expect(200);
    let price = service.add_price(100).await;
    let buy = json!({"priceId": price, "customerEmail": "Buyer@mail.example"});
    let checkout = service.secret.post("/api/v1/checkout", &buy).await;
    let checkout = checkout.expect(200);
    let page = checkout["url"].as_str().unwrap();
    let pay = page.strip_prefix(&service.base).expect("a page of its own");
    admin
        .post(&format!("{pay}/pay"), &json!({}))
        .await
        .expect(200);
    service.advance(1).await;
    let order = format!("/api/v1/orders/{}", checkout["orderId"].as_str().unwrap());
    let paid = service.secret.get(&order).await.expect(200);
    let wallet = paid["walletId"].as_str().unwrap();
    let replace = format!("{path}/wallets/{wallet}/replace-code");
    let body = json!({"mail": true, "idempotencyKey": "m"});
    let answer = admin.post(&replace, &body).await.expect(200);
    let expected = json!({"code": null, "mailedTo": "Buyer@mail.example"});
    assert_eq!(answer, expected);
    let now = service.secret.get(&order).await.expect(200);
    assert_ne!(now["code"], paid["code"]);
    let named = json!({"mail": "ann@mail.example", "idempotencyKey": "n"});
    let answer = admin.post(&replace, &named).await.expect(200);
    let expected = json!({"code": null, "mailedTo": "ann@mail.example"});
    assert_eq!(answer, expected);
    let bad = admin.post(&replace, &json!({"mail": "ann"})).await;
    assert_eq!((bad.status, bad.code()), (400, "invalid_request"));
    service
        .mailer
        .shut_down(std::time::Duration::from_secs(30))
        .await;
    let files = std::fs::read_dir(service.mails.path().join("mail")).unwrap();
    let mails: Vec<_> = files
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert_eq!(mails.len(), 2);
    let of = |name: &str| mails.iter().find(|mail| mail.contains(name)).unwrap();
    assert!(of("Buyer@mail.example").contains(now["code"].as_str().unwrap()));
    assert!(!of("ann@mail.example").contains(now["code"].as_str().unwrap()));
}
