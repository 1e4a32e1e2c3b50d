//! A progress bar, shown only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use persistence::backup::{OnProgress, TransferProgress};

/// Runs work that copies data, with a bar that shows how far it has come.
pub(super) fn with_bar<T>(work: impl FnOnce(OnProgress<'_>) -> T) -> T {
    let bar = Bar::new();
    let done = work(&|moved: &TransferProgress| {
        bar.at(moved.bytes, moved.of_bytes);
        true
    });
    bar.end();
    done
}

/// A progress bar with the elapsed time.
pub(super) struct Bar(ProgressBar);

impl Bar {
    /// A bar that counts bytes.
    pub(super) fn new() -> Self {
        Self::with("{bytes} of about {total_bytes}")
    }

    /// A bar that counts items.
    pub(super) fn counting() -> Self {
        Self::with("{pos} of {len}")
    }

    /// A bar that shows a percentage.
    pub(super) fn sharing() -> Self {
        Self::with("{percent} %")
    }

    fn with(figures: &str) -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template(&format!("{{bar:30}} {figures}, {{elapsed}}"));
        style.into_iter().for_each(|style| bar.set_style(style));
        Self(bar)
    }

    pub(super) fn at(&self, done: u64, of: u64) {
        self.0.set_length(of);
        self.0.set_position(done);
    }

    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}
