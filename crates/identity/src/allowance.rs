//! Daily limits: what a user granted and refunded today, counted before it is done, so that a crash cannot exceed them,
//! and once for each key and value.

use actors::notes;
use data_encoding::HEXLOWER;
use domain::{Timestamp, id::UserId};
use serde::{Deserialize, Serialize};

use crate::{Authority, Error, Holder, OutgoingValue, People};

const DAY_MILLIS: i64 = 24 * 3600 * 1000;
/// The keys of a day that are kept; earlier ones count again.
const MAX_KEYS: usize = 200;

/// What a user granted and refunded on a day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayCount {
    /// Days since the epoch, UTC.
    day: i64,
    granted: i64,
    refunded: i64,
    /// Hashes of the values and keys that were counted.
    keys: Vec<String>,
}

actors::note_kinds! {
    /// The count of a user's last day.
    pub struct DayCountNote: 34, "daily total of a user", UserId => DayCount;
}

impl DayCount {
    /// The count with a value; `None`: this key counted it before.
    fn with(
        &self,
        value: &OutgoingValue,
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
        let what = serde_json::to_string(value).map_err(|_| Error::Secret)?;
        let hash = catalog::sha256(format!("{what} {key}").as_bytes());
        let hash = HEXLOWER.encode(hash.first_chunk::<8>().unwrap_or(&[0; 8]));
        if count.keys.contains(&hash) {
            return Ok(None);
        }
        let credits = (&mut count.granted, value.credits(), limits.0);
        let cents = (&mut count.refunded, value.cents(), limits.1);
        for (sum, much, limit) in [credits, cents] {
            let much = much.unwrap_or(0);
            let left = limit.map(|limit| limit.saturating_sub(*sum));
            if let Some(left) = left.filter(|left| much > (*left).max(0)) {
                return Err(Error::DailyLimitExceeded { left: left.max(0) });
            }
            *sum = sum.saturating_add(much);
        }
        count.keys.push(hash);
        if count.keys.len() > MAX_KEYS {
            count.keys.remove(0);
        }
        Ok(Some(count))
    }
}

impl People {
    /// Counts a value towards its giver's daily limit, once for an idempotency key; returns once that is durable.
    /// # Errors
    /// [`Error::DailyLimitExceeded`]; it could not be logged.
    pub async fn count_outgoing(
        &self,
        giver: &Authority,
        value: &OutgoingValue,
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
        let Some(count) = known.with(value, key, limits, now)? else {
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
    use domain::{
        id::{ProductId, WalletKey},
        text::PaymentId,
    };

    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn grant(credits: i64) -> OutgoingValue {
        OutgoingValue::Grant {
            wallet: WalletKey([1; 16]),
            product: ProductId(1),
            credits,
            expires_at: None,
        }
    }

    fn refund(cents: i64) -> OutgoingValue {
        let payment = PaymentId::new("pi_1").unwrap();
        OutgoingValue::Payment { payment, cents }
    }

    #[test]
    fn a_day_has_a_limit_and_a_key_counts_once() {
        let limits = (Some(100), Some(5));
        let with =
            |count: &DayCount, value: OutgoingValue, key, now| count.with(&value, key, limits, now);
        let none = DayCount::default();
        let first = with(&none, grant(60), "a", NOW).unwrap().unwrap();
        assert_eq!(with(&first, grant(60), "a", NOW), Ok(None));
        // Neither more under the same key nor the same to somebody else is free.
        let elsewhere = OutgoingValue::Grant {
            wallet: WalletKey([2; 16]),
            product: ProductId(1),
            credits: 60,
            expires_at: None,
        };
        for other in [grant(61), elsewhere] {
            let refused = with(&first, other, "a", NOW);
            assert_eq!(refused, Err(Error::DailyLimitExceeded { left: 40 }));
        }
        let more = with(&first, grant(41), "b", NOW);
        assert_eq!(more, Err(Error::DailyLimitExceeded { left: 40 }));
        let full = with(&first, grant(40), "b", NOW).unwrap().unwrap();
        assert_eq!(
            with(&full, grant(1), "c", NOW),
            Err(Error::DailyLimitExceeded { left: 0 })
        );
        assert!(with(&full, refund(5), "d", NOW).unwrap().is_some());
        let tomorrow = NOW.plus_seconds(24 * 3600);
        assert!(with(&full, grant(100), "a", tomorrow).unwrap().is_some());
        let unlimited = none.with(&grant(i64::MAX), "a", (None, Some(5)), NOW);
        assert!(unlimited.unwrap().is_some());
    }
}
