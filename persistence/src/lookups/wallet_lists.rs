//! Wallets in lists: by the day of their last use, and by the coarse rank of a balance. Coarse, because a place that
//! moved with each deduction would make every checkpoint dearer; within a day or a rank, wallets tell the order.

use domain::id::{ProductId, ProjectId, WalletKey};

use super::{
    list_change::ListChange,
    spec::{Key, LookUpSpec, Put, joined, nothing_changes},
};

/// Key: project, day, wallet. No value.
pub(super) const LAST_USED: LookUpSpec = LookUpSpec {
    name: "last_used",
    key: 36,
    value: 0,
    changes: nothing_changes,
    moves: used,
};

/// Key: product, rank, wallet. No value.
pub(super) const BALANCES: LookUpSpec = LookUpSpec {
    name: "balances",
    key: 33,
    value: 0,
    changes: nothing_changes,
    moves: ranked,
};

fn used(wallet: &WalletKey, moved: &ListChange, put: &mut Put<'_>) {
    if let Some((before, now)) = moved.day {
        if let Some(before) = before {
            put(day_key(moved.project, before, wallet), None);
        }
        if let Some(now) = now {
            let key = day_key(moved.project, now, wallet);
            put(key, Some(Box::default()));
        }
    }
}

fn ranked(wallet: &WalletKey, moved: &ListChange, put: &mut Put<'_>) {
    for (product, before, now) in &moved.ranks {
        if let Some(before) = before {
            put(rank_key(*product, *before, wallet), None);
        }
        put(rank_key(*product, *now, wallet), Some(Box::default()));
    }
}

/// Days sort as numbers do, also those before the epoch.
pub(crate) fn day_key(project: ProjectId, day: i32, wallet: &WalletKey) -> Key {
    let day = day.cast_unsigned() ^ (1 << 31);
    joined(&[&project.0.to_be_bytes(), &day.to_be_bytes(), &wallet.0])
}

pub(crate) fn rank_key(product: ProductId, rank: u8, wallet: &WalletKey) -> Key {
    joined(&[&product.0.to_be_bytes(), &[rank], &wallet.0])
}

/// The day in a key of [`LAST_USED`].
pub(crate) fn day_of(key: &[u8]) -> Option<i32> {
    let day = key.get(16..20)?.first_chunk()?;
    Some((u32::from_be_bytes(*day) ^ (1 << 31)).cast_signed())
}

/// The rank in a key of [`BALANCES`].
pub(crate) fn rank_of(key: &[u8]) -> Option<u8> {
    key.get(16).copied()
}
