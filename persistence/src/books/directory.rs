//! The directory says in which checkpoint's pages an entry is. The newest spills are in the wallet's own record, older ones
//! in blocks, so that a wallet with millions of entries still has a small record.

use domain::id::WalletKey;

use super::{
    store::{Store, io},
    wallet_record::{Head, Spill},
};
use crate::{
    error::Error,
    format::codec::{decode_value, encode_value},
};

pub(super) fn block_key(wallet: &WalletKey, first: u64) -> Vec<u8> {
    [wallet.0.as_slice(), &first.to_be_bytes()].concat()
}

/// The spill that moved an entry to a page.
pub(super) fn find(
    store: &Store,
    wallet: &WalletKey,
    head: &Head,
    version: u64,
) -> Result<Option<Spill>, Error> {
    if version >= first_inline(head) {
        return Ok(among(&head.spills, version));
    }
    let range = block_key(wallet, 0)..=block_key(wallet, version);
    let Some(block) = store.directory.range(range).next_back() else {
        return Ok(None);
    };
    let spills: Vec<Spill> = decode_value(&block.map_err(io)?.1)?;
    Ok(among(&spills, version))
}

/// The first version that no block covers. Blocks from there on were left by a checkpoint that was
/// interrupted: they are never read, and the checkpoint that fills them again replaces them.
pub(super) fn first_inline(head: &Head) -> u64 {
    head.spills
        .first()
        .map_or(head.spilled.saturating_add(1), |spill| spill.first)
}

fn among(spills: &[Spill], version: u64) -> Option<Spill> {
    let after = spills.partition_point(|spill| spill.first <= version);
    spills.get(after.checked_sub(1)?).copied()
}

/// Adds this checkpoint's spill, and moves all inline ones to a block once they are many.
pub(super) fn push(
    store: &Store,
    wallet: &WalletKey,
    head: &mut Head,
    spill: Spill,
) -> Result<(), Error> {
    head.spills.push(spill);
    if head.spills.len() >= store.tuning.inline_spills {
        let key = block_key(wallet, first_inline(head));
        store
            .writes
            .put(&store.directory, key, encode_value(&head.spills)?)?;
        head.spills.clear();
    }
    Ok(())
}

pub(super) fn blocks(
    store: &Store,
    wallet: &WalletKey,
    head: &Head,
) -> impl Iterator<Item = Result<sled::IVec, Error>> + use<> {
    let range = block_key(wallet, 0)..block_key(wallet, first_inline(head));
    let blocks = store.directory.range(range);
    blocks.map(|block| Ok(block.map_err(io)?.1))
}

/// A wallet's spills from the one with this version on, in order, a block at a time.
pub(super) fn from<'a>(
    store: &'a Store,
    wallet: &WalletKey,
    head: &'a Head,
    version: u64,
) -> Result<impl Iterator<Item = Result<Spill, Error>> + use<'a>, Error> {
    let inline = first_inline(head);
    let mut first = version;
    if version < inline {
        let range = block_key(wallet, 0)..=block_key(wallet, version);
        if let Some(block) = store.directory.range(range).next_back() {
            let key = block.map_err(io)?.0;
            let start = key
                .last_chunk::<8>()
                .map(|first| u64::from_be_bytes(*first));
            first = start.unwrap_or(version);
        }
    }
    // A range that would end before it begins is empty.
    let range = block_key(wallet, first.min(inline))..block_key(wallet, inline);
    let blocks = store.directory.range(range).map(|block| {
        let spills: Vec<Spill> = decode_value(&block.map_err(io)?.1)?;
        Ok(spills)
    });
    let spills = blocks.chain(std::iter::once(Ok(head.spills.clone())));
    let after = move |spills: &[Spill]| {
        let after = spills.partition_point(|spill| spill.first <= version);
        after.saturating_sub(1)
    };
    Ok(
        spills.flat_map(move |block: Result<Vec<Spill>, Error>| match block {
            Ok(spills) => {
                let from = after(&spills);
                spills.into_iter().skip(from).map(Ok).collect::<Vec<_>>()
            }
            Err(error) => vec![Err(error)],
        }),
    )
}
