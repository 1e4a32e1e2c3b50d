//! What tells the process to end: SIGTERM from a supervisor, SIGINT from a keyboard.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Both signals, received from the moment it is made.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Starts to listen. Within a runtime only.
    /// # Errors
    /// [`std::io::Error`] when the operating system refuses a handler.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
