//! How endpoints do, and test events, over the admin API.

use kit::{
    Launch, Server, deadline,
    receiver::{Receiver, ScriptedResponse},
};
use serde_json::json;

use crate::{get, post, project};

#[tokio::test]
async fn an_endpoint_says_how_it_does_and_is_tried_by_an_event_that_did_not_happen() {
    let receiver = Receiver::start().await;
    let launch = Launch::default().env("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true");
    let mut server = Server::launch(launch).await;
    let hooks = format!("{}/webhooks", project(&server));
    let endpoint = post(&server.admin(), &hooks, &json!({"url": receiver.url})).await;
    let endpoint = endpoint.expect(201);
    let hook = format!("{hooks}/{}", endpoint["id"].as_str().unwrap());
    let health = get(&server.admin(), &hook).await.expect(200)["health"].clone();
    assert_eq!(health["attempts"], 0);
    assert_eq!(health["failingSince"], json!(null));

    receiver.always(Some(ScriptedResponse::Status(500)));
    server.grant("ann", 1, "g").await;
    let admin = server.admin();
    let failed = deadline::answered("a failure", deadline::SOON, async || {
        let all = get(&admin, &hooks).await.expect(200);
        let health = all["webhooks"][0]["health"].clone();
        health["failingSince"].is_string().then_some(health)
    })
    .await;
    assert_eq!(
        (&failed["succeeded"], &failed["pending"]),
        (&json!(0), &json!(2))
    );
    assert_eq!(failed["lastFailure"]["statusCode"], 500);
    assert!(
        server
            .figures()
            .await
            .contains("scrip_webhook_endpoints_failing 1")
    );
    for (status, count) in [("pending", 1), ("failed", 0), ("succeeded", 0)] {
        // An attempt counts for the health at once, and is in the list once it is folded.
        deadline::answered(status, deadline::SOON, async || {
            let page = get(&admin, &format!("{hook}/deliveries?status={status}")).await;
            let page = page.expect(200);
            (page["deliveries"].as_array().unwrap().len() == count).then_some(())
        })
        .await;
    }
    let before = receiver.received().len();
    let reply = post(&admin, &format!("{hook}/test"), &json!({}))
        .await
        .expect(200);
    assert_eq!(reply["attempt"]["statusCode"], 500);
    receiver.always(None);
    let reply = post(
        &admin,
        &format!("{hook}/test"),
        &json!({"type": "order.paid"}),
    )
    .await;
    let reply = reply.expect(200);
    assert_eq!(reply["attempt"]["error"], json!(null));
    let received = receiver.received();
    let last = received[before..]
        .iter()
        .find(|it| it.summary().0 == "order.paid");
    let last = last.expect("the test event");
    assert_eq!(
        last.header("webhook-id"),
        reply["eventId"].as_str().unwrap()
    );
    assert!(last.header("webhook-signature").starts_with("v1,"));
    assert_eq!(last.body["data"]["test"], true);
    // What it was is known after a restart, too.
    server.restart().await;
    let health = get(&server.admin(), &hook).await.expect(200)["health"].clone();
    assert_eq!(health["lastFailure"]["statusCode"], 500);
}
