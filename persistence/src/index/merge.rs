//! Merging runs: when a level is full, its runs and the new keys become one run of the next, a
//! page at a time. A cascade over several levels is one merge, so that no key is written twice in
//! a checkpoint. Sources are only read here; the checkpoint retires them.

use domain::id::WalletKey;

use super::{
    Key, Pages,
    run::{self, RunMeta, Writer, page_of},
};
use crate::{error::Error, tuning::Tuning};

/// What becomes of a wallet's runs when keys are added.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) level: u8,
    /// Runs that go into it.
    pub(crate) sources: Vec<RunMeta>,
    /// Runs that stay.
    pub(crate) kept: Vec<RunMeta>,
}

/// Plans where `new` new keys go: to the level of their number, or up from every level that they fill, as long as a
/// checkpoint can take the time. A level that is too large for that stays overfull until [`large`] finds it.
pub(crate) fn plan(runs: &[RunMeta], new: usize, tuning: &Tuning) -> Plan {
    let mut level = 0_u8;
    let mut size = tuning.inline_keys.saturating_mul(tuning.fan_in);
    while new >= size && level < u8::MAX {
        level += 1;
        size *= tuning.fan_in;
    }
    let mut plan = Plan {
        level,
        sources: Vec::new(),
        kept: runs.to_vec(),
    };
    loop {
        let (full, kept): (Vec<_>, Vec<_>) =
            plan.kept.iter().partition(|run| run.level == plan.level);
        let few = full.len() + 1 < tuning.fan_in;
        if few || plan.level == u8::MAX || keys_of(&full) > tuning.keys_at_once {
            return plan;
        }
        plan.kept = kept;
        plan.sources.extend(full);
        plan.level += 1;
    }
}

/// The lowest level with more runs than it should have, too large to be merged within a checkpoint: those
/// runs, which become one of the next level.
pub(crate) fn large(runs: &[RunMeta], tuning: &Tuning) -> Option<Vec<RunMeta>> {
    let levels = (0..u8::MAX).take_while(|level| runs.iter().any(|run| run.level >= *level));
    levels
        .map(|level| runs.iter().filter(move |run| run.level == level).copied())
        .map(Iterator::collect::<Vec<_>>)
        .find(|full| full.len() >= tuning.fan_in && keys_of(full) > tuning.keys_at_once)
}

fn keys_of(runs: &[RunMeta]) -> u64 {
    let keys = runs.iter().map(|run| run.keys);
    keys.fold(0, u64::saturating_add)
}

/// Writes the run of `new` (sorted) and the plan's sources.
pub(crate) fn write(
    store: &impl Pages,
    wallet: WalletKey,
    number: u64,
    new: &[Key],
    plan: &Plan,
) -> Result<RunMeta, Error> {
    let mut merge = Merge::new(store, wallet, number, plan.level, new, &plan.sources);
    while !merge.write_page(store)? {}
    Ok(merge.run())
}

/// A run being written out of others, a page at a time.
pub(crate) struct Merge {
    wallet: WalletKey,
    writer: Writer,
    /// Sorted keys that are in no run yet.
    new: Vec<Key>,
    used: usize,
    sources: Vec<Source>,
    next_page: u16,
    page: Vec<Key>,
}

impl Merge {
    pub(crate) fn new(
        store: &impl Pages,
        wallet: WalletKey,
        number: u64,
        level: u8,
        new: &[Key],
        sources: &[RunMeta],
    ) -> Self {
        let keys = keys_of(sources).saturating_add(new.len() as u64);
        Self {
            wallet,
            writer: Writer::new(store, wallet, number, level, keys),
            new: new.to_vec(),
            used: 0,
            sources: sources.iter().map(|run| Source::new(*run)).collect(),
            next_page: 0,
            page: Vec::new(),
        }
    }

    pub(crate) const fn run(&self) -> RunMeta {
        self.writer.run()
    }

    /// Writes the next page; returns whether it was the last.
    pub(crate) fn write_page(&mut self, store: &impl Pages) -> Result<bool, Error> {
        let (run, page) = (self.writer.run(), self.next_page);
        if page >= run.pages {
            return Ok(true);
        }
        self.page.clear();
        let rest = self.new.get(self.used..).unwrap_or_default();
        let count = rest.partition_point(|key| run.page_of(key.hash) <= page);
        self.page.extend(rest.iter().take(count));
        self.used += count;
        for source in &mut self.sources {
            source.take(store, &self.wallet, run.pages, page, &mut self.page)?;
        }
        // Few sorted ranges after each other: the stable sort finds and merges them.
        self.page.sort();
        self.writer.page(store, page, &self.page)?;
        self.next_page = page.saturating_add(1);
        Ok(self.next_page >= run.pages)
    }
}

/// A run being read in order, one of its pages in memory.
struct Source {
    run: RunMeta,
    next_page: u16,
    keys: Vec<Key>,
    used: usize,
}

impl Source {
    const fn new(run: RunMeta) -> Self {
        Self {
            run,
            next_page: 0,
            keys: Vec::new(),
            used: 0,
        }
    }

    /// Moves the keys of the target's pages up to `page` into `into`.
    fn take(
        &mut self,
        store: &impl Pages,
        wallet: &WalletKey,
        pages: u16,
        page: u16,
        into: &mut Vec<Key>,
    ) -> Result<(), Error> {
        loop {
            let rest = self.keys.get(self.used..).unwrap_or_default();
            let count = rest.partition_point(|key| page_of(key.hash, pages) <= page);
            into.extend(rest.iter().take(count));
            self.used += count;
            if self.used < self.keys.len() || self.next_page == self.run.pages {
                return Ok(());
            }
            self.keys.clear();
            self.used = 0;
            if !run::read(
                store,
                wallet,
                self.run.number,
                self.next_page,
                &mut self.keys,
            )? {
                return Err(run::missing(wallet, self.run.number));
            }
            self.next_page += 1;
        }
    }
}
