//! Which frames a log that is shared may lose, once snapshots have what they came to.

use std::time::Duration;

use persistence::frames::lease::Moment;

/// A member that was not seen for so long does not keep frames any more.
pub const MEMBER_TIMEOUT: Duration = Duration::from_secs(600);

/// A process that may still ask for frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// The oldest frame that it, or a copy that it makes, may ask for.
    pub lsn: u64,
    pub seen: Moment,
}

/// The place up to which frames may be only in snapshots: the second newest of the verified ones covers it, and no
/// member that was seen of late needs a frame up to it. Never lower than it is.
pub fn base(base: u64, snapshots: &[u64], members: &[Needs], now: Moment) -> u64 {
    let mut covered = snapshots.to_vec();
    covered.sort_unstable_by(|one, other| other.cmp(one));
    let Some(covered) = covered.get(1) else {
        return base;
    };
    let recent = members
        .iter()
        .filter(|member| now.saturating_sub(member.seen) <= MEMBER_TIMEOUT);
    let needed = recent.map(|member| member.lsn.saturating_sub(1)).min();
    needed.unwrap_or(*covered).min(*covered).max(base)
}

/// The numbers of the segments of so many frames that may be dropped, up to which exclusively: those wholly at or below
/// the base, but never the one that holds the head, without which no further frame would find the one it follows.
pub fn kept_from(base: u64, head: u64, segment_frames: u64) -> u64 {
    let of = |lsn: u64| lsn.checked_div(segment_frames).unwrap_or(0);
    of(base.saturating_add(1)).min(of(head))
}
