//! When a process may answer from memory, and when another may open.

use std::time::Duration;

use cluster::watch::{MAX_POLL_GAP, TIMEOUT, Watch};
use persistence::frames::{
    FramePosition,
    lease::{Lease, Moment, TRUST},
};

const HEAD: FramePosition = FramePosition {
    lsn: 7,
    hash: [7; 32],
};
const NEXT: FramePosition = FramePosition {
    lsn: 8,
    hash: [8; 32],
};

/// Looks at a head as often as one must, from one instant to another; returns what may be opened behind then.
fn watched(
    watch: &mut Watch,
    head: FramePosition,
    from: Moment,
    to: Moment,
) -> Option<FramePosition> {
    let mut now = from;
    while now < to {
        watch.saw(head, false, now);
        now += MAX_POLL_GAP / 3;
    }
    watch.saw(head, false, to);
    watch.may_open(to)
}

#[test]
fn a_head_is_opened_behind_once_it_was_seen_unmoved_for_long_enough() {
    let mut watch = Watch::default();
    assert_eq!(watch.may_open(TIMEOUT), None);
    let began = Duration::from_secs(100);
    let almost = began + TIMEOUT - Duration::from_nanos(1);
    assert_eq!(watched(&mut watch, HEAD, began, almost), None);
    assert_eq!(watch.may_open(began + TIMEOUT), Some(HEAD));
    // It moves: all begins again.
    let moved = began + TIMEOUT;
    assert_eq!(watched(&mut watch, NEXT, moved, moved + TIMEOUT / 2), None);
    let later = moved + TIMEOUT;
    assert_eq!(
        watched(&mut watch, NEXT, moved + TIMEOUT / 2, later),
        Some(NEXT)
    );
}

#[test]
fn who_did_not_look_cannot_say_that_nothing_moved() {
    let mut watch = Watch::default();
    watch.saw(HEAD, false, Moment::ZERO);
    assert_eq!(
        watch.may_open(TIMEOUT),
        None,
        "the last look is too long ago"
    );
    watch.saw(HEAD, false, TIMEOUT);
    assert_eq!(watch.may_open(TIMEOUT), None, "and so was the one before");
}

#[test]
fn nobody_waits_behind_a_closing() {
    let mut watch = Watch::default();
    watch.saw(HEAD, true, TIMEOUT);
    assert_eq!(watch.may_open(TIMEOUT), Some(HEAD));
}

#[test]
fn a_lease_is_counted_from_what_was_sent_last_and_ends_for_good() {
    let lease = Lease::default();
    assert!(!lease.holds(Moment::ZERO));
    let sent = Duration::from_secs(100);
    lease.renew(sent);
    lease.renew(sent - Duration::from_secs(1));
    assert!(lease.holds(sent + TRUST - Duration::from_nanos(1)));
    assert!(!lease.holds(sent + TRUST));
    lease.give_up();
    assert!(!lease.holds(sent));
    lease.renew(sent + TRUST);
    assert!(!lease.holds(sent + TRUST));
}
