//! Checkouts under a caller's key: for a day, a repeated call returns the same checkout. The provider returns the
//! page's address only once, so a note stores it before the call is answered. After a crash before that, a repeated
//! call opens another page; the buyer pays the one that they are sent to.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use actors::{detached, notes};
use catalog::ProjectCatalog;
use domain::{Rejection, Timestamp, id::OrderId, text::IdempotencyKey};
use parking_lot::Mutex;
use payments_port::CheckoutPage;
use sha2::{Digest as _, Sha256};

use crate::{
    Error, NewCheckout, Payments,
    note_kinds::{CheckoutNote, KeyedCheckout, ScopedKey},
};

/// How long a repeated call is recognised.
const SECONDS: i64 = 86_400;
/// The most remembered checkouts of all projects; beyond that the oldest are forgotten.
const MAX_REMEMBERED: usize = 50_000;
/// The most notes deleted when one is written.
const MAX_DELETIONS: usize = 64;

/// The hash of a caller's idempotency key for a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckoutKey([u8; 16]);

impl CheckoutKey {
    /// The hash of a key within its owner: a wallet, or an anonymous caller.
    #[must_use]
    pub fn new(owner: &str, key: &IdempotencyKey) -> Self {
        let mut digest = Sha256::new();
        digest.update(owner.as_bytes());
        // A separator: neither names nor keys contain a NUL.
        digest.update([0]);
        digest.update(key.as_str().as_bytes());
        let mut hash = [0; 16];
        hash.copy_from_slice(digest.finalize().split_at(16).0);
        Self(hash)
    }
}

#[derive(Default)]
pub(crate) struct RepeatedCheckouts(Mutex<CheckoutsByKey>);

#[derive(Default)]
struct CheckoutsByKey {
    by_key: HashMap<ScopedKey, KeyedCheckout>,
    oldest_first: VecDeque<(Timestamp, ScopedKey)>,
}

impl RepeatedCheckouts {
    pub(crate) fn restored(notes: notes::Notes<CheckoutNote>) -> Self {
        let mut notes = notes;
        notes.sort_by_key(|(_, opened)| opened.at);
        let oldest_first = notes.iter().map(|(key, opened)| (opened.at, *key));
        Self(Mutex::new(CheckoutsByKey {
            oldest_first: oldest_first.collect(),
            by_key: notes.into_iter().collect(),
        }))
    }

    fn find(&self, key: &ScopedKey, now: Timestamp) -> Option<KeyedCheckout> {
        let checkouts = self.0.lock();
        let opened = checkouts.by_key.get(key)?;
        (now < opened.at.plus_seconds(SECONDS)).then(|| opened.clone())
    }

    /// Remembers a checkout; returns the keys of forgotten ones.
    fn remember(&self, key: ScopedKey, opened: KeyedCheckout, now: Timestamp) -> Vec<ScopedKey> {
        let mut checkouts = self.0.lock();
        checkouts.oldest_first.push_back((opened.at, key));
        checkouts.by_key.insert(key, opened);
        let mut forgotten = Vec::new();
        while forgotten.len() < MAX_DELETIONS {
            let is_full = checkouts.by_key.len() > MAX_REMEMBERED;
            let Some(&(at, oldest)) = checkouts.oldest_first.front() else {
                break;
            };
            if !is_full && now < at.plus_seconds(SECONDS) {
                break;
            }
            checkouts.oldest_first.pop_front();
            // The key may have opened a newer checkout since.
            if checkouts
                .by_key
                .get(&oldest)
                .is_some_and(|checkout| checkout.at == at)
            {
                checkouts.by_key.remove(&oldest);
                forgotten.push(oldest);
            }
        }
        forgotten
    }
}

impl Payments {
    /// Like [`Self::open_checkout`], but once for each key within a day. The last value tells whether an earlier call
    /// opened it.
    /// # Errors
    /// The same as there; [`Rejection::KeyReused`] when the key was used with another price or quantity.
    pub async fn open_checkout_once(
        &self,
        project: Arc<ProjectCatalog>,
        new: NewCheckout,
        key: CheckoutKey,
    ) -> Result<(OrderId, CheckoutPage, bool), Error> {
        let payments = self.clone();
        // A caller who disconnects calls again with the same key.
        let work = async move { payments.opened_once(project, new, key).await };
        let defect = Error::Defect("a checkout under a key panicked");
        detached(work).await.unwrap_or(Err(defect))
    }

    async fn opened_once(
        &self,
        project: Arc<ProjectCatalog>,
        new: NewCheckout,
        CheckoutKey(key): CheckoutKey,
    ) -> Result<(OrderId, CheckoutPage, bool), Error> {
        let (checkouts, handle) = (&self.0.repeated_checkouts, &self.0.context.handle);
        let key = (project.project.id, key);
        let name = format!("checkout {} {:032x}", key.0, u128::from_be_bytes(key.1));
        let _lock = self.0.named_locks.take(&name).await;
        if let Some(opened) = checkouts.find(&key, handle.now()) {
            if (opened.price, opened.quantity) != (new.price, new.quantity.get()) {
                return Err(actors::Error::from(Rejection::KeyReused).into());
            }
            let page = CheckoutPage {
                url: opened.url,
                id: opened.checkout,
            };
            return Ok((opened.order, page, true));
        }
        let (price, quantity) = (new.price, new.quantity.get());
        let (order, page) = self.open_checkout(project, new).await?;
        let at = handle.now();
        let opened = KeyedCheckout {
            price,
            quantity,
            order,
            checkout: page.id.clone(),
            url: page.url.clone(),
            at,
        };
        let note = notes::put::<CheckoutNote>(&key, &opened);
        let forgotten = checkouts.remember(key, opened, at).into_iter();
        let forgotten = forgotten.map(|key| notes::forget::<CheckoutNote>(&key));
        handle
            .put_notes([note].into_iter().chain(forgotten).collect())
            .await?;
        Ok((order, page, false))
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        id::{OrderSerial, PriceId, ProjectId, WalletKey},
        text::CheckoutId,
    };

    use super::*;

    fn opened(at: i64) -> KeyedCheckout {
        KeyedCheckout {
            price: PriceId(1),
            quantity: 1,
            order: OrderId {
                serial: OrderSerial(1),
                wallet: WalletKey([2; 16]),
            },
            checkout: CheckoutId::new("cs_1").unwrap(),
            url: "https://pay.example/".into(),
            at: Timestamp(at),
        }
    }

    fn key(number: u8) -> ScopedKey {
        (ProjectId(1), [number; 16])
    }

    #[test]
    fn a_checkout_is_known_for_a_day_and_then_forgotten() {
        let checkouts = RepeatedCheckouts::default();
        let day = SECONDS * 1000;
        assert_eq!(checkouts.remember(key(1), opened(0), Timestamp(0)), []);
        assert!(checkouts.find(&key(1), Timestamp(day - 1)).is_some());
        assert!(checkouts.find(&key(1), Timestamp(day)).is_none());
        assert!(checkouts.find(&key(2), Timestamp(0)).is_none());
        assert_eq!(checkouts.remember(key(1), opened(day), Timestamp(day)), []);
        let later = Timestamp(2 * day - 1);
        assert!(checkouts.find(&key(1), later).is_some());
        assert_eq!(
            checkouts.remember(key(2), opened(2 * day), Timestamp(2 * day)),
            [key(1)]
        );
    }

    #[test]
    fn what_an_earlier_process_noted_is_forgotten_in_its_order() {
        let notes = vec![(key(1), opened(5)), (key(2), opened(3))];
        let checkouts = RepeatedCheckouts::restored(notes);
        let now = Timestamp(3 + SECONDS * 1000);
        assert_eq!(checkouts.remember(key(3), opened(now.0), now), [key(2)]);
        assert!(checkouts.find(&key(1), now).is_some());
    }

    #[test]
    fn keys_of_others_are_other_keys() {
        let key = |whose, text| CheckoutKey::new(whose, &IdempotencyKey::new(text).unwrap());
        assert_eq!(key("ann", "k"), key("ann", "k"));
        assert_ne!(key("ann", "k"), key("an", "nk"));
        assert_ne!(key("ann", "k"), key("bob", "k"));
    }
}
