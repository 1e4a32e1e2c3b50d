//! Frames are dropped only where snapshots have what they came to and nobody needs them.

use std::time::Duration;

use cluster::trim::{MEMBER_TIMEOUT, Needs, base, kept_from};
use proptest::prelude::*;

/// Frames of a segment, fewer than the server's.
const SEGMENT: u64 = 4;
const NOW: Duration = Duration::from_secs(10_000);

proptest! {
    #[test]
    fn what_a_member_or_a_snapshot_needs_is_kept(
        former in 0..40_u64,
        ahead in 0..60_u64,
        snapshots in prop::collection::vec(0..100_u64, 0..4),
        members in prop::collection::vec((1..120_u64, 0..1200_u64), 0..4),
    ) {
        let head = former + ahead;
        let snapshots: Vec<u64> = snapshots.into_iter().filter(|lsn| *lsn <= head).collect();
        let members: Vec<Needs> = members
            .iter()
            .map(|(lsn, ago)| Needs { lsn: *lsn, seen: NOW - Duration::from_secs(*ago) })
            .collect();
        let moved = base(former, &snapshots, &members, NOW);
        prop_assert!(moved >= former, "what is dropped does not come back");
        let kept = kept_from(moved, head, SEGMENT) * SEGMENT;
        prop_assert!(kept <= head, "the next frame finds the one that it follows");
        prop_assert!(kept <= moved + 1, "a frame above the base is kept");
        if moved > former {
            let mut sorted = snapshots.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.len() >= 2 && moved <= sorted[sorted.len() - 2], "two snapshots cover it");
            for member in members.iter().filter(|it| NOW - it.seen <= MEMBER_TIMEOUT) {
                prop_assert!(member.lsn > moved, "a member needs it");
            }
        }
    }
}

#[test]
fn all_is_dropped_that_nobody_needs() {
    let needs = |lsn, seconds| Needs {
        lsn,
        seen: NOW - Duration::from_secs(seconds),
    };
    assert_eq!(base(0, &[50, 70, 30], &[], NOW), 50);
    assert_eq!(
        base(0, &[70], &[], NOW),
        0,
        "one snapshot may turn out damaged"
    );
    assert_eq!(base(0, &[50, 70], &[needs(21, 10), needs(5, 700)], NOW), 20);
    assert_eq!(kept_from(50, 70, SEGMENT), 12);
    assert_eq!(kept_from(51, 70, SEGMENT), 13);
    // The next segment is there already, and empty: the last frame is in the one before.
    assert_eq!(kept_from(7, 7, SEGMENT), 1);
}
