//! Making frames of what was queued.

use std::sync::Arc;

use super::frame::{self, FramePosition};
use crate::{error::Error, format::append::Append};

/// A frame that was made and is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeFrame {
    /// Its place in the log.
    pub place: FramePosition,
    /// How many appends are in it.
    pub appends: u32,
    /// How many events are in them.
    pub events: u64,
    /// Bytes of the events themselves.
    pub payload_bytes: u64,
    /// The frame as it is kept.
    pub bytes: Arc<[u8]>,
}

/// Frames that are written together, the next behind the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The place that the first of them follows.
    pub behind: FramePosition,
    /// The frames; none where nothing has to be written.
    pub frames: Vec<MadeFrame>,
}

impl Group {
    pub(crate) const fn empty(behind: FramePosition) -> Self {
        Self {
            behind,
            frames: Vec::new(),
        }
    }

    /// Makes frames of appends that were queued by [`super::push`], behind a place. `buffer` is for the bytes of one.
    /// # Errors
    /// [`Error::Damaged`] when these are not complete appends.
    pub fn of(queued: &[u8], behind: FramePosition, buffer: &mut Vec<u8>) -> Result<Self, Error> {
        let mut group = Self::empty(behind);
        let mut rest = queued;
        while !rest.is_empty() {
            let cut = frame::cut(rest)?;
            let (payload, after) = rest
                .split_at_checked(cut.bytes)
                .filter(|(payload, _)| !payload.is_empty())
                .ok_or_else(|| Error::Damaged("a queued append fits no frame".into()))?;
            rest = after;
            let place = frame::encode(buffer, &group.last(), payload, cut.appends)?;
            group.frames.push(MadeFrame {
                place,
                appends: cut.appends,
                events: cut.events,
                payload_bytes: cut.payload_bytes(),
                bytes: buffer.as_slice().into(),
            });
        }
        Ok(group)
    }

    /// A group of one append.
    /// # Errors
    /// [`Error::Damaged`] when it fits no frame.
    pub fn single(append: &Append, behind: FramePosition) -> Result<Self, Error> {
        let mut queued = Vec::new();
        frame::push(&mut queued, append);
        Self::of(&queued, behind, &mut Vec::new())
    }

    /// The place of its last frame.
    pub fn last(&self) -> FramePosition {
        self.frames.last().map_or(self.behind, |frame| frame.place)
    }
}
