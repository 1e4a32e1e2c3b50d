//! No answer leaves before its state is durable, and nothing that was answered is lost.

use domain::{Rejection, wallet::deduct::Deduct};
use futures_util::FutureExt as _;
use persistence::AppendRefusal;

use super::{Service, applied, deduct, external, replayed};
use crate::{
    Error, Options,
    registry::{Absent, Sweep},
    wallet::{Command, Turn},
};

#[tokio::test]
async fn an_answer_waits_for_the_disk() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    service.journal.hold();
    let mut deducted = Box::pin(service.deduct("ann", 3, "a"));
    let mut read = Box::pin(service.balance("ann"));
    let mut again = Box::pin(service.deduct("ann", 3, "a"));
    let mut refused = Box::pin(service.deduct("ann", 8, "b"));
    for _ in 0..100 {
        assert!(deducted.as_mut().now_or_never().is_none());
        assert!(
            again.as_mut().now_or_never().is_none(),
            "a replay reveals the first call"
        );
        assert!(
            refused.as_mut().now_or_never().is_none(),
            "so does a refusal"
        );
        assert!(read.as_mut().now_or_never().is_none(), "and a read");
        tokio::task::yield_now().await;
    }
    service.journal.release();
    assert_eq!(deducted.await, Ok(applied(7)));
    assert_eq!(again.await, Ok(replayed(7)));
    assert!(matches!(
        refused.await,
        Err(Error::Rejected(Rejection::Insufficient { .. }))
    ));
    assert_eq!(read.await, Ok(7));
}

#[tokio::test]
async fn a_caller_who_goes_away_does_not_undo_the_write() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    service.journal.hold();
    let mut abandoned = Box::pin(service.deduct("ann", 3, "a"));
    assert!(abandoned.as_mut().now_or_never().is_none());
    // The command is in the wallet's mailbox now; its caller is gone.
    tokio::task::yield_now().await;
    drop(abandoned);
    service.journal.release();
    assert_eq!(service.deduct("ann", 3, "a").await, Ok(replayed(7)));
}

#[tokio::test]
async fn a_failed_log_leaves_the_outcome_unknown() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    service.journal.hold();
    let mut deducted = Box::pin(service.deduct("ann", 3, "a"));
    assert!(deducted.as_mut().now_or_never().is_none());
    tokio::task::yield_now().await;
    service.journal.fail("the disk is on fire");
    assert_eq!(deducted.await, Err(Error::Unavailable));
    assert_eq!(service.deduct("ann", 3, "b").await, Err(Error::Unavailable));
    assert!(!service.handle.ready());
}

#[tokio::test]
async fn a_wallet_that_cannot_be_reloaded_is_not_taken_for_missing() {
    let service = Service::new().await;
    service.journal.hold_checkpoints();
    service.credit("ann", 10).await.unwrap();
    let registry = std::sync::Arc::clone(&service.handle.inner.registry);
    let (key, _) = service
        .handle
        .target_of(&service.scope, &external("ann"))
        .unwrap();
    let pass = registry.pass(1).unwrap();
    let permit = registry
        .reach(key, Absent::Leave, pass)
        .await
        .unwrap()
        .unwrap();
    service.journal.fail("the disk is on fire");
    registry.reload(permit.awake.executor.id().unwrap());
    for _ in 0..100 {
        let answer = service.balance("ann").await;
        assert!(matches!(answer, Err(Error::Unavailable)), "{answer:?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_to_a_busy_wallet_waits_in_its_mailbox() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    let registry = std::sync::Arc::clone(&service.handle.inner.registry);
    let (key, _) = service
        .handle
        .target_of(&service.scope, &external("ann"))
        .unwrap();
    let pass = registry.pass(1).unwrap();
    let permit = registry.reach(key, Absent::Leave, pass).await;
    let permit = permit.unwrap().unwrap();
    let items = vec![
        (external("ann"), deduct(1, "b")),
        (external("ann"), deduct(9, "c")),
    ];
    let mut single = Box::pin(service.deduct("ann", 3, "a"));
    let mut batch = Box::pin(service.handle.deduct_batch(&service.scope, items));
    {
        let _somebody = permit.awake.executor.busy();
        assert!(single.as_mut().now_or_never().is_none());
        assert!(batch.as_mut().now_or_never().is_none());
        assert_eq!(
            registry.sweep(Sweep::All),
            0,
            "nor is it put to sleep under them"
        );
    }
    drop(permit);
    assert_eq!(single.await, Ok(applied(7)));
    let results = batch.await.unwrap();
    assert_eq!(results[0], Ok(applied(6)));
    assert!(
        matches!(
            results[1],
            Err(Error::Rejected(Rejection::Insufficient { .. }))
        ),
        "{results:?}"
    );
}

#[tokio::test]
async fn a_batch_of_which_nothing_was_done_is_refused_as_one() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    let items = || {
        vec![
            (external("ann"), deduct(1, "a")),
            (external("ann"), deduct(1, "b")),
        ]
    };
    service.journal.refuse(Some(AppendRefusal::DiskFull));
    let refused = service.handle.deduct_batch(&service.scope, items()).await;
    assert_eq!(refused, Err(Error::Unavailable));
    service.journal.refuse(None);
    let done = service
        .handle
        .deduct_batch(&service.scope, items())
        .await
        .unwrap();
    assert_eq!(done, [Ok(applied(9)), Ok(applied(8))]);
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_still_reads() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    service.journal.refuse(Some(AppendRefusal::DiskFull));
    assert_eq!(service.deduct("ann", 3, "a").await, Err(Error::Unavailable));
    assert_eq!(
        service.balance("ann").await,
        Ok(10),
        "a refused write left memory as it was"
    );
    service.journal.refuse(Some(AppendRefusal::Backlog));
    assert_eq!(service.deduct("ann", 3, "a").await, Err(Error::Overloaded));
    service.journal.refuse(None);
    assert_eq!(service.deduct("ann", 3, "a").await, Ok(applied(7)));
}

#[tokio::test]
async fn a_log_that_cannot_be_reached_shows_nothing_until_it_is_known_to_lead() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    assert_eq!(service.deduct("ann", 3, "a").await, Ok(applied(7)));
    service.journal.hold();
    service.journal.refuse(Some(AppendRefusal::Unreachable));
    assert_eq!(
        service.deduct("ann", 3, "b").now_or_never(),
        Some(Err(Error::Unavailable)),
        "it is refused before anything is done"
    );
    let mut read = Box::pin(service.balance("ann"));
    let mut again = Box::pin(service.deduct("ann", 3, "a"));
    let mut refused = Box::pin(service.deduct("ann", 8, "c"));
    for _ in 0..100 {
        assert!(read.as_mut().now_or_never().is_none());
        assert!(again.as_mut().now_or_never().is_none());
        assert!(refused.as_mut().now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    service.journal.refuse(None);
    service.journal.release();
    assert_eq!(read.await, Ok(7));
    assert_eq!(again.await, Ok(replayed(7)));
    assert!(matches!(
        refused.await,
        Err(Error::Rejected(Rejection::Insufficient { .. }))
    ));
}

#[tokio::test]
async fn one_that_was_fenced_answers_nobody() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    assert_eq!(service.deduct("ann", 3, "a").await, Ok(applied(7)));
    assert!(service.handle.leads());
    service.journal.refuse(Some(AppendRefusal::Fenced));
    assert!(!service.handle.leads() && !service.handle.ready());
    assert_eq!(service.balance("ann").await, Err(Error::Unavailable));
    assert_eq!(service.deduct("ann", 3, "a").await, Err(Error::Unavailable));
    assert_eq!(service.deduct("ann", 8, "b").await, Err(Error::Unavailable));
    assert_eq!(service.deduct("ann", 1, "c").await, Err(Error::Unavailable));
}

#[tokio::test]
async fn a_panic_under_load_loses_nothing() {
    let service = Service::new().await;
    service.credit("ann", 100_000).await.unwrap();
    let mut acknowledged = Vec::new();
    let mut unknown = Vec::new();
    for round in 0..20 {
        let calls: Vec<_> = (0..50)
            .map(|n| {
                let (handle, scope) = (service.handle.clone(), service.scope.clone());
                let k = format!("{round}-{n}");
                tokio::spawn(async move {
                    let answer = handle.deduct(&scope, &external("ann"), deduct(1, &k)).await;
                    (k, answer)
                })
            })
            .collect();
        tokio::task::yield_now().await;
        panic_in(&service, &format!("panic-{round}")).await;
        for call in calls {
            match call.await.unwrap() {
                (k, Ok(_)) => acknowledged.push(k),
                (k, Err(Error::Unavailable)) => unknown.push(k),
                (k, Err(other)) => panic!("{k}: {other}"),
            }
        }
    }
    assert!(!acknowledged.is_empty());
    for k in &acknowledged {
        let again = service.deduct("ann", 1, k).await.unwrap();
        assert!(again.replayed, "{k} was acknowledged and lost");
    }
    for k in &unknown {
        service.deduct("ann", 1, k).await.unwrap();
    }
    // Every call once, and none of the commands that panicked.
    assert_eq!(service.balance("ann").await, Ok(100_000 - 1000));
    let service = service.restarted().await;
    assert_eq!(service.balance("ann").await, Ok(100_000 - 1000));
}

/// Panics in mid-command, after its first event was applied to memory.
struct Panics(Deduct);

impl Command for Panics {
    type Answer = ();

    fn run(self, turn: &mut Turn<'_>) -> Result<(), Error> {
        let _ = self.0.run(turn);
        panic!("injected")
    }
}

pub(super) async fn panic_in(service: &Service, k: &str) {
    let (ann, panics) = (external("ann"), Panics(deduct(7, k)));
    let answer = service.handle.ask_at(&service.scope, &ann, panics).await;
    assert_eq!(answer, Err(Error::Unavailable));
}

#[tokio::test]
async fn load_beyond_the_bounds_is_shed_before_anything_is_done() {
    let options = Options {
        max_in_flight_per_wallet: 2,
        max_in_flight: 3,
        ..Options::default()
    };
    let service = Service::with(options).await;
    service.credit("ann", 10).await.unwrap();
    service.credit("bob", 10).await.unwrap();
    service.journal.hold();
    let mut calls = Vec::new();
    for k in ["a", "b"] {
        let mut call = Box::pin(service.deduct("ann", 1, k));
        assert!(call.as_mut().now_or_never().is_none());
        calls.push(call);
    }
    assert_eq!(
        service.deduct("ann", 1, "c").await,
        Err(Error::Overloaded),
        "per wallet"
    );
    let mut call = Box::pin(service.deduct("bob", 1, "a"));
    assert!(call.as_mut().now_or_never().is_none());
    calls.push(call);
    assert_eq!(
        service.deduct("bob", 1, "b").await,
        Err(Error::Overloaded),
        "over all"
    );
    service.journal.release();
    for call in calls {
        assert!(call.await.unwrap().applied);
    }
    assert_eq!(service.balance("ann").await, Ok(8));
    assert_eq!(service.handle.stats().in_flight, 0);
}

#[tokio::test]
async fn shutting_down_finishes_what_is_in_flight() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    service.journal.hold();
    let mut call = Box::pin(service.deduct("ann", 1, "a"));
    assert!(call.as_mut().now_or_never().is_none());
    let handle = service.handle.clone();
    let down = tokio::spawn(async move { handle.shut_down().await });
    tokio::task::yield_now().await;
    assert_eq!(service.deduct("ann", 1, "b").await, Err(Error::Unavailable));
    assert!(!down.is_finished());
    service.journal.release();
    assert_eq!(call.await, Ok(applied(9)));
    down.await.unwrap().unwrap();
    assert_eq!(service.restarted().await.balance("ann").await, Ok(9));
}
