//! What checkpoints would delete and a backup still needs: while a copy is being made, what checkpoints replace and the frames
//! that they applied stay on the disk. The checkpointer alone removes them; a copy only asks it, between two checkpoints, to
//! keep them, and releases them. A copy that takes too long, or a disk that fills up, ends this: the copy
//! fails, the service goes on.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use super::{copied::Mark, retire::CheckpointReport};
use crate::{error::Error, log::progress::LogProgress};

/// The longest that a copy may hold things back.
const MAX_COPY_DURATION: Duration = Duration::from_secs(4 * 60 * 60);
/// The most frames: sled keeps some 65 bytes of memory for each.
const MAX_FRAMES: usize = 2_000_000;
/// How long a copy may wait for the checkpoint under way to end.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Frames that are dropped at a time once a copy is over, between checkpoints.
const FRAMES_AT_ONCE: usize = 1024;

/// An applied frame that was not dropped: its number and its bytes.
pub(crate) type OldFrame = (u64, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Nobody,
    Asked,
    Copying {
        mark: Mark,
        since: Instant,
    },
}

#[derive(Default)]
struct State {
    phase: Phase,
    /// The number of copies so far, by which a hold knows whether it is the present one.
    turn: u64,
    reports: Vec<CheckpointReport>,
    frames: VecDeque<OldFrame>,
    bytes: u64,
}

/// What is kept for a backup; see the module.
#[derive(Default)]
pub(crate) struct Retention {
    state: Mutex<State>,
    granted: Condvar,
}

pub(crate) struct Forgettable {
    pub(crate) reports: Vec<CheckpointReport>,
    pub(crate) frames: Vec<OldFrame>,
}

impl Retention {
    /// Asks that nothing be forgotten from now on, and waits for the checkpointer to set the mark.
    pub(crate) fn ask<'a>(&'a self, progress: &'a LogProgress) -> Result<RetentionHold<'a>, Error> {
        let mut state = self.state.lock();
        if state.phase != Phase::Nobody {
            return Err(Error::Unusable("another backup is being made".into()));
        }
        state.phase = Phase::Asked;
        state.turn += 1;
        let turn = state.turn;
        progress.nudge();
        let started = Instant::now();
        loop {
            if let Phase::Copying { mark, .. } = state.phase {
                return Ok(RetentionHold {
                    retention: self,
                    progress,
                    mark,
                    turn,
                });
            }
            let left = TIMEOUT.saturating_sub(started.elapsed());
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

    /// Lets a waiting copy begin at this mark. To be called between two checkpoints.
    pub(crate) fn begin(&self, mark: Mark) {
        let mut state = self.state.lock();
        if state.phase == Phase::Asked {
            let since = Instant::now();
            state.phase = Phase::Copying { mark, since };
        }
        drop(state);
        self.granted.notify_all();
    }

    /// Keeps what a checkpoint replaced, and its frames, while a copy is being made; otherwise returns the report.
    pub(crate) fn take_over(
        &self,
        report: CheckpointReport,
        frames: impl Iterator<Item = OldFrame>,
    ) -> Option<CheckpointReport> {
        let mut state = self.state.lock();
        if !matches!(state.phase, Phase::Copying { .. }) {
            return Some(report);
        }
        state.reports.push(report);
        for frame in frames {
            state.bytes += frame.1;
            state.frames.push_back(frame);
        }
        None
    }

    /// Ends a copy that takes too long or holds too much back or, if the disk is `full`, any copy.
    pub(crate) fn end_overdue(&self, full: bool) {
        let mut state = self.state.lock();
        if let Phase::Copying { since, .. } = state.phase
            && (full || since.elapsed() > MAX_COPY_DURATION || state.frames.len() > MAX_FRAMES)
        {
            state.phase = Phase::Nobody;
            tracing::warn!(
                retention.bytes = state.bytes,
                disk.full = full,
                "Ended the backup that is being made: it took too long, or held back too much of the disk"
            );
        }
    }

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

    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state.lock();
        match state.phase {
            Phase::Copying { .. } => true,
            Phase::Asked => false,
            Phase::Nobody => state.frames.is_empty() && state.reports.is_empty(),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.state.lock().bytes
    }
}

/// A copy's hold on the books: nothing that existed at its mark is forgotten until it is dropped.
pub(crate) struct RetentionHold<'a> {
    retention: &'a Retention,
    progress: &'a LogProgress,
    pub(crate) mark: Mark,
    turn: u64,
}

impl RetentionHold<'_> {
    /// `Err` if the hold was ended, and the copy may miss something.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let state = self.retention.state.lock();
        let copying = matches!(state.phase, Phase::Copying { .. });
        if !copying || state.turn != self.turn {
            return Err(Error::Unusable(
                "the backup was ended: it held back too much of the disk, or for too long. Make room, \
                 or write it somewhere faster, and begin again: what it has written is reused"
                    .into(),
            ));
        }
        Ok(())
    }
}

impl Drop for RetentionHold<'_> {
    fn drop(&mut self) {
        let mut state = self.retention.state.lock();
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
    use crate::frames::FramePosition;

    fn copying(retention: &Retention, work: impl FnOnce(&RetentionHold<'_>)) {
        let progress = LogProgress::default();
        thread::scope(|scope| {
            let granting = scope.spawn(|| {
                while !retention.is_asked() {
                    thread::yield_now();
                }
                let applied = FramePosition::default();
                retention.begin(Mark {
                    applied,
                    checkpoint: 3,
                });
            });
            let hold = retention.ask(&progress).unwrap();
            granting.join().unwrap();
            assert_eq!(hold.mark.checkpoint, 3);
            work(&hold);
        });
    }

    fn checkpoint(retention: &Retention, frames: &[OldFrame]) -> bool {
        let report = retention.take_over(CheckpointReport::default(), frames.iter().copied());
        report.is_some()
    }

    #[test]
    fn what_checkpoints_replace_is_kept_for_as_long_as_a_copy_is_made() {
        let retention = Retention::default();
        assert!(checkpoint(&retention, &[(1, 10)]), "forgotten at once");
        copying(&retention, |hold| {
            assert!(!checkpoint(&retention, &[(2, 10), (3, 5)]));
            retention.end_overdue(false);
            assert!(hold.check().is_ok() && retention.is_idle());
            assert!(retention.forgettable().is_none());
            assert_eq!(retention.bytes(), 15);
        });
        let all = retention.forgettable().unwrap();
        assert_eq!((all.frames, all.reports.len()), (vec![(2, 10), (3, 5)], 1));
        assert!(retention.is_idle() && retention.bytes() == 0);
    }

    #[test]
    fn a_full_disk_ends_the_copy_and_frees_what_was_kept() {
        let retention = Retention::default();
        copying(&retention, |hold| {
            assert!(!checkpoint(&retention, &[(2, 10)]));
            retention.end_overdue(true);
            assert!(hold.check().is_err());
            assert_eq!(retention.forgettable().unwrap().frames, [(2, 10)]);
            assert!(checkpoint(&retention, &[(3, 10)]), "forgotten at once");
        });
        // And the next one is not taken for the one that ended.
        copying(&retention, |hold| assert!(hold.check().is_ok()));
    }

    #[test]
    fn only_one_copy_is_made_at_a_time() {
        let retention = Retention::default();
        copying(&retention, |_| {
            let progress = LogProgress::default();
            assert!(retention.ask(&progress).is_err());
        });
    }
}
