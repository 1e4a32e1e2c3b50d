//! Long answers, read as they arrive: of a list of events, a hundred times some ten kilobytes, little more than
//! names is kept, and never the whole of it is in memory.

use std::io::{BufReader, Cursor, Read};

use reqwest::Response;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{self, Receiver};

/// Chunks that arrived and are not read yet.
const CHUNKS: usize = 8;
pub(super) const TOO_LARGE: &str = "it is too large";

/// The document's bytes for a reader that waits for them in a thread of its own.
struct Arriving {
    chunks: Receiver<Vec<u8>>,
    current: Cursor<Vec<u8>>,
}

impl Read for Arriving {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = self.current.read(into)?;
        if length > 0 {
            return Ok(length);
        }
        // None of them is empty, and where no more come is the end.
        let chunk = self.chunks.blocking_recv().unwrap_or_default();
        self.current = Cursor::new(chunk);
        self.current.read(into)
    }
}

/// Reads a JSON document of at most so many bytes; else what is wrong with it, or why it stopped arriving.
pub(super) async fn read<T: DeserializeOwned + Send + 'static>(
    mut response: Response,
    most: usize,
) -> Result<Result<T, String>, reqwest::Error> {
    let (send, chunks) = mpsc::channel(CHUNKS);
    let current = Cursor::default();
    let reader = BufReader::new(Arriving { chunks, current });
    let parsing = tokio::task::spawn_blocking(move || {
        let mut json = serde_json::Deserializer::from_reader(reader);
        let parsed = serde_path_to_error::deserialize(&mut json);
        parsed.map_err(|error| error.to_string())
    });
    let mut length = 0_usize;
    while let Some(chunk) = response.chunk().await? {
        length = length.saturating_add(chunk.len());
        if length > most {
            return Ok(Err(TOO_LARGE.into()));
        }
        // Nobody receives where the document is wrong already, or at its end.
        if !chunk.is_empty() && send.send(chunk.to_vec()).await.is_err() {
            break;
        }
    }
    drop(send);
    let parsed = parsing.await;
    Ok(parsed.unwrap_or_else(|_| Err("it could not be read to its end".into())))
}
