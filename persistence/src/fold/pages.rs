//! Ledger pages: a wallet's records in order, many to a sled value, keyed by the fold that wrote
//! them so that new ones always go to the right edge of the tree. Written once, never changed,
//! never removed.

use domain::{
    history::{Fact, Record},
    id::WalletKey,
    text::{CheckoutId, Email, Feature, InvoiceId, PaymentId, SubscriptionId},
    wallet::Order,
};

use super::{
    directory,
    store::{Store, damaged, io},
    wallet_record::WalletRecord,
};
use crate::{
    codec::{decode_value, encode_value},
    contract::Error,
};

pub(crate) fn page_key(wallet: &WalletKey, number: u32, first_seq: u64) -> Vec<u8> {
    [
        number.to_be_bytes().as_slice(),
        &wallet.0,
        &first_seq.to_be_bytes(),
    ]
    .concat()
}

/// `count` stored records, one after the other, are the encoding of a list without its length.
pub(super) fn decode(count: u64, bytes: &[u8]) -> Result<Vec<Record>, Error> {
    decode_value(&join(count, bytes)?)
}

fn join(count: u64, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut list = encode_value(&count)?;
    list.extend_from_slice(bytes);
    Ok(list)
}

/// A record never takes more than this and its texts.
const FIXED_BYTES: usize = 220;

fn most_bytes(record: &Record) -> usize {
    let entry = record.entry();
    let placed = match &record.fact {
        Fact::HoldPlaced(_, key) => Some(key),
        Fact::Entry(_) | Fact::HoldClosed(..) | Fact::Order(_) | Fact::SubscriptionOver(_) => None,
    };
    let texts = match &record.fact {
        Fact::Order(archived) => order_texts(&archived.order),
        Fact::SubscriptionOver(id) => id.as_str().len(),
        Fact::Entry(_) | Fact::HoldPlaced(..) | Fact::HoldClosed(..) => 0,
    };
    let key = entry.and_then(|entry| entry.key.as_ref()).or(placed);
    let meta = entry.and_then(|entry| entry.meta.as_ref());
    FIXED_BYTES
        .saturating_add(texts)
        .saturating_add(key.map_or(0, |key| key.as_str().len()))
        .saturating_add(meta.map_or(0, |meta| meta.as_str().len()))
}

fn order_texts(order: &Order) -> usize {
    let terms = &order.terms;
    let features = terms.features.iter().map(Feature::as_str);
    let texts = [
        terms.label.as_deref(),
        Some(&*terms.currency),
        order.checkout.as_ref().map(CheckoutId::as_str),
        order.email.as_ref().map(Email::as_str),
        order.payment.as_ref().map(PaymentId::as_str),
        order.invoice.as_ref().map(InvoiceId::as_str),
        order.subscription.as_ref().map(SubscriptionId::as_str),
    ];
    let texts = texts.into_iter().flatten().chain(features);
    texts.fold(ORDER_BYTES, |sum, text| {
        sum.saturating_add(text.len()).saturating_add(LENGTH_BYTES)
    })
}

/// An archived order never takes more than this beside [`FIXED_BYTES`] and its texts.
const ORDER_BYTES: usize = 220;
/// What a text takes more than its bytes.
const LENGTH_BYTES: usize = 9;

/// A wallet's records on their way from its tail to pages.
pub(super) struct Ledger<'a> {
    store: &'a Store,
    wallet: WalletKey,
    number: u32,
    /// Records up to this one are in pages.
    spilled: u64,
    /// Records after it, encoded.
    count: u64,
    bytes: Vec<u8>,
    /// Records after those. They are encoded many at once, into one growing buffer.
    fresh: Vec<Record>,
    /// At most so many bytes.
    fresh_bytes: usize,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(
        store: &'a Store,
        wallet: WalletKey,
        number: u32,
        stored: &mut WalletRecord,
    ) -> Self {
        let spilled = stored.head.spilled;
        let count = stored.head.records.saturating_sub(spilled);
        let bytes = std::mem::take(&mut stored.tail);
        Self {
            store,
            wallet,
            number,
            spilled,
            count,
            bytes,
            fresh: Vec::new(),
            fresh_bytes: 0,
        }
    }

    /// Adds the next record.
    pub(super) fn push(&mut self, record: Record) -> Result<(), Error> {
        let bytes = most_bytes(&record);
        if self.most_bytes().saturating_add(bytes) > self.store.tuning.page_bytes {
            self.encode()?;
            let full = self.bytes.len().saturating_add(bytes) > self.store.tuning.page_bytes;
            if full && self.count > 0 {
                self.write_page()?;
            }
        }
        self.fresh_bytes = self.fresh_bytes.saturating_add(bytes);
        self.fresh.push(record);
        Ok(())
    }

    const fn most_bytes(&self) -> usize {
        self.bytes.len().saturating_add(self.fresh_bytes)
    }

    fn encode(&mut self) -> Result<(), Error> {
        let count = self.fresh.len() as u64;
        let list = encode_value(&self.fresh)?;
        // Without the format version, which the page or the wallet's record has, and the length.
        let head = encode_value(&count)?.len();
        self.bytes
            .extend_from_slice(list.get(head..).unwrap_or_default());
        self.count = self.count.saturating_add(count);
        self.fresh.clear();
        self.fresh_bytes = 0;
        Ok(())
    }

    /// What stays in the tail, and the last record in a page. Once some of the tail was written
    /// all of it is: the next spill is then as far away as can be.
    pub(super) fn finish(mut self, spilled_before: u64) -> Result<(Vec<u8>, u64), Error> {
        self.encode()?;
        let some = self.spilled > spilled_before;
        if self.count > 0 && (some || self.bytes.len() > self.store.tuning.tail_bytes) {
            self.write_page()?;
        }
        Ok((self.bytes, self.spilled))
    }

    fn write_page(&mut self) -> Result<(), Error> {
        let key = page_key(&self.wallet, self.number, self.spilled.saturating_add(1));
        self.store
            .put(&self.store.pages, key, join(self.count, &self.bytes)?)?;
        self.spilled = self.spilled.saturating_add(self.count);
        self.count = 0;
        self.bytes.clear();
        Ok(())
    }
}

/// The page that a record is in.
fn page_of(
    store: &Store,
    wallet: &WalletKey,
    stored: &WalletRecord,
    seq: u64,
) -> Result<Vec<Record>, Error> {
    let missing = || {
        damaged(format!(
            "{wallet:?}: the page of its record {seq} is missing"
        ))
    };
    let spill = directory::find(store, wallet, &stored.head, seq)?.ok_or_else(missing)?;
    let from = page_key(wallet, spill.number, spill.first_seq);
    let to = page_key(wallet, spill.number, seq);
    let page = store
        .pages
        .range(from..=to)
        .next_back()
        .ok_or_else(missing)?;
    decode_value(&page.map_err(io)?.1)
}

/// One folded record.
pub(crate) fn record(store: &Store, wallet: &WalletKey, seq: u64) -> Result<Record, Error> {
    let missing = || damaged(format!("{wallet:?}: its record {seq} is missing"));
    let stored = WalletRecord::read(store, wallet)?.ok_or_else(missing)?;
    let records = if seq > stored.head.spilled {
        stored.tail()?
    } else {
        page_of(store, wallet, &stored, seq)?
    };
    // Their numbers have no gaps: search instead of counting, which would trust them.
    let found = records.binary_search_by_key(&seq, |record| record.seq).ok();
    found
        .and_then(|place| records.into_iter().nth(place))
        .ok_or_else(missing)
}

/// At most `limit` folded records with numbers below `seq`, the newest first.
pub(crate) fn before(
    store: &Store,
    wallet: &WalletKey,
    seq: u64,
    limit: usize,
) -> Result<Vec<Record>, Error> {
    let Some(stored) = WalletRecord::read(store, wallet)? else {
        return Ok(Vec::new());
    };
    let mut below = seq.min(stored.head.records.saturating_add(1));
    let mut found = Vec::new();
    while below > 1 && found.len() < limit {
        let last = below.saturating_sub(1);
        let records = if last > stored.head.spilled {
            stored.tail()?
        } else {
            page_of(store, wallet, &stored, last)?
        };
        let room = limit.saturating_sub(found.len());
        let older = records
            .into_iter()
            .rev()
            .filter(|record| record.seq < below)
            .take(room);
        found.extend(older);
        match found.last() {
            Some(oldest) if oldest.seq < below => below = oldest.seq,
            _ => return Err(damaged(format!("{wallet:?}: its record {last} is missing"))),
        }
    }
    Ok(found)
}
