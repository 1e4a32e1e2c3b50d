//! How long a buyer waits on an account that another product shares and that behaves like a real one: at the
//! first start, when all of the account's events are new, and beside webhooks about them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::stripe::{FaultProfile, Stripe};
use serde_json::json;

use super::{
    Bench,
    error::{Context, Error, Result},
    format::thousands,
    shop::{BuyerLoad, Shop, one_thread},
};

/// Pause between two checks whether the buyer has the credits.
const PAUSE: Duration = Duration::from_millis(20);
/// After this a buyer counts as never served.
const TIMEOUT: Duration = Duration::from_secs(900);
/// Buyers per second beside the webhooks.
const BUYERS: f64 = 2.0;
/// How long buyers come.
const ROUND: Duration = Duration::from_secs(10);

impl Bench {
    /// The suite of an account that is shared.
    pub(crate) fn beside_others(
        &mut self,
        foreign: u32,
        webhooks: Option<f64>,
        per_second: Option<u32>,
    ) -> Result<()> {
        let runtime = one_thread()?;
        let stripe = runtime.block_on(Stripe::forgetful());
        stripe.set_faults(FaultProfile {
            foreign_sales: foreign,
            foreign_days: 3,
            ..FaultProfile::as_stripe()
        });
        let pace = per_second.unwrap_or(0);
        let (real, _, shop) = self.open_shop("beside-others", stripe, pace)?;
        let outcome = match webhooks {
            None => self.first_start(&runtime, &shop, foreign),
            Some(per_second) => self.buyers_beside_webhooks(&runtime, &shop, per_second),
        };
        real.terminate()?;
        outcome?;
        shop.assert_no_complaints()
    }

    /// A buyer pays right after the shop was set up, and only the list of events tells of it.
    fn first_start(
        &mut self,
        runtime: &tokio::runtime::Runtime,
        shop: &Arc<Shop>,
        foreign: u32,
    ) -> Result<()> {
        let requests_before = shop.account().requests();
        let open = shop.open_all(runtime, 1)?;
        shop.pay_silently(&open);
        let started = Instant::now();
        for order in &open {
            while !shop.is_paid(runtime, &order.order)? {
                if started.elapsed() > TIMEOUT {
                    return Err(Error("the buyer waits for ever".into()));
                }
                std::thread::sleep(PAUSE);
            }
        }
        let took = started.elapsed().as_secs_f64();
        let requests = shop.account().requests().saturating_sub(requests_before);
        let others = thousands(f64::from(foreign));
        let name = format!("a buyer's wait at the first start, beside {others} foreign events");
        self.report.value(name, took, "s");
        self.report.note(format!(
            "no webhook; {requests} requests to the provider until then"
        ));
        self.report.detail(json!({
            "suite": "beside-others", "foreign": foreign, "seconds": took, "requests": requests,
        }));
        Ok(())
    }

    /// Buyers whose payments webhooks tell of: alone, and beside webhooks about the other product.
    fn buyers_beside_webhooks(
        &mut self,
        runtime: &tokio::runtime::Runtime,
        shop: &Arc<Shop>,
        per_second: f64,
    ) -> Result<()> {
        let length = self.args.round_or(ROUND);
        let mut first = 0;
        for beside in [false, true] {
            let opening = BuyerLoad {
                per_second: BUYERS,
                warm_up: Duration::ZERO,
                length,
                wallets: 1000,
                first,
            };
            first += 1000;
            let requests_before = shop.account().requests();
            let others = beside.then(|| shop.tell_of_others(runtime, per_second, length));
            let sales = shop.sell(runtime, opening);
            let sales = runtime.block_on(sales).context("the buyers")??;
            let mut words = "alone".to_owned();
            if let Some(others) = others {
                let accepted = runtime.block_on(others).context("the others")??;
                let rate = thousands(accepted as f64 / length.as_secs_f64());
                words = format!("beside {rate} foreign webhooks/s");
            }
            let requests = shop.account().requests().saturating_sub(requests_before);
            let rate = requests as f64 / length.as_secs_f64();
            let at = |percent: f64| sales.webhooks.value_at_quantile(percent / 100.0) as f64 / 1e6;
            let name = format!("a buyer's wait, webhook to credits, {words}: p99");
            self.report.value(name, at(99.0), "ms");
            self.report.note(format!(
                "p50 {:.1} ms, {} buyers; {rate:.0} requests/s to the provider",
                at(50.0),
                sales.orders.len()
            ));
            self.report.detail(json!({
                "suite": "beside-others", "foreignWebhooks": beside, "p50Milliseconds": at(50.0),
                "p99Milliseconds": at(99.0), "requests": requests,
            }));
        }
        Ok(())
    }
}
