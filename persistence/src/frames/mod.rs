//! Frames, and where a log keeps them: on this machine's disk, or elsewhere by [`Frames`]. Of what is in frames it reads
//! only who leads; it knows nothing of who waits for them, or of the books.

pub(crate) mod frame;
mod group;
mod leadership;
pub mod lease;
mod sled;
mod window;

use std::sync::Arc;

use crate::error::Error;

pub use crate::format::leadership::LeadershipItem;
pub use frame::{FramePosition, MAX_BYTES as MAX_FRAME_BYTES, push};
pub use group::{Group, MadeFrame};
pub use leadership::{StoredFrame, follows, parse_leadership, splits_off};
pub use lease::Lease;
pub(crate) use sled::SledFrames;
pub use window::{Resolved, Window};

/// Called with a frame's number and its bytes.
pub type OnFrame<'a> = &'a mut dyn FnMut(u64, &[u8]) -> Result<(), Error>;

/// Where a log's frames are kept.
///
/// Contract:
///
/// 1. [`Frames::start`] adds a group's frames right behind [`Group::behind`]. Groups that were started become durable
///    in that order: never one without all before it.
/// 2. [`Frames::finish`] waits for the oldest group that was started and not finished. [`Written::Durable`] only once all
///    of it survives a power cut, and errors of earlier writes without a waiter have been asked about.
/// 3. An error of either is final. Of what was started a prefix may be there or become so; nothing is started after it,
///    and nothing that failed is tried again.
/// 4. After [`Written::Unknown`], which only a log with [`Frames::shared`] answers, nothing is known of any group under
///    way, and nothing is started before [`SharedFrames::reopen`] has said what became of them.
/// 5. At most [`Frames::depth`] groups are under way at once.
/// 6. [`Frames::walk`] and [`Frames::read`] show frames as they were started, each under its own number, until they are
///    forgotten. They check nothing: the reader of a frame verifies it.
pub trait Frames: Send + Sync + 'static {
    /// How many groups may be under way at once.
    fn depth(&self) -> usize;

    /// Begins to write a group; does not wait for it to be durable.
    /// # Errors
    /// The log has failed.
    fn start(&self, group: &Group) -> Result<(), Error>;

    /// Waits until the oldest group under way is durable.
    /// # Errors
    /// The log has failed: the group may or may not survive.
    fn finish(&self) -> Result<Written, Error>;

    /// What else there is where several processes may write to one log.
    fn shared(&self) -> Option<&dyn SharedFrames> {
        None
    }

    /// Calls `see` with every frame that is kept behind a place and its number, in the order of the numbers, until it
    /// fails. Frames up to the place may be shown, too.
    /// # Errors
    /// Those of `see`, and when the frames cannot be read.
    fn walk(&self, behind: FramePosition, see: OnFrame<'_>) -> Result<(), Error>;

    /// The frame under this number, if it is kept.
    /// # Errors
    /// It cannot be read.
    fn read(&self, lsn: u64) -> Result<Option<Arc<[u8]>>, Error>;

    /// Lets go of a frame: one that is applied, or a last one that a crash tore.
    /// # Errors
    /// It cannot be removed.
    fn forget(&self, lsn: u64) -> Result<(), Error>;
}

/// What became of a group that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// All of it is durable, and so is all before it.
    Durable,
    /// Its answer was lost, or proves nothing.
    Unknown,
}

/// A log that several processes may write, as the one that leads it needs it.
pub trait SharedFrames: Send + Sync {
    /// Whether [`Frames::finish`] would not wait.
    fn is_answered(&self) -> bool;

    /// From now on `wake` is called whenever [`SharedFrames::is_answered`] has become true.
    fn on_answer(&self, wake: Arc<dyn Fn() + Send + Sync>);

    /// Tries once to reconnect, and to start a term behind the last frame. Returns the frames between the last one known to
    /// be durable and the next to start, for [`Window::resolve`]. `None`: not yet.
    /// # Errors
    /// [`Error::Fenced`] when another process leads, [`Error::Damaged`] when the log has lost frames. Both are final.
    fn reopen(&self) -> Result<Option<Vec<FramePosition>>, Error>;

    /// A group that says that this process still leads.
    /// # Errors
    /// It cannot be encoded.
    fn heartbeat(&self, behind: FramePosition) -> Result<Group, Error>;

    /// A group that says that this process leads no more. With `takes` the log ends there: it continues in this process's
    /// own directory, and no other process may lead it again.
    /// # Errors
    /// It cannot be encoded.
    fn resignation(&self, behind: FramePosition, takes: bool) -> Result<Group, Error>;

    /// The right to answer from memory, which every durable group renews.
    fn lease(&self) -> Arc<Lease>;

    /// Tells the others how far this process has read the log, and how much of it is in its books.
    fn report_progress(&self, head: u64, applied: u64);
}

pub(crate) fn read_behind(frames: &dyn Frames, before: FramePosition) -> Result<Arc<[u8]>, Error> {
    let lsn = before.next_lsn()?;
    let damaged = |what: &str| Error::Damaged(format!("the log at frame {lsn}: {what}"));
    let bytes = frames.read(lsn)?.ok_or_else(|| damaged("it is missing"))?;
    let read = frame::decode(&bytes)?;
    if read.lsn != lsn || read.before != before.hash {
        return Err(damaged("it does not follow the frame before it"));
    }
    Ok(bytes)
}
