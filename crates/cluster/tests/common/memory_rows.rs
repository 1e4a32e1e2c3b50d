//! The rows of snapshots in memory, for tests: they do what the statements of a database do, at a clock that is set.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{collections::BTreeMap, sync::Arc};

use cluster::snapshots::{ChunkName, NewSnapshot, SnapshotAdded, SnapshotRows};
use parking_lot::Mutex;
use persistence::{Error, frames::FramePosition};

use super::shared_log::SharedLog;

#[derive(Debug, Default)]
struct State {
    now: i64,
    /// Where the log begins.
    base: u64,
    chunks: BTreeMap<ChunkName, Chunk>,
    snapshots: BTreeMap<String, (FramePosition, Vec<u8>)>,
}

#[derive(Debug)]
struct Chunk {
    bytes: Vec<u8>,
    used_at: i64,
}

/// Snapshots in memory. No time passes of itself.
#[derive(Debug)]
pub(crate) struct MemoryRows {
    log: Arc<Mutex<SharedLog>>,
    state: Mutex<State>,
}

impl MemoryRows {
    /// No snapshots yet, beside this log.
    pub(crate) fn beside(log: &Arc<Mutex<SharedLog>>) -> Self {
        Self {
            log: Arc::clone(log),
            state: Mutex::default(),
        }
    }

    /// Lets so many microseconds pass.
    pub(crate) fn pass(&self, micros: i64) {
        let mut state = self.state.lock();
        state.now += micros;
    }

    /// Lets the log begin behind this frame.
    pub(crate) fn trim(&self, base: u64) {
        self.state.lock().base = base;
    }

    /// The names of all chunks.
    pub(crate) fn chunks(&self) -> Vec<ChunkName> {
        self.state.lock().chunks.keys().copied().collect()
    }

    /// Has the disk change what a chunk or, by its name, a manifest holds.
    pub(crate) fn damage(&self, name: &[u8], change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state.lock();
        let chunk = <ChunkName>::try_from(name).ok();
        if let Some(chunk) = chunk.and_then(|name| state.chunks.get_mut(&name)) {
            return change(&mut chunk.bytes);
        }
        let name = String::from_utf8_lossy(name);
        if let Some((_, manifest)) = state.snapshots.get_mut(&*name) {
            change(manifest);
        }
    }
}

impl SnapshotRows for MemoryRows {
    fn now(&self) -> Result<i64, Error> {
        Ok(self.state.lock().now)
    }

    fn use_chunk(&self, name: &ChunkName) -> Result<bool, Error> {
        let mut state = self.state.lock();
        let now = state.now;
        let chunk = state.chunks.get_mut(name);
        Ok(chunk.map(|chunk| chunk.used_at = now).is_some())
    }

    fn put_chunk(&self, name: &ChunkName, bytes: &[u8]) -> Result<(), Error> {
        let mut state = self.state.lock();
        let chunk = Chunk {
            bytes: bytes.into(),
            used_at: state.now,
        };
        state.chunks.insert(*name, chunk);
        Ok(())
    }

    fn chunk(&self, name: &ChunkName) -> Result<Option<Vec<u8>>, Error> {
        let state = self.state.lock();
        Ok(state.chunks.get(name).map(|chunk| chunk.bytes.clone()))
    }

    fn add_snapshot(&self, new: &NewSnapshot<'_>) -> Result<SnapshotAdded, Error> {
        let mut state = self.state.lock();
        if state.snapshots.contains_key(new.name) {
            return Ok(SnapshotAdded::NameTaken);
        }
        if state.base > new.applied.lsn {
            return Ok(SnapshotAdded::Trimmed);
        }
        let in_log = self.log.lock().from(new.head.lsn);
        if in_log.first().is_none_or(|frame| frame.place != new.head) {
            return Ok(SnapshotAdded::OtherLog);
        }
        let there = |name: &ChunkName| state.chunks.contains_key(name);
        if !new.chunks.iter().all(there) {
            return Ok(SnapshotAdded::ChunkMissing);
        }
        let now = state.now;
        for name in new.chunks {
            if let Some(chunk) = state.chunks.get_mut(name) {
                chunk.used_at = now;
            }
        }
        let row = (new.applied, new.manifest.into());
        state.snapshots.insert(new.name.into(), row);
        Ok(SnapshotAdded::Added)
    }

    fn snapshots(&self) -> Result<Vec<(String, FramePosition)>, Error> {
        let state = self.state.lock();
        let all = state.snapshots.iter();
        Ok(all.map(|(name, (at, _))| (name.clone(), *at)).collect())
    }

    fn manifest(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let state = self.state.lock();
        Ok(state.snapshots.get(name).map(|(_, bytes)| bytes.clone()))
    }

    fn remove_snapshot(&self, name: &str) -> Result<(), Error> {
        self.state.lock().snapshots.remove(name);
        Ok(())
    }

    fn chunks_unused_since(&self, moment: i64) -> Result<Vec<ChunkName>, Error> {
        let state = self.state.lock();
        let unused = state.chunks.iter().filter(|(_, it)| it.used_at < moment);
        Ok(unused.map(|(name, _)| *name).collect())
    }

    fn remove_chunks(&self, names: &[ChunkName], moment: i64) -> Result<u64, Error> {
        let mut state = self.state.lock();
        let before = state.chunks.len();
        let unused = |chunk: &Chunk| chunk.used_at < moment;
        let goes = |name: &ChunkName, chunk: &Chunk| unused(chunk) && names.contains(name);
        state.chunks.retain(|name, chunk| !goes(name, chunk));
        Ok(before.saturating_sub(state.chunks.len()) as u64)
    }
}
