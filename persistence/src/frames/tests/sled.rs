use std::{fs::File, sync::Arc};

use super::{AHEAD, BEHIND, SPACERS, SledFrames, TREE};
use crate::{
    frames::{FramePosition, Frames as _, Group, MadeFrame},
    options::Options,
};

/// Writes frames of this length, forgetting all but the last hundred; returns the bytes that sled wrote.
fn write(frames: u64, length: usize) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let config = sled::Config::new().path(dir.path()).flush_every_ms(None);
    let db = config.segment_size(8 << 20).open().unwrap();
    let file = Arc::new(File::open(dir.path().join("db")).unwrap());
    let log = SledFrames::open(&db, &file, &Options::new(dir.path())).unwrap();
    let mut written = 0;
    let place = |lsn| FramePosition { lsn, hash: [0; 32] };
    for lsn in 1..=frames {
        let made = MadeFrame {
            place: place(lsn),
            appends: 1,
            events: 1,
            payload_bytes: length as u64,
            bytes: vec![lsn as u8; length].into(),
        };
        let group = Group {
            behind: place(lsn - 1),
            frames: vec![made],
        };
        log.start(&group).unwrap();
        written += db.flush().unwrap();
        log.finish().unwrap();
        if let Some(old @ 1..) = lsn.checked_sub(100) {
            log.forget(old).unwrap();
        }
    }
    let mut kept = Vec::new();
    let mut see = |lsn, bytes: &[u8]| {
        assert_eq!(bytes, vec![lsn as u8; length]);
        kept.push(lsn);
        Ok(())
    };
    log.walk(place(0), &mut see).unwrap();
    assert!(kept.iter().copied().eq(frames - 99..=frames));
    for lsn in kept {
        assert!(log.read(lsn).unwrap().is_some());
        log.forget(lsn).unwrap();
        assert!(log.read(lsn).unwrap().is_none());
    }
    log.walk(place(0), &mut |lsn, _| panic!("{lsn}")).unwrap();
    let spacers = db.open_tree(TREE).unwrap().len() as u64;
    assert!(
        spacers <= u64::from(SPACERS) * (AHEAD + BEHIND),
        "{spacers}"
    );
    written
}

#[test]
fn a_large_frame_is_written_little_more_than_once() {
    let frames = 1000 * 50_000;
    let written = write(1000, 50_000);
    assert!(written < frames * 5 / 4, "{written} bytes for {frames}");
}

#[test]
fn small_frames_have_no_spacers() {
    write(1000, 100);
}
