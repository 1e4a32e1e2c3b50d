//! What it costs to wake a wallet with many past idempotency keys, and to look for its first new keys.
//! `cargo run --profile dist -p persistence --example wake -- [wallets] [keys of each]`
#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "it is a measurement"
)]

mod support;

use std::{
    collections::HashMap,
    error::Error,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use domain::{id::WalletKey, wallet::Wallet};
use parking_lot::Mutex;
use persistence::{Awake, Books, LoadedWallet, Log, Options, SledJournal, Ticket};
use support::{next, wallet_key};

/// New keys that are looked for in each wallet once it is awake.
const LOOK_UPS: u64 = 16;
const PAGE_BYTES: f64 = 4096.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let wallets = numbers.next().transpose()?.unwrap_or(5_000);
    let keys = numbers.next().transpose()?.unwrap_or(600);
    let dir = std::env::current_dir()?.join("target/wake");
    let _absent = std::fs::remove_dir_all(&dir);
    fill(&SledJournal::open(Options::new(&dir))?, wallets, keys)?;
    // Opened again, so that the first wakes find nothing in memory.
    let journal = SledJournal::open(Options::new(&dir))?;
    println!("{wallets} wallets of {keys} keys");
    for cache in ["cold", "warm"] {
        wake(&journal, wallets, cache)?;
    }
    journal.close()?;
    drop(journal);
    std::fs::remove_dir_all(&dir)?;
    Ok(())
}

/// The wallets as their owners have them: checkpoints take snapshots from here.
#[derive(Default)]
struct Wallets(Mutex<HashMap<WalletKey, (Option<Wallet>, Ticket)>>);

impl Awake for Wallets {
    fn show(&self, key: &WalletKey, look: &mut dyn FnMut(&Wallet, Ticket)) {
        if let Some((Some(wallet), last)) = self.0.lock().get(key) {
            look(wallet, *last);
        }
    }
}

/// Gives each wallet its keys, in turn, the last 300 over many checkpoints, as those of wallets in use are.
fn fill(journal: &SledJournal, wallets: u64, keys: u64) -> Result<(), Box<dyn Error>> {
    let states = Arc::new(Wallets::default());
    let awake: Arc<dyn Awake> = Arc::<Wallets>::clone(&states);
    journal.follow(Arc::downgrade(&awake));
    for key in 0..=keys {
        for wallet in 0..wallets {
            while journal.refusing().is_some() {
                thread::sleep(Duration::from_millis(1));
            }
            let mut states = states.0.lock();
            let (state, last) = states.entry(wallet_key(wallet)).or_default();
            let append = next(wallet, state, key).ok_or("an event does not fit")?;
            *last = journal.append(append, None)?;
        }
        let many = if key + 300 < keys { keys / 40 } else { 0 };
        if key % many.max(16) == 0 {
            journal.flush()?;
        }
    }
    journal.flush()?;
    journal.close()?;
    Ok(())
}

fn wake(journal: &SledJournal, wallets: u64, cache: &str) -> Result<(), Box<dyn Error>> {
    let (mut waking, mut first, mut further) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let mut awake: Vec<LoadedWallet> = Vec::with_capacity(usize::try_from(wallets)?);
    let before = resident()?;
    for wallet in 0..wallets {
        let started = Instant::now();
        let loaded = journal.load(&wallet_key(wallet))?;
        waking += started.elapsed();
        awake.push(loaded.ok_or("a wallet is missing")?);
    }
    let loaded = resident()?;
    for (wallet, loaded) in (0..wallets).zip(&awake) {
        for look_up in 0..LOOK_UPS {
            let hash = (wallet * LOOK_UPS + look_up + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let started = Instant::now();
            loaded.history.find(hash, &|_| false)?;
            match look_up {
                0 => first += started.elapsed(),
                _ => further += started.elapsed(),
            }
        }
    }
    let used = resident()?;
    let each = |took: Duration, times: u64| took.as_secs_f64() * 1e6 / (wallets * times) as f64;
    let kilobytes = |bytes: f64| bytes / 1e3 / wallets as f64;
    println!(
        "{cache}: wake {:.1} µs, first look-up {:.1} µs, further {:.2} µs; resident {:.1} KB a wallet, then {:.1} KB",
        each(waking, 1),
        each(first, 1),
        each(further, LOOK_UPS - 1),
        kilobytes(loaded - before),
        kilobytes(used - before),
    );
    Ok(())
}

/// Bytes of memory of this process.
fn resident() -> Result<f64, Box<dyn Error>> {
    let sizes = std::fs::read_to_string("/proc/self/statm")?;
    let pages = sizes.split_whitespace().nth(1).ok_or("no size")?;
    Ok(pages.parse::<f64>()? * PAGE_BYTES)
}
