//! Reads the books as records, to copy them while checkpoints go on, and writes them back. A copy is fuzzy: what is
//! read later may be of a later checkpoint. The frames after its mark make it consistent, because applying them again
//! changes nothing that a record already has. For that to hold:
//!
//! - Wallets come first, and then what their records refer to: it was written before them, never changes, and is
//!   not forgotten while a copy is made. No copied record refers to what later checkpoints write: that is left out, or,
//!   where it is copied all the same, removed when the copy is opened, as after a crash.
//! - Look-ups are read entry by entry, in order: pages may split and merge in between.
//! - project events after the mark are left out: a page of an early moment beside one of a later moment would
//!   hide those in between.
//! - The features that usage counts separately (`255` in their key) come after the counts of their product.

use domain::id::{ProjectId, WalletKey};

use super::{
    directory,
    events::EventBytes,
    project_events, retire,
    store::{RecordSink, Store, damaged, io},
    wallet_record::WalletRecord,
};
use crate::{
    contract::event_number::last_of,
    error::Error,
    frames::FramePosition,
    lookups::{AllChanges, LookUp, LookUpChange},
};

/// A part of the books, in the order in which they are copied and put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Wallets,
    Pages,
    Parts,
    Directory,
    Index,
    Filters,
    /// Lists of what checkpoints replaced.
    Lists,
    LookUp(LookUp),
    Catalog,
    Notes,
    Usage,
    ProjectEvents,
}

/// Where the books stood when a copy began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) applied: FramePosition,
    pub(crate) checkpoint: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct CopyBounds {
    pub(crate) mark: Mark,
    /// The last checkpoint by the time the wallets are copied: no copied record refers to a later one's work.
    pub(crate) last_checkpoint: u64,
}

/// A copied record: its key and its value.
pub(crate) type RawRecord<'a> = (&'a [u8], &'a [u8]);

impl Section {
    /// All sections, in the order in which they are copied.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let own = [
            Self::Wallets,
            Self::Pages,
            Self::Parts,
            Self::Directory,
            Self::Index,
            Self::Filters,
            Self::Lists,
        ];
        let rest = [Self::Catalog, Self::Notes, Self::Usage, Self::ProjectEvents];
        let look_ups = LookUp::ALL.into_iter().map(Self::LookUp);
        own.into_iter().chain(look_ups).chain(rest)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Wallets => "wallets",
            Self::Pages => "pages",
            Self::Parts => "parts",
            Self::Directory => "directory",
            Self::Index => "index",
            Self::Filters => "filters",
            Self::Lists => "lists",
            Self::LookUp(look_up) => look_up.declared().name,
            Self::Catalog => "catalog",
            Self::Notes => "notes",
            Self::Usage => "usage",
            Self::ProjectEvents => "project_events",
        }
    }

    pub(crate) fn read(
        self,
        store: &Store,
        extent: &CopyBounds,
        take: &mut RecordSink<'_>,
    ) -> Result<(), Error> {
        match self {
            Self::LookUp(look_up) => {
                let all = look_up.from(&[]);
                let mut taken = Ok(());
                store.look_up(look_up).range(&all, &mut |key, value| {
                    taken = take(key, value);
                    taken.is_ok()
                })?;
                taken
            }
            Self::ProjectEvents => {
                project_events::each_up_to(store, last_of(extent.mark.applied.lsn), take)
            }
            Self::Lists => retire::each_list(store, take),
            _ => {
                for record in self.tree(store)? {
                    let (key, value) = record.map_err(io)?;
                    if self.is_by_checkpoint() && retire::read_key(&key)?.0 > extent.last_checkpoint
                    {
                        break;
                    }
                    take(&key, &value)?;
                }
                Ok(())
            }
        }
    }

    /// Restores copied records, in the order of their keys; doing it again changes nothing. Blocks of the directory that no
    /// wallet's record refers to are left out.
    pub(crate) fn write(self, store: &Store, records: &[RawRecord<'_>]) -> Result<(), Error> {
        match self {
            Self::LookUp(look_up) => {
                let mut changes = AllChanges::default();
                for (key, value) in records {
                    changes.add(LookUpChange {
                        look_up,
                        key: (*key).into(),
                        value: Some((*value).into()),
                    });
                }
                store.list(&mut changes)
            }
            Self::ProjectEvents => put_project_events(store, records),
            Self::Directory => put_blocks(store, records),
            Self::Lists => {
                let mut records = records.iter();
                records
                    .try_for_each(|(key, value)| store.writes.put(&store.checkpoints, *key, *value))
            }
            _ => {
                let tree = self.tree(store)?;
                let mut records = records.iter();
                records.try_for_each(|(key, value)| store.writes.put(tree, *key, *value))
            }
        }
    }

    /// Whether its keys begin with the checkpoint that wrote them.
    const fn is_by_checkpoint(self) -> bool {
        matches!(
            self,
            Self::Pages | Self::Parts | Self::Index | Self::Filters
        )
    }

    /// Its tree, if that is copied record by record.
    fn tree(self, store: &Store) -> Result<&sled::Tree, Error> {
        Ok(match self {
            Self::Wallets => &store.wallets,
            Self::Pages => &store.pages,
            Self::Parts => &store.parts,
            Self::Directory => &store.directory,
            Self::Index => &store.index,
            Self::Filters => &store.filters,
            Self::Catalog => &store.catalog,
            Self::Notes => &store.notes,
            Self::Usage => &store.usage,
            Self::Lists | Self::LookUp(_) | Self::ProjectEvents => {
                return Err(damaged(format!("{} is not copied as a tree", self.name())));
            }
        })
    }
}

/// Sets up to which checkpoint the books are complete: opening checks what later ones left.
pub(crate) fn set_last_checkpoint(store: &Store, checkpoint: u64) -> Result<(), Error> {
    retire::set_last_number(store, checkpoint)
}

/// Writes the directory blocks that a wallet's record leads to. The others are of later checkpoints, and would be in the
/// way of those that a repeated checkpoint makes, whose spills may begin elsewhere.
fn put_blocks(store: &Store, records: &[RawRecord<'_>]) -> Result<(), Error> {
    let mut inline: Option<(WalletKey, u64)> = None;
    for (key, value) in records {
        let short = || damaged("a directory block has a short key".into());
        let (wallet, first) = key.split_first_chunk::<16>().ok_or_else(short)?;
        let first = u64::from_be_bytes(first.try_into().map_err(|_| short())?);
        let wallet = WalletKey(*wallet);
        if inline.is_none_or(|(of, _)| of != wallet) {
            let record = WalletRecord::read(store, &wallet)?;
            let first = record.map_or(0, |record| directory::first_inline(&record.head));
            inline = Some((wallet, first));
        }
        if inline.is_some_and(|(_, inline)| first < inline) {
            store.writes.put(&store.directory, *key, *value)?;
        }
    }
    Ok(())
}

fn put_project_events(store: &Store, records: &[RawRecord<'_>]) -> Result<(), Error> {
    let mut all = Vec::with_capacity(records.len());
    for (key, bytes) in records {
        let (project, number) = project_events::read_copied(key)?;
        all.push((project, EventBytes { number, bytes }));
    }
    for of_one in all.chunk_by(|(one, _), (other, _)| one == other) {
        let project: Option<ProjectId> = of_one.first().map(|(project, _)| *project);
        if let Some(project) = project {
            project_events::add(store, project, of_one.iter().map(|(_, bytes)| *bytes))?;
        }
    }
    Ok(())
}
