//! Ctrl-C and SIGTERM: every loop here calls [`check`] and returns, so that destructors remove child processes
//! and data directories, as at any other end.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};

use super::error::{Context, Error, Result};

static STOPPED: AtomicBool = AtomicBool::new(false);

/// Starts to listen for the signals.
pub(crate) fn listen() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("a runtime for signals")?;
    let (mut interrupt, mut terminate) = runtime
        .block_on(async {
            Ok::<_, std::io::Error>((
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
            ))
        })
        .context("listening for signals")?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        });
        STOPPED.store(true, Ordering::Relaxed);
        eprintln!("stopping; children and data directories are being removed");
    });
    Ok(())
}

/// Whether the user wants to end.
pub(crate) fn is_requested() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

/// An error once the user wants to end.
pub(crate) fn check() -> Result<()> {
    if is_requested() {
        Err(Error("interrupted".into()))
    } else {
        Ok(())
    }
}
