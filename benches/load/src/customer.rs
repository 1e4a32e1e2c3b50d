//! What a wallet with a hundred thousand orders costs, compared with a fresh one: to buy, to deduct, to read,
//! and to wake. All but the waking is done by several callers at once, who share the cost of syncs.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Instant,
};

use actors::{Address, Handle, Scope};
use domain::{
    catalog::Interval,
    id::{PriceId, ProductId},
    terms::Terms,
    text::Email,
    wallet::{
        pay::{Pay, Payment},
        place_order::PlaceOrder,
    },
};
use serde_json::json;

use super::{
    Bench,
    engine::{Engine, PRODUCT, addresses, take_one},
    error::{Context, Error, Result},
    format::{median, thousands},
    report::Target,
    stop,
};

/// Callers that run concurrently.
const CALLERS: usize = 16;
/// Repetitions of each operation in a round.
const TIMES: u64 = 2_000;
/// Wallets that are woken in a round, one after the other.
const WOKEN: u64 = 20;

const BUY: &str = "buy";
const DEDUCT: &str = "deduct";
const READ: &str = "read";
const WAKE: &str = "wake";

impl Bench {
    /// The suite of a wallet with many orders.
    pub(crate) fn customer(&mut self) -> Result<()> {
        let data = self.place.data("customer");
        let orders = self.args.count(100_000);
        let old = addresses(0, 1)?;
        let mut engine = Engine::open(&data, 0)?;
        engine.fund(&old)?;
        eprintln!("customer: one wallet buys {orders} times");
        do_times(&engine, &old, BUY, orders)?;
        let mut costs: Vec<(&str, Vec<f64>, Vec<f64>)> = [BUY, DEDUCT, READ, WAKE]
            .map(|what| (what, Vec::new(), Vec::new()))
            .into();
        for round in 1..=self.args.rounds().max(5) as u64 {
            let fresh = addresses(round * WOKEN, WOKEN)?;
            engine.fund(&fresh)?;
            engine.settle()?;
            // A restart: no wallet is in memory.
            let next_key = engine.next_key();
            engine.close()?;
            engine = Engine::open(&data, next_key)?;
            let one: Arc<[Address]> = fresh.iter().take(1).cloned().collect();
            for (what, of_old, of_fresh) in &mut costs {
                if *what == WAKE {
                    continue;
                }
                // Wakes and warms up both.
                do_times(&engine, &old, what, TIMES / 10)?;
                do_times(&engine, &one, what, TIMES / 10)?;
                of_old.push(do_times(&engine, &old, what, TIMES)?);
                of_fresh.push(do_times(&engine, &one, what, TIMES)?);
            }
            let next_key = engine.next_key();
            engine.close()?;
            engine = Engine::open(&data, next_key)?;
            let rest: Arc<[Address]> = fresh.iter().skip(1).cloned().collect();
            let woken = wake(&engine, &rest)?;
            if let Some((_, of_old, of_fresh)) = costs.last_mut() {
                of_fresh.push(woken);
                of_old.push(wake(&engine, &old)?);
            }
        }
        engine.close()?;
        for (what, old, fresh) in costs {
            let (old, fresh) = (median(old), median(fresh));
            self.report.detail(json!({
                "suite": "customer", "what": what, "microseconds": old, "freshMicroseconds": fresh,
            }));
            let orders = thousands(orders as f64);
            let name = format!("{what} in a wallet with {orders} orders / fresh");
            self.report
                .add(name, old / fresh.max(1e-9), "", Target::AtMost(1.5));
            self.report
                .note(format!("{old:.1} µs beside {fresh:.1} µs each"));
        }
        Ok(())
    }
}

/// Wakes and reads each of these wallets; returns the mean in microseconds.
fn wake(engine: &Engine, wallets: &[Address]) -> Result<f64> {
    let started = Instant::now();
    for wallet in wallets {
        let read = engine.block_on(engine.handle().read(engine.scope(), wallet));
        read.context("waking a wallet")?;
    }
    Ok(started.elapsed().as_secs_f64() * 1e6 / wallets.len().max(1) as f64)
}

/// Repeats an operation; returns the mean in microseconds.
fn do_times(engine: &Engine, wallets: &Arc<[Address]>, what: &str, times: u64) -> Result<f64> {
    let started = Instant::now();
    if what == DEDUCT {
        let operations = engine.deduct_times(wallets, CALLERS, times)?;
        return Ok(started.elapsed().as_secs_f64() * 1e6 / operations.max(1) as f64);
    }
    let left = Arc::new(AtomicU64::new(times));
    let reads = what == READ;
    let operations = engine.together(CALLERS, |_| {
        let (handle, scope) = (engine.handle().clone(), engine.scope().clone());
        let (wallets, left) = (Arc::clone(wallets), Arc::clone(&left));
        async move {
            let mut operations = 0;
            let wallet = wallets.first().ok_or_else(|| Error("no wallet".into()))?;
            while take_one(&left) {
                stop::check()?;
                if reads {
                    handle.read(&scope, wallet).await.context("a read")?;
                } else {
                    buy(&handle, &scope, wallet, PRODUCT).await?;
                }
                operations += 1;
            }
            Ok(operations)
        }
    })?;
    Ok(started.elapsed().as_secs_f64() * 1e6 / operations.max(1) as f64)
}

/// Buys credits of a product and pays for them.
pub(crate) async fn buy(
    handle: &Handle,
    scope: &Scope,
    wallet: &Address,
    product: ProductId,
) -> Result<()> {
    let Address::External(user) = wallet else {
        return Err(Error("a wallet without a user".into()));
    };
    let terms = terms(product);
    let draft = handle
        .draft_order(scope, Some(wallet), &terms, domain::Quantity::ONE)
        .await;
    let (order, _) = draft.context("drafting an order")?;
    let place = PlaceOrder {
        order: order.serial,
        terms,
        checkout: None,
        email: Email::new(format!("{}@mail.example", user.as_str())).ok(),
        quantity: domain::Quantity::ONE,
        metadata: domain::metadata::Metadata::default(),
        names_code: false,
    };
    let user = Some(user.clone());
    let placed = handle.place_order(scope, order, Some(wallet), place).await;
    placed.context("placing an order")?;
    let paid = Pay {
        order: order.serial,
        code: handle.mint_code(scope),
        missing_order: None,
        payment: Payment {
            amount_cents: 100,
            payment: None,
            invoice: None,
            customer: None,
            email: None,
            receipt: domain::wallet::Receipt::default(),
        },
        billing: None,
    };
    match handle.pay(scope, order.wallet, user, paid).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error("an order was paid twice".into())),
        Err(error) => Err(Error(format!("paying an order: {error}"))),
    }
}

/// The terms of an order, whose lot adds to the credits that are deducted.
fn terms(product: ProductId) -> Terms {
    Terms {
        price: PriceId(1),
        product,
        fills: product,
        credits: 10,
        expire_after_days: None,
        rollover: false,
        repeatable: false,
        trial_days: None,
        trial_credits: 0,
        features: Default::default(),
        interval: Interval::OneTime,
        label: Some("Supporter".into()),
        amount_cents: 100,
        currency: "EUR".into(),
    }
}
