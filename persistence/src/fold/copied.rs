//! The books as rows of records, to be copied while folding goes on and to be put back. A copy is fuzzy:
//! what is read later may be of a later fold. The frames behind its mark make it whole, for folding
//! them again changes nothing that a record has already. For that to hold:
//!
//! - Wallets come first, and then what they name: it was written before them, never changes, and is not
//!   forgotten while a copy is made. What later folds write, no copied record names: it is left out, or,
//!   where it is copied all the same, opening removes it, as after a crash.
//! - Look-ups are read entry by entry, in order: pages split and merge meanwhile.
//! - Notices behind the mark are left out: a page of an early moment beside one of a later moment would
//!   hide those in between.
//! - The features that usage counts apart (`255` in their key) come after the counts of their product.

use domain::id::{ProjectId, WalletKey};

use super::{
    directory,
    events::Lies,
    notices, retire,
    store::{Store, damaged, io},
    wallet_record::WalletRecord,
};
use crate::{
    contract::Error,
    kept::Mark,
    lookups::{AllChanges, Listed, LookUp, Stretch},
    notices::last_of,
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
    /// What folds replaced.
    Lists,
    LookUp(LookUp),
    Catalog,
    Notes,
    Usage,
    Notices,
}

/// What is to be copied.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// Where the books stood when the copy began.
    pub(crate) mark: Mark,
    /// Once the wallets are copied: no copied record names what a later fold than this wrote.
    pub(crate) last_fold: u64,
}

/// What takes a record: its key and its value.
pub(crate) type Take<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), Error> + 'a;
/// A record as it was copied.
pub(crate) type Copied<'a> = (&'a [u8], &'a [u8]);

impl Section {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let named = [
            Self::Wallets,
            Self::Pages,
            Self::Parts,
            Self::Directory,
            Self::Index,
            Self::Filters,
            Self::Lists,
        ];
        let rest = [Self::Catalog, Self::Notes, Self::Usage, Self::Notices];
        let look_ups = LookUp::ALL.into_iter().map(Self::LookUp);
        named.into_iter().chain(look_ups).chain(rest)
    }

    /// As a manifest names it.
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
            Self::Notices => "notices",
        }
    }

    /// Gives every record.
    pub(crate) fn read(
        self,
        store: &Store,
        extent: &Extent,
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        match self {
            Self::LookUp(look_up) => {
                let first = Stretch::From(vec![0; look_up.declared().key].into());
                for entry in store.look_up(look_up).stretch(&first) {
                    let (key, value) = entry?;
                    take(&key, &value)?;
                }
                Ok(())
            }
            Self::Notices => notices::each_up_to(store, last_of(extent.mark.folded.lsn), take),
            Self::Lists => retire::each_list(store, take),
            _ => {
                for record in self.tree(store)? {
                    let (key, value) = record.map_err(io)?;
                    if self.is_by_fold() && retire::read_key(&key)?.0 > extent.last_fold {
                        break;
                    }
                    take(&key, &value)?;
                }
                Ok(())
            }
        }
    }

    /// Puts records back, in the order of their keys; doing it again changes nothing.
    pub(crate) fn write(self, store: &Store, records: &[Copied<'_>]) -> Result<(), Error> {
        match self {
            Self::LookUp(look_up) => {
                let mut changes = AllChanges::default();
                for (key, value) in records {
                    changes.add(Listed {
                        look_up,
                        key: (*key).into(),
                        value: Some((*value).into()),
                    });
                }
                store.list(&mut changes)
            }
            Self::Notices => put_notices(store, records),
            Self::Directory => put_blocks(store, records),
            Self::Lists => {
                let mut records = records.iter();
                records.try_for_each(|(key, value)| store.put(&store.folds, *key, *value))
            }
            _ => {
                let tree = self.tree(store)?;
                let mut records = records.iter();
                records.try_for_each(|(key, value)| store.put(tree, *key, *value))
            }
        }
    }

    /// Whether its keys begin with the fold that wrote them.
    const fn is_by_fold(self) -> bool {
        matches!(
            self,
            Self::Pages | Self::Parts | Self::Index | Self::Filters
        )
    }

    /// Its tree, where that is copied as it is.
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
            Self::Lists | Self::LookUp(_) | Self::Notices => {
                return Err(damaged(format!("{} is not copied as it is", self.name())));
            }
        })
    }
}

/// Says up to which fold the books are whole: what later ones left is looked through when they open.
pub(crate) fn set_last_fold(store: &Store, fold: u64) -> Result<(), Error> {
    retire::set_last_number(store, fold)
}

/// Blocks that a wallet's record leads to. Others are of later folds: they would be in the way of those
/// that folding again makes, whose spills may begin elsewhere.
fn put_blocks(store: &Store, records: &[Copied<'_>]) -> Result<(), Error> {
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
            store.put(&store.directory, *key, *value)?;
        }
    }
    Ok(())
}

fn put_notices(store: &Store, records: &[Copied<'_>]) -> Result<(), Error> {
    let mut all = Vec::with_capacity(records.len());
    for (key, bytes) in records {
        let (project, number) = notices::read_copied(key)?;
        all.push((project, Lies { number, bytes }));
    }
    for of_one in all.chunk_by(|(one, _), (other, _)| one == other) {
        let project: Option<ProjectId> = of_one.first().map(|(project, _)| *project);
        if let Some(project) = project {
            notices::add(store, project, of_one.iter().map(|(_, lies)| *lies))?;
        }
    }
    Ok(())
}
