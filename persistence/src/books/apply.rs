//! Applies the entries of one wallet: writes pages, runs, parts and directory first, then the list of what they
//! replace, then the wallet's record, which makes all of it visible at once. Interrupted anywhere, the wallet is as
//! before, and its entries are applied again. Nothing is replayed if the awake wallet gives its snapshot.

use domain::id::WalletKey;

use super::{
    directory,
    events::WalletEntries,
    pages::{self, Writer},
    retire::{self, List, RetiredObject},
    slices::Slices,
    slot::Slots,
    store::{Store, damaged},
    wallet_record::SnapshotParts,
    wallet_record::{Spill, WalletRecord},
};
use crate::{
    contract::Awake,
    error::{Error, Ticket},
    format::{
        encode_wallet,
        entry::{self, Entry},
    },
    index::{FINGERPRINT_BYTES, Key, MAX_VERSION, fingerprint, merge},
    lookups::{self, AllChanges},
};

/// Unindexed entries that a wallet may have, as a multiple of `inline_keys`.
const MAX_READ_FOR_A_KEY: u64 = 8;
/// Most events after a small wallet's snapshot, which are replayed when the wallet wakes.
const MAX_REPLAYED: u64 = 512;
/// Bytes of a large wallet's snapshot for each new event: a larger snapshot waits for more events.
const SNAPSHOT_BYTES_PER_EVENT: u64 = 64;

pub(super) struct CheckpointContext<'a> {
    pub(super) slots: &'a Slots,
    pub(super) number: u64,
    pub(super) awake: &'a dyn Awake,
    pub(super) durable: &'a dyn Fn() -> Ticket,
}

impl CheckpointContext<'_> {
    pub(super) fn store(&self) -> &Store {
        self.slots.store()
    }

    pub(super) fn durable(&self) -> Ticket {
        (self.durable)()
    }
}

/// An awake wallet's state at some version, and the append that has to be durable before it may be stored.
pub(super) struct Snapshot {
    bytes: Vec<u8>,
    version: u64,
    last: Ticket,
}

/// A wallet in a checkpoint: its entries are being moved to pages, its record is still to be written.
pub(super) struct Pending {
    key: WalletKey,
    stored: WalletRecord,
    before: u64,
    new: Vec<Key>,
    snapshot: Option<Snapshot>,
}

impl Pending {
    /// Reads the wallet's record, and takes its snapshot from memory if one is due. `None`: all of
    /// these entries were applied before.
    pub(super) fn begin(
        tools: &CheckpointContext<'_>,
        key: WalletKey,
        wallet_entries: WalletEntries<'_>,
    ) -> Result<Option<Self>, Error> {
        let stored = WalletRecord::read(tools.store(), &key)?.unwrap_or_default();
        let last = wallet_entries.entries().last().transpose()?;
        let last = last.map_or(0, |(entry, _)| entry.version);
        if last <= stored.head.version {
            return Ok(None);
        }
        if last >= MAX_VERSION {
            return Err(damaged(format!("{key:?} has too many entries")));
        }
        let mut pending = Self {
            key,
            before: stored.head.version,
            stored,
            new: Vec::new(),
            snapshot: None,
        };
        if pending.wants_snapshot(last) {
            tools.awake.show(&key, &mut |wallet, ticket| {
                // A snapshot that does not encode could not be read either: the events are replayed instead.
                if wallet.version >= last
                    && let Ok(bytes) = encode_wallet(wallet)
                {
                    pending.snapshot = Some(Snapshot {
                        bytes,
                        version: wallet.version,
                        last: ticket,
                    });
                }
            });
        }
        Ok(Some(pending))
    }

    /// A small snapshot is taken with each checkpoint; a large one once enough has happened.
    fn wants_snapshot(&self, last: u64) -> bool {
        let bytes = self.stored.snapshot_bytes();
        let since = last.saturating_sub(self.stored.head.snapshot);
        bytes <= SNAPSHOT_BYTES_PER_EVENT * 64
            || since.saturating_mul(SNAPSHOT_BYTES_PER_EVENT) >= bytes
    }

    /// Appends the entries to the wallet's tail. Where that would exceed `tail_bytes`, writes tail and entries to the
    /// checkpoint's pages instead.
    pub(super) fn write(
        &mut self,
        tools: &CheckpointContext<'_>,
        wallet_entries: WalletEntries<'_>,
        writer: &mut Writer<'_>,
        changes: &mut AllChanges,
    ) -> Result<(), Error> {
        let store = tools.store();
        // Also entries that were applied before: what they change in look-ups may not have been stored.
        list(&self.key, wallet_entries, changes)?;
        let Self {
            key, stored, new, ..
        } = self;
        let applied_version = stored.head.version;
        let (mut next, mut bytes) = (applied_version, stored.tail.len());
        for entry in wallet_entries.entries() {
            let (entry, raw) = entry?;
            if entry.version <= applied_version {
                continue;
            }
            if entry.version != next.saturating_add(1) {
                return Err(damaged(format!(
                    "{key:?} is at version {next}, and its next event is number {}",
                    entry.version
                )));
            }
            next = entry.version;
            bytes += entry::pushed_bytes(raw);
            if let Some(hash) = entry.hash {
                new.push(Key {
                    hash,
                    version: entry.version,
                });
            }
        }
        let new = wallet_entries.entries().filter(|entry| {
            let is_applied = |(entry, _): &(Entry<'_>, _)| entry.version <= applied_version;
            !entry.as_ref().is_ok_and(is_applied)
        });
        if bytes <= store.tuning.tail_bytes {
            stored
                .tail
                .reserve_exact(bytes.saturating_sub(stored.tail.len()));
            for entry in new {
                entry::push(&mut stored.tail, entry?.1);
            }
        } else {
            writer.wallet(*key);
            for entry in entry::Entries(&stored.tail).chain(new) {
                let (entry, raw) = entry?;
                writer.push(entry.version, raw)?;
            }
            let spill = Spill {
                number: tools.number,
                first: stored.head.spilled.saturating_add(1),
            };
            stored.tail.clear();
            directory::push(store, key, &mut stored.head, spill)?;
            stored.head.spilled = next;
        }
        stored.head.version = next;
        Ok(())
    }

    /// Writes runs, parts and the list of what they replace, then the record. Its pages must be written.
    pub(super) fn finish(
        self,
        tools: &CheckpointContext<'_>,
        slices: &mut Slices,
    ) -> Result<Option<List>, Error> {
        let store = tools.store();
        let Self {
            key,
            mut stored,
            before,
            new,
            snapshot,
        } = self;
        let slot = tools.slots.awake(&key);
        let recent = slot.and_then(|slot| slot.recent(before, &new));
        let (recent, mut replaced) = index(tools, key, &mut stored, &new, recent)?;
        let parts = match snapshot.filter(|snapshot| snapshot.last <= tools.durable()) {
            Some(Snapshot { bytes, version, .. }) => {
                stored.set_snapshot(store, tools.number, &key, bytes, version)?
            }
            None => replayed(store, tools.number, key, &mut stored)?,
        };
        replaced.extend(parts.map(|parts| RetiredObject::Parts(parts.number)));
        let list = retire::list(store, tools.number, key, replaced)?;
        store.writes.put(&store.wallets, key.0, stored.encode()?)?;
        slices.look(store, key, &stored.head.runs);
        // Also one that woke since: it may have read the former record.
        if let Some(slot) = tools.slots.awake(&key) {
            slot.publish(&stored, recent.as_deref());
        }
        Ok(list)
    }
}

pub(super) fn list(
    key: &WalletKey,
    wallet_entries: WalletEntries<'_>,
    changes: &mut AllChanges,
) -> Result<(), Error> {
    for entry in wallet_entries.entries() {
        let (entry, _) = entry?;
        if entry.is_listed() {
            let mut listed = Vec::new();
            let decoded = entry.decode()?;
            lookups::of(key, &decoded.event, decoded.moved.as_deref(), &mut listed);
            listed.into_iter().for_each(|listed| changes.add(listed));
        }
    }
    Ok(())
}

/// Replays events now, if no awake wallet gave a snapshot and many would have to be replayed later.
/// Returns the parts that the new snapshot replaces.
fn replayed(
    store: &Store,
    number: u64,
    key: WalletKey,
    stored: &mut WalletRecord,
) -> Result<Option<SnapshotParts>, Error> {
    let since = stored.head.version.saturating_sub(stored.head.snapshot);
    let few = stored.snapshot_bytes() / SNAPSHOT_BYTES_PER_EVENT;
    if since <= few.max(MAX_REPLAYED) {
        return Ok(None);
    }
    let missing = || damaged(format!("{key:?}: a part of its snapshot is missing"));
    let wallet = stored.wallet(store, &key)?.ok_or_else(missing)?;
    let Some(wallet) = wallet else {
        return Ok(None);
    };
    let bytes = encode_wallet(&wallet)?;
    stored.set_snapshot(store, number, &key, bytes, wallet.version)
}

/// Leaves new keys in their entries, or writes a run of all that are in none. Returns the keys that are in no run
/// afterwards, if they are known, and the runs that were merged away. `recent`: the keys that are in no run yet, if the
/// awake wallet's slot has them.
fn index(
    tools: &CheckpointContext<'_>,
    key: WalletKey,
    stored: &mut WalletRecord,
    new: &[Key],
    recent: Option<Vec<Key>>,
) -> Result<(Option<Vec<Key>>, Vec<RetiredObject>), Error> {
    let store = tools.store();
    let (fingerprints, head) = (&mut stored.fingerprints, &stored.head);
    fingerprints.reserve_exact(new.len().saturating_mul(FINGERPRINT_BYTES));
    fingerprints.extend(new.iter().flat_map(|key| fingerprint(key.hash)));
    let most = store.tuning.inline_keys;
    // Entries without keys are read, too, whenever keys are: they must not become many either.
    let read_often = head.version.saturating_sub(head.indexed)
        > (most as u64).saturating_mul(MAX_READ_FOR_A_KEY);
    if fingerprints.len() <= most.saturating_mul(FINGERPRINT_BYTES) && !read_often {
        return Ok((recent, Vec::new()));
    }
    let mut replaced = Vec::new();
    if !fingerprints.is_empty() {
        let keys = match recent {
            Some(keys) => keys,
            None => pages::keys(store, &key, stored, head.indexed, head.version)?,
        };
        let plan = merge::plan(&head.runs, keys.len(), &store.tuning);
        let run = merge::write(store, key, tools.number, &keys, &plan)?;
        stored.head.runs = plan.kept;
        stored.head.runs.push(run);
        let sources = plan.sources.iter();
        replaced.extend(sources.map(|run| RetiredObject::Run(run.number)));
        stored.fingerprints.clear();
    }
    stored.head.indexed = stored.head.version;
    Ok((Some(Vec::new()), replaced))
}
