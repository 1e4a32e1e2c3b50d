//! A recording replayed up to a point: the disk there, and what has been acknowledged.

use super::{
    answers::Answers,
    disk::{Disk, Image},
    event::Event,
    file::Luck,
};
use rand::rngs::StdRng;
use std::collections::HashSet;

/// Steps through a recording.
pub(crate) struct Replay<'a> {
    events: &'a [Event],
    disk: Disk,
    answers: Answers,
    acknowledged: HashSet<usize>,
}

impl<'a> Replay<'a> {
    /// Starts at the beginning of a recording.
    pub(crate) fn new(events: &'a [Event]) -> Self {
        Self {
            events,
            disk: Disk::default(),
            answers: Answers::default(),
            acknowledged: HashSet::new(),
        }
    }

    /// Replays the next `count` events.
    pub(crate) fn play(&mut self, count: usize) {
        let (now, later) = self.events.split_at(count);
        for event in now {
            self.disk.apply(event);
            self.acknowledged.extend(self.answers.see(event));
        }
        self.events = later;
    }

    /// Replays the remaining events.
    pub(crate) fn play_out(&mut self) {
        self.play(self.events.len());
    }

    /// The operations that have been acknowledged so far.
    pub(crate) fn acknowledged(&self) -> &HashSet<usize> {
        &self.acknowledged
    }

    /// What remains if the power is cut now.
    pub(crate) fn power_cut(&self, luck: Luck, rng: &mut StdRng) -> Image {
        self.disk.after_power_cut(luck, rng)
    }
}
