//! Keeps threads of sled's pool from being woken for nothing. sled 0.34.7 writes buffers on a pool of seven threads,
//! one for a process, and wakes all that idle there for each buffer (`Queue::send` in its `threadpool.rs`): at 1,500
//! group commits a second 10,000 wake-ups, of which 1,500 find something to do. So all but two are occupied, by a task
//! that waits: one of the two writes, the other takes the next buffer at the same time.
//!
//! A task that waits is had without a change of sled: `flush_async` runs on the pool, and wakes its future there. Such
//! a future's waker waits until the store is closed. It holds nothing of the database by then.

use std::{
    future::Future as _,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use parking_lot::{Condvar, Mutex};

/// How many of the pool's seven threads are occupied. Two are left: with one, a flush that runs on
/// the pool would wait for a write that nobody is there to do.
const OCCUPIED: usize = 5;
/// Times to try: a flush that ends before it is waited for occupies nobody.
const ATTEMPTS: usize = 100;
/// How long a thread may take to run its task.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The pool is the process': one store of it occupies its threads.
static IN_USE: AtomicBool = AtomicBool::new(false);

/// Threads of sled's pool that wait, until it is dropped.
pub(crate) struct IdleThreads(Arc<Gate>);

impl IdleThreads {
    /// Occupies the threads that nobody needs; `None` where another store of this process did.
    pub(crate) fn occupy(sled: &sled::Db) -> Option<Self> {
        if IN_USE.swap(true, Ordering::AcqRel) {
            return None;
        }
        let idle = Self(Arc::new(Gate::default()));
        let waker = Waker::from(Arc::clone(&idle.0));
        for attempt in 0..ATTEMPTS {
            let waiting = idle.0.waiting();
            if waiting >= OCCUPIED {
                break;
            }
            let flush = pin!(sled.flush_async());
            match flush.poll(&mut Context::from_waker(&waker)) {
                Poll::Pending => idle.0.wait_for_another(waiting),
                Poll::Ready(Ok(_)) => {
                    tracing::trace!(attempt, "A flush was over before it was waited for")
                }
                // The log's thread meets the same error, and reports it.
                Poll::Ready(Err(_)) => break,
            }
        }
        Some(idle)
    }
}

impl Drop for IdleThreads {
    fn drop(&mut self) {
        self.0.open();
        IN_USE.store(false, Ordering::Release);
    }
}

#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    waiting: usize,
    open: bool,
}

impl Gate {
    fn waiting(&self) -> usize {
        self.state.lock().waiting
    }

    fn wait_for_another(&self, before: usize) {
        let mut state = self.state.lock();
        if state.waiting == before {
            self.changed.wait_for(&mut state, TIMEOUT);
        }
    }

    fn open(&self) {
        self.state.lock().open = true;
        self.changed.notify_all();
    }
}

impl Wake for Gate {
    fn wake(self: Arc<Self>) {
        let mut state = self.state.lock();
        state.waiting += 1;
        self.changed.notify_all();
        while !state.open {
            self.changed.wait(&mut state);
        }
    }
}
