//! What webhooks to projects' servers cost: a thousand deliveries per second beside deductions, what an
//! endpoint that hangs costs nine others, and how much disk space events and usage take. The receivers run in
//! this process and share its processor.

mod receiver;

use std::{path::Path, time::Duration};

use hdrhistogram::Histogram;
use serde_json::json;

use self::receiver::{HangingServer, Receiver};
use super::{
    Bench,
    child::Server,
    error::{Context, Error, Result},
    format::{median, milliseconds, thousands},
    load::{Load, Outcome, Wallets},
    proc::Watch,
    project::{PROJECTS, Project, text},
    report::Target,
    series::Series,
    stop,
};

/// Wallets that everything is spread over.
const WALLETS: u64 = 10_000;
/// Connections of the deductions, and of the grants whose events are delivered.
const DEDUCTING: usize = 64;
const GRANTING: usize = 16;
/// Endpoints, one of which hangs, and grants per second during that, each of which is delivered to all.
const ENDPOINTS: usize = 10;
const GRANTS_BESIDE_HANGING: f64 = 50.0;
/// How long the deliveries left after a round may take.
const DRAINED_WITHIN: Duration = Duration::from_secs(60);

/// A percentile of a latency, in milliseconds.
fn at(latency: &Histogram<u64>, percent: f64) -> f64 {
    latency.value_at_percentile(percent) as f64 / 1e6
}

/// What all measurements share.
struct Setup {
    server: Server,
    project: Project,
    threads: usize,
    warm_up: Duration,
    length: Duration,
}

impl Bench {
    /// The suite of webhooks.
    pub(crate) fn webhooks(&mut self, per_second: f64) -> Result<()> {
        let data = self.place.data("webhooks");
        let near = ("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true".to_owned());
        let (mut server, project) = self.start("webhooks", &[near])?;
        eprintln!("webhooks: funding {WALLETS} wallets");
        project.fund(&server, self.args.load_threads, WALLETS)?;
        server.folded()?;
        let mut setup = Setup {
            server,
            project,
            threads: self.args.load_threads,
            warm_up: self.args.warm_up(),
            length: self.args.round(),
        };
        self.beside_deductions(&mut setup, per_second)?;
        self.beside_hanging(&mut setup)?;
        setup.server.folded()?;
        setup.server.terminate()?;
        self.on_disk(&data)
    }

    fn beside_deductions(&mut self, setup: &mut Setup, per_second: f64) -> Result<()> {
        let receiver = Receiver::start()?;
        let (mut without, mut with) = (Series::new()?, Series::new()?);
        let (mut delivered, mut drained) = (Vec::new(), Vec::new());
        for round in 1..=self.args.rounds() {
            for delivers in [false, true] {
                let endpoint = match delivers {
                    true => Some(setup.add(&receiver.url)?),
                    false => None,
                };
                let watch = Watch::start(setup.server.pid())?;
                let (outcome, received) = setup.load(per_second, &receiver)?;
                let busy = watch.stop()?;
                let series = if delivers { &mut with } else { &mut without };
                series.add(&outcome)?;
                let mut late = Duration::ZERO;
                if let Some(endpoint) = endpoint {
                    delivered.push(received);
                    late = setup.drained()?;
                    drained.push(late.as_secs_f64());
                    setup.remove(&endpoint)?;
                }
                let how = if delivers { "webhooks" } else { "no webhooks" };
                let rate = thousands(outcome.rate());
                eprintln!(
                    "webhooks round {round}: {rate} deductions/s, {how}: {} deliveries/s, the rest after {}; \
                     cores: server {:.2}, load and receiver {:.2}, others {:.2}",
                    thousands(received),
                    milliseconds(late),
                    busy.server,
                    busy.generator,
                    busy.others,
                );
                self.report.detail(json!({
                    "suite": "webhooks", "round": round, "delivers": delivers, "deductionsPerSecond": outcome.rate(),
                    "deliveriesPerSecond": received, "drainedSeconds": late.as_secs_f64(),
                    "coresServer": busy.server, "coresOthers": busy.others,
                }));
                setup.server.folded()?;
            }
        }
        let report = &mut self.report;
        let name = "deliveries beside deductions, 64 connections";
        report.add(
            name,
            median(delivered),
            "/s",
            Target::AtLeast(0.98 * per_second, None),
        );
        report.note(format!(
            "what was left took {:.2} s more; from event to arrival p50 {:.0} ms, p99 {:.0} ms",
            median(drained),
            at(&receiver.latency(), 50.0),
            at(&receiver.latency(), 99.0),
        ));
        for (series, name) in [(&without, "no webhooks"), (&with, "webhooks")] {
            report.value(
                format!("deductions beside the same grants, {name}"),
                series.rate(),
                "/s",
            );
            report.note(format!(
                "p50 {:.2} ms, p99 {:.2} ms",
                at(&series.latency, 50.0),
                at(&series.latency, 99.0)
            ));
        }
        report.value(
            "deductions, with / without webhooks",
            with.rate() / without.rate().max(1e-9),
            "",
        );
        Ok(())
    }

    fn beside_hanging(&mut self, setup: &mut Setup) -> Result<()> {
        let hanging = HangingServer::start()?;
        let mut of = Vec::new();
        for hangs in [false, true] {
            let receiver = Receiver::start()?;
            let mut endpoints = (1..ENDPOINTS)
                .map(|_| setup.add(&receiver.url))
                .collect::<Result<Vec<_>>>()?;
            if hangs {
                endpoints.push(setup.add(&hanging.url)?);
            }
            let length = self.args.round() * self.args.rounds() as u32;
            let grants = setup.grants(GRANTS_BESIDE_HANGING, length);
            receiver.count(true);
            let granted = grants.run()?;
            // The rest is for the endpoint that hangs: wait some seconds, but not for all.
            std::thread::sleep(Duration::from_secs(1));
            receiver.count(false);
            let expected = granted.answers * (ENDPOINTS as u64 - 1);
            if receiver.received() < expected {
                let received = receiver.received();
                return Err(Error(format!(
                    "{received} of {expected} deliveries arrived"
                )));
            }
            for endpoint in endpoints {
                setup.remove(&endpoint)?;
            }
            of.push(receiver.latency());
        }
        let [alone, beside] = of.as_slice() else {
            return Ok(());
        };
        for percent in [50.0, 99.0] {
            let name =
                format!("nine endpoints beside one that hangs: event to arrival, p{percent}");
            let report = &mut self.report;
            report.value(name, at(beside, percent), "ms");
            report.note(format!("{:.2} ms without it", at(alone, percent)));
        }
        let ratio = at(beside, 99.0) / at(alone, 99.0).max(1.0);
        let name = "nine endpoints' p99, beside one that hangs / alone";
        self.report.add(name, ratio, "", Target::AtMost(1.5));
        Ok(())
    }

    fn on_disk(&mut self, data: &Path) -> Result<()> {
        let verified = persistence::verify::verify(data).context("verifying")?;
        if let Some(problem) = verified.problems.first() {
            return Err(Error(problem.clone()));
        }
        let report = &mut self.report;
        let each = |bytes: u64, of: u64| bytes as f64 / (of as f64).max(1.0);
        let ledger = each(verified.ledger_bytes, verified.records);
        report.value("ledger, each entry", ledger, "bytes");
        report.note(format!(
            "{} entries, as stored, with wallets and without the index of keys",
            thousands(verified.records as f64)
        ));
        let event = each(verified.project_event_bytes, verified.project_events);
        report.value("event, each", event, "bytes");
        report.note(format!(
            "{} events",
            thousands(verified.project_events as f64)
        ));
        let both = each(
            verified.project_event_bytes + verified.usage_bytes,
            verified.records,
        );
        let name = "events and usage / ledger";
        report.add(name, both / ledger.max(1e-9), "", Target::AtMost(2.0));
        report.note(format!(
            "{both:.1} bytes an entry; usage is {} bytes in all",
            thousands(verified.usage_bytes as f64)
        ));
        Ok(())
    }
}

impl Setup {
    fn webhooks(&self) -> String {
        format!("{PROJECTS}/{}/webhooks", self.project.id)
    }

    /// Adds an endpoint, which gets the events from now on.
    fn add(&self, url: &str) -> Result<String> {
        let body = json!({"url": url, "events": ["wallet.credited"]});
        let endpoint = self.server.admin().post(&self.webhooks(), &body)?;
        text(&endpoint, "id")
    }

    fn remove(&self, endpoint: &str) -> Result<()> {
        let path = format!("{}/{endpoint}", self.webhooks());
        self.server.admin().delete(&path)
    }

    /// A load of grants at this rate, for this long.
    fn grants(&self, per_second: f64, length: Duration) -> Paced<'_> {
        Paced {
            setup: self,
            per_second,
            warm_up: Duration::ZERO,
            length,
        }
    }

    /// Deductions as fast as possible beside grants at this rate: returns the deductions, and deliveries per
    /// second that arrived in it.
    fn load(&self, per_second: f64, receiver: &Receiver) -> Result<(Outcome, f64)> {
        let template = self.project.deduct();
        let deductions = Load {
            server: self.server.address(),
            connections: DEDUCTING,
            threads: self.threads,
            template: &template,
            wallets: Wallets::Random(WALLETS),
            rate: None,
            patient: false,
            warm_up: self.warm_up,
            length: self.length,
        };
        let grants = Paced {
            warm_up: self.warm_up,
            ..self.grants(per_second, self.length)
        };
        std::thread::scope(|scope| {
            let granting = scope.spawn(|| grants.run());
            let counting = scope.spawn(|| {
                std::thread::sleep(self.warm_up);
                let before = receiver.received_ever();
                receiver.count(true);
                std::thread::sleep(self.length);
                receiver.count(false);
                let received = receiver.received_ever() - before;
                received as f64 / self.length.as_secs_f64()
            });
            let outcome = deductions.run();
            let ended = |_| Error("a thread of the load panicked".into());
            granting.join().map_err(ended)??;
            Ok((outcome?, counting.join().map_err(ended)?))
        })
    }

    /// Waits until everything is delivered; returns how long that took.
    fn drained(&self) -> Result<Duration> {
        let started = std::time::Instant::now();
        while self.server.gauge("scrip_webhook_deliveries_pending ")? > 0 {
            stop::check()?;
            if started.elapsed() > DRAINED_WITHIN {
                return Err(Error("deliveries do not end".into()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(started.elapsed())
    }
}

/// Grants at a fixed rate.
struct Paced<'a> {
    setup: &'a Setup,
    per_second: f64,
    warm_up: Duration,
    length: Duration,
}

impl Paced<'_> {
    fn run(&self) -> Result<Outcome> {
        let template = self.setup.project.credit();
        let load = Load {
            server: self.setup.server.address(),
            connections: GRANTING,
            threads: 1,
            template: &template,
            wallets: Wallets::Random(WALLETS),
            rate: Some(self.per_second),
            patient: false,
            warm_up: self.warm_up,
            length: self.length,
        };
        load.run()
    }
}
