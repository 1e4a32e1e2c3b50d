//! What webhooks to projects' servers cost: a thousand deliveries per second beside deductions, what an
//! endpoint that hangs costs nine others, and how much disk space events and usage take. The receivers run in
//! this process and share its processor.

use std::{
    net::TcpListener,
    thread,
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::json;

use super::{
    Bench, Setup,
    client::text,
    error::{Context, Error, Result},
    format::{median, milliseconds, thousands},
    load::{Load, Wallets},
    project::PROJECTS,
    receiver::Receiver,
    report::Target,
    rounds::{Series, percentile, percentiles},
    stop,
};

/// Deliveries per second.
const DELIVERIES: f64 = 1000.0;
/// Wallets that everything is spread over.
const WALLETS: u64 = 10_000;
/// Connections of the deductions, and of the grants whose events are delivered.
const DEDUCTING: usize = 64;
const GRANTING: usize = 16;
/// Endpoints, one of which hangs, and grants per second, each of which is delivered to all.
const ENDPOINTS: usize = 10;
const GRANTS_BESIDE_HANGING: f64 = 50.0;
/// How long the deliveries left after a round may take.
const TIMEOUT: Duration = Duration::from_secs(60);

impl Bench {
    pub(crate) fn webhooks(&mut self) -> Result<()> {
        let env = [("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true".to_owned())];
        let setup = self.funded("webhooks", &env, WALLETS)?;
        self.beside_deductions(&setup)?;
        self.beside_hanging(&setup)?;
        setup.server.checkpointed()?;
        setup.server.terminate()?;
        self.events_on_disk()
    }

    fn beside_deductions(&mut self, setup: &Setup) -> Result<()> {
        let receiver = Receiver::start(&self.runtime)?;
        let mut without = Series::new("deductions beside the same grants, no webhooks")?;
        let mut with = Series::new("deductions beside the same grants, webhooks")?;
        let (mut delivered, mut drained) = (Vec::new(), Vec::new());
        for _ in 0..self.args.rounds() {
            self.round_beside_grants(setup, &receiver, &mut without)?;
            let endpoint = setup.add_endpoint(&receiver.url)?;
            delivered.push(self.round_beside_grants(setup, &receiver, &mut with)?);
            drained.push(setup.drained()?);
            setup.remove_endpoint(&endpoint)?;
            setup.server.checkpointed()?;
        }
        let report = &mut self.report;
        let name = "deliveries beside deductions, 64 connections";
        let target = Target::AtLeast(0.98 * DELIVERIES);
        report.add(name, median(delivered), "/s", target);
        report.note(format!(
            "what was left took {:.2} s more; from event to arrival {}",
            median(drained),
            percentiles(&receiver.latency())
        ));
        without.report(report);
        with.report(report);
        let name = "deductions, with / without webhooks";
        report.value(name, with.rate_beside(&without), "");
        Ok(())
    }

    /// A round of deductions as fast as possible beside grants; the deliveries per second.
    fn round_beside_grants(
        &self,
        setup: &Setup,
        receiver: &Receiver,
        series: &mut Series,
    ) -> Result<f64> {
        let wallets = Wallets::Random(WALLETS);
        let deductions = self.load(&setup.server, setup.project.deduct(), DEDUCTING, wallets);
        let grants = self.grants(setup, DELIVERIES);
        let (outcome, received) = thread::scope(|scope| {
            let granting = scope.spawn(|| grants.run());
            let receiving = scope.spawn(|| {
                thread::sleep(self.args.warm_up());
                let before = receiver.received();
                receiver.measure(true);
                thread::sleep(self.args.round());
                receiver.measure(false);
                (receiver.received() - before) as f64 / self.args.round().as_secs_f64()
            });
            let outcome = deductions.run();
            let panicked = |_| Error("a thread of the load panicked".into());
            granting.join().map_err(panicked)??;
            Ok::<_, Error>((outcome?, receiving.join().map_err(panicked)?))
        })?;
        series.add(&outcome, 1)?;
        eprintln!(
            "webhooks: {} deductions/s, {} deliveries/s",
            thousands(outcome.rate()),
            thousands(received)
        );
        Ok(received)
    }

    fn grants(&self, setup: &Setup, per_second: f64) -> Load {
        let wallets = Wallets::Random(WALLETS);
        Load {
            threads: 1,
            rate: Some(per_second),
            ..self.load(&setup.server, setup.project.credit(), GRANTING, wallets)
        }
    }

    fn beside_hanging(&mut self, setup: &Setup) -> Result<()> {
        // The kernel accepts connections, and nobody reads from them.
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let hanging = format!("http://{}/hooks", listener.local_addr()?);
        let [alone, beside] = [false, true].map(|hangs| {
            let receiver = Receiver::start(&self.runtime)?;
            let mut endpoints = (1..ENDPOINTS)
                .map(|_| setup.add_endpoint(&receiver.url))
                .collect::<Result<Vec<_>>>()?;
            if hangs {
                endpoints.push(setup.add_endpoint(&hanging)?);
            }
            let grants = Load {
                warm_up: Duration::ZERO,
                length: Some(self.args.round() * self.args.rounds() as u32),
                ..self.grants(setup, GRANTS_BESIDE_HANGING)
            };
            receiver.measure(true);
            let granted = grants.run()?.latency.len();
            // The rest is for the endpoint that hangs: wait some seconds, but not for all.
            thread::sleep(Duration::from_secs(1));
            let (received, expected) = (receiver.received(), granted * (ENDPOINTS as u64 - 1));
            if received < expected {
                return Err(Error(format!(
                    "{received} of {expected} deliveries arrived"
                )));
            }
            for endpoint in endpoints {
                setup.remove_endpoint(&endpoint)?;
            }
            Ok(receiver.latency())
        });
        let (alone, beside) = (alone?, beside?);
        let report = &mut self.report;
        for percent in [50.0, 99.0] {
            let [alone, beside] = [&alone, &beside].map(|it| percentile(it, percent));
            let name =
                format!("nine endpoints beside one that hangs: event to arrival, p{percent}");
            report.value(name, beside, "ms");
            report.note(format!("{} without it", milliseconds(alone)));
        }
        let ratio = percentile(&beside, 99.0) / percentile(&alone, 99.0).max(1.0);
        let name = "nine endpoints' p99, beside one that hangs / alone";
        report.add(name, ratio, "", Target::AtMost(1.5));
        Ok(())
    }

    fn events_on_disk(&mut self) -> Result<()> {
        let verified = persistence::verify::verify(&self.folder.path().join("webhooks"));
        let verified = verified.context("verifying")?;
        if let Some(problem) = verified.problems.first() {
            return Err(Error(problem.clone()));
        }
        let report = &mut self.report;
        let each = |bytes: u64, count: u64| bytes as f64 / (count as f64).max(1.0);
        let ledger = each(verified.ledger_bytes, verified.records);
        report.value("ledger, each entry", ledger, "bytes");
        report.note("as stored, with wallets and without the index of keys");
        let event = each(verified.project_event_bytes, verified.project_events);
        report.value("event, each", event, "bytes");
        let both = verified.project_event_bytes + verified.usage_bytes;
        let both = each(both, verified.records);
        let name = "events and usage / ledger";
        report.add(name, both / ledger.max(1e-9), "", Target::AtMost(2.0));
        report.note(format!("{both:.1} bytes an entry"));
        Ok(())
    }
}

impl Setup {
    fn endpoints(&self) -> String {
        format!("{PROJECTS}/{}/webhooks", self.project.id)
    }

    /// Adds an endpoint, which gets the events from now on.
    fn add_endpoint(&self, url: &str) -> Result<String> {
        let body = json!({"url": url, "events": ["wallet.credited"]});
        text(&self.server.admin().post(&self.endpoints(), &body)?, "id")
    }

    fn remove_endpoint(&self, endpoint: &str) -> Result<()> {
        let path = format!("{}/{endpoint}", self.endpoints());
        let admin = self.server.admin();
        admin.call(admin.request(Method::DELETE, &path)).map(drop)
    }

    /// Waits until everything is delivered; returns the seconds that took.
    fn drained(&self) -> Result<f64> {
        let started = Instant::now();
        while self.server.gauge("scrip_webhook_deliveries_pending ")? > 0 {
            stop::check()?;
            if started.elapsed() > TIMEOUT {
                return Err(Error("deliveries do not end".into()));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(started.elapsed().as_secs_f64())
    }
}
