//! A connection's bytes, and whether its client takes what is written to it.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::connection::IdleTracker;

/// A connection's stream, which tells [`IdleTracker`] whether the client takes what is written.
#[derive(Debug)]
pub(super) struct MonitoredStream {
    stream: TcpStream,
    waiting: Arc<IdleTracker>,
    /// What [`IdleTracker`] knows: only changes are reported to it.
    stalled: bool,
}

impl MonitoredStream {
    pub(super) const fn new(stream: TcpStream, waiting: Arc<IdleTracker>) -> Self {
        Self {
            stream,
            waiting,
            stalled: false,
        }
    }

    /// Notes the result of writing `length` bytes: if fewer were taken, the kernel's buffer is full because the client
    /// does not read.
    fn wrote(
        &mut self,
        length: usize,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let stalled = match &written {
            Poll::Pending => true,
            Poll::Ready(Ok(number)) => *number < length,
            Poll::Ready(Err(_)) => self.stalled,
        };
        if stalled != self.stalled {
            self.stalled = stalled;
            if stalled {
                self.waiting.stalls();
            } else {
                self.waiting.flows();
            }
        }
        written
    }
}

impl AsyncRead for MonitoredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for MonitoredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(bytes.len(), written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        let of = pieces
            .iter()
            .fold(0_usize, |sum, piece| sum.saturating_add(piece.len()));
        self.wrote(of, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
