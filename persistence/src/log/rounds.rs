//! Checks made once a second whether or not anyone appends: the watermark, the free space, and whether sled has failed
//! where nobody waited for it. An idle store costs one look at the file system and writes nothing.

use std::{sync::atomic::Ordering, time::Duration};

use parking_lot::{Condvar, Mutex};

use super::{
    recovery::read_meta,
    shared::{Disk, Shared},
    watermark::Watermark,
};
use crate::{error::Error, faults::Step, sled_error::failed};

const INTERVAL: Duration = Duration::from_secs(1);

/// Tells what runs beside a journal that it is being closed.
#[derive(Debug, Default)]
pub struct StopSignal {
    stopped: Mutex<bool>,
    now: Condvar,
}

impl StopSignal {
    pub(crate) fn stop(&self) {
        *self.stopped.lock() = true;
        self.now.notify_all();
    }

    /// Whether the journal is being closed.
    pub fn is_stopped(&self) -> bool {
        *self.stopped.lock()
    }

    /// Waits a second; `true` once the journal is being closed.
    pub fn wait(&self) -> bool {
        let mut stopped = self.stopped.lock();
        if !*stopped {
            self.now.wait_for(&mut stopped, INTERVAL);
        }
        *stopped
    }
}

pub(crate) fn run(
    shared: &Shared,
    disk: &Disk,
    stop: &StopSignal,
    mut watermark: Watermark,
) -> Result<(), Error> {
    loop {
        let last = stop.wait();
        if shared.failed() {
            return Ok(());
        }
        // A write that sled makes by itself, or after its caller has stopped waiting, fails silently;
        // one of its writers even fails without waking those who wait.
        let sled = &disk.database.sled;
        sled.context
            .global_error()
            .map_err(|error| failed("writing in the background", &error))?;
        let head = shared.progress.head();
        // What a follower has read was acknowledged to another, and may still be lost to both.
        if shared.is_leader.load(Ordering::Acquire) && head != watermark.place() {
            shared.options.faults.before(Step::SyncWatermark)?;
            watermark.write(head)?;
        }
        // After it: a process to which a frame was reported can prove it.
        if let Some(others) = disk.frames.shared() {
            others.report_progress(head.lsn, read_meta(sled)?.lsn);
        }
        if last {
            return Ok(());
        }
        shared.space.look();
    }
}
