//! Responses while the log refuses appends.

use persistence::{AppendRefusal, Backlog};
use serde_json::{Value, json};

use crate::service::{Service, assert_refused, header};

fn deduct(key: &str) -> Value {
    json!({ "externalUserId": "u", "amount": 1, "idempotencyKey": key })
}

const PATH: &str = "/api/v1/wallets/external/deduct";

#[tokio::test]
async fn writes_are_shed_while_folding_is_behind_and_taken_again_afterwards() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    service.journal.refuse(Some(AppendRefusal::Backlog));
    let reply = service.secret.post(PATH, &deduct("k")).await;
    assert_refused(&reply, 503, "overloaded");
    assert!(
        header(&reply, "retry-after")
            .unwrap()
            .parse::<u32>()
            .unwrap()
            >= 1
    );
    assert_eq!(
        service.balance("u").await,
        10,
        "a read with nothing to apply still answers"
    );
    service.journal.refuse(None);
    assert_eq!(
        service.secret.post(PATH, &deduct("k")).await.expect(200)["deducted"],
        true
    );
}

#[tokio::test]
async fn a_full_disk_is_unavailable() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    service.journal.refuse(Some(AppendRefusal::DiskFull));
    let reply = service.secret.post(PATH, &deduct("k")).await;
    assert_refused(&reply, 503, "unavailable");
    assert!(header(&reply, "retry-after").is_some());
    let batch = json!({ "items": [deduct("k")] });
    let reply = service
        .secret
        .post("/api/v1/deductions/batch", &batch)
        .await;
    // Nothing was done: the batch is refused as a whole, so that no caller thinks otherwise.
    assert_refused(&reply, 503, "unavailable");
}

#[tokio::test]
async fn a_wallet_that_was_not_made_is_not_counted() {
    let service = Service::start().await;
    let limit = Some(Some(domain::catalog::CreationLimit {
        max: 1,
        window_seconds: 60,
    }));
    let change = catalog::ProjectChange {
        wallet_creation_limit: limit,
        ..catalog::ProjectChange::default()
    };
    service.set(change).await;
    service.journal.refuse(Some(AppendRefusal::Backlog));
    let create = || service.publishable.post("/api/v1/wallets", &Value::Null);
    assert_refused(&create().await, 503, "overloaded");
    service.journal.refuse(None);
    create().await.expect(200);
    assert_refused(&create().await, 429, "wallet_creation_limit");
}

#[tokio::test]
async fn large_deductions_are_shed_by_their_size_and_accepted_after_a_checkpoint() {
    let service = Service::start().await;
    service.grant("u", 1000).await;
    service.handle.fold_all().await.unwrap();
    service.journal.hold_checkpoints();
    service.journal.limit_backlog(Backlog {
        events: u64::MAX,
        bytes: 64 * 1024,
    });
    let large = |n: usize| {
        let mut body = deduct(&format!("k{n}"));
        body["meta"] = json!({ "note": "x".repeat(4000) });
        body
    };
    let mut taken = 0;
    let shed = loop {
        let reply = service.secret.post(PATH, &large(taken)).await;
        if reply.status != 200 {
            break reply;
        }
        taken += 1;
        assert_eq!(reply.body["balance"], 1000 - taken);
        assert!(taken < 64, "the backlog is far past its bytes");
    };
    assert!(taken > 8, "{taken} are a small part of it");
    assert_refused(&shed, 503, "overloaded");
    assert!(
        header(&shed, "retry-after")
            .unwrap()
            .parse::<u32>()
            .unwrap()
            >= 1
    );
    // A small one is refused as well, and nothing was done for either.
    let small = service.secret.post(PATH, &deduct("small")).await;
    assert_refused(&small, 503, "overloaded");
    assert_eq!(service.balance("u").await, 1000 - taken);
    let again = service.secret.post(PATH, &large(taken - 1)).await;
    assert_eq!(
        again.expect(200)["deducted"],
        false,
        "a repeat logs nothing"
    );

    service.journal.release_checkpoints();
    let retried = service.secret.post(PATH, &large(taken)).await.expect(200);
    let expected = json!({ "balance": 1000 - taken - 1, "deducted": true });
    assert_eq!(retried, expected);
    // The log agrees with the memory.
    let path = "/api/v1/wallets/external/ledger?externalUserId=u&limit=100";
    let ledger = service.secret.get(path).await.expect(200);
    let entries = ledger["entries"].as_array().unwrap();
    assert_eq!(entries.len(), taken + 2);
    let sum: i64 = entries.iter().map(|it| it["delta"].as_i64().unwrap()).sum();
    assert_eq!(json!(sum), service.balance("u").await);
}
