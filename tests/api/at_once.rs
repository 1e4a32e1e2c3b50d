//! The same call several times at once, as by a client that did not wait for its answer: it is done once, and each gets the
//! same answer.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::service::{Service, assert_refused, header};

const REPLAYED: &str = "idempotency-replayed";

/// Sends a call eight times at once; returns the answer to the one that did it.
async fn eight_times(service: &Service, path: &str, body: &Value) -> Value {
    let all = [(); 8].map(|()| service.secret.post(path, body));
    let replies = join_all(all).await;
    assert!(
        replies.iter().all(|reply| reply.status == 200),
        "{path}: {replies:?}"
    );
    let mut fresh = replies.iter().filter(|it| header(it, REPLAYED).is_none());
    let did = fresh.next().expect("one did it").body.clone();
    assert_eq!(fresh.count(), 0, "{path}: {replies:?}");
    did
}

#[tokio::test]
async fn what_is_asked_for_eight_times_at_once_is_done_once() {
    let service = Service::start().await;
    let ann = |amount: i64, key: &str| {
        json!({
            "externalUserId": "ann", "productId": service.product, "amount": amount,
            "idempotencyKey": key,
        })
    };
    // The first of them makes the wallet.
    eight_times(&service, "/api/v1/credit", &ann(100, "credit")).await;
    eight_times(
        &service,
        "/api/v1/wallets/external/deduct",
        &ann(7, "deduct"),
    )
    .await;
    let ledger = "/api/v1/wallets/external/ledger?externalUserId=ann";
    let ledger = service.secret.get(ledger).await.expect(200);
    let deduction = ledger["entries"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/deductions/{deduction}/reverse");
    let back = json!({"amount": 2, "idempotencyKey": "reverse"});
    eight_times(&service, &path, &back).await;
    assert_eq!(service.position("ann").await, [95, 0, 0]);
    for (key, end, body) in [
        ("settled", "settle", json!({"amount": 4})),
        ("released", "release", json!({})),
    ] {
        let holds = "/api/v1/wallets/external/holds";
        let hold = eight_times(&service, holds, &ann(10, key)).await;
        let path = format!("/api/v1/holds/{}/{end}", hold["holdId"].as_str().unwrap());
        eight_times(&service, &path, &body).await;
    }
    assert_eq!(service.position("ann").await, [91, 0, 0]);
    let ledger: Vec<_> = service.ledger("ann").await;
    let deltas: Vec<_> = ledger.iter().map(|(delta, _)| *delta).collect();
    assert_eq!(deltas, [100, -7, 2, -4]);
}

#[tokio::test]
async fn of_rotations_at_once_one_replaces_the_code() {
    let service = Service::start().await;
    let old = service.code().await;
    let path = format!("/api/v1/wallets/{old}/rotate");
    let under = |key: &str| json!({"idempotencyKey": key});
    let rotated = eight_times(&service, &path, &under("one")).await;
    let code = rotated["code"].as_str().unwrap();
    // Each under a key of its own: the second has a code that opens nothing.
    let path = format!("/api/v1/wallets/{code}/rotate");
    let bodies: Vec<_> = (0..6).map(|it| under(&it.to_string())).collect();
    let all = bodies
        .iter()
        .map(|body| service.publishable.post(&path, body));
    let replies = join_all(all).await;
    let (done, refused): (Vec<_>, Vec<_>) = replies.iter().partition(|it| it.status == 200);
    let [done] = done[..] else {
        panic!("one of them: {replies:?}");
    };
    for reply in refused {
        assert_refused(reply, 404, "wallet_not_found");
    }
    let path = format!("/api/v1/wallets/{}", done.body["code"].as_str().unwrap());
    service.publishable.get(&path).await.expect(200);
}
