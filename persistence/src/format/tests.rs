//! What is stored reads back as it was, looks as it always did, and is refused where it was damaged or is of a version
//! that is not known. The files of `tests/golden/v1` are never changed once a release wrote them; `SCRIP_WRITE_GOLDEN=1
//! cargo test -p persistence format` writes those that are missing.

mod life;

use std::{collections::BTreeSet, fs, path::PathBuf};

use domain::{
    Timestamp,
    history::RecordContent,
    id::{CodeHash, WalletKey},
    text::{ExternalUserId, Feature},
    wallet::{Change, Event, Owner, Wallet},
};

use self::life::{CHANGES, FACTS, Life, documents, fact_number, number, whole};
use super::{
    append::{Append, LogEvent, decode_events},
    body, decode_document, decode_note, decode_wallet, encode_document, encode_note, encode_wallet,
};
use crate::{error::Error, lookups::ListChange};

const KEY: WalletKey = WalletKey(*b"0123456789abcdef");

/// What a golden file holds; `today` is what it gets if it has to be written.
fn golden(name: &str, today: &[u8]) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/v1")
        .join(name);
    if std::env::var_os("SCRIP_WRITE_GOLDEN").is_some() && !path.exists() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, today).unwrap();
    }
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn log_events(life: &Life) -> Vec<LogEvent> {
    let mut wallet = None;
    let log_events = life.events.iter().cloned().map(|(event, record)| {
        let (now, applied) = Wallet::replay(&mut wallet, life.key, event.clone()).unwrap();
        LogEvent::Wallet {
            key: life.key,
            version: now.version,
            event,
            record,
            moved: ListChange::of(now, &applied),
        }
    });
    log_events.collect()
}

fn body(event: &Event) -> Vec<u8> {
    let mut bytes = Vec::new();
    body::write_event(&mut bytes, event).unwrap();
    bytes
}

/// The stored form of something that happened at the epoch, without a record.
fn entry(change: Change) -> Vec<u8> {
    let event = Event {
        at: Timestamp(0),
        change,
    };
    let mut bytes = body(&event);
    body::write_after(&mut bytes, body::RecordDerivation::Not, None, None).unwrap();
    bytes
}

fn is_damaged<T: std::fmt::Debug>(read: Result<T, Error>) {
    let error = read.unwrap_err();
    assert!(matches!(error, Error::Damaged(_)), "{error}");
}

#[test]
fn every_change_and_what_it_leaves_reads_back() {
    let life = whole(KEY);
    let numbers = life.events.iter().map(|(event, _)| number(&event.change));
    assert!(numbers.collect::<BTreeSet<_>>().into_iter().eq(0..CHANGES));
    let left = life.records();
    let left = left.iter().map(|record| fact_number(&record.fact));
    assert!(left.collect::<BTreeSet<_>>().into_iter().eq(0..FACTS));
    let user = Owner::External(ExternalUserId::new("user-é").unwrap());
    for life in [life, Life::born(KEY, user), Life::born(KEY, Owner::Order)] {
        for event in log_events(&life) {
            let append = Append::one(&event).unwrap();
            assert_eq!(decode_events(append.bytes()).unwrap(), [event]);
        }
    }
}

#[test]
fn every_change_has_the_number_that_it_always_had() {
    for (event, _) in &whole(KEY).events {
        let at = Timestamp(0);
        let change = event.change.clone();
        let bytes = body(&Event { at, change });
        assert_eq!(bytes[..2], [0, number(&event.change)], "{event:?}");
    }
}

#[test]
fn what_happens_is_written_as_ever() {
    let mut today = Append::default();
    let events = log_events(&whole(KEY));
    for event in &events {
        today.push(event).unwrap();
    }
    let kept = golden("changes.bin", today.bytes());
    assert_eq!(decode_events(&kept).unwrap(), events);
    assert_eq!(kept, today.bytes());
}

#[test]
fn a_wallet_is_written_as_ever() {
    let wallet = whole(KEY).wallet;
    let today = encode_wallet(&wallet).unwrap();
    let kept = golden("wallet.bin", &today);
    let read = decode_wallet(&kept).unwrap();
    assert_eq!(read, wallet);
    assert_eq!(read.due_at(), wallet.due_at());
    assert_eq!(kept, today);
    assert!(wallet.holds().len() == 2 && wallet.orders().count() == 3);
    // Its code was replaced, which made it forget its customer.
    assert!(wallet.subscriptions().count() == 1 && wallet.customer().is_none());
}

#[test]
fn wallets_of_all_owners_read_back() {
    let user = Owner::External(ExternalUserId::new("user-é").unwrap());
    for owner in [user, Owner::Order] {
        let wallet = Life::born(KEY, owner).wallet;
        let bytes = encode_wallet(&wallet).unwrap();
        assert_eq!(decode_wallet(&bytes).unwrap(), wallet);
    }
}

#[test]
fn documents_are_written_as_ever() {
    let names = [
        "project",
        "key",
        "product",
        "price",
        "stripe",
        "default-project",
        "sandbox",
        "endpoint",
    ];
    assert_eq!(documents().len(), names.len());
    for (document, name) in documents().into_iter().zip(names) {
        let today = encode_document(&document).unwrap();
        let kept = golden(&format!("{name}.bin"), &today);
        assert_eq!(decode_document(&kept).unwrap(), document);
        assert_eq!(kept, today);
    }
    let today = encode_note(&[1, 200]);
    let kept = golden("note.bin", &today);
    assert_eq!(decode_note(&kept).unwrap(), [1, 200]);
    assert_eq!(kept, today);
}

#[test]
fn a_later_version_asks_for_a_newer_scrip() {
    let newer = |read: Result<(), Error>| {
        let error = read.unwrap_err();
        assert!(matches!(error, Error::Unusable(_)), "{error}");
        assert!(error.to_string().contains("use a newer one"), "{error}");
    };
    let later = |mut bytes: Vec<u8>| {
        bytes[0] += 1;
        bytes
    };
    let life = whole(KEY);
    let wallet = later(encode_wallet(&life.wallet).unwrap());
    newer(decode_wallet(&wallet).map(drop));
    for document in documents() {
        let document = later(encode_document(&document).unwrap());
        newer(decode_document(&document).map(drop));
    }
    newer(decode_note(&later(encode_note(b"x"))).map(drop));
    // An item of a kind that is not known, and an entry in a later form.
    newer(decode_events(&[10, 0, 0]).map(drop));
    let mut event = Append::one(&log_events(&life)[0]).unwrap().bytes().to_vec();
    event[1 + 16 + 2] += 1 << 4;
    newer(decode_events(&event).map(drop));
}

#[test]
fn numbers_and_texts_out_of_their_bounds_are_damage() {
    let spoilt = |change: Change, from: &[u8], to: &[u8]| {
        let mut bytes = entry(change);
        assert!(body::read_body(&bytes, 1, false).is_ok());
        let place = bytes.windows(from.len()).position(|part| part == from);
        let place = place.unwrap();
        bytes.splice(place..place + from.len(), to.iter().copied());
        is_damaged(body::read_body(&bytes, 1, false));
    };
    let whole = whole(KEY);
    let change = |number_of: u8| {
        let mut changes = whole.events.iter().map(|(event, _)| &event.change);
        changes
            .find(|change| number(change) == number_of)
            .unwrap()
            .clone()
    };
    // Seven credits of a lot, and none; numbers are stored with their sign last.
    let expired = Change::LotExpired {
        product: domain::id::ProductId(0),
        lot: 1,
        amount: domain::Amount::new(7).unwrap(),
    };
    spoilt(expired, &[1, 14], &[1, 0]);
    // An idempotency key of no character.
    spoilt(change(5), b"\x09deduction", b"\x00");
    let feature = Feature::new("a.b").unwrap();
    spoilt(Change::FeatureGranted { feature }, b"a.b", b"a b");
    spoilt(change(13), b"Jo@mail", b"Jo mail");
    spoilt(change(20), b"sub_1", b"sub\n1");
    // An event with a number that no change has.
    spoilt(change(22), &[0, 22], &[0, CHANGES]);
}

#[test]
fn a_record_that_does_not_fit_its_event_is_damage() {
    let change = Change::FeatureGranted {
        feature: Feature::new("a").unwrap(),
    };
    let mut bytes = entry(change);
    let last = bytes.len() - 1;
    // Says that its record is a ledger entry, or a placed hold, that follows from it.
    bytes[last] = 2;
    is_damaged(body::read_body(&bytes, 1, false));
    bytes[last] = 1;
    bytes.push(4);
    is_damaged(body::read_body(&bytes, 1, false));
}

#[test]
fn what_is_cut_short_or_too_long_is_damage() {
    let wallet = encode_wallet(&whole(KEY).wallet).unwrap();
    for length in 0..wallet.len() {
        is_damaged(decode_wallet(&wallet[..length]));
    }
    is_damaged(decode_wallet(&[&wallet[..], &[0]].concat()));
    for document in documents() {
        let document = encode_document(&document).unwrap();
        for length in 0..document.len() {
            is_damaged(decode_document(&document[..length]));
        }
    }
}

#[test]
fn no_flipped_bit_makes_a_wallet_that_cannot_be() {
    let wallet = encode_wallet(&whole(KEY).wallet).unwrap();
    let mut refused = 0;
    for place in 1..wallet.len() {
        for bit in 0..8 {
            let mut bytes = wallet.clone();
            bytes[place] ^= 1 << bit;
            match decode_wallet(&bytes) {
                Ok(read) => assert_eq!(read.faults(), Vec::<String>::new()),
                Err(Error::Damaged(_)) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn credits_that_do_not_add_up_are_damage() {
    let mut life = Life::born(KEY, Owner::Order);
    life.grant("grant", domain::id::ProductId(1), None);
    let sound = encode_wallet(&life.wallet).unwrap();
    let credits = {
        let mut bytes = vec![253];
        bytes.extend_from_slice(&(9_000_000_000_u64 * 2).to_le_bytes());
        bytes
    };
    let places = sound.windows(credits.len()).enumerate();
    let places: Vec<_> = places.filter(|(_, part)| *part == credits).collect();
    assert_eq!(places.len(), 2, "the balance and its only lot");
    for (place, _) in places {
        let mut bytes = sound.clone();
        bytes[place + 1] ^= 2;
        is_damaged(decode_wallet(&bytes));
    }
}

/// A placed hold's record and a deduction's are not stored twice.
#[test]
fn a_record_that_follows_from_its_event_takes_two_bytes_at_most() {
    for (event, record) in whole(KEY).events {
        let mut bytes = Vec::new();
        let follows = body::write_event(&mut bytes, &event).unwrap();
        let event_bytes = bytes.len();
        body::write_after(&mut bytes, follows, record.as_ref(), None).unwrap();
        let record_bytes = bytes.len() - event_bytes;
        match (&event.change, record.map(|record| record.fact)) {
            (Change::HoldPlaced { .. }, _) | (_, None) => assert_eq!(record_bytes, 1),
            (Change::Deducted { .. } | Change::Granted { .. }, Some(RecordContent::Entry(_))) => {
                assert!(record_bytes <= 10);
            }
            _ => {}
        }
    }
}

#[test]
fn a_wallet_waiting_for_a_code_keeps_it_once_it_has_one() {
    let mut life = Life::born(KEY, Owner::Order);
    life.tell(Change::CodeRotated {
        hash: CodeHash([1; 16]),
        sealed: Box::new([2; 200]),
        former: None,
    });
    let bytes = encode_wallet(&life.wallet).unwrap();
    let read: Wallet = decode_wallet(&bytes).unwrap();
    let sealed = Box::new([2; 200]);
    let hash = CodeHash([1; 16]);
    assert_eq!(read.owner, Owner::Code { hash, sealed });
}
