//! How long certificates are valid: the configured one, and the one that the public address presents.

use std::time::{Duration, SystemTime};

use jiff::{Timestamp, civil::DateTime};

use super::Finding;

const CHECK: &str = "certificate";
/// Automatic renewal happens a month before the end: with less than this, it has failed.
const SOON: Duration = Duration::from_secs(14 * 24 * 3600);

/// Tags of DER (X.690, 8.1.2).
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Judges a chain by the certificate that expires first. `whose` names it in a sentence.
pub(super) fn judge<'a>(
    whose: &str,
    chain: impl IntoIterator<Item = &'a [u8]>,
    now: SystemTime,
) -> Finding {
    let mut ends: Option<i64> = None;
    for der in chain {
        match not_after(der) {
            Some(end) => ends = Some(ends.map_or(end, |ends| ends.min(end))),
            None => {
                let said = format!("{whose} cannot be parsed");
                return Finding::warning(CHECK, said, "Make sure that it is an X.509 certificate");
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
            let said = format!("{whose} expires on {day}, in {days} days");
            Finding::warning(CHECK, said, advice)
        }
        Ok(_) => Finding::ok(CHECK, format!("{whose} is valid until {day}")),
    }
}

/// A certificate's last second, since 1970 (RFC 5280, 4.1). `None`: it cannot be parsed.
fn not_after(certificate: &[u8]) -> Option<i64> {
    let (_, certificate, _) = element(certificate).filter(|(tag, ..)| *tag == SEQUENCE)?;
    let (_, fields, _) = element(certificate).filter(|(tag, ..)| *tag == SEQUENCE)?;
    // The version may be left out; then come the serial number, the algorithm, the issuer and the validity.
    let (tag, _, rest) = element(fields)?;
    let rest = if tag == VERSION {
        element(rest)?.2
    } else {
        rest
    };
    let (_, _, rest) = element(rest)?;
    let (_, _, rest) = element(rest)?;
    let (_, validity, _) = element(rest).filter(|(tag, ..)| *tag == SEQUENCE)?;
    let (_, _, rest) = element(validity)?;
    let (tag, text, _) = element(rest)?;
    let text = std::str::from_utf8(text).ok()?;
    let end = match tag {
        // Two digits of the year: from 1950 to 2049.
        UTC_TIME if text < "5" => DateTime::strptime("%Y%m%d%H%M%SZ", format!("20{text}")),
        UTC_TIME => DateTime::strptime("%Y%m%d%H%M%SZ", format!("19{text}")),
        GENERALIZED_TIME => DateTime::strptime("%Y%m%d%H%M%SZ", text),
        _ => return None,
    };
    Some(
        end.ok()?
            .duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0))
            .as_secs(),
    )
}

/// The tag and the content of the first element of DER, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, length], rest) = der.split_first_chunk()?;
    let (length, rest) = match length.checked_sub(0x80) {
        None => (usize::from(length), rest),
        // The length is in as many bytes of its own.
        Some(bytes @ 1..=4) => {
            let (length, rest) = rest.split_at_checked(usize::from(bytes))?;
            let length = length
                .iter()
                .fold(0, |all: u32, byte| (all << 8) | u32::from(*byte));
            (usize::try_from(length).ok()?, rest)
        }
        Some(_) => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
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
        // From 2050 on, the year has four digits.
        for (year, ends) in [(2049, 2_524_521_600), (2050, 2_524_608_000)] {
            let (month, day) = if year == 2049 { (12, 31) } else { (1, 1) };
            assert_eq!(not_after(&until(year, month, day)), Some(ends));
        }
        for cut in 0..long.len() {
            let found = judge("it", long.get(..cut), now);
            assert_eq!(found.status, Status::Warning, "{cut}");
        }
        let nonsense = judge("it", [b"nonsense".as_slice()], now);
        assert_eq!(nonsense.status, Status::Warning);
    }
}
