//! `scrip wallet`: what an operator does to one wallet.

use kit::Server;
use serde_json::{Value, json};

use crate::{complains, says};

fn wallet(server: &Server, words: &[&str]) -> Value {
    let said = says(server, &[&["wallet"], words].concat());
    serde_json::from_str(&said).expect("JSON")
}

#[tokio::test]
async fn a_wallet_is_frozen_and_thawed_by_whatever_leads_to_it() {
    let server = Server::start().await;
    server.grant("ann", 100, "g1").await;
    let done = wallet(&server, &["freeze", "ann", "--reason", "a stolen card"]);
    assert_eq!(done["frozenReason"], "a stolen card");
    let take = json!({"externalUserId": "ann", "amount": 1, "idempotencyKey": "d"});
    let deduct = "/api/v1/wallets/external/deduct";
    let reply = server.client().post(deduct, &take).await;
    assert_eq!((reply.status, reply.code()), (403, "wallet_frozen"));
    let id = done["walletId"].as_str().unwrap();
    assert_eq!(wallet(&server, &["thaw", id])["frozen"], false);
    server.client().post(deduct, &take).await.expect(200);
    let nobody = complains(&server, &["wallet", "thaw", "bea"]);
    assert!(nobody.contains("no such wallet"), "{nobody}");
}
