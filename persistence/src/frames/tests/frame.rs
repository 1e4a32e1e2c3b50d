use domain::text::Feature;
use domain::{
    id::WalletKey,
    time::Timestamp,
    wallet::{Change, Event},
};
use proptest::prelude::*;

use super::*;
use crate::format::append::LogEvent;

fn log_event(version: u64, feature: &str) -> LogEvent {
    let change = Change::FeatureGranted {
        feature: Feature::new(feature).unwrap(),
    };
    let event = Event {
        at: Timestamp(1_700_000_000_000),
        change,
    };
    LogEvent::Wallet {
        key: WalletKey([9; 16]),
        version,
        event,
        record: None,
        moved: None,
    }
}

/// One append per inner list; a number is the length of an event's text.
fn appends() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(1..=100_usize, 0..200), 1..12)
}

fn build(sizes: &[Vec<usize>]) -> (Vec<Vec<LogEvent>>, Vec<u8>) {
    let mut all = Vec::new();
    let mut queued = Vec::new();
    for (number, sizes) in sizes.iter().enumerate() {
        let events: Vec<LogEvent> = sizes
            .iter()
            .map(|size| log_event(number as u64, &"f".repeat(*size)))
            .collect();
        let mut append = Append::default();
        for event in &events {
            append.push(event).unwrap();
        }
        push(&mut queued, &append);
        all.push(events);
    }
    (all, queued)
}

fn frames(queued: &[u8]) -> Vec<(Vec<u8>, FrameSize)> {
    let (mut rest, mut place, mut frames) = (queued, FramePosition::default(), Vec::new());
    while !rest.is_empty() {
        let cut = cut(rest).unwrap();
        let mut frame = Vec::new();
        place = encode(&mut frame, &place, &rest[..cut.bytes], cut.appends).unwrap();
        assert_eq!(place.hash, hash(&frame));
        rest = &rest[cut.bytes..];
        frames.push((frame, cut));
    }
    frames
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn everything_queued_comes_back_in_order_split_only_between_appends(sizes in appends()) {
        let (appends, queued) = build(&sizes);
        let (mut taken, mut before) = (0, [0; 32]);
        for (number, (bytes, cut)) in frames(&queued).iter().enumerate() {
            prop_assert!(bytes.len() <= MAX_BYTES);
            let frame = decode(bytes).unwrap();
            prop_assert_eq!(frame.lsn, number as u64 + 1);
            prop_assert_eq!(frame.before, before);
            prop_assert_eq!(frame.appends, cut.appends);
            before = hash(bytes);
            let until = taken + cut.appends as usize;
            let expected: Vec<LogEvent> = appends[taken..until].concat();
            prop_assert_eq!(cut.events, expected.len() as u64);
            prop_assert_eq!(frame.events().unwrap(), expected);
            taken = until;
        }
        prop_assert_eq!(taken, appends.len());
    }

    #[test]
    fn any_damage_is_seen(sizes in appends(), at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
        let (_, queued) = build(&sizes);
        for (mut bytes, _) in frames(&queued) {
            let at = at.index(bytes.len());
            prop_assert!(decode(&bytes[..at]).is_err(), "cut short at {at}");
            bytes[at] ^= flip;
            let seen = decode(&bytes);
            prop_assert!(matches!(seen, Err(Error::Damaged(_))), "byte {at} of the frame");
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(decode(&bytes).is_err());
        let _ = cut(&bytes);
    }
}

#[test]
fn a_full_frame_is_as_full_as_it_may_be() {
    let (_, queued) = build(&vec![vec![100; 10]; 200]);
    let frames = frames(&queued);
    let one_append = queued.len() / 200;
    for (bytes, _) in &frames[..frames.len() - 1] {
        assert!(bytes.len() > MAX_BYTES - one_append);
    }
}

#[test]
fn a_sound_frame_of_another_version_is_not_called_damaged() {
    let mut bytes = Vec::new();
    encode(&mut bytes, &FramePosition::default(), &[], 0).unwrap();
    bytes[0] = VERSION + 1;
    let crc = checksum(&bytes).unwrap();
    bytes[5..9].copy_from_slice(&crc.to_be_bytes());
    assert!(matches!(decode(&bytes), Err(Error::Unusable(_))));
}
