//! One folder on a simulated disk: the durable names, and later changes.

use rand::{RngExt, rngs::StdRng};
use std::collections::BTreeMap;

/// The names in a folder, and what they lead to.
pub(crate) type Names = BTreeMap<String, Node>;

/// An index into the disk's list of folders or of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Folder(usize),
    File(usize),
}

/// A change of the names in a folder.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Create(String, Node),
    Rename(String, String),
    Remove(String),
}

/// A folder's names.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    /// As programs see them.
    names: Names,
    durable: Names,
    pending: Vec<Change>,
    /// Number of changes that are durable.
    covered: usize,
}

impl Folder {
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Makes a change, at once.
    pub(crate) fn change(&mut self, change: Change) {
        change.apply(&mut self.names);
        self.pending.push(change);
    }

    /// What a sync that begins now covers: the number of changes so far.
    pub(crate) fn coverable(&self) -> usize {
        self.covered + self.pending.len()
    }

    /// Applies a successful sync. `coverable` is the number when it began.
    pub(crate) fn cover(&mut self, coverable: usize) {
        let count = coverable.saturating_sub(self.covered);
        self.pending
            .drain(..count)
            .for_each(|change| change.apply(&mut self.durable));
        self.covered += count;
    }

    /// The names that remain if the power is cut now: a filesystem's journal keeps changes in order, so any
    /// first few of the later ones hold.
    pub(crate) fn after_power_cut(&self, rng: &mut StdRng) -> Names {
        let mut names = self.durable.clone();
        let kept = rng.random_range(0..=self.pending.len());
        self.pending
            .iter()
            .take(kept)
            .for_each(|change| change.apply(&mut names));
        names
    }
}

impl Change {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Create(name, node) => {
                names.insert(name.clone(), *node);
            }
            Self::Rename(from, to) => {
                if let Some(node) = names.remove(from) {
                    names.insert(to.clone(), node);
                }
            }
            Self::Remove(name) => {
                names.remove(name);
            }
        }
    }
}
