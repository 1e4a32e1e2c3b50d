//! Faulty servers, as synthetic events: some image must expose each of them, and no image the honest one.

use super::{disk::Disk, event::Event, file::Luck, replay::Replay};
use crate::books::diary_client::OPERATION_HEADER;
use rand::{SeedableRng, rngs::StdRng};
use std::collections::BTreeSet;

const DATA: [u8; 6] = *b"credit";

/// Number of images of each recording.
const TRIES: u64 = 200;

fn created() -> Event {
    Event::Created { path: "log".into() }
}

fn write_begins(call: u64) -> Event {
    Event::WriteBegan {
        call,
        path: "log".into(),
        offset: 4090,
        data: DATA.into(),
    }
}

fn write_ends(call: u64) -> Event {
    Event::WriteEnded {
        call,
        written: Some(DATA.len()),
    }
}

fn sync_begins(call: u64, path: &str) -> Event {
    Event::SyncBegan {
        call,
        path: path.into(),
    }
}

fn sync_ends(call: u64) -> Event {
    Event::SyncEnded {
        call,
        succeeded: true,
    }
}

fn truncated(bytes: usize) -> Event {
    Event::Truncated {
        path: "log".into(),
        bytes,
    }
}

/// In how many images after these events the data is complete.
fn found(events: &[Event]) -> u64 {
    let mut disk = Disk::default();
    events.iter().for_each(|event| disk.apply(event));
    let is_there = |seed: u64| {
        let luck = Luck {
            kept: [0.0, 0.5, 1.0][seed as usize % 3],
        };
        let image = disk.after_power_cut(luck, &mut StdRng::seed_from_u64(seed));
        image.files.get("log").and_then(|log| log.get(4090..4096)) == Some(&DATA)
    };
    (0..TRIES).map(|seed| u64::from(is_there(seed))).sum()
}

/// At how many events of a recording a power cut may lose the operation although it was answered.
fn losing_cuts(events: &[Event]) -> usize {
    let may_lose = |cut: &usize| {
        let mut replay = Replay::new(events);
        replay.play(*cut);
        replay.acknowledged().contains(&OPERATION) && found(&events[..*cut]) < TRIES
    };
    (0..=events.len()).filter(may_lose).count()
}

const OPERATION: usize = 7;

fn request() -> Event {
    let data = format!("POST / HTTP/1.1\r\n{OPERATION_HEADER}: {OPERATION}\r\n\r\n");
    Event::Received {
        socket: "a".into(),
        data: data.into(),
    }
}

fn answer() -> Event {
    Event::Sent {
        socket: "a".into(),
        data: "HTTP/1.1 200 OK\r\n".into(),
    }
}

/// A log whose name is durable, followed by these events.
fn named(events: impl IntoIterator<Item = Event>) -> Vec<Event> {
    [created(), sync_begins(1, ""), sync_ends(1)]
        .into_iter()
        .chain(events)
        .collect()
}

#[test]
fn what_a_completed_sync_covers_is_in_every_image() {
    let honest = [
        write_begins(2),
        write_ends(2),
        sync_begins(3, "log"),
        sync_ends(3),
    ];
    assert_eq!(found(&named(honest.clone())), TRIES);

    let overwritten_later = honest.into_iter().chain([
        Event::WriteBegan {
            call: 4,
            path: "log".into(),
            offset: 4096,
            data: vec![1; 9000],
        },
        truncated(100_000),
    ]);
    assert_eq!(found(&named(overwritten_later)), TRIES);
}

#[test]
fn what_no_completed_sync_covers_is_missing_from_some_images_and_in_others() {
    let liars: [Vec<Event>; 7] = [
        // Acknowledged before its sync, or during it.
        vec![write_begins(2), write_ends(2)],
        vec![write_begins(2), write_ends(2), sync_begins(3, "log")],
        // Synced before it was written, or while it was.
        vec![
            sync_begins(3, "log"),
            sync_ends(3),
            write_begins(2),
            write_ends(2),
        ],
        vec![
            sync_begins(3, "log"),
            write_begins(2),
            write_ends(2),
            sync_ends(3),
        ],
        vec![
            write_begins(2),
            sync_begins(3, "log"),
            write_ends(2),
            sync_ends(3),
        ],
        // The folder was synced, not the file.
        vec![
            write_begins(2),
            write_ends(2),
            sync_begins(3, ""),
            sync_ends(3),
        ],
        // The sync failed.
        vec![
            write_begins(2),
            write_ends(2),
            sync_begins(3, "log"),
            Event::SyncEnded {
                call: 3,
                succeeded: false,
            },
        ],
    ];
    for liar in liars {
        let found = found(&named(liar.clone()));
        assert!(0 < found && found < TRIES, "in {found} images: {liar:?}");
    }
}

#[test]
fn an_operation_answered_before_its_sync_is_reported_as_lost() {
    let sync = [sync_begins(3, "log"), sync_ends(3)];
    let write = [request(), write_begins(2), write_ends(2)];
    let honest = named(
        write
            .clone()
            .into_iter()
            .chain(sync.clone())
            .chain([answer()]),
    );
    assert_eq!(losing_cuts(&honest), 0);
    let liar = named(write.into_iter().chain([answer()]).chain(sync));
    // Right after the answer, and during the sync.
    assert_eq!(losing_cuts(&liar), 2);
}

#[test]
fn a_file_is_missing_whose_name_was_never_synced() {
    let written = [
        write_begins(2),
        write_ends(2),
        sync_begins(3, "log"),
        sync_ends(3),
    ];
    let found = found(&[vec![created()], written.to_vec()].concat());
    assert!(0 < found && found < TRIES, "in {found} images");
}

#[test]
fn a_folder_that_was_synced_keeps_its_names_when_it_is_renamed() {
    let path = |path: &str| path.to_owned();
    let events = [
        Event::FolderCreated { path: path("new") },
        Event::Created {
            path: path("new/conf"),
        },
        sync_begins(1, "new"),
        sync_ends(1),
        Event::Renamed {
            from: path("new"),
            to: path("store"),
        },
    ];
    let mut disk = Disk::default();
    events.iter().for_each(|event| disk.apply(event));
    let places = |disk: &Disk| -> BTreeSet<String> {
        let image = |seed| {
            disk.after_power_cut(Luck { kept: 1.0 }, &mut StdRng::seed_from_u64(seed))
                .files
        };
        (0..TRIES)
            .flat_map(|seed| image(seed).into_keys())
            .collect()
    };
    assert_eq!(places(&disk), ["new/conf", "store/conf"].map(path).into());
    [sync_begins(2, ""), sync_ends(2)]
        .iter()
        .for_each(|event| disk.apply(event));
    assert_eq!(places(&disk), [path("store/conf")].into());
}

#[test]
fn a_truncation_that_was_not_synced_may_come_back_either_way() {
    let written = [
        write_begins(2),
        write_ends(2),
        sync_begins(3, "log"),
        sync_ends(3),
    ];
    let found = found(&named(written.into_iter().chain([truncated(0)])));
    assert!(0 < found && found < TRIES, "in {found} images");
}

#[test]
fn a_sync_covers_what_another_one_that_ended_first_did_not() {
    let events = [
        write_begins(2),
        write_ends(2),
        sync_begins(3, "log"),
        truncated(0),
        write_begins(4),
        write_ends(4),
        sync_begins(5, "log"),
        sync_ends(3),
        sync_ends(5),
    ];
    assert_eq!(found(&named(events)), TRIES);
}

#[test]
#[should_panic(expected = "does not hold what was recorded")]
fn a_write_past_the_recording_is_noticed() {
    let mut disk = Disk::default();
    for event in named([write_begins(2), write_ends(2)]) {
        disk.apply(&event);
    }
    let mut real = vec![0; 4096];
    real[0] = 1;
    disk.apply(&Event::ProcessEnded {
        left: [("log".to_owned(), real)].into(),
    });
}

/// The log in an image after its process ended with these contents, and another one synced it.
fn log_left_and_synced(mut disk: Disk, left: &[u8]) -> Vec<u8> {
    let ended = Event::ProcessEnded {
        left: [("log".to_owned(), left.to_vec())].into(),
    };
    for event in [ended, sync_begins(9, "log"), sync_ends(9)] {
        disk.apply(&event);
    }
    let mut image = disk.after_power_cut(Luck { kept: 0.0 }, &mut StdRng::seed_from_u64(0));
    image.files.remove("log").expect("its name was synced")
}

#[test]
fn a_write_cut_off_by_the_end_of_its_process_did_what_is_left() {
    let mut disk = Disk::default();
    named([write_begins(2)])
        .iter()
        .for_each(|event| disk.apply(event));
    let left = [vec![0; 4090], DATA[..3].to_vec()].concat();
    assert_eq!(log_left_and_synced(disk, &left), left);
}

#[test]
fn a_size_that_was_changed_as_its_process_died_is_what_is_left() {
    let mut disk = Disk::default();
    named([write_begins(2), write_ends(2)])
        .iter()
        .for_each(|event| disk.apply(event));
    let mut left = [vec![0; 4090], DATA.to_vec()].concat();
    left.resize(20_000, 0);
    assert_eq!(log_left_and_synced(disk, &left), left);
}
