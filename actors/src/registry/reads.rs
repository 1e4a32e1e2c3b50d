//! Reading wallets from the books, off the runtime's own threads: a disk that takes its time holds up
//! those who wait for it, and nobody else.
//!
//! A few threads read whatever is asked for until nothing is left: handing each wallet to a thread of
//! its own would cost more than most reads do, and let a crowd of them loose on the disk.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use domain::id::WalletKey;
use parking_lot::Mutex;
use persistence::{Books, Error, Stored};
use tokio::sync::oneshot;

/// Threads that read at once.
const READERS: usize = 4;

type Read = Result<Option<Stored>, Error>;

/// See the module.
pub(crate) struct Reads {
    books: Arc<dyn Books>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(WalletKey, oneshot::Sender<Read>)>,
    readers: usize,
}

impl Reads {
    pub(crate) fn new(books: Arc<dyn Books>) -> Arc<Self> {
        Arc::new(Self {
            books,
            queue: Mutex::default(),
        })
    }

    /// The wallet stored under `key`.
    pub(crate) async fn load(self: &Arc<Self>, key: WalletKey) -> Read {
        let (reply, read) = oneshot::channel();
        let more = {
            let mut queue = self.queue.lock();
            queue.waiting.push_back((key, reply));
            let more = queue.readers < READERS;
            queue.readers = queue.readers.saturating_add(usize::from(more));
            more
        };
        if more {
            let reads = Arc::clone(self);
            tokio::task::spawn_blocking(move || reads.read_all());
        }
        read.await.unwrap_or_else(|_| Err(broke_off()))
    }

    fn read_all(&self) {
        while let Some((key, reply)) = self.next() {
            // A reader that fell would leave others waiting behind it.
            let read = catch_unwind(AssertUnwindSafe(|| self.books.load(&key)));
            drop(reply.send(read.unwrap_or_else(|_| Err(broke_off()))));
        }
    }

    /// What to read next. With nothing left, this reader is gone before anybody can ask for more.
    fn next(&self) -> Option<(WalletKey, oneshot::Sender<Read>)> {
        let mut queue = self.queue.lock();
        let next = queue.waiting.pop_front();
        if next.is_none() {
            queue.readers = queue.readers.saturating_sub(1);
        }
        next
    }
}

fn broke_off() -> Error {
    Error::Io("reading a wallet broke off".into())
}
