//! Re-reads everything that is stored, with the server stopped: the chain of frames, every record, and whether the
//! pending events fit the state they will be applied into. Documents and notes are returned, for the layers above to
//! check. It repairs nothing.

mod index;
pub(crate) mod listed;
pub(crate) mod report;
pub(super) mod stored;

pub use report::{AppliedUpTo, VerifyReport};

use std::{collections::BTreeMap, fs, io, path::Path};

use domain::catalog::Document;

use self::listed::PendingEntries;
use super::AppliedState;
use crate::{
    contract::StoredNote,
    error::Error,
    files::unusable,
    format::{append::decode, decode_document, decode_project_event, item::Item},
    frames::{Frames, SledFrames, frame},
    log::{
        database::{self, Database},
        guard,
        lock::Directory,
        recovery::{self, Scan},
        watermark::Watermark,
    },
    options::Options,
    sled_error::caught,
};

/// Memory for sled's page cache while everything is read once.
const CACHE_BYTES: u64 = 64 << 20;

/// Reads everything in a data directory, and reports damage as [`VerifyReport::problems`]. Where the log is in a database
/// it is not read: [`VerifyReport::log_elsewhere`].
/// # Errors
/// [`Error::Unusable`] when the directory holds no data, is in use, half restored or cannot be listed.
pub fn verify(dir: &Path) -> Result<VerifyReport, Error> {
    if !dir.join("sled").exists() {
        return Err(Error::Unusable(format!(
            "{} holds no data of Scrip",
            dir.display()
        )));
    }
    if let Err(why) = guard::install() {
        // Nothing is written here that could be lost; sled itself may still tidy up.
        tracing::warn!(error = %why, "Verifying without synced writes");
    }
    let directory = Directory::lock(dir)?;
    directory.check_whole()?;
    let mut report = VerifyReport {
        disk_bytes: disk_bytes(directory.root())?,
        ..VerifyReport::default()
    };
    if let Err(error) = read(&directory, &mut report) {
        report.problem(&error);
    }
    Ok(report)
}

fn read(directory: &Directory, report: &mut VerifyReport) -> Result<(), Error> {
    let watermark = Watermark::open(&directory.watermark())?;
    let Database { sled, log_file, .. } = database::open(directory, CACHE_BYTES, None)?;
    caught(|| {
        let frames = SledFrames::open(&sled, &log_file, &Options::new(directory.root()))?;
        // No wallet is awake: there is nothing to have filters for.
        let applied = AppliedState::open(&sled, 0)?;
        let mut tail = Tail::default();
        let up_to = recovery::read_meta(&sled);
        if directory.is_member() {
            report.log_elsewhere = Some(AppliedUpTo {
                lsn: up_to?.lsn,
                may_be_interrupted: applied.number() > applied.last_number()?,
            });
        } else {
            match up_to.and_then(|up_to| recovery::scan(&frames, up_to, watermark.place())) {
                Ok(scan) => {
                    count(&scan, report);
                    tail = Tail::read(&scan, &frames)?;
                }
                Err(error) => report.problem(&error),
            }
        }
        stored::verify(applied.store(), &tail.wallets, report)?;
        report.documents = report.documents.take().map(|it| tail.documents_over(it));
        report.notes = report.notes.take().map(|it| tail.notes_over(it));
        Ok(())
    })
}

#[derive(Default)]
struct Tail {
    wallets: PendingEntries,
    documents: BTreeMap<(u8, u128), Document>,
    notes: BTreeMap<Box<[u8]>, Option<Box<[u8]>>>,
}

fn count(scan: &Scan, report: &mut VerifyReport) {
    report.frames = u64::try_from(scan.frames.len()).unwrap_or(u64::MAX);
    for frame in &scan.frames {
        report.pending_events += frame.events;
    }
}

impl Tail {
    fn read(scan: &Scan, frames: &dyn Frames) -> Result<Self, Error> {
        if let Some((lsn, why)) = &scan.incomplete {
            tracing::warn!(log.lsn = lsn, error = %why, "The next start removes an incomplete last frame");
        }
        let mut tail = Self::default();
        for pending in &scan.frames {
            let Some(bytes) = frames.read(pending.place.lsn)? else {
                continue;
            };
            frame::decode(&bytes)?.each_item(|item| tail.add(item))?;
        }
        Ok(tail)
    }

    fn add(&mut self, item: Item<'_>) -> Result<(), Error> {
        match item {
            Item::Wallet(key, entry) => self.wallets.entry(key).or_default().push(entry.into()),
            Item::ProjectEvent(project, project_event) => {
                drop(decode_project_event(project, project_event)?)
            }
            Item::Document(document) => {
                let document = decode_document(document)?;
                self.documents.insert(document.address(), document);
            }
            Item::Note(key, body) => {
                self.notes.insert(key.into(), body.map(Box::from));
            }
            Item::Leadership(_) => drop(decode(item)?),
        }
        Ok(())
    }

    fn documents_over(&mut self, applied: Vec<Document>) -> Vec<Document> {
        let applied = applied.into_iter();
        let mut all: BTreeMap<_, _> = applied.map(|it| (it.address(), it)).collect();
        all.append(&mut self.documents);
        all.into_values().collect()
    }

    fn notes_over(&mut self, applied: Vec<StoredNote>) -> Vec<StoredNote> {
        let mut all: BTreeMap<_, _> = applied.into_iter().collect();
        for (key, body) in std::mem::take(&mut self.notes) {
            match body {
                Some(body) => drop(all.insert(key, body)),
                None => drop(all.remove(&key)),
            }
        }
        all.into_iter().collect()
    }
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
                    *total += allocated(&metadata);
                }
            }
            Ok(())
        };
        add(&mut total, &mut dirs).map_err(|error| unusable(&dir, &error))?;
    }
    Ok(total)
}

/// Bytes that a file takes on the disk, without its holes.
fn allocated(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.blocks().saturating_mul(512)
}
