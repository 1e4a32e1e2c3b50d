//! Wallets' entries: what each kind of change becomes in the log and in the ledger.

use std::collections::BTreeSet;

use domain::wallet::Event;

use super::{
    KEY, NOW,
    changes::{NAMES, creations, name},
    golden, life,
};
use crate::{
    error::Error,
    format::{
        DecodedEntry,
        append::LogEvent,
        entry::{self, Entries, Entry},
    },
    lookups,
};

/// A wallet's life, and other beginnings of it.
fn all() -> Vec<LogEvent> {
    let (mut all, _) = life();
    all.extend(creations().map(|change| LogEvent::Wallet {
        key: KEY,
        version: 1,
        event: Event { at: NOW, change },
        record: None,
        moved: None,
    }));
    // A number that takes several bytes.
    let LogEvent::Wallet { event, .. } = all[1].clone() else {
        panic!("not a wallet's");
    };
    all.push(LogEvent::Wallet {
        key: KEY,
        version: (1 << 40) - 1,
        event,
        record: None,
        moved: None,
    });
    all
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex
        .as_bytes()
        .chunks(2)
        .map(|two| std::str::from_utf8(two).unwrap());
    let bytes = digits.map(|two| u8::from_str_radix(two, 16).unwrap());
    bytes.collect()
}

/// One line each: what it is, and its bytes in hexadecimal digits.
#[test]
fn entries_are_written_as_ever_and_say_what_happened() {
    let (mut lines, mut names) = (Vec::new(), BTreeSet::new());
    for log_event in &all() {
        let LogEvent::Wallet {
            version,
            event,
            record,
            moved,
            ..
        } = log_event
        else {
            panic!("not a wallet's");
        };
        let hash = record.as_ref().and_then(|record| record.lookup());
        let hash = hash.map(|lookup| lookup.hash(&KEY));
        let mut bytes = Vec::new();
        entry::write(
            &mut bytes,
            *version,
            event,
            record.as_ref(),
            hash,
            moved.as_deref(),
        )
        .unwrap();
        names.insert(name(&event.change));
        lines.push(format!("{} {}\n", name(&event.change), hex(&bytes)));
    }
    assert_eq!(names, BTreeSet::from(NAMES), "every change");
    let today = lines.concat();
    let kept = String::from_utf8(golden("entries-v1.txt", today.as_bytes())).unwrap();
    assert_eq!(kept.lines().count(), lines.len());
    for (line, log_event) in kept.lines().zip(all()) {
        let LogEvent::Wallet {
            key,
            version,
            event,
            record,
            moved,
        } = log_event
        else {
            panic!("not a wallet's");
        };
        let (what, kept) = line.split_once(' ').unwrap();
        assert_eq!(what, name(&event.change));
        let kept = bytes(kept);
        let entry = Entry::read(&kept).unwrap();
        let hash = record.as_ref().and_then(|record| record.lookup());
        assert_eq!(entry.version, version, "{what}");
        assert_eq!(entry.hash, hash.map(|lookup| lookup.hash(&key)), "{what}");
        assert_eq!(entry.has_record(), record.is_some(), "{what}");
        assert_eq!(entry.record().unwrap(), record, "{what}");
        let mut listed = Vec::new();
        lookups::of(&key, &event, moved.as_deref(), &mut listed);
        assert!(
            listed.is_empty() || entry.is_listed(),
            "{what} would not be listed"
        );
        assert_eq!(
            entry.decode().unwrap(),
            DecodedEntry {
                event,
                record,
                moved
            },
            "{what}"
        );
    }
    assert_eq!(kept, today);
}

#[test]
fn an_entry_of_a_later_version_asks_for_a_newer_scrip() {
    let (events, _) = life();
    for log_event in &events {
        let LogEvent::Wallet {
            version,
            event,
            record,
            moved,
            ..
        } = log_event
        else {
            panic!("not a wallet's");
        };
        let mut bytes = Vec::new();
        entry::write(
            &mut bytes,
            *version,
            event,
            record.as_ref(),
            Some(7),
            moved.as_deref(),
        )
        .unwrap();
        bytes[0] += 1 << 4;
        // Its head still reads: it can be applied by code that does not look inside.
        let entry = Entry::read(&bytes).unwrap();
        assert_eq!((entry.version, entry.hash), (*version, Some(7)));
        let error = entry.decode().unwrap_err();
        assert!(matches!(error, Error::Unusable(_)), "{error}");
        assert!(error.to_string().contains("use a newer one"), "{error}");
    }
}

#[test]
fn an_entry_that_is_cut_short_anywhere_is_damage() {
    let (events, _) = life();
    let Some(LogEvent::Wallet {
        event,
        record,
        moved,
        ..
    }) = events.get(4)
    else {
        panic!("not a wallet's");
    };
    let mut bytes = Vec::new();
    entry::write(
        &mut bytes,
        1 << 30,
        event,
        record.as_ref(),
        Some(7),
        moved.as_deref(),
    )
    .unwrap();
    for end in 0..bytes.len() {
        let said = Entry::read(&bytes[..end]).and_then(|entry| entry.decode());
        assert!(matches!(said, Err(Error::Damaged(_))), "{end}");
    }
    bytes.push(0);
    let said = Entry::read(&bytes).and_then(|entry| entry.decode());
    assert!(
        matches!(said, Err(Error::Damaged(_))),
        "something is left over"
    );
    // A number that has no end.
    assert!(matches!(Entry::read(&[0x10; 1]), Err(Error::Damaged(_))));
    let endless = [&[0x10][..], &[0xff; 12]].concat();
    assert!(matches!(Entry::read(&endless), Err(Error::Damaged(_))));
}

#[test]
fn entries_in_a_row_end_with_the_first_that_is_not_whole() {
    let event = Event {
        at: NOW,
        change: creations()[2].clone(),
    };
    let mut row = Vec::new();
    for version in 1..=3 {
        let mut bytes = Vec::new();
        entry::write(&mut bytes, version, &event, None, None, None).unwrap();
        assert_eq!(entry::pushed_bytes(&bytes), bytes.len() + 2);
        entry::push(&mut row, &bytes);
    }
    let versions: Vec<_> = Entries(&row)
        .map(|entry| entry.unwrap().0.version)
        .collect();
    assert_eq!(versions, [1, 2, 3]);
    let cut: Vec<_> = Entries(&row[..row.len() - 1]).collect();
    assert_eq!(cut.len(), 3);
    assert!(cut[1].is_ok() && cut[2].is_err());
}
