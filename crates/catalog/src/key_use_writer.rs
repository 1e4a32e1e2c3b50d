//! Writes to the log on which days keys were used.

use actors::notes;
use tokio::task::JoinHandle;

use super::{CatalogStore, KeyUseNote};

const MAX_WRITES: usize = 500;

impl CatalogStore {
    /// Writes keys' first uses of a day to the log, until the task is aborted.
    #[must_use]
    pub fn keep_writing_key_uses(&self) -> JoinHandle<()> {
        let store = self.clone();
        tokio::spawn(async move {
            loop {
                store.shared.key_uses.more.notified().await;
                store.write_key_uses().await;
            }
        })
    }

    /// Writes keys' last uses that are not in the log yet.
    pub async fn write_key_uses(&self) {
        let used = self.shared.key_uses.take();
        for some in used.chunks(MAX_WRITES) {
            let notes = some.iter();
            let notes = notes.map(|(key, day)| notes::put::<KeyUseNote>(key, day));
            // The log reports its failure; the keys' next use after a start is noted.
            drop(self.shared.handle.put_notes(notes.collect()).await);
        }
    }
}
