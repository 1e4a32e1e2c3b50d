//! What a process sets up for a service: its threads and its log lines.

use std::io::IsTerminal as _;

use tokio::runtime::Runtime;
use tracing_subscriber::{
    filter::Targets, fmt, layer::SubscriberExt as _, registry, util::SubscriberInitExt as _,
};

use super::{Error, LAST_ANSWERS};
use crate::config::{Config, LogFormat};

/// The threads that everything runs on.
/// # Errors
/// [`std::io::Error`] when no threads can be started.
pub fn runtime(config: &Config) -> std::io::Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if config.http.workers > 0 {
        builder.worker_threads(config.http.workers);
    }
    builder.thread_name("scrip").enable_all().build()
}

/// Runs a service to its end on [threads](runtime) of its own. A thread that is still blocked then, for
/// example by a DNS look-up, is not waited for: everything is durable.
/// # Errors
/// [`std::io::Error`] when no threads can be started.
pub fn block_on<T>(config: &Config, service: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = runtime(config)?;
    let ended = runtime.block_on(service);
    runtime.shutdown_timeout(LAST_ANSWERS);
    Ok(ended)
}

/// Sends log lines to standard error.
/// # Errors
/// [`Error::Setting`] when `log` is not a valid filter, or logging was set up before.
pub fn log_to_stderr(config: &Config) -> Result<(), Error> {
    let unusable = |why: String| Error::Setting(format!("configuration: log: {why}"));
    let filter = config.log.parse::<Targets>();
    let filter = filter.map_err(|error| unusable(error.to_string()))?;
    // Colours only for terminals, and not for people who have turned them off.
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let lines = fmt::layer()
        .with_ansi(std::io::stderr().is_terminal() && !plain)
        .with_writer(std::io::stderr)
        // Errors of writing would be written to the same stream, which panics once its reader is gone.
        .log_internal_errors(false);
    let set = match config.log_format {
        LogFormat::Text => registry().with(lines).with(filter).try_init(),
        LogFormat::Json => registry().with(lines.json()).with(filter).try_init(),
    };
    set.map_err(|error| unusable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    #[test]
    fn a_thread_that_is_blocked_holds_up_no_end() {
        let config = Config::read(&Flags::default()).unwrap();
        let (holds, held) = std::sync::mpsc::channel::<()>();
        let ended = block_on(&config, async {
            tokio::task::spawn_blocking(move || held.recv());
        });
        assert!(ended.is_ok());
        drop(holds);
    }
}
