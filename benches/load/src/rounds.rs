//! Rounds of a load, and their results over all rounds.

use hdrhistogram::Histogram;

use super::{
    Bench,
    error::{Context, Result},
    format::{median, milliseconds, thousands},
    load::{Load, Outcome, histogram},
    process::Watch,
    report::Report,
    server::Server,
};

/// Rates and latencies of one kind of load, collected round by round.
pub(crate) struct Series {
    name: String,
    rates: Vec<f64>,
    /// Each round's p99 in milliseconds.
    pub(crate) p99s: Vec<f64>,
    latency: Histogram<u64>,
}

impl Series {
    pub(crate) fn new(name: impl Into<String>) -> Result<Self> {
        Ok(Self {
            name: name.into(),
            rates: Vec::new(),
            p99s: Vec::new(),
            latency: histogram()?,
        })
    }

    /// Adds a round with so many items in a request.
    pub(crate) fn add(&mut self, outcome: &Outcome, items: u64) -> Result<()> {
        self.rates.push(outcome.rate() * items as f64);
        self.p99s.push(percentile(&outcome.latency, 99.0));
        let added = self.latency.add(&outcome.latency);
        added.context("adding latencies")
    }

    /// The median rate, items per second.
    pub(crate) fn rate(&self) -> f64 {
        median(self.rates.iter().copied())
    }

    /// The median rate as a part of another's.
    pub(crate) fn rate_beside(&self, other: &Self) -> f64 {
        self.rate() / other.rate().max(1e-9)
    }

    /// The latency over all rounds.
    pub(crate) const fn latency(&self) -> &Histogram<u64> {
        &self.latency
    }

    /// Reports the rate, and the latency in a note.
    pub(crate) fn report(&self, report: &mut Report) {
        report.value(&self.name, self.rate(), "/s");
        report.note(percentiles(&self.latency));
    }
}

/// A percentile of a latency, in milliseconds.
pub(crate) fn percentile(latency: &Histogram<u64>, percent: f64) -> f64 {
    latency.value_at_percentile(percent) as f64 / 1e6
}

/// The percentiles that are shown of a latency.
pub(crate) fn percentiles(latency: &Histogram<u64>) -> String {
    let [p50, p99, p999] =
        [50.0, 99.0, 99.9].map(|percent| milliseconds(percentile(latency, percent)));
    format!("p50 {p50}, p99 {p99}, p99.9 {p999}")
}

impl Bench {
    /// Runs one round of a load, and waits until the server has done what it put off; returns the number of good
    /// responses.
    pub(crate) fn round(&self, load: &Load, server: &Server, series: &mut Series) -> Result<u64> {
        let watch = Watch::start(server.pid())?;
        let outcome = load.run()?;
        let usage = watch.stop()?;
        server.checkpointed()?;
        let items = load.template.items();
        series.add(&outcome, items)?;
        let rate = outcome.rate() * items as f64;
        eprintln!(
            "{}, round {}: {}/s, {}; {usage} ({:.2} µs of the server's each)",
            series.name,
            series.rates.len(),
            thousands(rate),
            percentiles(&outcome.latency),
            usage.server * 1e6 / rate.max(1.0),
        );
        Ok(outcome.all)
    }
}
