use std::{fs::File, sync::Arc};

use domain::{
    id::{ProjectId, WalletId, WalletKey},
    text::{ExternalUserId, Feature},
    time::Timestamp,
    wallet::{Change, Created, Event, Owner},
};

use super::*;
use crate::{
    format::append::{Append, LogEvent},
    frames::SledFrames,
    options::Options,
};

struct Log {
    _dir: tempfile::TempDir,
    db: sled::Db,
    journal: sled::Tree,
    frames: SledFrames,
    places: Vec<FramePosition>,
}

impl Log {
    /// A log of this many frames, one event each; the first creates a wallet.
    fn of(frames: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let db = sled::Config::new()
            .path(dir.path())
            .flush_every_ms(None)
            .open()
            .unwrap();
        let journal = db.open_tree("journal").unwrap();
        let file = Arc::new(File::open(dir.path().join("db")).unwrap());
        let kept = SledFrames::open(&db, &file, &Options::new(dir.path())).unwrap();
        let mut log = Self {
            _dir: dir,
            db,
            journal,
            frames: kept,
            places: vec![FramePosition::default()],
        };
        for version in 1..=frames {
            log.add(&event(version));
        }
        log
    }

    fn add(&mut self, log_event: &LogEvent) {
        let mut payload = Vec::new();
        frame::push(&mut payload, &Append::one(log_event).unwrap());
        let mut bytes = Vec::new();
        let place = frame::encode(&mut bytes, self.places.last().unwrap(), &payload, 1).unwrap();
        self.journal.insert(place.lsn.to_be_bytes(), bytes).unwrap();
        self.places.push(place);
    }

    fn scan(&self, mark: u64) -> Result<Scan, Error> {
        let mark = self.places.get(mark as usize).copied();
        let ahead = FramePosition {
            lsn: self.places.len() as u64,
            hash: [1; 32],
        };
        self.scan_to(mark.unwrap_or(ahead))
    }

    fn scan_to(&self, mark: FramePosition) -> Result<Scan, Error> {
        scan(&self.frames, read_meta(&self.db)?, mark)
    }

    fn repair(&self, scan: &Scan) {
        repair(&self.db, &self.frames, scan).unwrap();
    }

    fn damage(&self, lsn: u64) {
        let mut bytes = self
            .journal
            .get(lsn.to_be_bytes())
            .unwrap()
            .unwrap()
            .to_vec();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        self.journal.insert(lsn.to_be_bytes(), bytes).unwrap();
    }

    fn remove(&self, lsn: u64) {
        self.journal.remove(lsn.to_be_bytes()).unwrap();
    }
}

fn event(version: u64) -> LogEvent {
    let change = if version == 1 {
        Change::Created(Box::new(Created {
            id: WalletId(1),
            project: ProjectId(1),
            owner: Owner::External(ExternalUserId::new("u").unwrap()),
        }))
    } else {
        Change::FeatureGranted {
            feature: Feature::new("f").unwrap(),
        }
    };
    LogEvent::Wallet {
        key: WalletKey([3; 16]),
        version,
        event: Event {
            at: Timestamp(5),
            change,
        },
        record: None,
        moved: None,
    }
}

fn message(result: Result<Scan, Error>) -> String {
    result.err().expect("refuses").to_string()
}

#[test]
fn a_whole_log_is_read_whole_wherever_the_watermark_is() {
    for mark in 0..=5 {
        let log = Log::of(5);
        let scan = log.scan(mark).unwrap();
        assert_eq!(scan.head, log.places[5]);
        assert_eq!(scan.frames.len(), 5);
        assert!(scan.incomplete.is_none() && scan.leftover.is_empty());
    }
}

#[test]
fn only_the_tail_of_a_applied_log_is_read_and_leftovers_are_dropped() {
    let log = Log::of(5);
    write_meta(&log.db, &log.places[3]).unwrap();
    let scan = log.scan(5).unwrap();
    assert_eq!(
        (scan.leftover.as_slice(), scan.frames.len()),
        (&[1, 2, 3][..], 2)
    );
    log.repair(&scan);
    assert_eq!(log.journal.len(), 2);
    assert_eq!(log.scan(5).unwrap().head, log.places[5]);
    // Folded to the end and dropped: the place is still known.
    write_meta(&log.db, &log.places[5]).unwrap();
    log.journal.clear().unwrap();
    assert_eq!(log.scan(5).unwrap().head, log.places[5]);
}

#[test]
fn a_torn_last_frame_is_taken_away() {
    let log = Log::of(5);
    log.damage(5);
    let scan = log.scan(4).unwrap();
    assert_eq!(scan.head, log.places[4]);
    assert_eq!(scan.incomplete.as_ref().map(|(lsn, _)| *lsn), Some(5));
    log.repair(&scan);
    assert_eq!(log.journal.len(), 4);
    assert!(log.scan(4).unwrap().incomplete.is_none());
}

#[test]
fn a_damaged_frame_that_was_durable_is_not_called_torn() {
    let log = Log::of(5);
    log.damage(5);
    assert!(message(log.scan(5)).contains("frame 5"));
}

#[test]
fn damage_before_the_end_names_the_frame() {
    for lsn in 1..5 {
        let log = Log::of(5);
        log.damage(lsn);
        let said = message(log.scan(0));
        assert!(said.contains(&format!("frame {lsn}:")), "{said}");
    }
}

#[test]
fn a_hole_names_the_frame() {
    for lsn in 1..5 {
        let log = Log::of(5);
        log.remove(lsn);
        let said = message(log.scan(0));
        assert!(
            said.contains(&format!("frame {lsn}: it is missing")),
            "{said}"
        );
    }
}

#[test]
fn a_lost_end_is_seen_by_the_watermark() {
    let log = Log::of(5);
    log.remove(5);
    assert!(log.scan(4).is_ok());
    let said = message(log.scan(5));
    assert!(
        said.contains("ends at frame 4") && said.contains("up to frame 5"),
        "{said}"
    );
}

#[test]
fn another_history_under_the_same_numbers_is_seen() {
    let mut log = Log::of(3);
    // Frame 2 as it would be in another log.
    let mut bytes = Vec::new();
    frame::encode(
        &mut bytes,
        &FramePosition {
            lsn: 1,
            hash: [7; 32],
        },
        &[],
        0,
    )
    .unwrap();
    log.journal.insert(2_u64.to_be_bytes(), bytes).unwrap();
    assert!(message(log.scan(0)).contains("frame 2: it does not follow"));

    log = Log::of(3);
    let other = FramePosition {
        lsn: 2,
        hash: [7; 32],
    };
    assert!(message(log.scan_to(other)).contains("frame 2"));

    log = Log::of(3);
    let moved = log.journal.get(1_u64.to_be_bytes()).unwrap().unwrap();
    log.journal.insert(2_u64.to_be_bytes(), moved).unwrap();
    assert!(message(log.scan(0)).contains("frame 1 is in its place"));
}

/// Frames that are applied at the start are read here.
#[test]
fn pending_frames_are_counted_and_follow_each_other() {
    let log = Log::of(4);
    write_meta(&log.db, &log.places[1]).unwrap();
    let scan = log.scan(4).unwrap();
    for (frame, places) in scan.frames.iter().zip(log.places[1..].windows(2)) {
        assert_eq!((frame.before, frame.place), (places[0], places[1]));
        let stored = log.journal.get(frame.place.lsn.to_be_bytes()).unwrap();
        assert_eq!(
            (frame.events, frame.length),
            (1, stored.unwrap().len() as u64)
        );
        assert!(frame.frame.is_none(), "it is read again when it is applied");
    }
    assert_eq!(scan.frames.len(), 3);
}

/// A sound frame whose appends do not hold what they say was never written by this log.
#[test]
fn an_append_of_another_number_of_events_names_the_frame() {
    let mut log = Log::of(2);
    let mut append = Append::one(&event(3)).unwrap();
    append.push(&event(4)).unwrap();
    let mut payload = Vec::new();
    frame::push(&mut payload, &append);
    // One event fewer than there are.
    payload[3] -= 1;
    let mut bytes = Vec::new();
    let place = frame::encode(&mut bytes, &log.places[2], &payload, 1).unwrap();
    log.journal.insert(3_u64.to_be_bytes(), bytes).unwrap();
    log.places.push(place);
    let said = message(log.scan(0));
    assert!(
        said.contains("frame 3") && said.contains("another number"),
        "{said}"
    );
}

#[test]
fn a_log_of_a_later_version_asks_for_a_newer_scrip_and_is_not_called_damaged() {
    let mut log = Log::of(2);
    // A frame of another format with a valid checksum.
    let mut bytes = Vec::new();
    let place = frame::encode(&mut bytes, &log.places[2], &[], 0).unwrap();
    bytes[0] += 1;
    let crc = crc32c::crc32c_append(crc32c::crc32c(&bytes[..5]), &bytes[9..]);
    bytes[5..9].copy_from_slice(&crc.to_be_bytes());
    log.journal.insert(3_u64.to_be_bytes(), bytes).unwrap();
    // And one with an event of a kind that is not known.
    let mut other = Log::of(2);
    let payload = [0, 3, 0, 1, 10, 0, 0];
    let mut bytes = Vec::new();
    other
        .places
        .push(frame::encode(&mut bytes, &other.places[2], &payload, 1).unwrap());
    other.journal.insert(3_u64.to_be_bytes(), bytes).unwrap();
    log.places.push(place);
    for log in [log, other] {
        let error = log.scan(0).err().expect("refuses");
        assert!(matches!(error, Error::Unusable(_)), "{error}");
        let said = error.to_string();
        assert!(
            said.contains("frame 3") && said.contains("use a newer one"),
            "{said}"
        );
    }
}
