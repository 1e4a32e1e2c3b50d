//! The daily proof: the provider's lists of money, held against the orders. Beside one order all that was
//! charged is another product's, each time another customer.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::stripe::Stripe;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

use super::{
    Bench,
    error::{Context, Error, Result},
    format::thousands,
    proc::{forget_peak, peak, resident},
    project::{PROJECTS, Project},
    report::Target,
    shop::Shop,
};

/// How often it is looked whether it has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// What has not ended by then never does.
const PATIENCE: Duration = Duration::from_secs(1800);

/// What the server says of its proofs.
#[derive(Deserialize)]
struct State {
    running: Option<IgnoredAny>,
    last: Option<Proof>,
    error: Option<String>,
}

/// One that has ended.
#[derive(Deserialize)]
struct Proof {
    charges: u64,
    differences: u64,
}

impl Bench {
    /// The suite of the proof.
    pub(crate) fn proof(&mut self, charges: Option<u64>) -> Result<()> {
        let charges = charges.unwrap_or_else(|| self.args.count(100_000));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .context("a runtime")?;
        let stripe = runtime.block_on(Stripe::forgetful());
        let environment = [
            ("SCRIP_STRIPE_API_BASE", stripe.base.clone()),
            ("SCRIP_STRIPE_BACKGROUND_PER_SECOND", "1000000".to_owned()),
        ];
        let mut real = self.server(&self.place.data("proof"), &environment)?;
        real.ready()?;
        let project = Project::create(&real)?;
        let shop = Arc::new(Shop::open(&real, &project, stripe)?);
        let orders = shop.open_all(&runtime, 1)?;
        shop.pay_silently(&orders);
        shop.charge_others(charges);

        let before = resident(real.pid())?;
        forget_peak(real.pid())?;
        let asked = shop.account().requests();
        let begun = Instant::now();
        let admin = real.admin();
        let path = format!("{PROJECTS}/{}/reconciliation", project.id);
        admin.post(&path, &json!({}))?;
        let last = loop {
            let reply = admin.get(&path)?;
            let state: State = serde_json::from_str(&reply.body).context("the proof's state")?;
            if state.error.is_some() || begun.elapsed() > PATIENCE {
                return Err(Error(format!("the proof does not end: {}", reply.body)));
            }
            match state {
                State {
                    running: None,
                    last: Some(last),
                    ..
                } => break last,
                _ => std::thread::sleep(PAUSE),
            }
        };
        let took = begun.elapsed().as_secs_f64();
        let requests = shop.account().requests().saturating_sub(asked);
        let grown = peak(real.pid())?.saturating_sub(before) as f64 / 1e6;
        real.terminate()?;
        shop.asked_in_order()?;

        let Proof {
            charges: all,
            differences,
        } = last;
        let name = format!("the daily proof over {} charges", thousands(all as f64));
        self.report.add(name, took, "s", Target::None);
        self.report.note(format!(
            "{requests} requests to the provider; at the most {grown:.0} MB more than before"
        ));
        self.report.detail(json!({
            "suite": "proof", "charges": all, "seconds": took, "requests": requests,
            "megabytes": grown,
        }));
        match (all >= charges, differences) {
            (true, 0) => Ok(()),
            _ => Err(Error(format!(
                "{differences} differences among {all} charges"
            ))),
        }
    }
}
