//! Webhooks: late, twice, in another order, and after a restart.

use super::*;

/// Two sessions that were paid while nothing could be delivered yet.
async fn two_events(stage: &Stage) {
    let session = stage.session(credits(), Promotion::None).await;
    stage.act(&session.url.unwrap(), "pay", "").await;
}

#[tokio::test]
async fn they_wait_as_long_as_configured() {
    let mut stage = Stage::new().await;
    stage.host.settings.lock().delay_seconds = 60;
    two_events(&stage).await;
    stage.silent();
    let due = stage.sandbox.next_due(PROJECT).await.unwrap();
    assert_eq!(due, Some(Timestamp(START + 60_000)));
    stage.set_clock(START + 59_999);
    stage.run().await;
    stage.silent();
    stage.set_clock(START + 60_000);
    stage.run().await;
    let sent = stage.sent_kinds(2).await;
    assert_eq!(
        sent,
        ["payment_intent.succeeded", "checkout.session.completed"]
    );
    stage.run().await;
    stage.silent();
}

#[tokio::test]
async fn they_come_twice_and_shuffled_when_configured() {
    let mut stage = Stage::new().await;
    {
        let mut settings = stage.host.settings.lock();
        settings.shuffle = true;
        settings.duplicates = 1;
    }
    two_events(&stage).await;
    let sent = stage.sent_kinds(4).await;
    let (later, earlier) = ("checkout.session.completed", "payment_intent.succeeded");
    assert_eq!(sent, [later, earlier, later, earlier]);
    stage.run().await;
    stage.silent();
}

#[tokio::test]
async fn one_that_is_not_taken_is_tried_again() {
    let mut stage = Stage::new().await;
    stage.answers.lock().extend([500, 302]);
    two_events(&stage).await;
    assert_eq!(stage.sent_kinds(2).await.len(), 2);
    stage.run().await;
    stage.silent();
    let due = stage.sandbox.next_due(PROJECT).await.unwrap().unwrap();
    assert_eq!(due, Timestamp(START + 2000));
    stage.set_clock(due.0);
    stage.run().await;
    assert_eq!(stage.sent_kinds(2).await.len(), 2);
    stage.run().await;
    stage.silent();
}

#[tokio::test]
async fn a_restart_loses_nothing() {
    let mut stage = Stage::new().await;
    let price = stage.price(1, 1900).await;
    let item = Item::Subscription(price.id);
    stage.host.settings.lock().delay_seconds = 60;
    let session = stage.session(item, Promotion::None).await;
    let (_, paid) = stage.act(&session.url.clone().unwrap(), "pay", "").await;
    assert_eq!(paid["paymentStatus"], "paid");
    stage.silent();
    // Another sandbox over the same notebook, as after a restart.
    stage.sandbox = Sandbox::new(
        stage.host.clone(),
        stage.note_store.clone(),
        FaultProfile::default(),
    );
    stage.set_clock(START + 60_000);
    stage.run().await;
    assert_eq!(
        stage.sent_kinds(4).await,
        [
            "customer.subscription.created",
            "payment_intent.succeeded",
            "invoice.paid",
            "checkout.session.completed"
        ]
    );
    stage.host.settings.lock().delay_seconds = 0;
    let renewal = stage.sandbox.next_due(PROJECT).await.unwrap().unwrap();
    assert_eq!(renewal, Timestamp(START + 28 * DAY));
    stage.set_clock(renewal.0);
    stage.run().await;
    assert_eq!(stage.sent_kinds(1).await, ["customer.subscription.updated"]);
    stage.set_clock(renewal.0 + 3_600_000);
    stage.run().await;
    assert_eq!(stage.sent_kinds(2).await.len(), 2);
    stage.silent();
}

#[tokio::test]
async fn a_project_without_a_sandbox_has_nothing_due() {
    let stage = Stage::new().await;
    assert_eq!(stage.sandbox.next_due(FOREIGN).await.unwrap(), None);
    stage.sandbox.run_due(FOREIGN).await.unwrap();
    assert!(stage.note_store.notes.lock().is_empty());
}
