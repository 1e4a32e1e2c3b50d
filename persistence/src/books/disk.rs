//! The books on the disk, and the log below them.

use std::sync::Arc;

use super::{AppliedState, retention::Retention};
use crate::log::shared::Disk;

pub(crate) struct DiskBooks {
    pub(crate) applied: AppliedState,
    /// What checkpoints do not forget while a backup is made.
    pub(crate) retention: Retention,
    // Last, so that the directory is free only after everything else is.
    pub(crate) disk: Arc<Disk>,
}
