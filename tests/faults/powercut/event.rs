//! The events of a recording.

use std::collections::BTreeMap;

/// Contents of a folder's files, by their path below it.
pub(crate) type Contents = BTreeMap<String, Vec<u8>>;

/// One event, in the total order in which the shim saw them. Paths are relative to the data directory; the
/// empty path is that directory itself.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    WriteBegan {
        call: u64,
        path: String,
        offset: usize,
        data: Vec<u8>,
    },
    /// The end of a write of `written` bytes, unless it failed.
    WriteEnded {
        call: u64,
        written: Option<usize>,
    },
    Truncated {
        path: String,
        bytes: usize,
    },
    Created {
        path: String,
    },
    FolderCreated {
        path: String,
    },
    Renamed {
        from: String,
        to: String,
    },
    Removed {
        path: String,
    },
    SyncBegan {
        call: u64,
        path: String,
    },
    SyncEnded {
        call: u64,
        succeeded: bool,
    },
    /// The beginning of data received on a socket.
    Received {
        socket: String,
        data: Vec<u8>,
    },
    /// The beginning of data about to be sent on a socket.
    Sent {
        socket: String,
        data: Vec<u8>,
    },
    /// The process has ended, by itself or killed, with these contents of its directory. The machine continues:
    /// what was not synced is still not.
    ProcessEnded {
        left: Contents,
    },
}
