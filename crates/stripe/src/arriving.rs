//! Parses long responses as they arrive, so that a page of a hundred events, each some ten kilobytes, is never in
//! memory as a whole.

use std::io::{BufReader, Cursor, Read};

use reqwest::Response;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{self, Receiver};

/// The most unparsed chunks.
const CHUNKS: usize = 8;
pub(super) const TOO_LARGE: &str = "it is too large";

/// A blocking reader over the chunks of a response, for a parser in its own thread.
struct ChunkReader {
    chunks: Receiver<Vec<u8>>,
    current: Cursor<Vec<u8>>,
}

impl Read for ChunkReader {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = self.current.read(into)?;
        if length > 0 {
            return Ok(length);
        }
        // Chunks are never empty, so an empty one means the end.
        let chunk = self.chunks.blocking_recv().unwrap_or_default();
        self.current = Cursor::new(chunk);
        self.current.read(into)
    }
}

/// Parses a JSON response of at most `most` bytes. The inner error is about the document, the outer one about its
/// transfer.
pub(super) async fn read<T: DeserializeOwned + Send + 'static>(
    mut response: Response,
    most: usize,
) -> Result<Result<T, String>, reqwest::Error> {
    let (send, chunks) = mpsc::channel(CHUNKS);
    let current = Cursor::default();
    let reader = BufReader::new(ChunkReader { chunks, current });
    let parsing = tokio::task::spawn_blocking(move || {
        let mut json = serde_json::Deserializer::from_reader(reader);
        let parsed = serde_path_to_error::deserialize(&mut json);
        parsed.map_err(|error| error.to_string())
    });
    let mut length = 0_usize;
    while let Some(chunk) = response.chunk().await? {
        length += chunk.len();
        if length > most {
            return Ok(Err(TOO_LARGE.into()));
        }
        // The parser stops receiving after an error or the document's end.
        if !chunk.is_empty() && send.send(chunk.to_vec()).await.is_err() {
            break;
        }
    }
    drop(send);
    let parsed = parsing.await;
    Ok(parsed.unwrap_or_else(|_| Err("the parser stopped early".into())))
}
