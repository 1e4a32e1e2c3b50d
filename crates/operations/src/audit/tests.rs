//! What the log keeps of changes: over a journal in memory, which a test closes and opens again.

use std::sync::Arc;

use actors::{
    Keyring,
    clock::{Clock as _, ManualClock},
};
use persistence::{MemoryJournal, Store};

use super::*;
use crate::audit_search::{AuditCursor, AuditFilter};

const DAY_MILLIS: i64 = 24 * 3600 * 1000;

struct Process {
    journal: Arc<MemoryJournal>,
    clock: Arc<ManualClock>,
    log: AuditLog,
}

impl Process {
    async fn new() -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp(1_795_000_000_000)));
        Self::on(MemoryJournal::new(), clock).await
    }

    async fn on(journal: MemoryJournal, clock: Arc<ManualClock>) -> Self {
        let journal = Arc::new(journal);
        let (store, keyring) = (Store::of(Arc::clone(&journal)), Keyring::new(&[7; 32]));
        let options = actors::Options::default();
        let handle = Handle::start(store, clock.clone(), keyring, options).await;
        Self {
            log: AuditLog::load(handle.unwrap()).unwrap(),
            journal,
            clock,
        }
    }

    /// A process that starts on what was durable.
    async fn restarted(&self) -> Self {
        Self::on(self.journal.reopen().unwrap(), Arc::clone(&self.clock)).await
    }

    fn entry(&self, who: &str, what: &str) -> AuditEntry {
        AuditEntry::done(self.clock.now(), who.into(), what, "192.0.2.1".into())
    }

    /// Begins a change of which a repeat has the same key.
    async fn begin(&self, what: &str, retry_key: &str) -> PendingEntry {
        let entry = self.entry("Ann (usr_1)", what);
        let entry = entry.with_retry_key(Some(retry_key.into()));
        self.log.begin(entry).await.unwrap()
    }

    /// What was done, the newest first, and whether its result is open.
    async fn shown(&self) -> Vec<(String, bool)> {
        let (found, _) = self
            .log
            .search(AuditFilter::default(), None, 10_000)
            .await
            .unwrap();
        found
            .into_iter()
            .map(|entry| (entry.what, entry.open))
            .collect()
    }
}

fn done(what: &str) -> (String, bool) {
    (what.to_owned(), false)
}

#[tokio::test]
async fn a_change_is_in_the_log_before_it_is_made_and_in_its_words_afterwards() {
    let process = Process::new().await;
    let refund = process.begin("POST /refund", "r").await;
    assert_eq!(process.shown().await, [("POST /refund".to_owned(), true)]);
    process
        .log
        .announce(&refund, "Refunds 5.00 EUR", None, None)
        .await
        .unwrap();
    assert_eq!(
        process.shown().await,
        [("Refunds 5.00 EUR".to_owned(), true)]
    );
    process
        .log
        .end(refund, ChangeOutcome::Done("Refunded 5.00 EUR"))
        .await
        .unwrap();
    assert_eq!(process.shown().await, [done("Refunded 5.00 EUR")]);
    let nothing = process.begin("POST /keys", "k").await;
    process
        .log
        .end(nothing, ChangeOutcome::Nothing)
        .await
        .unwrap();
    assert_eq!(
        process.restarted().await.shown().await,
        [done("Refunded 5.00 EUR")]
    );
}

#[tokio::test]
async fn what_a_crash_left_open_is_resolved_by_the_repeat_that_was_done() {
    let process = Process::new().await;
    let _lost = process.begin("Refunds 5.00 EUR", "same").await;
    let _other = process.begin("Refunds 7.00 EUR", "another").await;
    let process = process.restarted().await;
    assert!(process.log.is_unknown("same").await);
    let repeat = process.begin("Refunds 5.00 EUR", "same").await;
    process
        .log
        .end(repeat, ChangeOutcome::Done("Refunded 5.00 EUR"))
        .await
        .unwrap();
    assert!(!process.log.is_unknown("same").await);
    assert!(process.log.is_unknown("another").await);
    let expected = [
        done("Refunded 5.00 EUR"),
        ("Refunds 7.00 EUR".to_owned(), true),
        done("Refunds 5.00 EUR: done, which was not known at first"),
    ];
    assert_eq!(process.shown().await, expected);
    assert_eq!(process.restarted().await.shown().await, expected);
}

#[tokio::test]
async fn a_change_that_cannot_be_written_is_not_begun() {
    let process = Process::new().await;
    process.journal.fail("the disk is gone");
    let entry = process.entry("Ann (usr_1)", "POST /keys");
    assert!(process.log.begin(entry).await.is_err());
}

#[tokio::test]
async fn one_persons_entries_replace_their_own_alone() {
    let mut process = Process::new().await;
    process.log = process.log.keeping(100);
    let bob = process.entry("Bob (usr_2)", "Froze a wallet");
    process.log.add(bob).await.unwrap();
    for number in 0..300 {
        // A change of name makes nobody another person.
        let who = format!("Ann {number} (usr_1)");
        let entry = process.entry(&who, &format!("Granted {number} credits"));
        process.log.add(entry).await.unwrap();
    }
    let shown = process.shown().await;
    assert_eq!(shown.first(), Some(&done("Granted 299 credits")));
    assert_eq!(shown.last(), Some(&done("Froze a wallet")));
    let of_ann = shown.len() - 1;
    assert!((100..=101 + PER_PAGE).contains(&of_ann), "{of_ann}");
}

#[tokio::test]
async fn pages_of_more_than_a_year_ago_go_with_the_next_full_page() {
    let process = Process::new().await;
    let add = async |what: &str| {
        let entry = process.entry("Ann (usr_1)", what);
        process.log.add(entry).await.unwrap();
    };
    for _ in 0..PER_PAGE {
        add("Old").await;
    }
    process.clock.advance_millis(200 * DAY_MILLIS);
    for _ in 0..PER_PAGE {
        add("Younger").await;
    }
    process.clock.advance_millis(167 * DAY_MILLIS);
    for _ in 0..PER_PAGE {
        add("New").await;
    }
    let shown = process.shown().await;
    assert_eq!(shown.len(), 2 * PER_PAGE);
    assert!(!shown.contains(&done("Old")));
    assert_eq!(process.restarted().await.shown().await, shown);
}

#[tokio::test]
async fn pages_of_a_search_have_each_entry_once() {
    let process = Process::new().await;
    for number in 0..95 {
        let who = if number % 3 == 0 {
            "Bob (usr_2)"
        } else {
            "Ann (usr_1)"
        };
        let entry = process.entry(who, &number.to_string());
        process.log.add(entry).await.unwrap();
        process.clock.advance_millis(1000);
    }
    let bobs = AuditFilter {
        who: Some("bob".into()),
        from: Some(Timestamp(1_795_000_000_000 + 10_000)),
        ..AuditFilter::default()
    };
    let (mut found, mut before): (Vec<String>, Option<AuditCursor>) = (Vec::new(), None);
    loop {
        let (page, next) = process.log.search(bobs.clone(), before, 7).await.unwrap();
        found.extend(page.into_iter().map(|entry| entry.what));
        before = next;
        if before.is_none() {
            break;
        }
    }
    let expected: Vec<String> = (10..95)
        .rev()
        .filter(|it| it % 3 == 0)
        .map(|it| it.to_string())
        .collect();
    assert_eq!(found, expected);
}
