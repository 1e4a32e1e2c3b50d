//! Failed sign-ins in the audit log: together by minute and address, and so many a day, so that a flood of them fills
//! neither the log nor the memory.

use std::collections::BTreeMap;

use domain::Timestamp;
use parking_lot::Mutex;

use crate::audit::{AuditEntry, AuditLog};

const MINUTE_MILLIS: i64 = 60_000;
const DAY_MILLIS: i64 = 24 * 60 * MINUTE_MILLIS;
/// Addresses that are counted apart within a minute.
const ADDRESSES: usize = 5;
const PER_DAY: u32 = 100;
/// The name of all further addresses.
const OTHERS: &str = "several addresses";

/// What failed and is not in the log yet.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<Minute>);

#[derive(Debug, Default)]
struct Minute {
    minute: i64,
    day: i64,
    entries: u32,
    counts: BTreeMap<String, u64>,
}

impl AuditLog {
    /// Notes that a sign-in failed. The first of a minute and address is written at once, the others together once the
    /// minute is over and another one fails.
    /// # Errors
    /// [`actors::Error`] where it could not be written.
    pub async fn sign_in_failed(&self, from: String, now: Timestamp) -> Result<(), actors::Error> {
        for (from, what) in self.failures().count(from, now) {
            let who = "nobody".into();
            let entry = AuditEntry::done(now, who, &what, from);
            self.add(entry.about(None, "people")).await?;
        }
        Ok(())
    }
}

impl Failures {
    /// Counts a failure; returns what is to be written now: addresses and words.
    fn count(&self, from: String, now: Timestamp) -> Vec<(String, String)> {
        let mut now_in = self.0.lock();
        let (minute, day) = (
            now.0.div_euclid(MINUTE_MILLIS),
            now.0.div_euclid(DAY_MILLIS),
        );
        let mut written = Vec::new();
        if now_in.day != day {
            (now_in.day, now_in.entries) = (day, 0);
        }
        // The failures of a full day are written together on the next.
        if now_in.minute != minute && now_in.entries < PER_DAY {
            now_in.minute = minute;
            for (from, more) in std::mem::take(&mut now_in.counts) {
                if more > 0 {
                    written.push((from, format!("Sign-ins failed: {more} more")));
                }
            }
        }
        let is_new = !now_in.counts.contains_key(&from);
        let many = is_new && now_in.counts.len() >= ADDRESSES;
        let from = if many { OTHERS.to_owned() } else { from };
        if is_new && !many && now_in.entries < PER_DAY {
            now_in.counts.insert(from.clone(), 0);
            written.push((from, "A sign-in failed".to_owned()));
        } else {
            let count = now_in.counts.entry(from).or_default();
            *count += 1;
        }
        let entries = u32::try_from(written.len()).unwrap_or(u32::MAX);
        now_in.entries += entries;
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_a_few_entries_a_minute_and_a_hundred_a_day() {
        let failures = Failures::default();
        let mut written = Vec::new();
        for second in 0..2 * 86_400_i64 {
            for number in 0..3_i64 {
                let from = format!("192.0.2.{}", (second * 3 + number) % 200);
                written.extend(failures.count(from, Timestamp(second * 1000)));
            }
        }
        assert!((100..250).contains(&written.len()), "{}", written.len());
        let more: u64 = written
            .iter()
            .filter_map(|(_, what)| what.split(' ').nth(2)?.parse::<u64>().ok())
            .sum();
        assert!(
            more > 200_000,
            "{more} of 518,400 are in the log on the second day"
        );
    }

    #[test]
    fn the_first_is_recorded_at_once_and_the_others_together() {
        let failures = Failures::default();
        let at = |seconds: i64| Timestamp(seconds * 1000);
        let count = |from: &str, seconds| failures.count(from.into(), at(seconds));
        assert_eq!(count("a", 0), [("a".into(), "A sign-in failed".into())]);
        assert_eq!(count("a", 10), []);
        assert_eq!(count("a", 59), []);
        let next = count("b", 61);
        let expected = [
            ("a".into(), "Sign-ins failed: 2 more".into()),
            ("b".into(), "A sign-in failed".into()),
        ];
        assert_eq!(next, expected);
    }
}
