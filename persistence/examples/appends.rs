//! How many appends a second the log takes and makes durable, without actors and HTTP.
//! `cargo run --release -p persistence --example appends -- [seconds] [in flight] [1: without folding]`
#![allow(
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss,
    reason = "it is a measurement"
)]

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use domain::{
    Amount, Timestamp,
    id::{ProductId, ProjectId, WalletId, WalletKey},
    text::{ExternalUserId, IdempotencyKey},
    wallet::{Change, Created, Event, Owner},
};
use persistence::{Append, Journal, Logged, Options, Refused, SledJournal};

const WALLETS: u64 = 10_000;
const THREADS: u64 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let seconds = numbers.next().transpose()?.unwrap_or(5);
    let in_flight = numbers.next().transpose()?.unwrap_or(65_536);
    // Without folding: how fast the log itself is.
    let no_folds = numbers.next().transpose()?.unwrap_or(0) == 1;
    let dir = std::env::current_dir()?.join("target/appends");
    let _absent = std::fs::remove_dir_all(&dir);
    let mut options = Options::new(&dir);
    if no_folds {
        options.checkpoint_events = u64::MAX;
        options.checkpoint_interval = Duration::from_secs(3600);
        options.backlog_limit = u64::MAX;
    }
    let journal = Arc::new(SledJournal::open(options)?);
    let answered = Arc::new(AtomicU64::new(0));
    let until = Instant::now() + Duration::from_secs(seconds);
    let started = Instant::now();
    let mut bytes = 0;
    let threads: Vec<_> = (0..THREADS)
        .map(|part| {
            let (journal, answered) = (Arc::clone(&journal), Arc::clone(&answered));
            thread::spawn(move || load(part, &journal, &answered, in_flight / THREADS, until))
        })
        .collect();
    let mut shed = 0;
    for thread in threads {
        let (size, refused) = thread.join().map_err(|_| "a thread panicked")?;
        bytes = size;
        shed += refused;
    }
    let durable = answered.load(Ordering::Acquire);
    let elapsed = started.elapsed().as_secs_f64();
    println!(
        "{:.0} appends/s of {bytes} bytes, {shed} shed",
        durable as f64 / elapsed
    );
    let folding = Instant::now();
    let backlog = journal.backlog();
    if !no_folds {
        journal.settle()?;
        println!(
            "backlog of {backlog} folded in {:.2} s",
            folding.elapsed().as_secs_f64()
        );
    }
    journal.close()?;
    drop(journal);
    let opening = Instant::now();
    let journal = SledJournal::open(Options::new(&dir))?;
    println!(
        "opened with {} unfolded in {:.2} s",
        journal.backlog(),
        opening.elapsed().as_secs_f64()
    );
    Ok(())
}

fn load(
    part: u64,
    journal: &SledJournal,
    answered: &Arc<AtomicU64>,
    in_flight: u64,
    until: Instant,
) -> (usize, u64) {
    let mine = Arc::new(AtomicU64::new(0));
    let (mut sent, mut size, mut shed) = (0, 0, 0);
    while Instant::now() < until {
        for _ in 0..100 {
            let wallet = part + (sent % (WALLETS / THREADS)) * THREADS;
            let version = sent / (WALLETS / THREADS) + 1;
            let Ok(append) = Append::one(&event(wallet, version, sent)) else {
                return (0, 0);
            };
            size = append.bytes().len();
            let (answered, mine) = (Arc::clone(answered), Arc::clone(&mine));
            let done = Box::new(move |_| {
                answered.fetch_add(1, Ordering::Relaxed);
                mine.fetch_add(1, Ordering::Release);
            });
            match journal.append(append, Some(done)) {
                Ok(_) => sent += 1,
                Err(Refused::Backlog) => {
                    shed += 1;
                    thread::sleep(Duration::from_millis(1));
                }
                Err(_) => return (size, shed),
            }
        }
        while sent - mine.load(Ordering::Acquire) > in_flight {
            thread::sleep(Duration::from_micros(100));
        }
    }
    while mine.load(Ordering::Acquire) < sent {
        thread::sleep(Duration::from_micros(100));
    }
    (size, shed)
}

fn event(wallet: u64, version: u64, number: u64) -> Logged {
    let spread = u128::from(wallet).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    let product = ProductId(0x0190_1234_5678_7abc_8def_0123_4567_89ab);
    let text = format!("{number:08x}-9c4e-4c52-8a5e-{wallet:012x}");
    let change = match (version, IdempotencyKey::new(text)) {
        (2.., Ok(key)) => Change::Granted {
            product,
            amount: Amount::new(1).unwrap_or_else(|| std::process::abort()),
            expires_at: None,
            key,
            meta: None,
        },
        _ => Change::Created(Box::new(Created {
            id: WalletId(spread),
            project: ProjectId(1),
            owner: Owner::External(
                ExternalUserId::new("user").unwrap_or_else(|_| std::process::abort()),
            ),
        })),
    };
    Logged::Wallet {
        key: WalletKey(spread.to_be_bytes()),
        version,
        event: Event {
            at: Timestamp(1_760_000_000_000),
            change,
        },
    }
}
