//! Catching up after an outage: the provider's list has thousands of events that no webhook reported, each about
//! another checkout, which is the worst case. The clock runs from the start of the server's process until all
//! of them are fulfilled.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::stripe::Stripe;
use serde_json::json;

use super::{
    Bench,
    error::{Error, Result},
    format::thousands,
    shop::{UNLIMITED, environment, one_thread},
};

/// Events per page of the list.
const PAGE: u64 = 100;
/// Background requests per second: the defaults in live mode and in test mode.
const PACES: [(&str, f64); 2] = [("live", 50.0), ("test", 10.0)];
/// Pause between two checks whether the last orders are paid.
const PAUSE: Duration = Duration::from_millis(20);

impl Bench {
    /// The suite of catching up after an outage.
    pub(crate) fn catch_up(&mut self, events: Option<u64>, per_second: Option<u32>) -> Result<()> {
        let events = events.unwrap_or_else(|| self.args.count(10_000));
        let runtime = one_thread()?;
        let stripe = runtime.block_on(Stripe::forgetful());
        let pace = per_second.unwrap_or(UNLIMITED);
        let environment = environment(&stripe, pace);
        let (mut real, _, shop) = self.open_shop("catch-up", stripe, pace)?;
        eprintln!("catch-up: opening {} checkouts", thousands(events as f64));
        let orders = shop.open_all(&runtime, events)?;
        real.folded()?;
        real.terminate()?;
        shop.pay_silently(&orders);

        let started = Instant::now();
        let mut real = self.server(&self.place.data("catch-up"), &environment)?;
        let ready = real.ready()?;
        let shop = Arc::new(shop.at(&real));
        // The newest are read first, so these are paid last.
        let last: Vec<_> = orders.iter().take(PAGE as usize).collect();
        for order in last {
            while !shop.is_paid(&runtime, &order.order)? {
                std::thread::sleep(PAUSE);
            }
        }
        let took = started.elapsed().as_secs_f64();
        let bought: Vec<_> = orders
            .iter()
            .map(|it| (it.order.clone(), it.wallet))
            .collect();
        let paid = shop.paid_once(&runtime, &bought)?;
        real.terminate()?;
        shop.assert_no_complaints()?;

        let requests = events + events.div_ceil(PAGE);
        let report = &mut self.report;
        let name = format!("catching up on {} events", thousands(events as f64));
        report.value(name, took, "s");
        let pace = match per_second {
            Some(pace) => format!("at {pace} requests/s"),
            None => {
                let of = |(mode, pace)| {
                    format!("{mode} mode's {pace}/s {:.0} s", requests as f64 / pace)
                };
                format!("as fast as it goes; at {}", PACES.map(of).join(", "))
            }
        };
        report.note(format!(
            "{pace}; {} pages, {} checkouts looked at; ready after {:.2} s",
            events.div_ceil(PAGE),
            thousands(events as f64),
            ready.as_secs_f64(),
        ));
        report.detail(json!({
            "suite": "catch-up", "events": events, "requests": requests, "seconds": took,
            "perSecond": per_second,
        }));
        if paid == events {
            Ok(())
        } else {
            Err(Error(format!("{paid} of {events} orders are paid once")))
        }
    }
}
