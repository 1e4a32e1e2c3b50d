//! What the tests of the store share: events to log, and a store that can be held and broken.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod life;
pub(crate) mod shared_log;
pub(crate) mod shop;
pub(crate) mod world;

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::Duration,
};

use domain::{
    Amount, Timestamp,
    catalog::{Document, Mode, Project},
    id::{CodeHash, ProductId, ProjectId, WalletId, WalletKey},
    text::{ExternalUserId, IdempotencyKey},
    wallet::{Change, Created, Event, Owner, Wallet},
};
use parking_lot::{Condvar, Mutex};
use persistence::{
    Append, Books, InjectFault, ListChange, Log, LogEvent, OnOutcome, Options, Outcome, Step,
    Ticket,
};

/// Long enough for any disk, short enough for a test that hangs.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);

pub(crate) fn key(wallet: u64) -> WalletKey {
    // Spread like real keys: the beginning tells wallets apart.
    WalletKey(
        (u128::from(wallet).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)).to_be_bytes(),
    )
}

/// Keeps wallets, and makes their events with the records that these leave, as a wallet's owner does before it appends.
#[derive(Default)]
pub(crate) struct WalletModel {
    wallets: BTreeMap<WalletKey, Wallet>,
}

impl WalletModel {
    /// Goes on with wallets as they are stored.
    pub(crate) fn of(books: &dyn Books, wallets: impl IntoIterator<Item = u64>) -> Self {
        let stored = wallets.into_iter().filter_map(|wallet| {
            let stored = books.load(&key(wallet)).unwrap()?;
            Some((key(wallet), stored.wallet))
        });
        Self {
            wallets: stored.collect(),
        }
    }

    pub(crate) fn wallet(&self, wallet: u64) -> &Wallet {
        &self.wallets[&key(wallet)]
    }

    /// How many events it has.
    pub(crate) fn version(&self, wallet: u64) -> u64 {
        self.wallets.get(&key(wallet)).map_or(0, |it| it.version)
    }

    pub(crate) fn event(&mut self, wallet: u64, at: i64, change: Change) -> LogEvent {
        let key = key(wallet);
        let event = Event {
            at: Timestamp(at),
            change,
        };
        let mut wallet = self.wallets.remove(&key);
        let (now, applied) = Wallet::replay(&mut wallet, key, event.clone()).unwrap();
        let (version, moved) = (now.version, ListChange::of(now, &applied));
        self.wallets.insert(key, wallet.unwrap());
        LogEvent::Wallet {
            key,
            version,
            event,
            record: applied.record,
            moved,
        }
    }

    pub(crate) fn created(&mut self, wallet: u64) -> LogEvent {
        let owner = Owner::External(ExternalUserId::new(format!("user-{wallet}")).unwrap());
        self.creation(wallet, ProjectId(1), owner)
    }

    pub(crate) fn created_with_code(&mut self, wallet: u64, hash: CodeHash) -> LogEvent {
        let sealed = Box::new([1, 2, 3]);
        self.creation(wallet, ProjectId(1), Owner::Code { hash, sealed })
    }

    pub(crate) fn creation(&mut self, wallet: u64, project: ProjectId, owner: Owner) -> LogEvent {
        let created = Created {
            id: WalletId(wallet.into()),
            project,
            owner,
        };
        self.event(wallet, 1000, Change::Created(Box::new(created)))
    }

    pub(crate) fn rotated(&mut self, wallet: u64, hash: CodeHash) -> LogEvent {
        let former = match &self.wallet(wallet).owner {
            Owner::Code { hash, .. } => Some(*hash),
            Owner::External(_) | Owner::Order => None,
        };
        let sealed = Box::new([4]);
        let change = Change::CodeRotated {
            hash,
            sealed,
            former,
        };
        self.event(wallet, 1000, change)
    }

    /// A grant whose key is its version.
    pub(crate) fn granted(&mut self, wallet: u64) -> LogEvent {
        let version = self.wallet(wallet).version + 1;
        let change = Change::Granted {
            product: ProductId(1),
            amount: Amount::new(10).unwrap(),
            expires_at: None,
            key: IdempotencyKey::new(format!("grant-{version}")).unwrap(),
            meta: None,
        };
        self.event(wallet, 1000, change)
    }

    /// The wallet's next event: its creation, then grants.
    pub(crate) fn next(&mut self, wallet: u64) -> LogEvent {
        match self.wallets.contains_key(&key(wallet)) {
            true => self.granted(wallet),
            false => self.created(wallet),
        }
    }
}

pub(crate) fn project(id: u128, name: &str) -> Document {
    Document::Project(Project::new(
        ProjectId(id),
        name.into(),
        Mode::CreditCodes,
        Timestamp(1),
    ))
}

pub(crate) fn append(events: &[LogEvent]) -> Append {
    let mut append = Append::default();
    for event in events {
        append.push(event).unwrap();
    }
    append
}

/// A callback, and where its outcome arrives.
pub(crate) fn waiter() -> (OnOutcome, mpsc::Receiver<Outcome>) {
    let (send, receive) = mpsc::channel();
    (
        Box::new(move |outcome| send.send(outcome).unwrap_or_default()),
        receive,
    )
}

/// Appends and waits for the outcome.
pub(crate) fn commit(log: &dyn Log, events: &[LogEvent]) -> (Ticket, Outcome) {
    let (done, answers) = waiter();
    let ticket = log.append(append(events), Some(done)).unwrap();
    (ticket, answers.recv_timeout(TIMEOUT).unwrap())
}

/// How many events of a wallet are readable, all of them fitting together.
pub(crate) fn version(books: &dyn Books, wallet: u64) -> u64 {
    let Some(stored) = books.load(&key(wallet)).unwrap() else {
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
    state: Mutex<Troubles>,
    changed: Condvar,
}

#[derive(Default)]
struct Troubles {
    failing: Option<(Step, u32)>,
    held: HashSet<Step>,
    /// Steps at which a thread waits.
    reached: HashSet<Step>,
}

impl Trouble {
    /// This step fails, after succeeding so many times.
    pub(crate) fn fail(&self, step: Step, after: u32) {
        self.state.lock().failing = Some((step, after));
    }

    /// Nothing becomes durable until this is released.
    pub(crate) fn hold(&self, holding: bool) {
        self.hold_step(Step::FlushFrames, holding);
    }

    /// Nothing goes past this step until this is released.
    pub(crate) fn hold_step(&self, step: Step, holding: bool) {
        let mut state = self.state.lock();
        match holding {
            true => state.held.insert(step),
            false => state.held.remove(&step),
        };
        state.reached.remove(&step);
        self.changed.notify_all();
    }

    /// Waits until somebody stands before a step that is held.
    pub(crate) fn wait_held(&self, step: Step) {
        let mut state = self.state.lock();
        while !state.reached.contains(&step) {
            let late = self.changed.wait_for(&mut state, TIMEOUT).timed_out();
            assert!(!late, "nobody comes to {step:?}");
        }
    }
}

impl InjectFault for Trouble {
    fn before(&self, step: Step) -> Result<(), String> {
        let mut state = self.state.lock();
        while state.held.contains(&step) {
            state.reached.insert(step);
            self.changed.notify_all();
            // A test that failed while it held this must end all the same.
            if self.changed.wait_for(&mut state, 2 * TIMEOUT).timed_out() {
                return Err(format!("{step:?} was held for too long"));
            }
        }
        match &mut state.failing {
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
    options.faults = trouble.into();
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
