//! The Rust client with services of other versions, as `clients/kit/other-version.mjs` answers; `scripts/test-clients`
//! runs the other clients.

use std::process::{Command, Stdio};

use kit::{Server, process::Process};
use scrip_wallet::{
    Credit, Deduct, Draw, LedgerFilter, PlaceHold, Scrip, Settle, UsageQuery, Wallet,
};

async fn other_version(kind: &str, server: &Server) -> (Process, String) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/clients/kit/other-version.mjs");
    let mut node = Command::new("node");
    node.args([script, kind, server.instance().base()]);
    node.stdin(Stdio::null());
    let mut process = Process::start(node, false);
    let base = process
        .wait_for_line("its address", |line| {
            line.starts_with("http").then(|| line.to_owned())
        })
        .await;
    (process, base)
}

#[tokio::test]
async fn it_works_with_services_of_yesterday_and_of_tomorrow() {
    let server = Server::start().await;
    for kind in ["yesterday", "tomorrow"] {
        let (_proxy, base) = other_version(kind, &server).await;
        let scrip = Scrip::new(base, server.secret()).unwrap();
        let user = Wallet::external(format!("user of {kind}"));
        assert_eq!(scrip.me().await.unwrap().key_kind, "secret");
        let products = scrip.products().await.unwrap();
        assert!(products.iter().any(|it| it.id == server.product()));
        let credit = Credit::new(server.product(), 100).key("a");
        assert_eq!(scrip.credit(&user, credit).await.unwrap().balance, 100);
        for _ in ["once", "again"] {
            let deduction = Deduct::new(10).key("b");
            assert_eq!(scrip.deduct(&user, deduction).await.unwrap().balance, 90);
        }
        let short = scrip.deduct(&user, Deduct::new(1_000)).await;
        assert_eq!(short.unwrap_err().code(), Some("insufficient_credits"));
        let hold = scrip.hold(&user, PlaceHold::new(40)).await.unwrap();
        let drawn = scrip.draw(&hold.hold_id, Draw::new(5)).await;
        let usage = scrip.usage(UsageQuery::default()).await;
        if kind == "yesterday" {
            // What the service does not have is a refusal like others.
            assert_eq!(drawn.unwrap_err().code(), Some("route_not_found"));
            assert_eq!(usage.unwrap_err().code(), Some("route_not_found"));
        } else {
            drawn.unwrap();
            assert!(!usage.unwrap().is_empty());
        }
        let settled = scrip.settle(&hold.hold_id, Settle::new(12)).await.unwrap();
        assert_eq!(settled.balance, 78);
        let wallet = scrip.wallet(&user).await.unwrap();
        assert_eq!(wallet.balance(server.product()), 78);
        let ledger = scrip.ledger(&user, LedgerFilter::default()).all().await;
        assert!(ledger.unwrap().iter().any(|entry| entry.delta == -10));
        let (events, next) = scrip.events(None, &[]).await.unwrap();
        assert!(!events.is_empty());
        let (rest, _) = scrip.events(next.as_deref(), &[]).await.unwrap();
        assert!(rest.is_empty(), "no event comes again");
        assert!(scrip.create_wallet().await.unwrap().code.is_some());
    }
}
