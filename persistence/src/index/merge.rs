//! Merging runs: when a level is full, its runs and the new keys become one run of the next, a
//! page at a time. A cascade over several levels is one merge, so that no key is written twice in
//! a fold. Sources are only read here; the fold retires them.

use domain::id::WalletKey;

use super::{
    Key,
    run::{self, RunMeta, Writer, page_of},
};
use crate::{
    contract::Error,
    fold::store::{Store, Tuning},
};

/// What becomes of a wallet's runs when keys are added.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The new run's level.
    pub(crate) level: u8,
    /// Runs that go into it.
    pub(crate) sources: Vec<RunMeta>,
    /// Runs that stay.
    pub(crate) kept: Vec<RunMeta>,
}

/// Where `fresh` new keys go: to the level of their number, or on from every level that they fill.
pub(crate) fn plan(runs: &[RunMeta], fresh: usize, tuning: &Tuning) -> Plan {
    let mut level = 0_u8;
    let mut size = tuning.inline_keys.saturating_mul(tuning.fan_in);
    while fresh >= size && level < u8::MAX {
        level = level.saturating_add(1);
        size = size.saturating_mul(tuning.fan_in);
    }
    let mut plan = Plan {
        level,
        sources: Vec::new(),
        kept: runs.to_vec(),
    };
    loop {
        let (full, kept): (Vec<_>, Vec<_>) =
            plan.kept.iter().partition(|run| run.level == plan.level);
        if full.len().saturating_add(1) < tuning.fan_in || plan.level == u8::MAX {
            return plan;
        }
        plan.kept = kept;
        plan.sources.extend(full);
        plan.level = plan.level.saturating_add(1);
    }
}

/// Writes the run of `fresh` (sorted) and the plan's sources.
pub(crate) fn write(
    store: &Store,
    wallet: WalletKey,
    number: u64,
    fresh: &[Key],
    plan: &Plan,
) -> Result<RunMeta, Error> {
    let stored = plan
        .sources
        .iter()
        .fold(0_u64, |sum, run| sum.saturating_add(run.keys));
    let keys = stored.saturating_add(fresh.len() as u64);
    let mut writer = Writer::new(store, wallet, number, plan.level, keys);
    let run = writer.run();
    let mut fresh = fresh;
    let mut sources: Vec<Source> = plan.sources.iter().map(|run| Source::new(*run)).collect();
    let mut page_keys = Vec::new();
    for page in 0..run.pages {
        page_keys.clear();
        let end = fresh.partition_point(|key| run.page_of(key.hash) <= page);
        let (now, later) = fresh.split_at_checked(end).unwrap_or((fresh, &[]));
        page_keys.extend_from_slice(now);
        fresh = later;
        for source in &mut sources {
            source.take(store, &wallet, run.pages, page, &mut page_keys)?;
        }
        // Few sorted stretches after each other: the stable sort finds and merges them.
        page_keys.sort();
        writer.page(page, &page_keys)?;
    }
    Ok(run)
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
        store: &Store,
        wallet: &WalletKey,
        pages: u16,
        page: u16,
        into: &mut Vec<Key>,
    ) -> Result<(), Error> {
        loop {
            let rest = self.keys.get(self.used..).unwrap_or_default();
            let count = rest.partition_point(|key| page_of(key.hash, pages) <= page);
            into.extend(rest.iter().take(count));
            self.used = self.used.saturating_add(count);
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
            self.next_page = self.next_page.saturating_add(1);
        }
    }
}
