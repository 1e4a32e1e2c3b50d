//! How long certificates hold: those in the configured files, and what the public address shows.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use x509_parser::{certificate::X509Certificate, prelude::FromDer as _};

use super::Finding;

const CHECK: &str = "certificate";
/// Who renews by themselves does so a month before.
const SOON: Duration = Duration::from_secs(14 * 24 * 3600);

/// Judges a chain by that which ends first. `whose` names it in a sentence.
pub(super) fn judge<'a>(
    whose: &str,
    chain: impl IntoIterator<Item = &'a [u8]>,
    now: SystemTime,
) -> Finding {
    let mut ends: Option<i64> = None;
    for der in chain {
        match X509Certificate::from_der(der) {
            Ok((_, read)) => {
                let end = read.validity().not_after.timestamp();
                ends = Some(ends.map_or(end, |ends| ends.min(end)));
            }
            Err(_) => {
                let said = format!("{whose} cannot be read");
                return Finding::warning(CHECK, said, "See that it is an X.509 certificate");
            }
        }
    }
    let advice = "Renew it: beyond that day neither callers nor providers' webhooks come through";
    let Some(end) = ends.and_then(|end| Timestamp::from_second(end).ok()) else {
        return Finding::warning(CHECK, format!("{whose} says no end"), advice);
    };
    let day = end.strftime("%Y-%m-%d");
    let end = SystemTime::from(end);
    match end.duration_since(now) {
        Err(_) => Finding::failure(CHECK, format!("{whose} ended on {day}"), advice),
        Ok(left) if left < SOON => {
            let days = left.as_secs() / (24 * 3600);
            let said = format!("{whose} ends on {day}, in {days} days");
            Finding::warning(CHECK, said, advice)
        }
        Ok(_) => Finding::ok(CHECK, format!("{whose} holds until {day}")),
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;
    use crate::cli::doctor::Status;

    fn until(year: i32, month: u8, day: u8) -> Vec<u8> {
        let mut params = CertificateParams::new(vec!["pay.example".into()]).unwrap();
        params.not_after = date_time_ymd(year, month, day);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn what_ends_first_is_told_in_time() {
        // 2026-11-18.
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000);
        let (long, soon, over) = (until(2027, 6, 1), until(2026, 11, 30), until(2026, 11, 18));
        for (chain, status, says) in [
            (vec![&long], Status::Ok, "holds until 2027-06-01"),
            (vec![&long, &soon], Status::Warning, "in 11 days"),
            (
                vec![&soon, &over, &long],
                Status::Failure,
                "ended on 2026-11-18",
            ),
        ] {
            let chain = chain.into_iter().map(Vec::as_slice);
            let found = judge("it", chain, now);
            assert_eq!(found.status, status, "{}", found.message);
            assert!(found.message.contains(says), "{}", found.message);
        }
        let nonsense = judge("it", [b"nonsense".as_slice()], now);
        assert_eq!(nonsense.status, Status::Warning);
    }
}
