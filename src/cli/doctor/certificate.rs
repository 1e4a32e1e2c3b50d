//! How long certificates are valid: the configured one, and the one that the public address presents.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use x509_parser::{certificate::X509Certificate, prelude::FromDer as _};

use super::Finding;

const CHECK: &str = "certificate";
/// Automatic renewal happens a month before the end: with less than this, it has failed.
const SOON: Duration = Duration::from_secs(14 * 24 * 3600);

/// Judges a chain by the certificate that expires first. `whose` names it in a sentence.
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
                let message = format!("{whose} cannot be parsed");
                return Finding::warning(
                    CHECK,
                    message,
                    "Make sure that it is an X.509 certificate",
                );
            }
        }
    }
    let advice = "Renew it: after that day neither clients nor providers' webhooks can connect";
    let Some(end) = ends.and_then(|end| Timestamp::from_second(end).ok()) else {
        return Finding::warning(CHECK, format!("{whose} has no expiry date"), advice);
    };
    let day = end.strftime("%Y-%m-%d");
    let end = SystemTime::from(end);
    match end.duration_since(now) {
        Err(_) => Finding::failure(CHECK, format!("{whose} expired on {day}"), advice),
        Ok(left) if left < SOON => {
            let days = left.as_secs() / (24 * 3600);
            let message = format!("{whose} expires on {day}, in {days} days");
            Finding::warning(CHECK, message, advice)
        }
        Ok(_) => Finding::ok(CHECK, format!("{whose} is valid until {day}")),
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
    fn the_first_certificate_to_end_is_reported_in_time() {
        // 2026-11-18.
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000);
        let (long, soon, over) = (until(2027, 6, 1), until(2026, 11, 30), until(2026, 11, 18));
        for (chain, status, says) in [
            (vec![&long], Status::Ok, "is valid until 2027-06-01"),
            (vec![&long, &soon], Status::Warning, "in 11 days"),
            (
                vec![&soon, &over, &long],
                Status::Failure,
                "expired on 2026-11-18",
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
