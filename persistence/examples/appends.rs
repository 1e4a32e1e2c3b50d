//! How many appends a second the log takes and makes durable, without actors and HTTP.
//! `cargo run --release -p persistence --example appends -- [seconds] [in flight] [1: without checkpoints]`
#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "it is a measurement"
)]

mod support;

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use domain::wallet::Wallet;
use persistence::{Backlog, Books, Log, Options, SledJournal};
use support::next;

const WALLETS: u64 = 10_000;
const THREADS: u64 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let seconds = numbers.next().transpose()?.unwrap_or(5);
    let in_flight = numbers.next().transpose()?.unwrap_or(65_536);
    // Without checkpoints: how fast the log itself is.
    let no_checkpoints = numbers.next().transpose()?.unwrap_or(0) == 1;
    let dir = std::env::current_dir()?.join("target/appends");
    let _absent = std::fs::remove_dir_all(&dir);
    let mut options = Options::new(&dir);
    if no_checkpoints {
        let never = Backlog {
            events: u64::MAX,
            bytes: u64::MAX,
        };
        options.checkpoint = never;
        options.checkpoint_interval = Duration::from_secs(3600);
        options.backlog_limit = never;
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
    let checkpointing = Instant::now();
    let backlog = journal.backlog();
    if !no_checkpoints {
        journal.flush()?;
        println!(
            "backlog of {} events applied in {:.2} s",
            backlog.events,
            checkpointing.elapsed().as_secs_f64()
        );
    }
    journal.close()?;
    drop(journal);
    let opening = Instant::now();
    let journal = SledJournal::open(Options::new(&dir))?;
    println!(
        "opened and applied the rest in {:.2} s",
        opening.elapsed().as_secs_f64()
    );
    journal.close()?;
    Ok(())
}

/// Appends like the owners of awake wallets do: the wallet first, then the log.
fn load(
    part: u64,
    journal: &SledJournal,
    answered: &Arc<AtomicU64>,
    in_flight: u64,
    until: Instant,
) -> (usize, u64) {
    let mine = Arc::new(AtomicU64::new(0));
    let (mut sent, mut size, mut shed) = (0_u64, 0, 0);
    let mut wallets: Vec<Option<Wallet>> = (0..WALLETS / THREADS).map(|_| None).collect();
    while Instant::now() < until {
        for (place, wallet) in wallets.iter_mut().enumerate() {
            if journal.refusing().is_some() {
                shed += 1;
                thread::sleep(Duration::from_millis(1));
                break;
            }
            let number = part + place as u64 * THREADS;
            let Some(append) = next(number, wallet, sent) else {
                return (0, 0);
            };
            size = append.bytes().len();
            let (answered, answer) = (Arc::clone(answered), Arc::clone(&mine));
            let done = Box::new(move |_| {
                answered.fetch_add(1, Ordering::Relaxed);
                answer.fetch_add(1, Ordering::Release);
            });
            if journal.append(append, Some(done)).is_err() {
                return (size, shed);
            }
            sent += 1;
            while sent - mine.load(Ordering::Acquire) > in_flight {
                thread::sleep(Duration::from_micros(100));
            }
        }
    }
    while mine.load(Ordering::Acquire) < sent {
        thread::sleep(Duration::from_micros(100));
    }
    (size, shed)
}
