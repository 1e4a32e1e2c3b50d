//! What the frames of a log that several processes may write say of who leads, and of where the log divides.

use std::sync::Arc;

use super::frame::{self, FramePosition};
use crate::{
    error::Error,
    format::{
        codec::decode_value,
        item::{self, Item},
        leadership::LeadershipItem,
    },
};

/// A frame as a log that is shared stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFrame {
    /// Its number, and the hash that was written with it.
    pub place: FramePosition,
    /// The frame itself.
    pub bytes: Arc<[u8]>,
}

/// Verifies that a frame is sound, is the one that its place names, and follows another.
/// # Errors
/// [`Error::Damaged`] when it is not, or does not.
pub fn follows(stored: &StoredFrame, before: FramePosition) -> Result<(), Error> {
    let read = frame::decode(&stored.bytes)?;
    let place = before.next(&stored.bytes)?;
    if stored.place != place || read.lsn != place.lsn || read.before != before.hash {
        return Err(Error::Damaged(format!(
            "the log at frame {}: it does not follow the frame before it",
            place.lsn
        )));
    }
    Ok(())
}

/// The last leadership item of a sound frame, if it has any.
/// # Errors
/// [`Error::Damaged`] when its appends cannot be read.
pub fn parse_leadership(bytes: &[u8]) -> Result<Option<LeadershipItem>, Error> {
    let mut last = None;
    each_item(bytes, |item| last = Some(item))?;
    Ok(last)
}

/// Whether a sound frame is one from which another cell's log goes on.
/// # Errors
/// [`Error::Damaged`] when its appends cannot be read.
pub fn splits_off(bytes: &[u8], cell: i16) -> Result<bool, Error> {
    let mut splits = false;
    let is_to = |item| matches!(item, LeadershipItem::Split(split) if split.to == cell);
    each_item(bytes, |item| splits |= is_to(item))?;
    Ok(splits)
}

/// Such an item is the first of its append. A frame has several appends, so it may divide the log more than once.
fn each_item(bytes: &[u8], mut each: impl FnMut(LeadershipItem)) -> Result<(), Error> {
    frame::decode_checked(bytes)?.each_append(|append, _| {
        if let Some(Item::Leadership(item)) = item::items(append).next().transpose()? {
            each(decode_value(item)?);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::*;
    use crate::{
        format::{
            append::{Append, LogEvent, Note},
            leadership::{Heartbeat, Split},
        },
        frames::Group,
    };

    const AT: Timestamp = Timestamp(7);

    fn note(text: &str) -> LogEvent {
        LogEvent::Note(Note {
            key: text.as_bytes().into(),
            body: Some(text.as_bytes().into()),
        })
    }

    fn append(events: &[LogEvent]) -> Append {
        let mut append = Append::default();
        for event in events {
            append.push(event).unwrap();
        }
        append
    }

    fn split(to: i16) -> LogEvent {
        LogEvent::Leadership(LeadershipItem::Split(Split { to, at: AT }))
    }

    #[test]
    fn a_frame_that_divides_the_log_says_so_and_counts_what_is_beside_it() {
        let appends = [
            append(&[note("before")]),
            append(&[split(3), note("goes"), note("too")]),
            append(&[split(-5), note("elsewhere")]),
            append(&[note("after")]),
        ];
        let mut queued = Vec::new();
        for append in &appends {
            frame::push(&mut queued, append);
        }
        let group = Group::of(&queued, FramePosition::default(), &mut Vec::new()).unwrap();
        let [made] = group.frames.as_slice() else {
            panic!("{group:?}");
        };
        assert_eq!((made.appends, made.events), (4, 5));
        assert_eq!(frame::decode(&made.bytes).unwrap().count().unwrap(), 5);
        let all = [3, -5, 4].map(|cell| splits_off(&made.bytes, cell).unwrap());
        assert_eq!(all, [true, true, false]);
        let last = LeadershipItem::Split(Split { to: -5, at: AT });
        assert_eq!(parse_leadership(&made.bytes).unwrap(), Some(last));
        let beat = LeadershipItem::Heartbeat(Heartbeat { at: AT });
        let beat = append(&[LogEvent::Leadership(beat)]);
        let beat = Group::single(&beat, FramePosition::default()).unwrap();
        assert!(!splits_off(&beat.frames[0].bytes, 3).unwrap());
    }

    #[test]
    fn a_split_behind_another_item_is_refused_since_nobody_would_see_it() {
        let mut late = append(&[note("first")]);
        assert!(late.push(&split(1)).is_err());
        assert_eq!(late.bytes(), append(&[note("first")]).bytes());
        assert_eq!(append(&[split(1)]).events(), 0);
    }
}
