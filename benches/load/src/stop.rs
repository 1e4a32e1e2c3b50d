//! Ctrl-C and SIGTERM: every loop here calls [`check`] and returns, so that destructors remove child processes
//! and data directories, as at any other end.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

use super::error::{Context, Error, Result};

static STOPPED: AtomicBool = AtomicBool::new(false);

/// Listens for the signals from now on.
pub(crate) fn listen(runtime: &Runtime) -> Result<()> {
    let _entered = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt()).context("listening for signals")?;
    let mut terminate = signal(SignalKind::terminate()).context("listening for signals")?;
    runtime.spawn(async move {
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        STOPPED.store(true, Ordering::Relaxed);
        eprintln!("stopping; children and data directories are being removed");
    });
    Ok(())
}

/// An error once the user wants to end.
pub(crate) fn check() -> Result<()> {
    match STOPPED.load(Ordering::Relaxed) {
        true => Err(Error("interrupted".into())),
        false => Ok(()),
    }
}
