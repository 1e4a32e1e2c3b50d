//! Frames in a tree of the database on this machine's disk. A directory has one process at a time, by its lock: nobody
//! else writes here.
//!
//! sled's word for a flush is not enough. Linux reports a write-back error once to each descriptor,
//! and all of sled's threads sync on one: its periodic flusher, which logs the error and goes on,
//! the cutting off of free space at the end of the file, and writers of other buffers, which report
//! it too late. When one of them hears of the error in our frame first, the sync that our flush
//! waits for succeeds. So a descriptor that only this syncs is asked before a group counts.
//! Nothing is left to write by then: a lone caller waits a tenth or two longer, many at once do
//! not. (Without the flusher the files grow by a half; and of all calls only `sync_file_range`,
//! which cannot be called safely, asks without emptying the disk's cache once more.)

use std::{fs::File, sync::Arc};

use super::{FramePosition, Frames, Group, OnFrame, Written};
use crate::{
    error::Error,
    options::{Options, Step},
    sled_error::failed,
};

/// The tree of frames, by sequence number.
const TREE: &str = "journal";

/// See the module.
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
}

impl Frames for SledFrames {
    fn depth(&self) -> usize {
        1
    }

    fn start(&self, group: &Group) -> Result<(), Error> {
        for frame in &group.frames {
            self.options.before(Step::InsertFrame)?;
            let lsn = frame.place.lsn;
            if self.put(lsn, &frame.bytes)?.is_some() {
                return Err(Error::Damaged(format!(
                    "the log at frame {lsn}: it exists already"
                )));
            }
        }
        Ok(())
    }

    fn finish(&self) -> Result<Written, Error> {
        self.options.before(Step::FlushFrames)?;
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
            let key: [u8; 8] = (*key)
                .try_into()
                .map_err(|_| Error::Damaged("the log has an entry that is not a frame".into()))?;
            see(u64::from_be_bytes(key), &bytes)?;
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
        removed.map_err(|error| failed(&format!("dropping frame {lsn}"), &error))
    }
}
