//! The results of one kind of load over all rounds.

use hdrhistogram::Histogram;

use super::{
    error::{Context, Result},
    format::median,
    load::{Outcome, histogram},
};

/// Rates and latencies, collected round by round.
pub(crate) struct Series {
    pub(crate) rates: Vec<f64>,
    pub(crate) latency: Histogram<u64>,
}

impl Series {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            rates: Vec::new(),
            latency: histogram()?,
        })
    }

    pub(crate) fn add(&mut self, outcome: &Outcome) -> Result<()> {
        self.rates.push(outcome.rate());
        let added = self.latency.add(&outcome.latency);
        added.context("adding latencies")
    }

    /// The median rate.
    pub(crate) fn rate(&self) -> f64 {
        median(self.rates.iter().copied())
    }
}
