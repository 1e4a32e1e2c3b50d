//! A log that takes a write in and refuses the next, in the middle of one command.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use domain::{
    Timestamp,
    catalog::Document,
    id::{CodeHash, OrderId, OrderSerial, ProjectId, WalletKey},
    text::{CheckoutId, Email, Meta},
};
use persistence::{
    Append, Done, Error as StoreError, History, Journal, KeptNote, MemoryJournal, OrderPlace,
    Refused, Stored, Ticket,
};

use super::{House, deduct, external};
use crate::{Error, Options};

/// Refuses appends once so many were taken in, without saying so beforehand: the disk filled up
/// between the question and the write.
struct Filling {
    journal: Arc<MemoryJournal>,
    left: AtomicI64,
}

impl Journal for Filling {
    fn append(&self, append: Append, done: Option<Done>) -> Result<Ticket, Refused> {
        if append.events() > 0 && self.left.fetch_sub(1, Ordering::SeqCst) <= 0 {
            return Err(Refused::DiskFull);
        }
        self.journal.append(append, done)
    }

    fn durable(&self) -> Ticket {
        self.journal.durable()
    }

    fn folded(&self) -> Ticket {
        self.journal.folded()
    }

    fn refusing(&self) -> Option<Refused> {
        None
    }

    fn backlog(&self) -> u64 {
        self.journal.backlog()
    }

    fn fold_soon(&self) {
        self.journal.fold_soon();
    }

    fn settle(&self) -> Result<(), StoreError> {
        self.journal.settle()
    }

    fn load(&self, key: &WalletKey) -> Result<Option<Stored>, StoreError> {
        self.journal.load(key)
    }

    fn new_history(&self, key: &WalletKey) -> Arc<dyn History> {
        self.journal.new_history(key)
    }

    fn alias(&self, code: &CodeHash) -> Result<Option<WalletKey>, StoreError> {
        self.journal.alias(code)
    }

    fn documents(&self) -> Result<Vec<Document>, StoreError> {
        self.journal.documents()
    }

    fn notes(&self, prefix: &[u8]) -> Result<Vec<KeptNote>, StoreError> {
        self.journal.notes(prefix)
    }

    fn orders(
        &self,
        project: ProjectId,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, StoreError> {
        self.journal.orders(project, before, limit)
    }

    fn checkout(
        &self,
        project: ProjectId,
        checkout: &CheckoutId,
    ) -> Result<Option<OrderId>, StoreError> {
        self.journal.checkout(project, checkout)
    }

    fn due(
        &self,
        project: ProjectId,
        after: Option<(Timestamp, OrderSerial)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, StoreError> {
        self.journal.due(project, after, until, limit)
    }

    fn buyers(
        &self,
        project: ProjectId,
        email: &Email,
        limit: usize,
    ) -> Result<Vec<WalletKey>, StoreError> {
        self.journal.buyers(project, email, limit)
    }

    fn close(&self) -> Result<(), StoreError> {
        self.journal.close()
    }
}

#[tokio::test]
async fn a_batch_whose_write_is_refused_half_way_acknowledges_nothing_that_is_not_there() {
    // One append for the credits; then a batch too large for one.
    for taken in 1..6 {
        let journal = Arc::new(MemoryJournal::new());
        let filling = Filling {
            journal: Arc::clone(&journal),
            left: AtomicI64::new(taken),
        };
        let house = House::behind(Arc::new(filling), journal, Options::default()).await;
        house.credit("ann", 10_000).await.unwrap();
        let note = Meta::new(format!("{{\"note\":\"{}\"}}", "x".repeat(1000))).unwrap();
        let items = (0..100).map(|n| {
            let mut command = deduct(1, &format!("k{n}"));
            command.meta = Some(note.clone());
            (external("ann"), command)
        });
        let answer = house
            .handle
            .deduct_batch(&house.scope, items.collect())
            .await;
        let acknowledged = match answer {
            Ok(results) => results.iter().filter(|result| result.is_ok()).count(),
            Err(error) => {
                assert_eq!(error, Error::Unavailable);
                0
            }
        };
        let there = house.deltas("ann", 100).await.len() - 1;
        assert!(
            acknowledged <= there,
            "{acknowledged} acknowledged, {there} there"
        );
        let left = house.balance("ann").await.unwrap();
        assert_eq!(
            left,
            10_000 - i64::try_from(there).unwrap(),
            "memory is what the log has"
        );
    }
}
