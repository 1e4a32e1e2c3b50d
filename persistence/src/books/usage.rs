//! Usage as it is stored: a record for each hour, day and month of a product. Each record says up to which
//! frame of the log it counts, so that a checkpoint that is done again counts nothing twice.
//!
//! ```text
//! product, 255                               the features that are counted apart
//! product, interval, first millisecond       the last frame, the count, its features, its sales, its wallets
//! ```

use std::collections::{BTreeMap, BTreeSet};

use domain::{Timestamp, id::ProductId};

use super::store::{Store, damaged, io};
use crate::{
    error::Error,
    format::codec::{decode_value, encode_value},
    usage::{FEATURES, Group, Hour, Interval, Usage, UsageDelta, pending::StoredPeriod},
};

/// The kind of record that names a product's features.
const NAMES: u8 = u8::MAX;

/// The last frame that is counted, and the usage.
type StoredUsage = (u64, Usage);

/// Adds what a checkpoint's frames, up to `through`, granted, used and sold.
pub(super) fn add(store: &Store, tally: &UsageDelta, through: u64) -> Result<(), Error> {
    for (product, hours) in tally.products() {
        let names = names(store, product, &hours)?;
        let name = |name| match names.contains(name) {
            true => name,
            false => Group::other_than(name),
        };
        for interval in Interval::ALL {
            let newest = newest(store, product, interval)?;
            let mut rest = hours.as_slice();
            while let Some((first, _)) = rest.first() {
                let Some(span) = interval.span(*first) else {
                    break;
                };
                let within = rest.partition_point(|(hour, _)| *hour < span.end);
                let (now, later) = rest.split_at_checked(within).unwrap_or((rest, &[]));
                rest = later;
                // Skips intervals that are too old to be kept: a wallet that slept for long expires
                // credits as of then.
                let kept = |at: i64| {
                    interval
                        .retention_millis()
                        .is_some_and(|kept| at.saturating_add(kept) <= newest)
                };
                if kept(span.start.0) {
                    continue;
                }
                let key = key(product, interval as u8, span.start.0);
                let value = store.usage.get(key).map_err(io)?;
                let stored = value.as_deref().map(decode_value::<StoredUsage>);
                let is_new = stored.is_none();
                let (counted_through, mut usage) = stored.transpose()?.unwrap_or_default();
                let mut advances = is_new;
                for (_, hour) in now {
                    let pending = hour.parts.iter().filter(|(lsn, _)| *lsn > counted_through);
                    for (_, part) in pending {
                        usage.merge(part, name);
                        advances = true;
                    }
                    usage.wallets.merge(&hour.wallets);
                }
                usage.sales = usage.sales.bounded();
                // Also where all comes to nothing: after an interruption only a part of it may be applied again.
                if advances {
                    let value = encode_value(&(through, &usage))?;
                    store.writes.put(&store.usage, key, value)?;
                }
                if is_new && let Some(kept) = interval.retention_millis() {
                    forget(store, product, interval, span.start.0.saturating_sub(kept))?;
                }
            }
        }
    }
    Ok(())
}

/// The features of a product that are counted separately, including those seen now for the first time.
fn names(
    store: &Store,
    product: ProductId,
    hours: &[(Timestamp, &Hour)],
) -> Result<BTreeSet<Box<str>>, Error> {
    let key = key(product, NAMES, 0);
    let value = store.usage.get(key).map_err(io)?;
    let names = value
        .as_deref()
        .map(decode_value::<Vec<&str>>)
        .transpose()?;
    let stored = names.unwrap_or_default().into_iter();
    let mut names: BTreeSet<Box<str>> = stored.map(Box::from).collect();
    let before = names.len();
    let of_group = |names: &BTreeSet<Box<str>>, name: &str| {
        let group = Group::of(name);
        names.iter().filter(|it| Group::of(it) == group).count()
    };
    let parts = hours.iter().flat_map(|(_, hour)| &hour.parts);
    for name in parts.flat_map(|(_, usage)| usage.features.keys()) {
        if !names.contains(name) && of_group(&names, name) < FEATURES {
            names.insert(name.clone());
        }
    }
    if names.len() > before {
        let all: Vec<&str> = names.iter().map(|name| &**name).collect();
        store.writes.put(&store.usage, key, encode_value(&all)?)?;
    }
    Ok(names)
}

/// The first instant of the newest record.
fn newest(store: &Store, product: ProductId, interval: Interval) -> Result<i64, Error> {
    let all = key(product, interval as u8, i64::MIN)..=key(product, interval as u8, i64::MAX);
    let newest = store.usage.range(all).next_back().transpose().map_err(io)?;
    newest.map_or(Ok(i64::MIN), |(key, _)| start(&key))
}

/// Removes the intervals up to `to`, which are older than they are kept.
fn forget(store: &Store, product: ProductId, interval: Interval, to: i64) -> Result<(), Error> {
    let old = key(product, interval as u8, i64::MIN)..=key(product, interval as u8, to);
    for old in store.usage.range(old).keys() {
        store.writes.remove(&store.usage, old.map_err(io)?)?;
    }
    Ok(())
}

/// Usage of a product from `from` to before `to`, oldest first. Intervals without usage are left out.
pub(crate) fn read(
    store: &Store,
    product: ProductId,
    interval: Interval,
    (from, to): (Timestamp, Timestamp),
) -> Result<Vec<StoredPeriod>, Error> {
    if from >= to {
        return Ok(Vec::new());
    }
    let range = key(product, interval as u8, from.0)..key(product, interval as u8, to.0);
    let records = store.usage.range(range);
    records
        .map(|record| {
            let (key, value) = record.map_err(io)?;
            let (through, usage): StoredUsage = decode_value(&value)?;
            Ok((Timestamp(start(&key)?), through, usage))
        })
        .collect()
}

/// Intervals of a product that begin after this are kept; `None`: all are.
pub(crate) fn kept_after(
    store: &Store,
    product: ProductId,
    interval: Interval,
) -> Result<Option<Timestamp>, Error> {
    let Some(kept) = interval.retention_millis() else {
        return Ok(None);
    };
    let newest = newest(store, product, interval)?;
    Ok(Some(Timestamp(newest.saturating_sub(kept))))
}

/// Everything ever counted, by product: the sum of all months, without features.
pub(super) fn totals(store: &Store) -> Result<BTreeMap<ProductId, Usage>, Error> {
    let mut totals: BTreeMap<ProductId, Usage> = BTreeMap::new();
    for record in &store.usage {
        let (key, value) = record.map_err(io)?;
        if key.get(16) != Some(&(Interval::Month as u8)) {
            continue;
        }
        let product = key.first_chunk::<16>().ok_or_else(short)?;
        let product = ProductId(u128::from_be_bytes(*product));
        let (_, mut month): StoredUsage = decode_value(&value)?;
        month.features.clear();
        totals
            .entry(product)
            .or_default()
            .merge(&month, |name| name);
    }
    Ok(totals)
}

/// Instants sort as numbers do, also those before the epoch.
fn key(product: ProductId, kind: u8, start: i64) -> [u8; 25] {
    let mut key = [kind; 25];
    let (head, tail) = key.split_at_mut(16);
    head.copy_from_slice(&product.0.to_be_bytes());
    let start = start.cast_unsigned() ^ (1 << 63);
    if let Some(tail) = tail.last_chunk_mut::<8>() {
        *tail = start.to_be_bytes();
    }
    key
}

fn start(key: &[u8]) -> Result<i64, Error> {
    let start = key.last_chunk::<8>().ok_or_else(short)?;
    Ok((u64::from_be_bytes(*start) ^ (1 << 63)).cast_signed())
}

fn short() -> Error {
    damaged("a record of usage has a short key".into())
}
