//! Reads wallets from disk, off the runtime's threads, so that a slow disk delays only those who wait for it.
//!
//! A few threads work through the queue: a thread per wallet would cost more than most reads do, and send too many
//! reads to the disk at once.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use domain::id::WalletKey;
use parking_lot::Mutex;
use persistence::{Books, Error, LoadedWallet};
use tokio::sync::oneshot;

const READERS: usize = 4;

type ReadResult = Result<Option<LoadedWallet>, Error>;

pub(crate) struct WalletReader {
    books: Arc<dyn Books>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(WalletKey, oneshot::Sender<ReadResult>)>,
    readers: usize,
}

impl WalletReader {
    pub(crate) fn new(books: Arc<dyn Books>) -> Arc<Self> {
        Arc::new(Self {
            books,
            queue: Mutex::default(),
        })
    }

    pub(crate) async fn load(self: &Arc<Self>, key: WalletKey) -> ReadResult {
        let (reply, read) = oneshot::channel();
        let more = {
            let mut queue = self.queue.lock();
            queue.waiting.push_back((key, reply));
            let more = queue.readers < READERS;
            queue.readers += usize::from(more);
            more
        };
        if more {
            let reads = Arc::clone(self);
            tokio::task::spawn_blocking(move || reads.read_all());
        }
        read.await.unwrap_or_else(|_| Err(reader_panicked()))
    }

    fn read_all(&self) {
        while let Some((key, reply)) = self.next() {
            // A panicking reader would leave others waiting.
            let read = catch_unwind(AssertUnwindSafe(|| self.books.load(&key)));
            drop(reply.send(read.unwrap_or_else(|_| Err(reader_panicked()))));
        }
    }

    /// The next wallet to read. With an empty queue this reader is counted out under the queue's lock, so that the next
    /// read starts another.
    fn next(&self) -> Option<(WalletKey, oneshot::Sender<ReadResult>)> {
        let mut queue = self.queue.lock();
        let next = queue.waiting.pop_front();
        if next.is_none() {
            queue.readers = queue.readers.saturating_sub(1);
        }
        next
    }
}

fn reader_panicked() -> Error {
    Error::Io("the thread that read a wallet panicked or was stopped".into())
}
