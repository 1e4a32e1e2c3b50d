//! Frames in a tree of the database on this machine's disk. A directory has one process at a time, by its lock: nobody
//! else writes here.
//!
//! sled's word for a flush is not enough. Linux reports a write-back error once to each descriptor, and all of sled's
//! threads sync on one: its periodic flusher, which logs the error and goes on, the cutting off of free space at the
//! end of the file, and writers of other buffers, which report it too late. When one of them gets the error of our
//! frame first, the sync that our flush waits for succeeds. So a descriptor that only this syncs is asked before a
//! group counts. Nothing is left to write by then: a lone caller waits a tenth or two longer, many at once do not.
//! (Without the flusher the files grow by a half; and of all calls only `sync_file_range`, which cannot be called
//! safely, asks without emptying the disk's cache once more.)
//!
//! **Spacers.** Entries in order are dear in sled: a leaf with more than 16 of them is split by writing all of them
//! again, and a leaf that changed ten times is rewritten. A large frame would be written three to four times. So
//! large frames are put into leaves that were split before, while they had nothing but small keys between the numbers
//! of frames to come: three a frame leave room for some three frames in a leaf, which has seen fewer than ten changes
//! by the time that these are dropped.

use std::{fs::File, ops::Bound, sync::Arc};

use super::{FramePosition, Frames, Group, OnFrame, Written};
use crate::{error::Error, faults::Step, options::Options, sled_error::failed};

/// The tree of frames, by sequence number.
const TREE: &str = "journal";
/// Frames that are worth spacers, in bytes.
const LARGE_FRAME: usize = 4 << 10;
const SPACERS: u8 = 3;
/// How many frames ahead spacers are put. More than a leaf has, so that it is split by then.
const AHEAD: u64 = 16;
/// How many frames later they are removed. More than a leaf has, so that they are its last.
const BEHIND: u64 = 8;

pub(crate) struct SledFrames {
    db: sled::Db,
    tree: sled::Tree,
    /// A descriptor of the database's file that nothing else syncs.
    file: Arc<File>,
    options: Options,
}

impl SledFrames {
    /// Opens the tree; `file` is a descriptor of the database's file that nothing else syncs.
    pub(crate) fn open(db: &sled::Db, file: &Arc<File>, options: &Options) -> Result<Self, Error> {
        let tree = db.open_tree(TREE);
        Ok(Self {
            db: db.clone(),
            tree: tree.map_err(|error| failed("the log", &error))?,
            file: Arc::clone(file),
            options: options.clone(),
        })
    }

    /// Puts a frame in its place; returns the one that was there.
    pub(crate) fn put(&self, lsn: u64, frame: &[u8]) -> Result<Option<sled::IVec>, Error> {
        self.tree
            .insert(lsn.to_be_bytes(), frame)
            .map_err(|error| failed(&format!("writing frame {lsn}"), &error))
    }

    fn put_spacers(&self, lsn: u64) -> Result<(), Error> {
        for number in 0..SPACERS {
            let key = [lsn.to_be_bytes().as_slice(), &[number]].concat();
            let put = self.tree.insert(key, &[]);
            put.map_err(|error| failed(&format!("making room for frame {lsn}"), &error))?;
        }
        Ok(())
    }

    fn remove_spacers(&self, lsn: u64) -> Result<(), Error> {
        let key = |lsn: u64| Bound::Excluded(lsn.to_be_bytes());
        let own = self.tree.range((key(lsn), key(lsn.saturating_add(1))));
        for spacer in own.keys() {
            let removed = spacer.and_then(|spacer| self.tree.remove(spacer));
            removed.map_err(|error| failed(&format!("tidying up after frame {lsn}"), &error))?;
        }
        Ok(())
    }
}

impl Frames for SledFrames {
    fn depth(&self) -> usize {
        1
    }

    fn start(&self, group: &Group) -> Result<(), Error> {
        for frame in &group.frames {
            self.options.faults.before(Step::InsertFrame)?;
            let lsn = frame.place.lsn;
            if frame.bytes.len() >= LARGE_FRAME {
                self.put_spacers(lsn.saturating_add(AHEAD))?;
            }
            if self.put(lsn, &frame.bytes)?.is_some() {
                return Err(Error::Damaged(format!(
                    "the log at frame {lsn}: it exists already"
                )));
            }
        }
        Ok(())
    }

    fn finish(&self) -> Result<Written, Error> {
        self.options.faults.before(Step::FlushFrames)?;
        self.db
            .flush()
            .map_err(|error| failed("making the log durable", &error))?;
        // Without the seccomp filter sled's flush is no sync: then this is the best that is left.
        let synced = self.file.sync_data();
        synced.map_err(|error| Error::Io(format!("syncing the log: {error}")))?;
        Ok(Written::Durable)
    }

    fn walk(&self, _: FramePosition, see: OnFrame<'_>) -> Result<(), Error> {
        for entry in &self.tree {
            let (key, bytes) = entry.map_err(|error| failed("the log", &error))?;
            match key.split_first_chunk() {
                Some((lsn, [])) => see(u64::from_be_bytes(*lsn), &bytes)?,
                Some((_, [_])) if bytes.is_empty() => {}
                _ => {
                    return Err(Error::Damaged(
                        "the log has an entry that is not a frame".into(),
                    ));
                }
            }
        }
        Ok(())
    }

    fn read(&self, lsn: u64) -> Result<Option<Arc<[u8]>>, Error> {
        let bytes = self.tree.get(lsn.to_be_bytes());
        let bytes = bytes.map_err(|error| failed(&format!("frame {lsn}"), &error))?;
        Ok(bytes.map(|bytes| (*bytes).into()))
    }

    fn forget(&self, lsn: u64) -> Result<(), Error> {
        let removed = self.tree.remove(lsn.to_be_bytes()).map(drop);
        removed.map_err(|error| failed(&format!("dropping frame {lsn}"), &error))?;
        self.remove_spacers(lsn.saturating_sub(BEHIND))
    }
}

#[cfg(test)]
#[path = "tests/sled.rs"]
#[allow(clippy::cast_possible_truncation, reason = "small numbers of tests")]
mod tests;
