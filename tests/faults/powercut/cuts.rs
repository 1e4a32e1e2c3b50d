//! The points of a recording at which the power is cut.

use super::{answers::Answers, event::Event};
use rand::{RngExt, rngs::StdRng, seq::IndexedRandom};
use std::collections::HashSet;

/// sled's unit of log space; the first bytes of one are written each time it is used.
const SEGMENT_BYTES: usize = 8 << 20;

/// How the names of the files begin in which sled stores the position of its log.
const SNAPSHOT: &str = "/snap.";

/// Random points at or after `first`, in order: a quarter anywhere, a quarter right after an answer, a quarter
/// in the middle of a sync, a quarter while sled stores the position of its log, which it does only when
/// opened.
pub(crate) fn choose(events: &[Event], first: usize, count: usize, rng: &mut StdRng) -> Vec<usize> {
    let answers = places(events, first, |event| matches!(event, Event::Sent { .. }));
    let syncs = places(events, first, |event| {
        matches!(event, Event::SyncBegan { .. })
    });
    let openings = places(events, first, |event| {
        matches!(event,
            Event::Created { path } | Event::WriteBegan { path, .. } | Event::SyncBegan { path, .. }
            | Event::Renamed { to: path, .. } | Event::Removed { path } if path.contains(SNAPSHOT))
    });
    assert!(!openings.is_empty(), "no opening was recorded");
    let mut cuts: Vec<usize> = (0..count)
        .map(|place| {
            let preferred = match place % 4 {
                0 => None,
                1 => answers.choose(rng),
                2 => syncs.choose(rng),
                _ => openings.choose(rng),
            };
            // A cut at a number is before the event of that number.
            preferred.map_or_else(|| rng.random_range(first..=events.len()), |event| event + 1)
        })
        .collect();
    cuts.sort_unstable();
    cuts
}

/// The point after which the first `count` operations have been answered.
pub(crate) fn after_answers(events: &[Event], count: usize) -> usize {
    let mut answers = Answers::default();
    let mut ids = HashSet::new();
    let last = events.iter().position(|event| {
        ids.extend(answers.see(event));
        ids.len() == count
    });
    last.expect("the set-up was answered, and its answers recorded") + 1
}

/// Panics unless the recording contains what makes power cuts dangerous.
pub(crate) fn assert_worth_it(events: &[Event]) {
    let mut used = HashSet::new();
    let mut used_again = 0;
    let mut syncs = 0;
    for event in events {
        match event {
            Event::WriteBegan { path, offset, .. } if offset % SEGMENT_BYTES == 0 => {
                used_again += usize::from(!used.insert((path, *offset)));
            }
            Event::SyncEnded {
                succeeded: true, ..
            } => syncs += 1,
            _ => {}
        }
    }
    eprintln!(
        "{} events, {syncs} syncs, {used_again} pieces of log space used again",
        events.len()
    );
    assert!(
        used_again > 0,
        "no log space was used again: the load was too small to prove anything"
    );
}

fn places(events: &[Event], first: usize, wanted: impl Fn(&Event) -> bool) -> Vec<usize> {
    (first..events.len())
        .filter(|place| wanted(&events[*place]))
        .collect()
}
