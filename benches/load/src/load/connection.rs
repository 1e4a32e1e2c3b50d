//! One HTTP connection: sends a request, then receives its response.

use std::{
    io::{ErrorKind, Read, Write},
    net::SocketAddr,
    time::Instant,
};

use memchr::memmem;
use mio::net::TcpStream;

use super::{Expected, Head, parse_head};
use crate::error::{Context, Error, Result};

/// Initial size of the input buffer; it grows for larger responses.
const BUFFER: usize = 4096;

/// A connection with at most one request in flight.
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    unsent: Vec<u8>,
    sent: usize,
    input: Vec<u8>,
    filled: usize,
    head: Option<Head>,
    /// When the request in flight was started; `None` if there is none.
    pub(super) started: Option<Instant>,
}

impl Connection {
    pub(super) fn open(server: SocketAddr) -> Result<Self> {
        let stream = std::net::TcpStream::connect(server).context("connecting to the server")?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: TcpStream::from_std(stream),
            unsent: Vec::new(),
            sent: 0,
            input: vec![0; BUFFER],
            filled: 0,
            head: None,
            started: None,
        })
    }

    /// Sends a request, or as much as the socket accepts now. Its latency counts from `started`.
    pub(super) fn send(&mut self, request: &[u8], started: Instant) -> Result<()> {
        (self.filled, self.head, self.started) = (0, None, Some(started));
        let written = write(&mut self.stream, request)?;
        if written < request.len() {
            self.unsent.clear();
            self.unsent
                .extend_from_slice(request.get(written..).unwrap_or_default());
            self.sent = 0;
        }
        Ok(())
    }

    /// Sends what the socket did not accept before.
    pub(super) fn resume(&mut self) -> Result<()> {
        while self.sent < self.unsent.len() {
            let rest = self.unsent.get(self.sent..).unwrap_or_default();
            match write(&mut self.stream, rest)? {
                0 => return Ok(()),
                taken => self.sent += taken,
            }
        }
        self.unsent.clear();
        self.sent = 0;
        Ok(())
    }

    /// Reads what has arrived; returns whether the response is complete.
    pub(super) fn receive(&mut self) -> Result<bool> {
        loop {
            let room = self.input.get_mut(self.filled..).unwrap_or_default();
            let capacity = room.len();
            let read = match self.stream.read(room) {
                Ok(0) => return Err(Error("the server closed a connection".into())),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error(format!("reading an answer: {error}"))),
            };
            self.filled += read;
            if self.head.is_none() {
                let bytes = self.input.get(..self.filled).unwrap_or_default();
                self.head = parse_head(bytes).map_err(|error| Error(error.into()))?;
            }
            match self.head {
                Some(head) if self.filled == head.end => return Ok(true),
                Some(head) if self.filled > head.end => {
                    return Err(Error("the server sent more than it was asked for".into()));
                }
                // One byte more than needed, so that a full buffer always means that there may be more.
                Some(head) => self.input.resize((head.end + 1).max(BUFFER), 0),
                None if self.filled == self.input.len() => {
                    return Err(Error("the head of an answer does not end".into()));
                }
                None => {}
            }
            // Less than requested: the socket is empty, and epoll says when it is not.
            if read < capacity {
                return Ok(false);
            }
        }
    }

    /// Whether the server shed this request (503).
    pub(super) fn was_shed(&self) -> bool {
        self.head.is_some_and(|head| head.status == 503)
    }

    /// Checks the response; the error says what is wrong with it.
    pub(super) fn verdict(&self, expected: Expected) -> std::result::Result<(), String> {
        let head = self.head.unwrap_or(Head {
            status: 0,
            body: 0,
            end: 0,
        });
        let body = self.input.get(head.body..head.end).unwrap_or_default();
        let count = memmem::find_iter(body, expected.text)
            .take(expected.times + 1)
            .count();
        if head.status == 200 && count == expected.times {
            return Ok(());
        }
        let excerpt = String::from_utf8_lossy(body.get(..body.len().min(400)).unwrap_or_default());
        Err(format!(
            "status {}, `{}` {count} times instead of {}: {excerpt}",
            head.status, expected.text, expected.times
        ))
    }
}

fn write(stream: &mut TcpStream, bytes: &[u8]) -> Result<usize> {
    match stream.write(bytes) {
        Ok(taken) => Ok(taken),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(0)
        }
        Err(error) => Err(Error(format!("sending a request: {error}"))),
    }
}
