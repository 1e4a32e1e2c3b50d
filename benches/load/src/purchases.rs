//! Fulfilments beside deductions: payments at a steady rate must not make the deductions wait. Both loads are
//! open: they do not slow down when the server does. Deductions are kept well below what the server can do, as
//! at its limit a percentile says only how long the queue is.

use std::{sync::Arc, time::Duration};

use kit::stripe::Stripe;

use super::{
    Bench,
    buyers::{Buyers, PER_SECOND, Purchases, WALLETS},
    client::Client,
    error::{Context, Result},
    format::{median, milliseconds, thousands},
    load::{Load, Wallets},
    report::Target,
    rounds::{Series, percentile},
};

const CONNECTIONS: usize = 256;
/// Rounds are longer than elsewhere, so that each includes checkpoints of what it logged.
const ROUND: Duration = Duration::from_secs(10);
/// And there are more of them, since one stall of the disk determines a percentile.
const ROUNDS: usize = 5;

impl Bench {
    pub(crate) fn purchases(&mut self, deductions: Option<f64>) -> Result<()> {
        let stripe = self.runtime.block_on(Stripe::forgetful());
        let env = [("SCRIP_STRIPE_API_BASE", stripe.base.clone())];
        let setup = self.funded("purchases", &env, WALLETS)?;
        let (server, project) = (&setup.server, &setup.project);
        let client = Client::new(self.runtime.handle(), server.address(), &project.secret);
        let buyers = Arc::new(Buyers::of(&setup, client, stripe)?);
        let wallets = Wallets::Random(WALLETS);
        let mut load = Load {
            length: Some(self.args.round_or(ROUND)),
            ..self.load(server, project.deduct(), CONNECTIONS, wallets)
        };
        let rate = match deductions {
            Some(rate) => rate,
            None => {
                let mut most = Series::new("deductions at most, 256 connections")?;
                self.round(&load, server, &mut most)?;
                most.report(&mut self.report);
                most.rate() / 2.0
            }
        };
        load.rate = Some(rate);
        let offered = thousands(rate);
        let mut alone = Series::new(format!("{offered} deductions/s alone"))?;
        let name = format!("the same beside {PER_SECOND} fulfilments/s");
        let mut beside = Series::new(name)?;
        let mut purchases = Purchases::none()?;
        for _ in 0..self.args.rounds_or(ROUNDS) {
            self.round(&load, server, &mut alone)?;
            let length = self.args.round_or(ROUND);
            let buying = Arc::clone(&buyers).come(load.warm_up, length, purchases);
            let buying = self.runtime.spawn(buying);
            self.round(&load, server, &mut beside)?;
            purchases = self.runtime.block_on(buying).context("the buyers")??;
            server.checkpointed()?;
        }
        let paid = self.runtime.block_on(buyers.paid_once(&purchases))?;
        let report = &mut self.report;
        for series in [&alone, &beside] {
            series.report(report);
        }
        let p99 = |series: &Series| median(series.p99s.iter().copied());
        let ratio = p99(&beside) / p99(&alone).max(1e-9);
        let name = "deductions' p99, beside / alone";
        report.add(name, ratio, "", Target::AtMost(1.5));
        let each = |series: &Series| format!("{:.2?}", series.p99s);
        report.note(format!("rounds: {} beside {}", each(&beside), each(&alone)));
        let done = median(purchases.rates.iter().copied());
        // The first and the last of a round may fall outside of it.
        let target = Target::AtLeast(0.98 * PER_SECOND);
        report.add("fulfilments done", done, "/s", target);
        report.note(format!("{paid} orders, each paid once"));
        let [p50, p99] = [50.0, 99.0].map(|percent| percentile(&purchases.webhooks, percent));
        let name = "webhook acknowledged, order fulfilled: p99";
        report.value(name, p99, "ms");
        report.note(format!("p50 {}", milliseconds(p50)));
        setup.server.terminate().map(drop)
    }
}
