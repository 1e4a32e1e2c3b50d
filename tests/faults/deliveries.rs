//! Kills of the server while webhooks are being sent.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use kit::{
    Launch, Server, deadline,
    receiver::{Receiver, ScriptedResponse},
};
use serde_json::{Value, json};

const KILLS: u32 = 4;
const GRANTS: u32 = 60;
const USERS: u32 = 7;
/// Most events that may come twice after a kill: in flight, or done and not noted yet.
const TWICE: usize = 32;

/// All events of the project, oldest first: id and wallet.
async fn events(server: &Server) -> Vec<(String, String)> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/v1/events?limit=100{after}");
        let page = server.client().get(&path).await.expect(200);
        let events = page["events"].as_array().unwrap();
        if events.is_empty() {
            return all;
        }
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        all.extend(
            events
                .iter()
                .map(|it| (text(&it["id"]), text(&it["data"]["walletId"]))),
        );
        after = format!("&after={}", page["nextCursor"].as_str().unwrap());
    }
}

/// Sends all pending deliveries at once.
async fn send_pending(server: &Server, deliveries: &str) {
    let mut next = String::new();
    loop {
        let page = server
            .admin()
            .get(&format!("{deliveries}?limit=100{next}"))
            .await;
        let page = page.expect(200);
        for delivery in page["deliveries"].as_array().unwrap() {
            if delivery["status"] == "pending" {
                let id = delivery["id"].as_str().unwrap();
                let replay = format!("{deliveries}/{id}/replay");
                server.admin().post(&replay, &Value::Null).await.expect(202);
            }
        }
        match page["nextCursor"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => return,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_sends_every_event_after_its_restart() {
    let launch = Launch::default().env("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true");
    let mut server = Server::launch(launch).await;
    let receiver = Receiver::start().await;
    let path = format!("{}/webhooks", server.project_path());
    let endpoint = server
        .admin()
        .post(&path, &json!({"url": receiver.url}))
        .await;
    let endpoint = endpoint.expect(201);
    let deliveries = format!("{path}/{}/deliveries", endpoint["id"].as_str().unwrap());
    // One wallet waits for a retry across all kills.
    receiver.of("parked", Some(ScriptedResponse::Status(500)));
    server.grant("parked", 1, "first").await;
    receiver.wait_for(1).await;
    for round in 0..KILLS {
        for number in 0..GRANTS {
            let user = format!("user-{}", number % USERS);
            server.grant(&user, 1, &format!("{round}/{number}")).await;
        }
        server.grant("parked", 1, &format!("{round}")).await;
        server.crash().await;
        server.start_again().await;
    }
    receiver.of("parked", None);
    send_pending(&server, &deliveries).await;
    let events = events(&server).await;
    assert_eq!(events.len() as u32, KILLS * (GRANTS + 1) + 1 + USERS + 1);
    let all = |received: &[kit::receiver::Received]| {
        let came: HashSet<_> = received
            .iter()
            .map(|one| one.header("webhook-id"))
            .collect();
        events.iter().all(|(id, _)| came.contains(id.as_str()))
    };
    let received = receiver.until("each event at least once", all).await;
    // In order per wallet, counting each event's first arrival.
    let mut ids = HashSet::new();
    let mut of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in &received {
        if ids.insert(one.header("webhook-id")) {
            let wallet = one.body["data"]["walletId"].as_str().unwrap();
            of.entry(wallet).or_default().push(one.header("webhook-id"));
        }
    }
    for (wallet, came) in of {
        let expected = events.iter().filter(|(_, whose)| whose == wallet);
        let expected: Vec<_> = expected.map(|(id, _)| id.as_str()).collect();
        assert_eq!(came, expected, "events of {wallet}");
    }
    let of_parked = received
        .iter()
        .filter(|one| one.summary().1 == "parked")
        .count();
    let others = received.len() - of_parked;
    let others_once = ids.len() - (KILLS as usize + 2);
    let twice = others - others_once;
    assert!(twice <= TWICE * KILLS as usize, "{twice} came twice");
    let status = server.terminate().await;
    assert!(status.success(), "{status}");
    server.verify();
}

/// A wallet's events wait behind one that was refused; that is accepted at last, the next hangs, and the server dies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_behind_a_late_acceptance_are_sent_after_a_kill() {
    let launch = Launch::default().env("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true");
    let mut server = Server::launch(launch).await;
    let receiver = Receiver::start().await;
    let path = format!("{}/webhooks", server.project_path());
    let endpoint = json!({"url": receiver.url, "events": ["wallet.credited"]});
    let hook = server.admin().post(&path, &endpoint).await.expect(201);
    let deliveries = format!("{path}/{}/deliveries", hook["id"].as_str().unwrap());
    receiver.of("ann", Some(ScriptedResponse::Status(500)));
    for number in 0..11 {
        server.grant("ann", 1, &format!("{number}")).await;
    }
    receiver.wait_for(1).await;
    // Each that is accepted allows one more request at once, and the cursor passes ann's.
    for number in 0..4 {
        server.grant("bob", 1, &format!("{number}")).await;
    }
    receiver.wait_for(5).await;
    receiver.of("cid", Some(ScriptedResponse::Silence));
    server.grant("cid", 1, "hangs").await;
    receiver.wait_for(6).await;
    receiver.of("ann", None);
    receiver.next(ScriptedResponse::Status(200));
    receiver.always(Some(ScriptedResponse::Silence));
    send_pending(&server, &deliveries).await;
    receiver.wait_for(8).await;
    let succeeded = format!("{deliveries}?status=succeeded");
    let accepted = async || {
        let page = server.admin().get(&succeeded).await.expect(200);
        (page["deliveries"].as_array().map(Vec::len) == Some(5)).then_some(())
    };
    deadline::answered("ann's first is accepted", deadline::SOON, accepted).await;
    server.crash().await;
    receiver.of("cid", None);
    receiver.always(None);
    server.start_again().await;
    let events: Vec<_> = events(&server).await;
    let all = |received: &[kit::receiver::Received]| {
        let ids = received.iter().map(|one| one.header("webhook-id"));
        let ids: HashSet<_> = ids.collect();
        // ann's eleven, bob's four, cid's one.
        ids.len() == 16
            && ids
                .iter()
                .all(|id| events.iter().any(|(event, _)| event == id))
    };
    receiver.until("each event at least once", all).await;
    assert!(server.terminate().await.success());
    server.verify();
}

/// A quarter of a request's timeout: a shutdown that waits for one is too late, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(15);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_does_not_wait_for_receivers_that_hang() {
    let launch = Launch::default()
        .env("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true")
        .env("SCRIP_WEBHOOKS_TIMEOUT_SECONDS", "60")
        .env("SCRIP_SHUTDOWN_SECONDS", "60");
    let mut server = Server::launch(launch).await;
    let receiver = Receiver::start().await;
    let path = format!("{}/webhooks", server.project_path());
    let endpoint = json!({"url": receiver.url, "events": ["wallet.credited"]});
    server.admin().post(&path, &endpoint).await.expect(201);
    receiver.always(Some(ScriptedResponse::Silence));
    server.grant("ann", 1, "first").await;
    let cut = receiver.wait_for(1).await.remove(0);
    let ended = tokio::time::timeout(TIMEOUT, server.terminate()).await;
    assert!(ended.expect("an end in time").success());
    server.verify();
    // Interrupted deliveries are sent again, and all events after them.
    receiver.always(None);
    server.start_again().await;
    server.grant("ann", 1, "second").await;
    let received = receiver.wait_for(3).await;
    let ids: Vec<_> = received
        .iter()
        .map(|one| one.header("webhook-id"))
        .collect();
    assert_eq!(ids[0], cut.header("webhook-id"));
    assert_eq!(ids[1], ids[0]);
    assert_ne!(ids[2], ids[0]);
    assert_eq!(received[1].summary(), cut.summary());
}
