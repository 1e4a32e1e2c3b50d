//! Deliveries that a restart or a crash interrupts.

use kit::receiver::ScriptedResponse;
use persistence::AppendRefusal;
use reqwest::Method;
use serde_json::json;

use super::replays::{replay, replay_since};
use crate::{
    deliveries::{ServiceWithEndpoint, ask, created, credited, impatient, near},
    service::Service,
};

#[tokio::test]
async fn a_restart_goes_on_where_it_was() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked
        .receiver
        .of("ann", Some(ScriptedResponse::Status(500)));
    hooked.grant("ann", 1).await;
    hooked.grant("bob", 5).await;
    hooked.grant("ann", 2).await;
    hooked.settled().await;
    assert_eq!(hooked.summaries().len(), 3, "ann's first, and all of bob's");
    drop(hooked.running);
    let again = hooked.service.again(near).await;
    let (base, webhooks) = (&again.base, &again.webhooks);
    let running = webhooks.start();
    webhooks.settled().await;
    assert_eq!(
        hooked.receiver.summaries().len(),
        3,
        "it is not time yet, and nothing comes twice"
    );
    hooked.receiver.of("ann", None);
    hooked.service.clock.advance_millis(6000);
    webhooks.settled().await;
    let rest = hooked.receiver.summaries().split_off(3);
    assert_eq!(
        rest,
        [created("ann"), credited("ann", 1), credited("ann", 3)]
    );
    let project = hooked.service.project.id.to_string();
    let path = format!("/{}/deliveries", hooked.id);
    let page = ask((base, &project), Method::GET, &path, None)
        .await
        .expect(200);
    let deliveries = page["deliveries"].as_array().unwrap();
    assert_eq!(deliveries.len(), 5);
    assert!(deliveries.iter().all(|it| it["status"] == "succeeded"));
    assert_eq!(
        deliveries
            .iter()
            .map(|it| it["attempts"].as_array().unwrap().len())
            .sum::<usize>(),
        6
    );
    drop(running);
}

#[tokio::test]
async fn what_was_sent_and_not_noted_is_sent_again_after_a_crash() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked.grant("ann", 1).await;
    hooked.settled().await;
    hooked.receiver.of("bob", Some(ScriptedResponse::Silence));
    hooked.grant("bob", 2).await;
    hooked.receiver.wait_for(3).await;
    // A crash while bob's first event is in flight.
    drop(hooked.running);
    hooked.receiver.of("bob", None);
    let again = hooked.service.again(near).await;
    let webhooks = &again.webhooks;
    let _running = webhooks.start();
    webhooks.settled().await;
    let rest = hooked.receiver.summaries().split_off(3);
    assert_eq!(
        rest,
        [created("bob"), credited("bob", 2)],
        "and nothing of ann's"
    );
}

#[tokio::test]
async fn what_waited_behind_an_event_that_was_accepted_just_now_is_sent_after_a_crash() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked
        .receiver
        .of("ann", Some(ScriptedResponse::Status(500)));
    for amount in [1, 2, 3] {
        hooked.grant("ann", amount).await;
    }
    hooked.grant("bob", 5).await;
    hooked.settled().await;
    assert_eq!(hooked.summaries().len(), 3, "ann's first, and all of bob's");
    // One that hangs: nothing is written for want of other work.
    hooked.receiver.of("cid", Some(ScriptedResponse::Silence));
    hooked.grant("cid", 1).await;
    hooked.receiver.wait_for(4).await;
    hooked.receiver.of("ann", None);
    hooked.receiver.next(ScriptedResponse::Status(200));
    hooked.receiver.always(Some(ScriptedResponse::Silence));
    hooked.service.clock.advance_millis(6000);
    hooked.receiver.wait_for(6).await;
    kit::deadline::answered("the first is accepted", kit::deadline::SOON, async || {
        let page = hooked.deliveries("status=succeeded").await;
        let all = page["deliveries"].as_array().unwrap();
        (all.len() == 3).then_some(())
    })
    .await;
    drop(hooked.running);
    hooked.receiver.of("cid", None);
    hooked.receiver.always(None);
    let again = hooked.service.again(near).await;
    let _running = again.webhooks.start();
    again.webhooks.settled().await;
    let mut rest = hooked.receiver.summaries().split_off(6);
    rest.sort();
    let mut expected = [
        credited("ann", 1),
        credited("ann", 3),
        credited("ann", 6),
        created("cid"),
        credited("cid", 1),
    ];
    expected.sort();
    assert_eq!(rest, expected);
}

#[tokio::test]
async fn what_was_asked_for_again_and_is_under_way_is_sent_after_a_crash() {
    let hooked = ServiceWithEndpoint::start().await;
    for user in ["ann", "bob", "cid"] {
        hooked.grant(user, 1).await;
    }
    hooked.settled().await;
    assert_eq!(hooked.summaries().len(), 6);
    hooked.receiver.always(Some(ScriptedResponse::Silence));
    assert_eq!(
        replay_since(&hooked, "2020-01-01T00:00:00Z").await,
        json!({"count": 6})
    );
    let sent = hooked.receiver.wait_for(7).await.len();
    drop(hooked.running);
    hooked.receiver.always(None);
    let again = hooked.service.again(near).await;
    let _running = again.webhooks.start();
    again.webhooks.settled().await;
    let mut rest = hooked.receiver.summaries();
    assert!(rest.len() >= sent + 6, "{rest:?}");
    let mut rest = rest.split_off(rest.len() - 6);
    rest.sort();
    let users = ["ann", "bob", "cid"];
    let mut expected: Vec<_> = users
        .iter()
        .flat_map(|user| [created(user), credited(user, 1)])
        .collect();
    expected.sort();
    assert_eq!(rest, expected);
}

#[tokio::test]
async fn what_is_sent_again_goes_on_after_a_restart() {
    let hooked = ServiceWithEndpoint::start().await;
    for user in ["ann", "bob", "cid"] {
        hooked.grant(user, 1).await;
    }
    hooked.settled().await;
    assert_eq!(hooked.summaries().len(), 6);
    hooked.change(json!({"active": false})).await.expect(200);
    assert_eq!(
        replay_since(&hooked, "2020-01-01T00:00:00Z").await,
        json!({"count": 6})
    );
    let page = hooked.deliveries("limit=1").await;
    replay(&hooked, &page["deliveries"][0]).await;
    drop(hooked.running);
    let again = hooked.service.again(near).await;
    let (base, webhooks) = (&again.base, &again.webhooks);
    let _running = webhooks.start();
    let project = hooked.service.project.id.to_string();
    let path = format!("/{}", hooked.id);
    let body = Some(json!({"active": true}));
    ask((base, &project), Method::PATCH, &path, body)
        .await
        .expect(200);
    webhooks.settled().await;
    assert_eq!(hooked.receiver.summaries().len(), 6 + 7);
}

#[tokio::test]
async fn an_endpoint_that_was_sent_nothing_gets_its_events_after_a_restart() {
    let service = Service::with(near).await;
    let hooked = ServiceWithEndpoint::of(service).await;
    let ServiceWithEndpoint {
        service,
        receiver,
        running,
        ..
    } = hooked;
    // As if it had crashed before anything was sent.
    drop(running);
    service.grant("ann", 1).await;
    let again = service.again(near).await;
    let webhooks = &again.webhooks;
    let _running = webhooks.start();
    webhooks.settled().await;
    assert_eq!(receiver.summaries(), [created("ann"), credited("ann", 1)]);
}

#[tokio::test]
async fn the_end_waits_a_moment_for_what_is_under_way_which_is_sent_again_after_the_start() {
    let hooked = ServiceWithEndpoint::of(Service::with(impatient).await).await;
    hooked.receiver.always(Some(ScriptedResponse::Silence));
    hooked.grant("ann", 1).await;
    hooked.receiver.wait_for(1).await;
    let ends = hooked.running.stop(std::time::Duration::from_secs(86_400));
    let ends = tokio::time::timeout(kit::deadline::SOON, ends).await;
    assert!(ends.is_ok(), "it waits for more");
    // The interrupted attempt does not count.
    hooked.receiver.always(None);
    let again = hooked.service.again(near).await;
    let _running = again.webhooks.start();
    again.webhooks.settled().await;
    assert_eq!(
        hooked.receiver.summaries()[1..],
        [created("ann"), credited("ann", 1)]
    );
}

#[tokio::test]
async fn a_former_leader_leaves_due_deliveries_to_the_next() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked
        .receiver
        .of("ann", Some(ScriptedResponse::Status(500)));
    hooked.grant("ann", 1).await;
    hooked.settled().await;
    hooked.receiver.of("ann", None);
    let journal = &hooked.service.journal;
    journal.refuse(Some(AppendRefusal::Fenced));
    hooked.pass(6).await;
    assert_eq!(hooked.summaries(), [created("ann")], "it is due again");
    journal.refuse(None);
    hooked.pass(1).await;
    let rest = hooked.summaries().split_off(1);
    assert_eq!(rest, [created("ann"), credited("ann", 1)]);
}
