//! What folding would forget and a copy still needs: while one is being made, what folds replace and the
//! frames that they folded stay on the disk. The checkpointer alone writes; whoever copies only asks for
//! it, between two folds, and lets go. A copy that takes too long, or a disk that fills up meanwhile, ends
//! this: the copy fails, the service goes on.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use crate::{contract::Error, fold::FoldReport, frame::Place, progress::Progress};

/// The longest that a copy may hold things back.
const LONGEST: Duration = Duration::from_secs(4 * 60 * 60);
/// The most frames: sled keeps some 65 bytes of memory for each.
const MOST_FRAMES: usize = 2_000_000;
/// How long a copy may wait for the fold under way to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// Frames that are dropped at a time once a copy is over, between folds.
const FRAMES_AT_ONCE: usize = 1024;

/// Where the books stood when a copy began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The last folded frame.
    pub(crate) folded: Place,
    /// The last fold.
    pub(crate) fold: u64,
}

/// A folded frame that was not dropped: its number and its bytes.
pub(crate) type OldFrame = (u64, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Nobody,
    /// A copy wants to begin.
    Asked,
    /// A copy is being made.
    Copying { mark: Mark, since: Instant },
}

#[derive(Default)]
struct State {
    phase: Phase,
    /// Copies so far: whose turn it is.
    turn: u64,
    reports: Vec<FoldReport>,
    frames: VecDeque<OldFrame>,
    bytes: u64,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Kept {
    state: Mutex<State>,
    /// For whoever wants to copy.
    granted: Condvar,
}

/// What may be forgotten now.
pub(crate) struct Forgettable {
    pub(crate) reports: Vec<FoldReport>,
    pub(crate) frames: Vec<OldFrame>,
}

impl Kept {
    /// Asks that nothing be forgotten from now on, and waits for the checkpointer to say from where.
    pub(crate) fn ask<'a>(&'a self, progress: &'a Progress) -> Result<Hold<'a>, Error> {
        let mut state = self.state.lock();
        if state.phase != Phase::Nobody {
            return Err(Error::Unusable("another backup is being made".into()));
        }
        state.phase = Phase::Asked;
        state.turn = state.turn.saturating_add(1);
        let turn = state.turn;
        progress.nudge();
        let begun = Instant::now();
        loop {
            if let Phase::Copying { mark, .. } = state.phase {
                return Ok(Hold {
                    kept: self,
                    progress,
                    mark,
                    turn,
                });
            }
            let left = PATIENCE.saturating_sub(begun.elapsed());
            if left.is_zero() || progress.is_stopped() {
                state.phase = Phase::Nobody;
                return Err(Error::Unusable("the store does not answer".into()));
            }
            self.granted
                .wait_for(&mut state, left.min(Duration::from_secs(1)));
        }
    }

    /// Whether a copy waits to begin, and nothing is left of the one before.
    pub(crate) fn is_asked(&self) -> bool {
        let state = self.state.lock();
        state.phase == Phase::Asked && state.frames.is_empty() && state.reports.is_empty()
    }

    /// A copy begins here. To be called between two folds.
    pub(crate) fn begin(&self, mark: Mark) {
        let mut state = self.state.lock();
        if state.phase == Phase::Asked {
            let since = Instant::now();
            state.phase = Phase::Copying { mark, since };
        }
        drop(state);
        self.granted.notify_all();
    }

    /// Takes charge of what a fold replaced and of its frames while a copy is being made; gives them
    /// back where there is none.
    pub(crate) fn take_over(
        &self,
        report: FoldReport,
        frames: impl Iterator<Item = OldFrame>,
    ) -> Option<FoldReport> {
        let mut state = self.state.lock();
        if !matches!(state.phase, Phase::Copying { .. }) {
            return Some(report);
        }
        state.reports.push(report);
        for frame in frames {
            state.bytes = state.bytes.saturating_add(frame.1);
            state.frames.push_back(frame);
        }
        None
    }

    /// Ends a copy that takes too long or holds too much back or, where the disk is `full`, any.
    pub(crate) fn end_where_it_must(&self, full: bool) {
        let mut state = self.state.lock();
        if let Phase::Copying { since, .. } = state.phase
            && (full || since.elapsed() > LONGEST || state.frames.len() > MOST_FRAMES)
        {
            state.phase = Phase::Nobody;
            tracing::warn!(
                kept.bytes = state.bytes,
                disk.full = full,
                "The backup that is being made holds too much back, and was ended"
            );
        }
    }

    /// Some of what no copy needs any more.
    pub(crate) fn forgettable(&self) -> Option<Forgettable> {
        let mut state = self.state.lock();
        let nothing = state.frames.is_empty() && state.reports.is_empty();
        if nothing || matches!(state.phase, Phase::Copying { .. }) {
            return None;
        }
        let some = state.frames.len().min(FRAMES_AT_ONCE);
        let frames: Vec<_> = state.frames.drain(..some).collect();
        let bytes: u64 = frames.iter().map(|(_, bytes)| bytes).sum();
        state.bytes = state.bytes.saturating_sub(bytes);
        Some(Forgettable {
            reports: std::mem::take(&mut state.reports),
            frames,
        })
    }

    /// Whether the checkpointer has nothing to do for it.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state.lock();
        match state.phase {
            Phase::Copying { .. } => true,
            Phase::Asked => false,
            Phase::Nobody => state.frames.is_empty() && state.reports.is_empty(),
        }
    }

    /// Bytes of frames that are kept for a copy.
    pub(crate) fn bytes(&self) -> u64 {
        self.state.lock().bytes
    }
}

/// Nothing that was there at its mark is forgotten while this holds.
pub(crate) struct Hold<'a> {
    kept: &'a Kept,
    progress: &'a Progress,
    pub(crate) mark: Mark,
    turn: u64,
}

impl Hold<'_> {
    /// `Err`: it was ended; what was copied may miss something.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let state = self.kept.state.lock();
        let copying = matches!(state.phase, Phase::Copying { .. });
        match copying && state.turn == self.turn {
            true => Ok(()),
            false => Err(Error::Unusable(
                "the backup was ended: it held back too much of the disk, or for too long. Make room, \
                 or write it somewhere faster, and begin again: what it has written is not written twice"
                    .into(),
            )),
        }
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut state = self.kept.state.lock();
        if state.turn == self.turn {
            state.phase = Phase::Nobody;
        }
        drop(state);
        self.progress.nudge();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use std::thread;

    use super::*;

    fn copying(kept: &Kept, work: impl FnOnce(&Hold<'_>)) {
        let progress = Progress::default();
        thread::scope(|scope| {
            let granting = scope.spawn(|| {
                while !kept.is_asked() {
                    thread::yield_now();
                }
                let folded = Place::default();
                kept.begin(Mark { folded, fold: 3 });
            });
            let hold = kept.ask(&progress).unwrap();
            granting.join().unwrap();
            assert_eq!(hold.mark.fold, 3);
            work(&hold);
        });
    }

    fn fold(kept: &Kept, frames: &[OldFrame]) -> bool {
        let report = kept.take_over(FoldReport::default(), frames.iter().copied());
        report.is_some()
    }

    #[test]
    fn what_folds_replace_is_kept_for_as_long_as_a_copy_is_made() {
        let kept = Kept::default();
        assert!(fold(&kept, &[(1, 10)]), "forgotten at once");
        copying(&kept, |hold| {
            assert!(!fold(&kept, &[(2, 10), (3, 5)]));
            kept.end_where_it_must(false);
            assert!(hold.check().is_ok() && kept.is_idle());
            assert!(kept.forgettable().is_none());
            assert_eq!(kept.bytes(), 15);
        });
        let all = kept.forgettable().unwrap();
        assert_eq!((all.frames, all.reports.len()), (vec![(2, 10), (3, 5)], 1));
        assert!(kept.is_idle() && kept.bytes() == 0);
    }

    #[test]
    fn a_full_disk_ends_the_copy_and_frees_what_was_kept() {
        let kept = Kept::default();
        copying(&kept, |hold| {
            assert!(!fold(&kept, &[(2, 10)]));
            kept.end_where_it_must(true);
            assert!(hold.check().is_err());
            assert_eq!(kept.forgettable().unwrap().frames, [(2, 10)]);
            assert!(fold(&kept, &[(3, 10)]), "forgotten at once");
        });
        // And the next one is not taken for the one that ended.
        copying(&kept, |hold| assert!(hold.check().is_ok()));
    }

    #[test]
    fn only_one_copy_is_made_at_a_time() {
        let kept = Kept::default();
        copying(&kept, |_| {
            let progress = Progress::default();
            assert!(kept.ask(&progress).is_err());
        });
    }
}
