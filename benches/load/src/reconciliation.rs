//! The daily reconciliation: the provider's lists of payments compared with the orders. Except for one order
//! all charges are for another product, each of another customer.

use std::time::{Duration, Instant};

use kit::stripe::Stripe;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

use super::{
    Bench,
    error::{Context, Error, Result},
    format::thousands,
    proc::{forget_peak, peak, resident},
    project::PROJECTS,
    shop::{UNLIMITED, one_thread},
};

/// Pause between two checks whether it has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// After this it counts as never ending.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// The state of reconciliations, as the server returns it.
#[derive(Deserialize)]
struct State {
    running: Option<IgnoredAny>,
    last: Option<Reconciliation>,
    error: Option<String>,
}

/// A finished reconciliation.
#[derive(Deserialize)]
struct Reconciliation {
    charges: u64,
    differences: u64,
}

impl Bench {
    /// The suite of the reconciliation.
    pub(crate) fn reconciliation(&mut self, charges: Option<u64>) -> Result<()> {
        let charges = charges.unwrap_or_else(|| self.args.count(100_000));
        let runtime = one_thread()?;
        let stripe = runtime.block_on(Stripe::forgetful());
        let (real, project, shop) = self.open_shop("reconciliation", stripe, UNLIMITED)?;
        let orders = shop.open_all(&runtime, 1)?;
        shop.pay_silently(&orders);
        shop.charge_others(charges);

        let before = resident(real.pid())?;
        forget_peak(real.pid())?;
        let requests_before = shop.account().requests();
        let started = Instant::now();
        let admin = real.admin();
        let path = format!("{PROJECTS}/{}/reconciliation", project.id);
        admin.post(&path, &json!({}))?;
        let last = loop {
            let reply = admin.get(&path)?;
            let state: State =
                serde_json::from_str(&reply.body).context("the reconciliation's state")?;
            if state.error.is_some() || started.elapsed() > TIMEOUT {
                return Err(Error(format!(
                    "the reconciliation does not end: {}",
                    reply.body
                )));
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
        let took = started.elapsed().as_secs_f64();
        let requests = shop.account().requests().saturating_sub(requests_before);
        let grown = peak(real.pid())?.saturating_sub(before) as f64 / 1e6;
        real.terminate()?;
        shop.assert_no_complaints()?;

        let Reconciliation {
            charges: all,
            differences,
        } = last;
        let name = format!(
            "the daily reconciliation of {} charges",
            thousands(all as f64)
        );
        self.report.value(name, took, "s");
        self.report.note(format!(
            "{requests} requests to the provider; at the most {grown:.0} MB more than before"
        ));
        self.report.detail(json!({
            "suite": "reconciliation", "charges": all, "seconds": took, "requests": requests,
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
