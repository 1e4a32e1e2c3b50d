//! What a recording consists of.

use std::collections::BTreeMap;

/// Contents of a folder's files, by their path below it.
pub(crate) type Contents = BTreeMap<String, Vec<u8>>;

/// One thing that happened, in the total order in which the shim saw them. Paths are below the
/// data directory; the empty one is that directory itself.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    WriteBegan {
        call: u64,
        path: String,
        offset: usize,
        data: Vec<u8>,
    },
    /// `written` bytes, where it did not fail.
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
    /// The beginning of what came in on a socket.
    Received {
        socket: String,
        data: Vec<u8>,
    },
    /// The beginning of what is about to go out on a socket.
    Sent {
        socket: String,
        data: Vec<u8>,
    },
    /// The process has ended, by itself or killed, and this is what it left in the directory. The
    /// machine goes on: what was not synced still is not.
    ProcessEnded {
        left: Contents,
    },
}
