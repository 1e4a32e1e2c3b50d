//! How much somebody granted and refunded today: counted before the deed, so that a crash cannot give more, and once for
//! each key.

use data_encoding::HEXLOWER;
use domain::{Timestamp, id::UserId};
use notes::NoteKind;
use serde::{Deserialize, Serialize};

use crate::{Authority, Error, Holder, People};

const DAY_MILLIS: i64 = 24 * 3600 * 1000;
/// The keys of a day that are remembered; those before them are counted again.
const KEYS: usize = 200;

/// What somebody is about to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gift {
    /// Credits that cost nothing.
    Grant(i64),
    /// Money, in the currency's minor unit.
    Refund(i64),
}

/// What a user gave on a day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayCount {
    /// Days since the epoch, UTC.
    day: i64,
    granted: i64,
    refunded: i64,
    /// Hashes of the keys that were counted.
    keys: Vec<String>,
}

/// The count of a user's last day.
#[derive(Debug)]
pub struct DayCountNote;

impl NoteKind for DayCountNote {
    const NUMBER: u8 = 34;
    const NAME: &'static str = "what a user gave today";
    type Key = UserId;
    type Body = DayCount;
}

impl DayCount {
    /// The count with a gift; `None`: this key was counted before.
    fn with(
        &self,
        gift: Gift,
        key: &str,
        limits: (Option<i64>, Option<i64>),
        now: Timestamp,
    ) -> Result<Option<Self>, Error> {
        let day = now.0.div_euclid(DAY_MILLIS);
        let mut count = match self.day == day {
            true => self.clone(),
            false => Self {
                day,
                ..Self::default()
            },
        };
        let hash = catalog::sha256(key.as_bytes());
        let hash = HEXLOWER.encode(hash.first_chunk::<8>().unwrap_or(&[0; 8]));
        if count.keys.contains(&hash) {
            return Ok(None);
        }
        let (sum, gift, limit) = match gift {
            Gift::Grant(credits) => (&mut count.granted, credits, limits.0),
            Gift::Refund(cents) => (&mut count.refunded, cents, limits.1),
        };
        let left = limit.map(|limit| limit.saturating_sub(*sum));
        if let Some(left) = left.filter(|left| gift > *left) {
            return Err(Error::DayLimit { left: left.max(0) });
        }
        *sum = sum.saturating_add(gift);
        count.keys.push(hash);
        if count.keys.len() > KEYS {
            count.keys.remove(0);
        }
        Ok(Some(count))
    }
}

impl People {
    /// Counts what somebody is about to give under an idempotency key, if they may give it today; once that is durable.
    ///
    /// # Errors
    ///
    /// [`Error::DayLimit`] where it is more than is left today; it could not be logged.
    pub async fn count_gift(
        &self,
        giver: &Authority,
        gift: Gift,
        key: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        let Holder::User { id, .. } = &giver.holder else {
            return Ok(());
        };
        let limits = (giver.grant_limit_per_day, giver.refund_limit_cents_per_day);
        if limits == (None, None) {
            return Ok(());
        }
        let _changing = self.changing.lock().await;
        let known = self.counts.lock().get(id).cloned().unwrap_or_default();
        let Some(count) = known.with(gift, key, limits, now)? else {
            return Ok(());
        };
        let note = notes::put::<DayCountNote>(id, &count);
        self.handle.put_notes(vec![note]).await?;
        self.counts.lock().insert(*id, count);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    #[test]
    fn a_day_has_a_limit_and_a_key_counts_once() {
        let limits = (Some(100), Some(5));
        let with = |count: &DayCount, gift, key, now| count.with(gift, key, limits, now);
        let none = DayCount::default();
        let first = with(&none, Gift::Grant(60), "a", NOW).unwrap().unwrap();
        assert_eq!(with(&first, Gift::Grant(60), "a", NOW), Ok(None));
        let more = with(&first, Gift::Grant(41), "b", NOW);
        assert_eq!(more, Err(Error::DayLimit { left: 40 }));
        let full = with(&first, Gift::Grant(40), "b", NOW).unwrap().unwrap();
        assert_eq!(
            with(&full, Gift::Grant(1), "c", NOW),
            Err(Error::DayLimit { left: 0 })
        );
        assert!(with(&full, Gift::Refund(5), "d", NOW).unwrap().is_some());
        let tomorrow = NOW.plus_seconds(24 * 3600);
        assert!(
            with(&full, Gift::Grant(100), "a", tomorrow)
                .unwrap()
                .is_some()
        );
        let unlimited = none.with(Gift::Grant(i64::MAX), "a", (None, Some(5)), NOW);
        assert!(unlimited.unwrap().is_some());
    }
}
