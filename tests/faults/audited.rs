//! A crash between a change by an operator and what the audit log says of it: the change is there as a whole or can be
//! finished, and the log says that it was done only where it was.

use kit::{Client, Server, browser::Browser, launch::ADMIN_TOKEN};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{crash_point, purchases::StripeServer};

/// Before the result of a change is written.
const BEFORE_THE_RESULT: &str = "audit.end";
const LATER: &str = ": done, which was not known at first";

/// What the audit log says, newest first: in which state, and in which words.
async fn audited(server: &Server, query: &str) -> Vec<(String, String)> {
    let path = format!("/api/admin/v1/audit?query={query}");
    let log = server.admin().get(&path).await.expect(200);
    let entries = log["entries"].as_array().unwrap().iter();
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    entries
        .map(|entry| (text(entry, "status"), text(entry, "description")))
        .collect()
}

/// Asks the admin API for a change within which the server dies, and starts the server again.
async fn dies(server: &mut Server, place: &str, path: &str, body: &Value) {
    crash_point::start(server, place).await;
    let request = server.admin().request(Method::POST, path).json(body);
    assert!(Client::send(request).await.is_err(), "{place}: it dies");
    crash_point::survive(server).await;
}

/// The only entry about something, which is of unknown outcome.
async fn is_unknown(server: &Server, query: &str, words: &str) {
    let log = audited(server, query).await;
    let [(state, what)] = &log[..] else {
        panic!("one entry: {log:?}");
    };
    assert_eq!(state, "unknown", "{what}");
    assert!(what.starts_with(words), "{what}");
}

/// All entries about something are of known outcome by now; the first one was not at first.
async fn is_known(server: &Server, query: &str, entries: usize) {
    let log = audited(server, query).await;
    assert_eq!(log.len(), entries, "{log:?}");
    assert!(log.iter().all(|(state, _)| state == "done"), "{log:?}");
    let (_, first) = log.last().unwrap();
    assert!(first.ends_with(LATER), "{log:?}");
}

/// The owner's browser. A session is of one address, and each start has another.
async fn signed_in(server: &Server) -> Browser {
    let mut owner = Browser::new(&server.url(""));
    let page = owner.sign_in(&[("token", ADMIN_TOKEN)]).await;
    assert_eq!(page.status, 303, "{}", page.html);
    owner
}

/// The one wallet that a text leads to, and its path in the admin API.
async fn wallet(server: &Server, text: &str) -> (Value, String) {
    let wallets = format!("{}/wallets", server.project_path());
    let hits = server.admin().get(&format!("{wallets}?query={text}")).await;
    let wallet = hits.expect(200)["wallets"][0].clone();
    let path = format!("{wallets}/{}", wallet["ref"].as_str().expect("a wallet"));
    (wallet, path)
}

#[tokio::test]
async fn a_frozen_wallet_tells_that_it_was_frozen() {
    let mut server = Server::launch(kit::Launch::default()).await;
    server.grant("ann", 5, "g").await;
    let (ann, path) = wallet(&server, "ann").await;
    let (path, id) = (format!("{path}/freeze"), ann["walletId"].as_str().unwrap());
    for (frozen, words) in [(true, "Freeze"), (false, "Unfreeze")] {
        let body = json!({"frozen": frozen, "reason": frozen.then_some("a dispute")});
        dies(&mut server, BEFORE_THE_RESULT, &path, &body).await;
        let query = format!("{words}%20{id}");
        is_known(&server, &query, 1).await;
        let (ann, _) = wallet(&server, "ann").await;
        assert_eq!(ann["frozen"] == true, frozen, "{ann}");
    }
    crash_point::close(server).await;
}

#[tokio::test]
async fn a_repeat_under_one_key_answers_the_outcome_of_the_first_try() {
    let mut server = Server::launch(kit::Launch::default()).await;
    let new_wallet = server.browser().post("/api/v1/wallets", &json!({})).await;
    let code = new_wallet.expect(200)["code"].as_str().unwrap().to_owned();
    let (found, path) = wallet(&server, &code).await;
    let id = found["walletId"].as_str().unwrap();
    let body =
        json!({"amount": 7, "idempotencyKey": "given", "productId": server.project().product});
    let credit = format!("{path}/credit");
    dies(&mut server, BEFORE_THE_RESULT, &credit, &body).await;
    is_unknown(&server, "Grant", "Grant 7 of").await;
    let again = server.admin().post(&credit, &body).await.expect(200);
    assert_eq!(again["credited"], false);
    is_known(&server, "Grant", 1).await;
    let body = json!({"idempotencyKey": "replaced"});
    let replace = format!("{path}/replace-code");
    dies(&mut server, BEFORE_THE_RESULT, &replace, &body).await;
    is_unknown(
        &server,
        "Replace",
        &format!("Replace the recovery code of {id}"),
    )
    .await;
    let reply = server
        .client()
        .get(&format!("/api/v1/wallets/{code}"))
        .await;
    assert_eq!(reply.status, 404, "the former code");
    let again = server.admin().post(&replace, &body).await.expect(200);
    is_known(&server, "recovery%20code%20of", 2).await;
    let code = again["code"].as_str().unwrap();
    let wallet = server
        .client()
        .get(&format!("/api/v1/wallets/{code}"))
        .await;
    assert_eq!(wallet.expect(200)["balances"][0]["balance"], 7);
    crash_point::close(server).await;
}

#[tokio::test]
async fn what_an_erasure_left_is_erased_by_the_next() {
    for place in ["erase.payments", "erase.orders", BEFORE_THE_RESULT] {
        let mut shop = StripeServer::open().await;
        shop.sell().await;
        let (_, path) = wallet(&shop.server, "ann").await;
        let path = format!("{path}/erase");
        assert!(shop.orders().await[0]["customerEmail"].is_string());
        dies(&mut shop.server, place, &path, &json!({})).await;
        is_unknown(&shop.server, "Erase", "Erase the customer of").await;
        let again = shop
            .server
            .admin()
            .post(&path, &json!({}))
            .await
            .expect(200);
        let had = usize::from(place == "erase.payments");
        assert_eq!(again["orders"], had, "{place}");
        assert!(shop.orders().await[0]["customerEmail"].is_null(), "{place}");
        is_known(&shop.server, "Erase", 1 + had).await;
        crash_point::close(shop.server).await;
    }
}

#[tokio::test]
async fn a_subscription_tells_whether_an_operator_canceled_or_resumed_it() {
    for place in [
        "subscription.before",
        "subscription.after",
        "subscription.noted",
        BEFORE_THE_RESULT,
    ] {
        let mut shop = StripeServer::open().await;
        shop.subscribe().await;
        let owner = signed_in(&shop.server).await;
        let base = format!("/dashboard/projects/{}", shop.server.project().id);
        let wallet = owner.search(&base, "ann").await.location().to_owned();
        let path = format!("{wallet}/subscription");
        for (action, words) in [("end", "Cancel"), ("resume", "Resume")] {
            let page = signed_in(&shop.server).await.get(&wallet).await;
            let subscription = page.value("subscriptionId").expect("a form").to_owned();
            let form = [
                ("action", action),
                ("subscriptionId", &subscription),
                ("idempotencyKey", action),
                ("confirmed", "on"),
            ];
            crash_point::start(&mut shop.server, place).await;
            let died = signed_in(&shop.server).await.try_post(&path, &form).await;
            assert!(died.is_err(), "{place}: it dies");
            crash_point::survive(&mut shop.server).await;
            let query = format!("{words}%20the%20subscription");
            if place == "subscription.before" {
                is_unknown(&shop.server, &query, words).await;
            }
            let page = signed_in(&shop.server).await.post(&path, &form).await;
            assert_eq!(page.status, 303, "{place}, {action}: {}", page.html);
            let log = audited(&shop.server, "the%20subscription%20of").await;
            assert!(
                log.iter().all(|(state, _)| state == "done"),
                "{place}: {log:?}"
            );
            let of_this = log.iter().filter(|(_, what)| what.starts_with(words));
            let of_this: Vec<_> = of_this.collect();
            assert!(
                of_this.iter().any(|(_, what)| what.ends_with(LATER)),
                "{place}: {log:?}"
            );
        }
        crash_point::close(shop.server).await;
    }
}
