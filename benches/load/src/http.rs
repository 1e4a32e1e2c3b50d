//! The server over HTTP and the handler that does nothing, in turns, so that a slow phase of the machine
//! affects both.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::json;

use super::{
    Bench,
    child::Server,
    error::{Context, Result},
    format::{median, milliseconds, thousands},
    load::{Load, Template, Wallets, histogram},
    proc::Watch,
    project::BATCH,
    report::Target,
};

/// Wallets that deductions are spread over.
const WALLETS: u64 = 10_000;

/// A kind of request, and its connections.
pub(crate) struct Shape<'a> {
    pub(crate) kind: &'static str,
    pub(crate) connections: usize,
    pub(crate) template: &'a Template,
}

/// One load on one server, over all of its rounds.
pub(crate) struct Series {
    pub(crate) name: &'static str,
    wallets: Wallets,
    rates: Vec<f64>,
    /// Rates that include the processor time that the server needs afterwards, for folding.
    settled: Vec<f64>,
    latency: Histogram<u64>,
}

impl Series {
    pub(crate) fn new(name: &'static str, wallets: Wallets) -> Result<Self> {
        let latency = histogram()?;
        Ok(Self {
            name,
            wallets,
            rates: Vec::new(),
            settled: Vec::new(),
            latency,
        })
    }

    pub(crate) fn rate(&self) -> f64 {
        median(self.rates.iter().copied())
    }

    /// A percentile of the latency in milliseconds.
    fn percentile(&self, percent: f64) -> f64 {
        self.latency.value_at_percentile(percent) as f64 / 1e6
    }

    pub(crate) fn percentiles(&self) -> String {
        let [median, high, highest] = [50.0, 99.0, 99.9]
            .map(|p| milliseconds(Duration::from_nanos(self.latency.value_at_percentile(p))));
        format!("p50 {median}, p99 {high}, p99.9 {highest}")
    }
}

impl Bench {
    /// The HTTP suite.
    pub(crate) fn http(&mut self) -> Result<()> {
        let (mut real, project) = self.start("http", &[])?;
        let mut noop = Server::noop(&project.secret)?;
        eprintln!("http: funding {WALLETS} wallets");
        project.fund(&real, self.args.load_threads, WALLETS)?;
        real.quiet()?;
        let (single, batch) = (project.deduct(), project.batch());
        for (kind, connections, template) in [
            ("single", 1, &single),
            ("single", 64, &single),
            ("single", 256, &single),
            ("batch", 64, &batch),
            ("batch", 256, &batch),
        ] {
            let shape = Shape {
                kind,
                connections,
                template,
            };
            self.compare(&shape, &mut noop, &mut real)?;
        }
        real.terminate().map(drop)
    }

    fn compare(&mut self, shape: &Shape<'_>, noop: &mut Server, real: &mut Server) -> Result<()> {
        let mut all = [
            Series::new("noop", Wallets::Random(WALLETS))?,
            Series::new("10,000 wallets", Wallets::Random(WALLETS))?,
            Series::new("one hot wallet", Wallets::Hot(0))?,
        ];
        for round in 1..=self.args.rounds() {
            for series in &mut all {
                let server = if series.name == "noop" {
                    &mut *noop
                } else {
                    &mut *real
                };
                self.round(shape, round, series, server)?;
            }
        }
        let [noop, many, hot] = &all;
        self.figures(shape, noop, many, hot);
        Ok(())
    }

    pub(crate) fn round(
        &mut self,
        shape: &Shape<'_>,
        round: usize,
        series: &mut Series,
        server: &mut Server,
    ) -> Result<()> {
        let load = Load {
            server: server.address(),
            connections: shape.connections,
            threads: self.args.load_threads,
            template: shape.template,
            wallets: series.wallets,
            rate: None,
            patient: false,
            warm_up: self.args.warm_up(),
            length: self.args.round(),
        };
        let watch = Watch::start(server.pid())?;
        let outcome = load.run()?;
        let busy = watch.stop()?;
        // Work that was put off must neither slow the next round down nor be forgotten.
        let put_off = if series.name == "noop" {
            server.quiet()?
        } else {
            server.folded()?
        };
        let rate = outcome.rate() * shape.template.items() as f64;
        let elapsed = outcome.elapsed.as_secs_f64();
        series.rates.push(rate);
        series
            .settled
            .push(rate * elapsed / (elapsed + put_off.as_secs_f64()));
        series
            .latency
            .add(&outcome.latency)
            .context("adding latencies")?;
        let [median, high, highest] =
            [50.0, 99.0, 99.9].map(|p| milliseconds(outcome.percentile(p)));
        // Less affected by other guests of the machine than any rate.
        let each = busy.server * 1e6 / rate.max(1.0);
        let disturbed = if busy.disturbed() {
            ", a disturbed round"
        } else {
            ""
        };
        eprintln!(
            "{} c{} round {round}: {:>14} {:>9}/s, p50 {median}, p99 {high}, p99.9 {highest}; \
             cores: server {:.2} ({each:.2} µs each), load {:.2}, others {:.2}{disturbed}; \
             then busy for {:.1} s",
            shape.kind,
            shape.connections,
            series.name,
            thousands(rate),
            busy.server,
            busy.generator,
            busy.others,
            put_off.as_secs_f64(),
        );
        self.report.detail(json!({
            "suite": "http", "kind": shape.kind, "connections": shape.connections,
            "load": series.name, "round": round, "perSecond": rate,
            "perSecondWithFoldingAfterwards": series.settled.last(),
            "serverMicrosecondsEach": each, "coresServer": busy.server, "coresLoad": busy.generator, "coresOthers": busy.others,
        }));
        Ok(())
    }

    fn figures(&mut self, shape: &Shape<'_>, noop: &Series, many: &Series, hot: &Series) {
        let connections = shape.connections;
        let batch = shape.kind == "batch";
        let name = if batch {
            format!("batches of {BATCH}, {connections} connections")
        } else {
            let plural = if connections == 1 { "" } else { "s" };
            format!("single, {connections} connection{plural}")
        };
        let main = connections == 256;
        let of = |series: &Series, other: &Series| series.rate() / other.rate().max(1e-9);
        let target_if = |yes: bool, target: Target| if yes { target } else { Target::None };
        let of_noop = target_if(main && !batch, Target::AtLeast(0.55, Some(0.65)));
        let of_many = target_if(main, Target::AtLeast(0.9, None));
        let batches = target_if(main && batch, Target::AtLeast(350e3, Some(500e3)));
        let slowest = target_if(main && !batch, Target::AtMost(20.0));
        let report = &mut self.report;
        for (series, target) in [(noop, Target::None), (many, batches), (hot, Target::None)] {
            report.add(
                format!("{name}: {}", series.name),
                series.rate(),
                "/s",
                target,
            );
            let settled = median(series.settled.iter().copied());
            let folding = if settled < 0.99 * series.rate() {
                format!("; {}/s with the folding afterwards", thousands(settled))
            } else {
                String::new()
            };
            report.note(format!("{}{folding}", series.percentiles()));
        }
        for (percent, target) in [(50.0, Target::None), (99.0, slowest)] {
            let name = format!("{name}: 10,000 wallets, p{percent}");
            report.add(name, many.percentile(percent), "ms", target);
            report.note(format!("noop {:.2} ms", noop.percentile(percent)));
        }
        report.add(
            format!("{name}: 10,000 wallets / noop"),
            of(many, noop),
            "",
            of_noop,
        );
        report.value(format!("{name}: one hot wallet / noop"), of(hot, noop), "");
        report.add(
            format!("{name}: hot wallet / 10,000"),
            of(hot, many),
            "",
            of_many,
        );
    }
}
