//! In which fold's pages a record is. The newest spills are in the wallet's own record, older ones
//! in blocks, so that a wallet with millions of entries still has a small record.

use domain::id::WalletKey;

use super::{
    store::{Store, io},
    wallet_record::{Head, Spill},
};
use crate::{
    codec::{decode_value, encode_value},
    contract::Error,
};

pub(super) fn block_key(wallet: &WalletKey, first_seq: u64) -> Vec<u8> {
    [wallet.0.as_slice(), &first_seq.to_be_bytes()].concat()
}

/// The spill that a record which is in a page belongs to.
pub(super) fn find(
    store: &Store,
    wallet: &WalletKey,
    head: &Head,
    seq: u64,
) -> Result<Option<Spill>, Error> {
    if seq >= first_inline(head) {
        return Ok(among(&head.spills, seq));
    }
    let range = block_key(wallet, 0)..=block_key(wallet, seq);
    let Some(block) = store.directory.range(range).next_back() else {
        return Ok(None);
    };
    let spills: Vec<Spill> = decode_value(&block.map_err(io)?.1)?;
    Ok(among(&spills, seq))
}

/// The first record that blocks say nothing of. A block from there on was left by a fold that was
/// interrupted: it is never looked at, and the fold that fills it again replaces it.
pub(super) fn first_inline(head: &Head) -> u64 {
    head.spills
        .first()
        .map_or(head.spilled.saturating_add(1), |spill| spill.first_seq)
}

fn among(spills: &[Spill], seq: u64) -> Option<Spill> {
    let after = spills.partition_point(|spill| spill.first_seq <= seq);
    spills.get(after.checked_sub(1)?).copied()
}

/// Adds this fold's spill.
pub(super) fn push(
    store: &Store,
    wallet: &WalletKey,
    head: &mut Head,
    spill: Spill,
) -> Result<(), Error> {
    head.spills.push(spill);
    if head.spills.len() >= store.tuning.inline_spills {
        let key = block_key(wallet, first_inline(head));
        store.put(&store.directory, key, encode_value(&head.spills)?)?;
        head.spills.clear();
    }
    Ok(())
}

/// All spills of a wallet's blocks, in order, a block at a time.
pub(super) fn blocks<'a>(
    store: &'a Store,
    wallet: &WalletKey,
    head: &Head,
) -> impl Iterator<Item = Result<Vec<Spill>, Error>> + use<'a> {
    let range = block_key(wallet, 0)..block_key(wallet, first_inline(head));
    store
        .directory
        .range(range)
        .map(|block| decode_value(&block.map_err(io)?.1))
}
