//! Journals whose log is in a database.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{sync::Arc, time::Duration};

use cluster::postgres::{Clocks, Followed, Follower, Member, SEGMENT_FRAMES_LOG2, Server};
use persistence::{Options, SledJournal};

/// The URL of a new database.
pub(crate) fn database() -> String {
    let server = postgres_kit::shared();
    server.url(&server.create_database())
}

/// A member that nobody forwards to, and that makes no snapshots.
pub(crate) fn member(url: &str) -> Member {
    Member {
        server: Server::parse(url).unwrap(),
        cell: 0,
        split_from: 0,
        address: "http://127.0.0.1:1".into(),
        key_check: Arc::new(|_| Ok(vec![7])),
        depth: 4,
        clocks: Clocks::of(|| domain::Timestamp(1_760_000_000_000)),
        on_leader: Arc::new(|_| {}),
        snapshot_every: None,
        snapshots: None,
        segment_frames_log2: SEGMENT_FRAMES_LOG2,
    }
}

/// The same of a log with small segments, which makes a snapshot whenever there is something new.
pub(crate) fn busy_member(url: &str) -> Member {
    Member {
        snapshot_every: Some(Duration::ZERO),
        segment_frames_log2: 6,
        ..member(url)
    }
}

/// Follows until it leads.
pub(crate) fn lead(options: Options, member: Member) -> Arc<SledJournal> {
    let follower = Follower::join(options, member).unwrap();
    match follower.follow(&|| false).unwrap() {
        Followed::Leads { journal, .. } => journal,
        other => panic!("{other:?}"),
    }
}
