//! A log that several processes share, in memory, for tests: it does what one statement of a database does, and shows
//! what a database shows. What happens to statements and answers on their way is up to the test.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;

use persistence::{
    Error, Faults, Step,
    frames::{FramePosition, Frames, Group, OnFrame, StoredFrame, Written},
};

/// The rows of a log, and how many of them a standby has: those behind are seen by everybody and lost with the machine.
#[derive(Debug)]
pub(crate) struct SharedLog {
    /// The first is of the frame before the first, and is empty.
    rows: BTreeMap<u64, StoredFrame>,
    /// The last frame that survives a failover.
    safe: u64,
}

impl Default for SharedLog {
    fn default() -> Self {
        let before = StoredFrame {
            place: FramePosition::default(),
            bytes: Arc::default(),
        };
        Self {
            rows: BTreeMap::from([(0, before)]),
            safe: 0,
        }
    }
}

impl SharedLog {
    /// Adds a group behind the frame that it names, all of it or nothing; returns whether it was added.
    pub(crate) fn insert(&mut self, group: &Group) -> bool {
        let follows = self.head() == group.behind;
        if follows {
            let kept = group.frames.iter().map(|frame| StoredFrame {
                place: frame.place,
                bytes: Arc::clone(&frame.bytes),
            });
            self.rows.extend(kept.map(|kept| (kept.place.lsn, kept)));
        }
        follows
    }

    /// The place of the last frame.
    pub(crate) fn head(&self) -> FramePosition {
        let last = self.rows.last_key_value();
        last.map(|(_, kept)| kept.place).unwrap_or_default()
    }

    /// All frames from this number on.
    pub(crate) fn from(&self, lsn: u64) -> Vec<StoredFrame> {
        let rows = self.rows.range(lsn..);
        rows.map(|(_, kept)| kept.clone()).collect()
    }

    /// The standby has all of it now.
    pub(crate) fn replicate(&mut self) {
        self.safe = self.head().lsn;
    }

    /// The last frame that survives a failover.
    pub(crate) const fn safe(&self) -> u64 {
        self.safe
    }

    /// The machine is lost, and the standby goes on with what it has.
    pub(crate) fn fail_over(&mut self) {
        let safe = self.safe;
        self.rows.retain(|lsn, _| *lsn <= safe);
    }
}

/// Frames of a journal that is alone on a shared log.
pub(crate) struct LoneConnection {
    log: Arc<Mutex<SharedLog>>,
    depth: usize,
    /// Whether each group under way was added.
    under_way: Mutex<VecDeque<bool>>,
    faults: Faults,
}

impl LoneConnection {
    /// Connects, for at most so many groups under way.
    pub(crate) fn new(log: &Arc<Mutex<SharedLog>>, depth: usize, faults: Faults) -> Self {
        Self {
            log: Arc::clone(log),
            depth,
            under_way: Mutex::default(),
            faults,
        }
    }
}

impl Frames for LoneConnection {
    fn depth(&self) -> usize {
        self.depth
    }

    fn start(&self, group: &Group) -> Result<(), Error> {
        self.faults.before(Step::InsertFrame)?;
        let added = self.log.lock().insert(group);
        self.under_way.lock().push_back(added);
        Ok(())
    }

    fn finish(&self) -> Result<Written, Error> {
        self.faults.before(Step::FlushFrames)?;
        match self.under_way.lock().pop_front() {
            Some(true) => Ok(Written::Durable),
            _ => Err(Error::Io("another process writes this log".into())),
        }
    }

    fn walk(&self, behind: FramePosition, see: OnFrame<'_>) -> Result<(), Error> {
        let all = self.log.lock().from(behind.lsn.saturating_add(1));
        all.iter()
            .try_for_each(|kept| see(kept.place.lsn, &kept.bytes))
    }

    fn read(&self, lsn: u64) -> Result<Option<Arc<[u8]>>, Error> {
        let log = self.log.lock();
        Ok(log.rows.get(&lsn).map(|kept| Arc::clone(&kept.bytes)))
    }

    fn forget(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }
}
