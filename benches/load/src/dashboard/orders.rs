//! Paid orders in a data directory, without a provider: the double of Stripe would keep each of them in memory.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use actors::{Address, Handle, Scope, clock::SystemClock};
use domain::{
    Quantity,
    catalog::Interval,
    id::{PriceId, ProductId},
    metadata::Metadata,
    terms::Terms,
    text::{Email, ExternalUserId},
    wallet::{
        OrderKind, Receipt,
        pay::{Pay, Payment},
        place_order::PlaceOrder,
    },
};
use scrip::{
    compose,
    config::{Config, Flags},
};
use tokio::task::JoinSet;

use super::SERVER_KEY;
use crate::{
    error::{Context, Error, Result},
    load::{spread, user},
    project::Project,
    stop,
};

/// Orders that are placed concurrently.
const IN_FLIGHT: usize = 256;

pub(super) fn buyer(order: u64, wallets: u64) -> u64 {
    spread(order, wallets)
}

pub(super) fn place(data: &Path, project: &Project, orders: u64, wallets: u64) -> Result<()> {
    let flags = Flags {
        data_dir: Some(data.to_owned()),
        ..Flags::default()
    };
    let config = Config::read(&flags).context("settings")?;
    let scope = Arc::new(Scope {
        project: project.id.parse().context("the project")?,
        free_grants: Arc::new([]),
        low_balances: Arc::new([]),
        debt_limits: Arc::new([]),
        limits: None,
        free_grants_for_code_wallets: false,
        ahead_millis: 0,
    });
    let product: ProductId = project.product.parse().context("the product")?;
    let next = Arc::new(AtomicU64::new(0));
    let runtime = tokio::runtime::Runtime::new().context("a runtime")?;
    runtime.block_on(async {
        let store = compose::open_store(&config).await;
        let store = store.context("opening the log")?;
        let (clock, key) = (Arc::new(SystemClock::new()), (&SERVER_KEY).into());
        let handle = compose::wallets(store, clock, &key, &config).await;
        let handle = handle.context("starting the wallets")?;
        let mut tasks = JoinSet::<Result<()>>::new();
        for _ in 0..IN_FLIGHT {
            let (handle, scope, next) = (handle.clone(), Arc::clone(&scope), Arc::clone(&next));
            tasks.spawn(async move {
                loop {
                    let order = next.fetch_add(1, Ordering::Relaxed);
                    if order >= orders {
                        return Ok(());
                    }
                    stop::check()?;
                    buy(&handle, &scope, buyer(order, wallets), product).await?;
                }
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended.context("a task")??;
        }
        handle.shut_down().await.context("ending the wallets")
    })
}

async fn buy(handle: &Handle, scope: &Scope, wallet: u64, product: ProductId) -> Result<()> {
    let user = ExternalUserId::new(user(wallet)).context("a user's name")?;
    let address = Some(Address::External(user.clone()));
    let terms = terms(product);
    let draft = handle.draft_order(scope, address.as_ref(), &terms, Quantity::ONE);
    let (order, _) = draft.await.context("drafting an order")?;
    let place = PlaceOrder {
        order: order.serial,
        terms,
        checkout: None,
        email: Email::new(format!("{}@mail.example", user.as_str())).ok(),
        quantity: Quantity::ONE,
        metadata: Metadata::default(),
        locale: None,
        names_code: false,
    };
    let placed = handle.place_order(scope, order, address.as_ref(), place);
    placed.await.context("placing an order")?;
    let pay = Pay {
        order: order.serial,
        kind: OrderKind::Checkout,
        code: handle.mint_code(scope),
        missing_order: None,
        payment: Payment {
            amount_cents: 100,
            payment: None,
            invoice: None,
            customer: None,
            email: None,
            receipt: Receipt::default(),
        },
        billing: None,
    };
    let paid = handle.pay(scope, order.wallet, Some(user), pay).await;
    match paid {
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
