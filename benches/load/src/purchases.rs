//! Fulfilments beside deductions: payments at a steady rate must not make the deductions wait. Both loads are
//! open: they do not slow down when the server does. Deductions are kept well below what the server can do, as
//! at its limit a percentile says only how long the queue is.

use std::{sync::Arc, time::Duration};

use hdrhistogram::Histogram;
use kit::stripe::{FaultProfile, Stripe};
use serde_json::json;
use tokio::runtime::Runtime;

use super::{
    Bench,
    child::Server,
    error::{Context, Error, Result},
    format::{median, milliseconds, thousands},
    load::{Load, Outcome, Template, Wallets, histogram},
    proc::Watch,
    report::Target,
    shop::{BuyerLoad, Sales, Shop, one_thread},
};

/// Wallets that both loads use.
const WALLETS: u64 = 10_000;
/// Connections of the deductions.
const CONNECTIONS: usize = 256;
/// Rounds are longer than elsewhere, so that each includes folds of what it logged.
const ROUND: Duration = Duration::from_secs(10);
/// And there are more of them, since one stall of the disk determines a percentile.
const ROUNDS: usize = 5;

/// The measured deductions of one kind of round.
#[derive(Default)]
struct Series {
    p50: Vec<f64>,
    p99: Vec<f64>,
    rates: Vec<f64>,
    disturbed: usize,
}

impl Series {
    fn add(&mut self, outcome: &Outcome, disturbed: bool) {
        self.disturbed += usize::from(disturbed);
        let at = |percent| outcome.percentile(percent).as_secs_f64() * 1e3;
        self.p50.push(at(50.0));
        self.p99.push(at(99.0));
        self.rates.push(outcome.rate());
    }

    fn median(&self, part: fn(&Self) -> &Vec<f64>) -> f64 {
        median(part(self).iter().copied())
    }
}

/// The measured purchases of all rounds.
struct Bought {
    rates: Vec<f64>,
    checkouts: Histogram<u64>,
    webhooks: Histogram<u64>,
    orders: Vec<(String, u64)>,
}

/// What all rounds share.
struct Stage {
    real: Server,
    runtime: Runtime,
    shop: Arc<Shop>,
    deduct: Template,
    /// Deductions per second.
    offered: f64,
    /// Fulfilments per second.
    per_second: f64,
}

impl Bench {
    /// Costs of a purchase, a refund and a renewal, each alone, on an account that behaves like a real one.
    fn look_ups(&mut self, runtime: &Runtime) -> Result<()> {
        let stripe = runtime.block_on(Stripe::start());
        stripe.set_faults(FaultProfile::as_stripe());
        let (real, project, shop) = self.open_shop("look-ups", stripe, 0)?;
        let tier = Shop::tier(&real, &project)?;
        let costs = shop.costs(runtime, &tier);
        real.terminate()?;
        for cost in costs? {
            let took = cost.took.as_secs_f64() * 1e3;
            let name = format!("{}, from webhook to order", cost.name);
            self.report.value(name, took, "ms");
            let requests = cost.requests;
            self.report
                .note(format!("{requests} requests to the provider"));
            self.report.detail(json!({
                "suite": "purchases", "one": cost.name, "requests": requests, "milliseconds": took,
            }));
        }
        shop.assert_no_complaints()
    }

    /// The suite of purchases.
    pub(crate) fn purchases(&mut self, per_second: f64, deductions: Option<f64>) -> Result<()> {
        let runtime = one_thread()?;
        self.look_ups(&runtime)?;
        let stripe = runtime.block_on(Stripe::forgetful());
        let (real, project, shop) = self.open_shop("purchases", stripe, 0)?;
        eprintln!("purchases: funding {WALLETS} wallets");
        project.fund(&real, self.args.load_threads, WALLETS)?;
        let mut stage = Stage {
            real,
            runtime,
            shop,
            deduct: project.deduct(),
            offered: 0.0,
            per_second,
        };
        stage.real.folded()?;
        stage.offered = match deductions {
            Some(rate) => rate,
            None => self.capacity(&mut stage)? / 2.0,
        };
        let (mut alone, mut beside) = (Series::default(), Series::default());
        let mut bought = Bought {
            rates: Vec::new(),
            checkouts: histogram()?,
            webhooks: histogram()?,
            orders: Vec::new(),
        };
        for round in 1..=self.args.rounds_or(ROUNDS) {
            self.round_of(&mut stage, round, &mut alone, None)?;
            self.round_of(&mut stage, round, &mut beside, Some(&mut bought))?;
        }
        let paid = stage.shop.paid_once(&stage.runtime, &bought.orders)?;
        self.purchase_figures(&stage, &alone, &beside, &bought, paid);
        stage.real.terminate()?;
        stage.shop.assert_no_complaints()?;
        if paid == bought.orders.len() as u64 {
            Ok(())
        } else {
            Err(Error("the books do not add up".into()))
        }
    }

    /// The highest rate of deductions: each connection sends the next one after each response.
    fn capacity(&mut self, stage: &mut Stage) -> Result<f64> {
        let load = Load {
            rate: None,
            ..self.deductions(stage)
        };
        let rate = load.run()?.rate();
        eprintln!("purchases: {} deductions/s at most", thousands(rate));
        let name = format!("deductions at most, {CONNECTIONS} connections");
        self.report.value(name, rate, "/s");
        self.report.note("half of it is offered below");
        stage.real.folded()?;
        Ok(rate)
    }

    fn deductions<'a>(&self, stage: &'a Stage) -> Load<'a> {
        Load {
            server: stage.real.address(),
            connections: CONNECTIONS,
            threads: self.args.load_threads,
            template: &stage.deduct,
            wallets: Wallets::Random(WALLETS),
            rate: Some(stage.offered),
            patient: false,
            warm_up: self.args.warm_up(),
            length: self.args.round_or(ROUND),
        }
    }

    /// A round of deductions, alone or beside purchases.
    fn round_of(
        &mut self,
        stage: &mut Stage,
        round: usize,
        series: &mut Series,
        bought: Option<&mut Bought>,
    ) -> Result<()> {
        let load = self.deductions(stage);
        let watch = Watch::start(stage.real.pid())?;
        let selling = bought.as_ref().map(|bought| {
            let opening = BuyerLoad {
                per_second: stage.per_second,
                warm_up: load.warm_up,
                length: load.length,
                wallets: WALLETS,
                first: bought.orders.len() as u64,
            };
            stage.shop.sell(&stage.runtime, opening)
        });
        let outcome = load.run()?;
        let length = load.length;
        let busy = watch.stop()?;
        let sales = match selling {
            Some(selling) => Some(stage.runtime.block_on(selling).context("selling")??),
            None => None,
        };
        // Work that was put off must not slow the next round down.
        stage.real.folded()?;
        series.add(&outcome, busy.disturbed());
        let fulfilled = sales.as_ref().map(|sales| sales.fulfilled);
        let words = sales.as_ref().map_or_else(
            || "alone".to_owned(),
            |sales| {
                format!(
                    "beside {:.0} fulfilments/s (p99 {})",
                    sales.fulfilled as f64 / length.as_secs_f64(),
                    milliseconds(at(&sales.webhooks, 99.0)),
                )
            },
        );
        let [middle, high, highest] =
            [50.0, 99.0, 99.9].map(|percent| milliseconds(outcome.percentile(percent)));
        let disturbed = if busy.disturbed() {
            ", a disturbed round"
        } else {
            ""
        };
        eprintln!(
            "purchases round {round}: {} deductions/s {words}: p50 {middle}, p99 {high}, \
             p99.9 {highest}; cores: server {:.2}, load {:.2}, others {:.2}{disturbed}",
            thousands(outcome.rate()),
            busy.server,
            busy.generator,
            busy.others,
        );
        self.report.detail(json!({
            "suite": "purchases", "round": round, "deductionsPerSecond": outcome.rate(),
            "p50Nanoseconds": outcome.latency.value_at_percentile(50.0),
            "p99Nanoseconds": outcome.latency.value_at_percentile(99.0),
            "fulfilled": fulfilled, "seconds": length.as_secs_f64(),
            "coresServer": busy.server, "coresLoad": busy.generator, "coresOthers": busy.others,
        }));
        match (bought, sales) {
            (Some(bought), Some(sales)) => bought.add(sales, length),
            _ => Ok(()),
        }
    }

    fn purchase_figures(
        &mut self,
        stage: &Stage,
        alone: &Series,
        beside: &Series,
        bought: &Bought,
        paid: u64,
    ) {
        let report = &mut self.report;
        let offered = thousands(stage.offered);
        let rate = thousands(stage.per_second);
        for (series, name) in [
            (alone, format!("{offered} deductions/s alone")),
            (beside, format!("the same beside {rate} fulfilments/s")),
        ] {
            report.value(format!("{name}: p50"), series.median(|s| &s.p50), "ms");
            let done = thousands(series.median(|s| &s.rates));
            report.note(format!("{done}/s answered"));
            report.value(format!("{name}: p99"), series.median(|s| &s.p99), "ms");
            let each: Vec<String> = series.p99.iter().map(|p| format!("{p:.2}")).collect();
            report.note(format!(
                "each round: {}; {} disturbed by others",
                each.join(", "),
                series.disturbed
            ));
        }
        let of = |part| beside.median(part) / alone.median(part).max(1e-9);
        report.value("deductions' p50, beside / alone", of(|s| &s.p50), "");
        report.add(
            "deductions' p99, beside / alone",
            of(|s| &s.p99),
            "",
            Target::AtMost(1.5),
        );
        report.add(
            "fulfilments done",
            median(bought.rates.iter().copied()),
            "/s",
            // The first and the last of a round may fall outside of it.
            Target::AtLeast(0.98 * stage.per_second, None),
        );
        for (name, latency) in [
            ("checkout started", &bought.checkouts),
            ("webhook acknowledged, order fulfilled", &bought.webhooks),
        ] {
            let high = at(latency, 99.0).as_secs_f64() * 1e3;
            report.value(format!("{name}: p99"), high, "ms");
            report.note(format!("p50 {}", milliseconds(at(latency, 50.0))));
        }
        let orders = bought.orders.len();
        report.add(
            "orders paid once / fulfilled",
            paid as f64 / (orders as f64).max(1.0),
            "",
            Target::AtLeast(1.0, None),
        );
        report.note(format!(
            "all {} read, and their wallets' balances",
            thousands(orders as f64)
        ));
    }
}

impl Bought {
    fn add(&mut self, sales: Sales, length: Duration) -> Result<()> {
        let rate = sales.fulfilled as f64 / length.as_secs_f64().max(1e-9);
        self.rates.push(rate);
        for (all, new) in [
            (&mut self.checkouts, &sales.checkouts),
            (&mut self.webhooks, &sales.webhooks),
        ] {
            all.add(new).context("adding latencies")?;
        }
        self.orders.extend(sales.orders);
        Ok(())
    }
}

fn at(latency: &Histogram<u64>, percent: f64) -> Duration {
    Duration::from_nanos(latency.value_at_percentile(percent))
}
