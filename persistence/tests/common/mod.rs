//! What the tests of the store share: events to log, and a store that can be held and broken.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod shop;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::Duration,
};

use domain::{
    Amount, Timestamp,
    catalog::{Document, Mode, Project},
    id::{CodeHash, ProductId, ProjectId, WalletId, WalletKey},
    text::{ExternalUserId, IdempotencyKey},
    wallet::{Change, Created, Event, Owner},
};
use parking_lot::{Condvar, Mutex};
use persistence::{Append, Done, Faults, Journal, Logged, Options, Outcome, Step, Ticket};

/// Long enough for any disk, short enough for a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn key(wallet: u64) -> WalletKey {
    // Spread like real keys: the beginning tells wallets apart.
    WalletKey(
        (u128::from(wallet).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)).to_be_bytes(),
    )
}

pub(crate) fn logged(wallet: u64, version: u64, change: Change) -> Logged {
    Logged::Wallet {
        key: key(wallet),
        version,
        event: Event {
            at: Timestamp(1000),
            change,
        },
    }
}

pub(crate) fn created(wallet: u64) -> Logged {
    let owner = Owner::External(ExternalUserId::new(format!("user-{wallet}")).unwrap());
    creation(wallet, owner)
}

pub(crate) fn created_with_code(wallet: u64, code: CodeHash) -> Logged {
    creation(
        wallet,
        Owner::Code {
            hash: code,
            sealed: Box::new([1, 2, 3]),
        },
    )
}

fn creation(wallet: u64, owner: Owner) -> Logged {
    let created = Created {
        id: WalletId(wallet.into()),
        project: ProjectId(1),
        owner,
    };
    logged(wallet, 1, Change::Created(Box::new(created)))
}

pub(crate) fn rotated(wallet: u64, version: u64, code: CodeHash) -> Logged {
    logged(
        wallet,
        version,
        Change::CodeRotated {
            hash: code,
            sealed: Box::new([4]),
            former: None,
        },
    )
}

/// A grant whose key is its version.
pub(crate) fn granted(wallet: u64, version: u64) -> Logged {
    let change = Change::Granted {
        product: ProductId(1),
        amount: Amount::new(10).unwrap(),
        expires_at: None,
        key: IdempotencyKey::new(format!("grant-{version}")).unwrap(),
        meta: None,
    };
    logged(wallet, version, change)
}

pub(crate) fn project(id: u128, name: &str) -> Document {
    Document::Project(Project::new(
        ProjectId(id),
        name.into(),
        Mode::CreditCodes,
        Timestamp(1),
    ))
}

pub(crate) fn append(events: &[Logged]) -> Append {
    let mut append = Append::default();
    for event in events {
        append.push(event).unwrap();
    }
    append
}

/// The n-th event of a wallet.
pub(crate) fn nth(wallet: u64, version: u64) -> Logged {
    if version == 1 {
        created(wallet)
    } else {
        granted(wallet, version)
    }
}

/// A callback, and where its outcome arrives.
pub(crate) fn waiter() -> (Done, mpsc::Receiver<Outcome>) {
    let (send, receive) = mpsc::channel();
    (
        Box::new(move |outcome| send.send(outcome).unwrap_or_default()),
        receive,
    )
}

/// Appends and waits for the outcome.
pub(crate) fn commit(journal: &dyn Journal, events: &[Logged]) -> (Ticket, Outcome) {
    let (done, heard) = waiter();
    let ticket = journal.append(append(events), Some(done)).unwrap();
    (ticket, heard.recv_timeout(PATIENCE).unwrap())
}

/// How many events of a wallet are readable, all of them fitting together.
pub(crate) fn version(journal: &dyn Journal, wallet: u64) -> u64 {
    let Some(stored) = journal.load(&key(wallet)).unwrap() else {
        return 0;
    };
    let grants = stored.wallet.version - 1;
    assert_eq!(stored.wallet.available(ProductId(1)), 10 * grants as i64);
    assert_eq!(stored.wallet.records, grants);
    stored.wallet.version
}

/// Fails or holds back chosen steps.
#[derive(Default)]
pub(crate) struct Trouble {
    state: Mutex<(Option<(Step, u32)>, bool)>,
    changed: Condvar,
}

impl Trouble {
    /// This step fails, after succeeding so many times.
    pub(crate) fn fail(&self, step: Step, after: u32) {
        self.state.lock().0 = Some((step, after));
    }

    /// Nothing becomes durable until told.
    pub(crate) fn hold(&self, holding: bool) {
        self.state.lock().1 = holding;
        self.changed.notify_all();
    }
}

impl Faults for Trouble {
    fn before(&self, step: Step) -> Result<(), String> {
        let mut state = self.state.lock();
        while state.1 && step == Step::FlushFrames {
            self.changed.wait(&mut state);
        }
        match &mut state.0 {
            Some((failing, 0)) if *failing == step => Err(format!("{step:?} fails for a test")),
            Some((failing, after)) if *failing == step => {
                *after -= 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Options for a test: no limit on a small disk, sled's own thread quiet.
pub(crate) fn options(dir: &Path, trouble: &Arc<Trouble>) -> Options {
    let mut options = Options::new(dir);
    options.min_free_bytes = 0;
    options.cache_bytes = 8 << 20;
    // So that nothing but what a test does reaches the disk.
    options.flush_every_ms = 3_600_000;
    options.faults = Some(Arc::clone(trouble) as Arc<dyn Faults>);
    options
}

/// What a crash at this moment leaves on the disk.
pub(crate) fn crash_image(dir: &Path) -> tempfile::TempDir {
    let image = tempfile::tempdir().unwrap();
    copy(dir, image.path());
    image
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}
