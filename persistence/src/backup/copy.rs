//! Copies the books of a running journal into a repository, and its log unless that is stored where others read it.

use domain::Timestamp;

use super::{
    FILES, FRAMES,
    directory::DirectoryRepository,
    manifest::{Frame, Manifest, Section},
    records::ChunkBuilder,
    repository::{Repository, is_name},
    stopped,
};
use crate::{
    books::{
        copied::{self, CopyBounds},
        disk::DiskBooks,
        retention::RetentionHold,
        store::RecordSink,
    },
    contract::{BackUp, BackupSummary, BesideFile, OnProgress, SnapshotOrder, TransferProgress},
    error::Error,
    faults::Step,
    frames::{FramePosition, read_behind},
    log::shared::Shared,
};

const SCATTERED_CHUNK_DIVISOR: usize = 8;

/// What a copy is called, and what is in it beside the books.
struct Order<'a> {
    name: &'a str,
    made_at: Timestamp,
    keep: Option<usize>,
    /// `None`: no frames and no files. A process that restores it has them from elsewhere.
    files: Option<&'a [BesideFile]>,
}

pub(crate) fn back_up(
    shared: &Shared,
    books: &DiskBooks,
    what: &BackUp,
    on_progress: OnProgress<'_>,
) -> Result<BackupSummary, Error> {
    check_name(&what.name)?;
    refuse_inside(books, what)?;
    let repository = DirectoryRepository::open_or_make(&what.to, &what.owner)?;
    let order = Order {
        name: &what.name,
        made_at: what.made_at,
        keep: what.keep,
        files: Some(&what.files),
    };
    copy(shared, books, &repository, &order, on_progress)
}

/// Makes a copy of the books alone, while the journal goes on.
pub(crate) fn snapshot(
    shared: &Shared,
    books: &DiskBooks,
    repository: &dyn Repository,
    what: &SnapshotOrder,
    on_progress: OnProgress<'_>,
) -> Result<BackupSummary, Error> {
    check_name(&what.name)?;
    let order = Order {
        name: &what.name,
        made_at: what.made_at,
        keep: what.keep,
        files: None,
    };
    copy(shared, books, repository, &order, on_progress)
}

fn check_name(name: &str) -> Result<(), Error> {
    if !is_name(name) {
        return Err(Error::Unusable(format!(
            "a backup cannot be called {name:?}"
        )));
    }
    Ok(())
}

fn copy(
    shared: &Shared,
    books: &DiskBooks,
    repository: &dyn Repository,
    what: &Order<'_>,
    on_progress: OnProgress<'_>,
) -> Result<BackupSummary, Error> {
    let hold = books.retention.ask(&shared.progress)?;
    let mut copy = Copy {
        shared,
        books,
        repository,
        hold: &hold,
        last_checkpoint: 0,
        on_progress,
        moved: TransferProgress {
            of_bytes: expected(repository, books),
            ..TransferProgress::default()
        },
        sections: Vec::new(),
    };
    for section in copied::Section::all() {
        copy.books(section)?;
    }
    // All that was copied is of frames up to this one: only durable ones are applied.
    let head = shared.progress.head();
    if let Some(files) = what.files {
        copy.frames(head)?;
        copy.files(files)?;
    }
    let Copy {
        moved, sections, ..
    } = copy;
    shared.options.faults.before(Step::SyncChunks)?;
    repository.sync()?;
    let mark = hold.mark;
    // The copy is complete only if nothing was forgotten up to here.
    hold.check()?;
    drop(hold);
    shared.options.faults.before(Step::WriteManifest)?;
    repository.put_manifest(
        what.name,
        &Manifest {
            format: Manifest::FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            made_at: what.made_at.0,
            applied: Frame::of(&mark.applied),
            checkpoint: mark.checkpoint,
            head: Frame::of(&head),
            sections,
        },
    )?;
    let (removed_backups, removed_chunks) = thin_out(shared, repository, what)?;
    Ok(BackupSummary {
        name: what.name.into(),
        moved,
        removed_backups,
        removed_chunks,
    })
}

/// Refuses a directory inside the data directory: a backup there would be lost with it.
fn refuse_inside(books: &DiskBooks, what: &BackUp) -> Result<(), Error> {
    let own = books.disk.directory.root();
    // The nearest ancestor that exists says where the rest will be.
    let existing = what.to.ancestors().find_map(|path| {
        let path = match path.as_os_str().is_empty() {
            true => std::path::Path::new("."),
            false => path,
        };
        path.canonicalize().ok()
    });
    if existing.is_some_and(|existing| existing.starts_with(own)) {
        return Err(Error::Unusable(format!(
            "{} is in the data directory and would be lost with it: name another directory",
            what.to.display()
        )));
    }
    Ok(())
}

/// An estimate of the bytes to copy: those of the newest backup, else the store's size on the disk.
fn expected(repository: &dyn Repository, books: &DiskBooks) -> u64 {
    let last = repository
        .manifests()
        .ok()
        .and_then(|mut names| names.pop());
    match last.and_then(|name| repository.manifest(&name).ok()) {
        Some(manifest) => manifest.bytes(),
        None => books.disk.database.sled.size_on_disk().unwrap_or(0),
    }
}

struct Copy<'a> {
    shared: &'a Shared,
    books: &'a DiskBooks,
    repository: &'a dyn Repository,
    hold: &'a RetentionHold<'a>,
    /// The last checkpoint by the time the wallets are copied; 0 before.
    last_checkpoint: u64,
    on_progress: OnProgress<'a>,
    moved: TransferProgress,
    sections: Vec<Section>,
}

impl Copy<'_> {
    fn books(&mut self, section: copied::Section) -> Result<(), Error> {
        let parts = match section {
            copied::Section::Wallets | copied::Section::Usage => SCATTERED_CHUNK_DIVISOR,
            _ => 1,
        };
        let store = self.books.applied.store();
        let extent = CopyBounds {
            mark: self.hold.mark,
            last_checkpoint: self.last_checkpoint,
        };
        self.section(section.name(), parts, |take| {
            section.read(store, &extent, take)
        })?;
        if section == copied::Section::Wallets {
            self.last_checkpoint = self.books.applied.number();
        }
        Ok(())
    }

    /// Copies the frames that are not applied at the mark, up to this one, which is durable.
    fn frames(&mut self, head: FramePosition) -> Result<(), Error> {
        self.shared.options.faults.before(Step::CopyFrames)?;
        let mut last = self.hold.mark.applied;
        let frames = &*self.books.disk.frames;
        self.section(FRAMES, 1, |take| {
            while last.lsn < head.lsn {
                let bytes = read_behind(frames, last)?;
                last = last.next(&bytes)?;
                take(&last.lsn.to_be_bytes(), &bytes)?;
            }
            Ok(())
        })?;
        if last != head {
            return Err(Error::Damaged(
                "the copied frames do not end at the last durable one".into(),
            ));
        }
        Ok(())
    }

    fn files(&mut self, files: &[BesideFile]) -> Result<(), Error> {
        self.section(FILES, 1, |take| {
            let mut files = files.iter();
            files.try_for_each(|(name, bytes)| take(name.as_bytes(), bytes))
        })
    }

    /// Writes a section with the records that `give` yields; its chunks are smaller by `parts`.
    fn section(
        &mut self,
        name: &str,
        parts: usize,
        give: impl FnOnce(&mut RecordSink<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut section = Section {
            name: name.into(),
            records: 0,
            bytes: 0,
            chunks: Vec::new(),
        };
        let bytes = self.shared.options.backup_chunk_bytes;
        let mut filling = ChunkBuilder::new(bytes.checked_div(parts).unwrap_or(bytes));
        give(&mut |key, value| match filling.push(key, value)? {
            true => self.put(&mut filling, &mut section),
            false => Ok(()),
        })?;
        if !filling.is_empty() {
            self.put(&mut filling, &mut section)?;
        }
        self.sections.push(section);
        Ok(())
    }

    fn put(&mut self, filling: &mut ChunkBuilder, section: &mut Section) -> Result<(), Error> {
        self.hold.check()?;
        if self.shared.queue.stopped().is_some() {
            return Err(stopped());
        }
        self.shared.options.faults.before(Step::WriteChunk)?;
        let (content, records) = filling.take();
        let put = self.repository.put(&content)?;
        let bytes = content.len() as u64;
        section.records += records;
        section.bytes += bytes;
        section.chunks.push(put.name);
        let moved = &mut self.moved;
        moved.records += records;
        moved.bytes += bytes;
        moved.of_bytes = moved.of_bytes.max(moved.bytes);
        moved.chunks += 1;
        moved.new_chunks += u64::from(put.written > 0);
        moved.new_bytes += put.written;
        if !(self.on_progress)(moved) {
            return Err(stopped());
        }
        Ok(())
    }
}

/// Removes the oldest backups, then the chunks that none names; returns both counts.
fn thin_out(
    shared: &Shared,
    repository: &dyn Repository,
    what: &Order<'_>,
) -> Result<(u64, u64), Error> {
    let mut names = repository.manifests()?;
    let mut removed = 0_u64;
    if let Some(keep) = what.keep {
        let old = names.len().saturating_sub(keep.max(1));
        for name in names.drain(..old) {
            // Never the one that was just made, however the others are called.
            if name != what.name {
                shared.options.faults.before(Step::RemoveOld)?;
                repository.remove(&name)?;
                removed += 1;
            }
        }
    }
    shared.options.faults.before(Step::RemoveOld)?;
    Ok((removed, repository.sweep()?))
}
