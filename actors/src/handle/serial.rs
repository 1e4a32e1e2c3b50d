//! Serials of orders and holds, which also grant access to them. Each has sixty-two random bits of its own, so that
//! serials of the same instant reveal nothing about each other.

use std::time::{SystemTime, UNIX_EPOCH};

use uuid::{Builder, Uuid};

/// The resolution of the time below a millisecond: twelve bits, of about 244 ns each.
const PARTS_OF_A_MILLISECOND: u128 = 1 << 12;
const NANOS_PER_MILLI: u128 = 1_000_000;

/// A UUID version 7 with 60 bits of time, so that serials sort, and without a counter: the library's UUIDs count up
/// within a millisecond, which makes the next one predictable.
pub(crate) fn serial() -> u128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    at(since.unwrap_or_default().as_nanos(), Uuid::new_v4())
}

fn at(nanos: u128, random: Uuid) -> u128 {
    let millis = nanos.div_euclid(NANOS_PER_MILLI);
    let part = nanos
        .rem_euclid(NANOS_PER_MILLI)
        .saturating_mul(PARTS_OF_A_MILLISECOND)
        .div_euclid(NANOS_PER_MILLI);
    let mut rest = [0; 10];
    let (time, bits) = rest.split_at_mut(2);
    // `part` is below 4096, and 48 bits of milliseconds last for ages.
    time.copy_from_slice(&u16::try_from(part).unwrap_or(0).to_be_bytes());
    // The variant is at the same place as in version 4.
    let (_, random) = random.as_bytes().split_at(8);
    bits.copy_from_slice(random);
    let millis = u64::try_from(millis).unwrap_or(u64::MAX);
    Builder::from_unix_timestamp_millis(millis, &rest)
        .into_uuid()
        .as_u128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serials_are_uuids_of_their_time_that_sort() {
        let nanos = 1_800_000_000_123_456_789;
        let uuid = Uuid::from_u128(at(nanos, Uuid::new_v4()));
        assert_eq!(uuid.get_version_num(), 7);
        assert_eq!(uuid.get_variant(), uuid::Variant::RFC4122);
        let (seconds, of_second) = uuid.get_timestamp().unwrap().to_unix();
        assert_eq!((seconds, of_second), (1_800_000_000, 123_000_000));
        for later in [245, 1_000_000] {
            assert!(at(nanos, Uuid::max()) < at(nanos + later, Uuid::nil()));
        }
    }

    #[test]
    fn serials_of_one_instant_tell_nothing_of_each_other() {
        let random = |serial: u128| serial & (u128::MAX >> 66);
        let serials: Vec<_> = (0..1000).map(|_| random(at(0, Uuid::new_v4()))).collect();
        // Every bit is one about as often as zero, and changes about as often as not.
        for bit in 0..62 {
            let is_set = |serial: &u128| serial >> bit & 1 == 1;
            let set = serials.iter().filter(|serial| is_set(serial)).count();
            assert!((350..650).contains(&set), "bit {bit}: {set}");
            let pairs = serials.windows(2);
            let changed = pairs.filter(|pair| is_set(&pair[0]) != is_set(&pair[1]));
            let changed = changed.count();
            assert!((350..650).contains(&changed), "bit {bit}: {changed}");
        }
    }
}
