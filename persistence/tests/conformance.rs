//! The contracts of `Log` and `Books` against the implementations of this crate.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::panic,
    reason = "a panic in a test is a failed test, which is the point"
)]

#[macro_use]
#[path = "conformance/clauses.rs"]
mod clauses;
mod common;

use std::sync::Arc;

use clauses::{InDirectory, Subject};
use common::{
    WalletModel, commit, options,
    shared_log::{LoneConnection, SharedLog},
    version,
};
use parking_lot::Mutex;
use persistence::{AppendRefusal, Log, MemoryJournal, Outcome, SledJournal, Store};

fn on_sled() -> InDirectory {
    InDirectory::new(|dir, trouble| Arc::new(SledJournal::open(options(dir, trouble)).unwrap()))
}

/// Whose log is elsewhere, where three groups may be under way.
fn elsewhere() -> InDirectory {
    let log = Arc::<Mutex<SharedLog>>::default();
    InDirectory::new(move |dir, trouble| {
        let frames = LoneConnection::new(&log, 3, trouble.into());
        Arc::new(SledJournal::open_over(options(dir, trouble), Arc::new(frames)).unwrap())
    })
}

struct InMemory(Arc<MemoryJournal>);

impl Subject for InMemory {
    fn store(&self) -> Store {
        Store::of(Arc::clone(&self.0))
    }

    fn reopen(&mut self) {
        self.0.close().unwrap();
        self.0 = Arc::new(self.0.reopen().unwrap());
    }

    fn hold(&self, holding: bool) {
        if holding {
            self.0.hold()
        } else {
            self.0.release()
        }
    }

    fn hold_checkpoints(&self, holding: bool) {
        if holding {
            self.0.hold_checkpoints()
        } else {
            self.0.release_checkpoints()
        }
    }

    fn fail(&self) {
        self.0.fail("for a test");
    }
}

mod sled_journal {
    conformance!(crate::on_sled());
}

mod journal_with_its_log_elsewhere {
    conformance!(crate::elsewhere());
}

mod memory_journal {
    conformance!(crate::InMemory(
        crate::Arc::new(crate::MemoryJournal::new())
    ));
}

#[test]
fn a_memory_journal_that_has_no_room_says_so_and_takes_what_comes_all_the_same() {
    let mut model = WalletModel::default();
    let journal = Arc::new(MemoryJournal::new());
    let store = Store::of(Arc::clone(&journal));
    for refused in [AppendRefusal::Backlog, AppendRefusal::DiskFull] {
        journal.refuse(Some(refused));
        assert_eq!(store.log.refusing(), Some(refused));
        assert_eq!(commit(&*store.log, &[model.next(1)]).1, Outcome::Durable);
    }
    journal.refuse(None);
    assert_eq!(store.log.refusing(), None);
    assert_eq!(version(&*store.books, 1), 2);
}
