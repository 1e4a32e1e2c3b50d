//! One HTTP/1.1 connection with one request in flight.
//!
//! It reads no more of a response than tells a good one from a bad one: the generator shares the processor with the
//! server, and hyper would take twice as much of it for a request.

use std::net::SocketAddr;

use memchr::memmem;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::template::Expected;
use crate::error::{Context, Error, Result};

/// The initial size of the input buffer, which grows for larger responses.
const BUFFER: usize = 4096;
const LENGTH: &[u8] = b"\r\ncontent-length: ";

pub(super) struct Connection {
    stream: TcpStream,
    input: Vec<u8>,
}

/// The head of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    status: u16,
    /// Where the body begins and ends.
    body: usize,
    end: usize,
}

impl Connection {
    pub(super) async fn open(server: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(server).await;
        let stream = stream.context("connecting to the server")?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            input: vec![0; BUFFER],
        })
    }

    /// Sends a request and checks its response; `false` where the server shed it (503) and `may_shed` allows that.
    pub(super) async fn call(
        &mut self,
        request: &[u8],
        expected: &Expected,
        may_shed: bool,
    ) -> Result<bool> {
        let sent = self.stream.write_all(request).await;
        sent.context("sending a request")?;
        let head = self.receive().await?;
        if may_shed && head.status == 503 {
            return Ok(false);
        }
        let body = self.input.get(head.body..head.end).unwrap_or_default();
        expected.check(head.status, body).map(|()| true)
    }

    async fn receive(&mut self) -> Result<Head> {
        let (mut filled, mut head) = (0, None);
        loop {
            let room = self.input.get_mut(filled..).unwrap_or_default();
            let read = self.stream.read(room).await.context("reading a response")?;
            if read == 0 {
                return Err(Error("the server closed a connection".into()));
            }
            filled += read;
            if head.is_none() {
                head = parse_head(self.input.get(..filled).unwrap_or_default())?;
            }
            match head {
                Some(head) if filled == head.end => return Ok(head),
                Some(head) if filled > head.end => {
                    return Err(Error("the server sent more than one response".into()));
                }
                Some(head) if head.end > self.input.len() => self.input.resize(head.end, 0),
                None if filled == self.input.len() => {
                    return Err(Error("the head of a response does not end".into()));
                }
                _ => {}
            }
        }
    }
}

/// Parses a head, as hyper writes it; `None` while it is incomplete.
fn parse_head(bytes: &[u8]) -> Result<Option<Head>> {
    let Some(end) = memmem::find(bytes, b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = bytes.get(..end).unwrap_or_default();
    let status = head
        .strip_prefix(b"HTTP/1.1 ")
        .and_then(|rest| rest.get(..3));
    let length = memmem::find(head, LENGTH)
        .and_then(|at| head.get(at + LENGTH.len()..)?.split(|&b| b == b'\r').next());
    let (Some(status), Some(length)) = (number(status), number(length)) else {
        let head = String::from_utf8_lossy(head);
        return Err(Error(format!("a response without a length: {head}")));
    };
    let body = end + 4;
    Ok(Some(Head {
        status: status as u16,
        body,
        end: body + length,
    }))
}

fn number(digits: Option<&[u8]>) -> Option<usize> {
    std::str::from_utf8(digits?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_once_it_is_whole() {
        let text = b"HTTP/1.1 402 Payment Required\r\nx: y\r\ncontent-length: 12\r\n\r\n";
        let head = Head {
            status: 402,
            body: text.len(),
            end: text.len() + 12,
        };
        assert_eq!(parse_head(text), Ok(Some(head)));
        assert_eq!(parse_head(&text[..text.len() - 1]), Ok(None));
        assert!(parse_head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(parse_head(b"SMTP\r\ncontent-length: 1\r\n\r\n").is_err());
    }
}
