//! One file on a simulated disk: its durable contents, and later changes.

use rand::{RngExt, rngs::StdRng};
use std::collections::HashMap;

/// The unit that a power cut leaves as a whole or not at all.
const BLOCK_BYTES: usize = 4096;

/// A file's durable contents, and the changes that no completed sync has covered.
#[derive(Debug, Default)]
pub(crate) struct File {
    durable: Vec<u8>,
    pending: Vec<Pending>,
}

#[derive(Debug)]
struct Pending {
    call: u64,
    ended: bool,
    change: Change,
}

#[derive(Debug)]
enum Change {
    Write { offset: usize, data: Vec<u8> },
    Truncate { bytes: usize },
}

/// How much of what was not synced a power cut leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Luck {
    /// The chance that a block is kept, from 0 to 1.
    pub(crate) kept: f64,
}

impl File {
    /// Begins a write: from now on any of its blocks may be on the disk.
    pub(crate) fn write(&mut self, call: u64, offset: usize, data: Vec<u8>) {
        self.pending.push(Pending {
            call,
            ended: false,
            change: Change::Write { offset, data },
        });
    }

    /// Ends a write: a sync that begins from now on covers it.
    pub(crate) fn end_write(&mut self, call: u64, written: usize) {
        let pending = self
            .pending
            .iter_mut()
            .find(|pending| pending.call == call && !pending.ended);
        let pending = pending.expect("a write that no sync covers stays here until it has ended");
        pending.ended = true;
        if let Change::Write { data, .. } = &mut pending.change {
            data.truncate(written);
        }
    }

    /// Changes the size, at once.
    pub(crate) fn truncate(&mut self, bytes: usize) {
        let change = Change::Truncate { bytes };
        self.pending.push(Pending {
            call: 0,
            ended: true,
            change,
        });
    }

    /// What a sync that begins now covers: all changes that have ended.
    pub(crate) fn coverable(&self) -> Vec<bool> {
        self.pending.iter().map(|pending| pending.ended).collect()
    }

    /// Applies a successful sync. `covered` is what [`File::coverable`] returned when it began, reduced by what
    /// other syncs have covered since.
    pub(crate) fn cover(&mut self, covered: &[bool]) {
        let mut place = 0;
        let durable = &mut self.durable;
        self.pending.retain(|pending| {
            let is_covered = covered.get(place).copied().unwrap_or_default();
            place += 1;
            if is_covered {
                pending.change.apply(durable);
            }
            !is_covered
        });
    }

    /// The contents as programs see them.
    pub(crate) fn current(&self) -> Vec<u8> {
        let mut contents = self.durable.clone();
        self.pending
            .iter()
            .for_each(|pending| pending.change.apply(&mut contents));
        contents
    }

    /// Ends writes during which the process died, by what can be seen in the file. A change of size is recorded
    /// after it is made, so the last one may be visible only in the file.
    pub(crate) fn end_unfinished(&mut self, left: &[u8]) {
        for pending in self.pending.iter_mut().filter(|pending| !pending.ended) {
            pending.ended = true;
            if let Change::Write { offset, data } = &mut pending.change {
                let end = left.len().min(*offset + data.len());
                *data = left.get(*offset..end).unwrap_or_default().to_vec();
            }
        }
        let beyond = left.get(self.current().len()..);
        if beyond.is_some_and(|beyond| !beyond.is_empty() && beyond.iter().all(|&byte| byte == 0)) {
            self.truncate(left.len());
        }
    }

    /// What remains if the power is cut now: everything covered, and of each later block any version it has had
    /// since. A filesystem's journal keeps size changes in order, so some first ones of them hold, and nothing
    /// remains beyond the first that does not.
    pub(crate) fn after_power_cut(&self, luck: Luck, rng: &mut StdRng) -> Vec<u8> {
        let truncations = self
            .pending
            .iter()
            .filter(|pending| pending.change.truncates())
            .count();
        let mut truncations_left = rng.random_range(0..=truncations);
        let mut versions = self.versions_kept(luck, rng);
        let mut contents = self.durable.clone();
        let mut lost_from = usize::MAX;
        for Pending { change, .. } in &self.pending {
            match change {
                Change::Truncate { .. } if truncations_left > 0 => {
                    truncations_left -= 1;
                    change.apply(&mut contents);
                }
                Change::Truncate { bytes } => lost_from = lost_from.min(*bytes),
                Change::Write { offset, data } => {
                    for (start, part) in blocks(*offset, data) {
                        let left = versions.get_mut(&(start / BLOCK_BYTES));
                        let Some(left) = left.filter(|left| **left > 0) else {
                            continue;
                        };
                        *left -= 1;
                        if start < lost_from {
                            put(&mut contents, start, part);
                        }
                    }
                }
            }
        }
        contents
    }

    /// How many of its later versions each block has reached, at random.
    fn versions_kept(&self, luck: Luck, rng: &mut StdRng) -> HashMap<usize, usize> {
        let mut versions: HashMap<usize, usize> = HashMap::new();
        let mut order = Vec::new();
        for Pending { change, .. } in &self.pending {
            let Change::Write { offset, data } = change else {
                continue;
            };
            for (start, _) in blocks(*offset, data) {
                let count = versions.entry(start / BLOCK_BYTES).or_default();
                if *count == 0 {
                    order.push(start / BLOCK_BYTES);
                }
                *count += 1;
            }
        }
        for block in order {
            let count = versions.entry(block).or_default();
            *count = match rng.random_bool(luck.kept) {
                true if luck.kept == 1.0 => *count,
                true => rng.random_range(1..=*count),
                false => 0,
            };
        }
        versions
    }
}

impl Change {
    fn truncates(&self) -> bool {
        matches!(self, Self::Truncate { .. })
    }

    fn apply(&self, contents: &mut Vec<u8>) {
        match self {
            Self::Write { offset, data } => put(contents, *offset, data),
            Self::Truncate { bytes } => contents.resize(*bytes, 0),
        }
    }
}

fn put(contents: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if contents.len() < end {
        contents.resize(end, 0);
    }
    contents[offset..end].copy_from_slice(data);
}

/// The parts of a write that fall into one block each, with their offsets.
fn blocks(offset: usize, data: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut rest = (offset, data);
    std::iter::from_fn(move || {
        let (start, data) = rest;
        let bytes = data.len().min(BLOCK_BYTES - start % BLOCK_BYTES);
        let (part, later) = data.split_at(bytes);
        rest = (start + bytes, later);
        (bytes > 0).then_some((start, part))
    })
}
