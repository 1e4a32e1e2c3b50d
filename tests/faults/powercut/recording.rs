//! Reads what the shim recorded. `shim.c` describes the format.

use super::event::Event;

const HEAD_BYTES: usize = 40;

/// Parses all complete records; the last may be torn if the process was killed while it wrote it.
pub(crate) fn read(mut bytes: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some((event, rest)) = record(bytes) {
        events.push(event);
        bytes = rest;
    }
    events
}

fn record(bytes: &[u8]) -> Option<(Event, &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
    let (kind, path_bytes) = (u32_at(head, 0), u32_at(head, 4) as usize);
    let (call, offset) = (u64_at(head, 8), u64_at(head, 16) as usize);
    let (data_bytes, result) = (u64_at(head, 24) as usize, u64_at(head, 32) as i64);
    let (path, rest) = rest.split_at_checked(path_bytes)?;
    let (data, rest) = rest.split_at_checked(data_bytes)?;
    let (path, data) = (text(path), data.to_vec());
    let event = match kind {
        1 => Event::WriteBegan {
            call,
            path,
            offset,
            data,
        },
        2 => Event::WriteEnded {
            call,
            written: usize::try_from(result).ok(),
        },
        3 => Event::Truncated {
            path,
            bytes: offset,
        },
        4 => Event::Created { path },
        5 => Event::FolderCreated { path },
        6 => {
            let (from, to) = path.split_once('\0').expect("a renaming has two paths");
            Event::Renamed {
                from: from.to_owned(),
                to: to.to_owned(),
            }
        }
        7 => Event::Removed { path },
        8 => Event::SyncBegan { call, path },
        9 => Event::SyncEnded {
            call,
            succeeded: result == 0,
        },
        10 => Event::Received { socket: path, data },
        11 => Event::Sent { socket: path, data },
        _ => panic!("the shim wrote a record of kind {kind}"),
    };
    Some((event, rest))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("paths of the data directory are plain text")
}
