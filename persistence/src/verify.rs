//! Re-reads everything that is stored, with the server stopped: the chain of frames, every record,
//! and whether the unfolded events fit the state they will be folded into. It repairs nothing.

use std::{fs, io, path::Path};

use crate::{
    contract::Error,
    database::{self, Database, caught, failed},
    fold::{Folded, Unfolded},
    format::item::{self, Item},
    frame, guard,
    lock::{Directory, unusable},
    recovery::{self, JOURNAL, Scan},
    watermark::Watermark,
};

/// Memory for sled's page cache while everything is read once.
const CACHE_BYTES: u64 = 64 << 20;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Stored wallets.
    pub wallets: u64,
    /// Folded ledger records.
    pub records: u64,
    /// Frames of the log that are not folded.
    pub frames: u64,
    /// Events in them.
    pub unfolded_events: u64,
    /// Look-up keys in the index.
    pub index_keys: u64,
    /// Orders of wallets with nothing unfolded.
    pub orders: u64,
    /// Folded notes.
    pub notes: u64,
    /// Bytes that the data directory takes on the disk.
    pub disk_bytes: u64,
    /// What is wrong, a plain sentence each; empty: nothing.
    pub problems: Vec<String>,
}

impl Report {
    fn problem(&mut self, error: &Error) {
        self.problems.push(error.to_string());
    }
}

/// Reads everything under a data directory. `Err`: it could not be looked at at all.
pub fn verify(dir: &Path) -> Result<Report, Error> {
    if !dir.join("sled").exists() {
        return Err(Error::Unusable(format!(
            "{} holds no data of Scrip",
            dir.display()
        )));
    }
    if let Err(why) = guard::install() {
        // Nothing is written here that could be lost; sled itself may still tidy up.
        tracing::warn!(error = %why, "verifying without synced writes");
    }
    let directory = Directory::lock(dir)?;
    let mut report = Report {
        disk_bytes: disk_bytes(directory.root())?,
        ..Report::default()
    };
    if let Err(error) = read(&directory, &mut report) {
        report.problem(&error);
    }
    Ok(report)
}

fn read(directory: &Directory, report: &mut Report) -> Result<(), Error> {
    let watermark = Watermark::open(&directory.watermark())?;
    let Database { sled, .. } = database::open(directory, CACHE_BYTES, None)?;
    caught(|| {
        let journal = sled
            .open_tree(JOURNAL)
            .map_err(|error| failed("the log", &error))?;
        let folded = Folded::open(&sled)?;
        let mut unfolded = Unfolded::new();
        match recovery::scan(&sled, &journal, watermark.place()) {
            Ok(scan) => {
                count(&scan, report);
                unfolded = by_wallet(&scan, &journal)?;
            }
            Err(error) => report.problem(&error),
        }
        folded.verify(&unfolded, report)
    })
}

fn count(scan: &Scan, report: &mut Report) {
    report.frames = u64::try_from(scan.frames.len()).unwrap_or(u64::MAX);
    for frame in &scan.frames {
        report.unfolded_events = report.unfolded_events.saturating_add(frame.events);
    }
}

/// Entries of unfolded frames.
fn by_wallet(scan: &Scan, journal: &sled::Tree) -> Result<Unfolded, Error> {
    if let Some((lsn, why)) = &scan.torn {
        tracing::warn!(log.lsn = lsn, error = %why, "the next start removes a torn last frame");
    }
    let mut wallets = Unfolded::new();
    for unfolded in &scan.frames {
        let Some(bytes) = frame::read(journal, unfolded.place.lsn)? else {
            continue;
        };
        frame::decode(&bytes)?.each_append(|append, _| {
            let mut rest = append;
            while !rest.is_empty() {
                let (item, after) = item::split(rest)?;
                rest = after;
                if let Item::Wallet(key, entry) = item {
                    wallets.entry(key).or_default().push(entry.into());
                }
            }
            Ok(())
        })?;
    }
    Ok(wallets)
}

fn disk_bytes(dir: &Path) -> Result<u64, Error> {
    let mut total = 0_u64;
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        let add = |total: &mut u64, dirs: &mut Vec<_>| -> io::Result<()> {
            for entry in fs::read_dir(&dir)? {
                let entry = entry?;
                let metadata = entry.metadata()?;
                if metadata.is_dir() {
                    dirs.push(entry.path());
                } else {
                    *total = total.saturating_add(allocated(&metadata));
                }
            }
            Ok(())
        };
        add(&mut total, &mut dirs).map_err(|error| unusable(&dir, &error))?;
    }
    Ok(total)
}

/// What the file takes on the disk; it may have holes.
fn allocated(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.blocks().saturating_mul(512)
}
