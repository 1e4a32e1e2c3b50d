//! Pending orders: what it costs to find and expire the few that are overdue among a million, compared with a
//! tenth as many, and with no others pending. In the last case all wallets are in the store's cache; in the
//! others each one is read from the disk.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use actors::{
    Address, Handle, OrderFilter, Scope,
    clock::{Clock as _, ManualClock},
};
use domain::{
    Timestamp,
    catalog::Interval,
    id::{OrderSerial, PriceId, ProductId},
    terms::Terms,
    text::{CheckoutId, ExternalUserId},
    wallet::place_order::{PENDING_SECONDS, PlaceOrder},
};
use serde_json::json;

use super::{
    Bench,
    engine::Engine,
    error::{Context, Error, Result},
    format::{median, thousands},
    load::user,
    place::disk_use,
    proc::{processor_time, resident, settled_memory},
    report::Target,
    stop,
};

/// When the first order is placed.
const START: Timestamp = Timestamp(1_800_000_000_000);
/// The time over which orders are placed.
const SPAN_MILLIS: u64 = 24 * 3600 * 1000;
/// Orders that are placed concurrently.
const IN_FLIGHT: usize = 1_024;
/// How often a single order is expired.
const SINGLES: u64 = 20;
/// Orders that are expired together.
const TOGETHER: u64 = 1_000;
/// Orders per page: the most that the API allows.
const PAGE: usize = 100;
/// Pages that are read, each from another part of the list.
const PAGES: u64 = 10;
/// How long to wait until all wallets are asleep; each falls asleep after half a minute without requests.
const ASLEEP_WITHIN: Duration = Duration::from_secs(90);

/// Pending orders, one for each user, placed evenly over a day; the first of them is due next.
struct Pending {
    engine: Engine,
    clock: Arc<ManualClock>,
    orders: u64,
    expired: u64,
    figures: Figures,
}

/// The measured values.
#[derive(Default)]
struct Figures {
    /// Number of pending orders.
    orders: u64,
    /// Orders placed per second.
    placed: f64,
    /// Microseconds of a search for overdue orders when there are none.
    idle: f64,
    /// Milliseconds to expire one order.
    one: Vec<f64>,
    /// Milliseconds per order when many expire together, and microseconds of processor time.
    each: f64,
    each_processor: f64,
    /// Milliseconds to fold many expiries.
    fold: f64,
    /// Milliseconds to read a page of order ids.
    places: Vec<f64>,
    /// Milliseconds to read a page of orders.
    page: Vec<f64>,
}

impl Bench {
    /// The suite of pending orders.
    pub(crate) fn orders(&mut self, pending: Option<u64>) -> Result<()> {
        let full = pending.unwrap_or_else(|| self.args.count(1_000_000));
        let least = SINGLES + TOGETHER;
        let data = self.place.data("orders");
        let before = resident(std::process::id())?;
        let many = Pending::place(&data, full)?;
        many.asleep()?;
        let memory =
            settled_memory(std::process::id(), ASLEEP_WITHIN, || Ok(true))?.saturating_sub(before);
        let tenth = (full / 10).max(2 * least);
        let tenth = Pending::place(&self.place.data("orders-tenth"), tenth)?;
        tenth.asleep()?;
        // None of these is left at the end.
        let few = Pending::place(&self.place.data("orders-few"), least)?;
        few.asleep()?;
        let mut all = [many, tenth, few];
        for backlog in &mut all {
            backlog.look()?;
            backlog.read()?;
        }
        // In turns, so that a slow phase of the machine affects all.
        for _ in 0..SINGLES {
            all.iter_mut().try_for_each(Pending::expire_one)?;
        }
        all.iter_mut().try_for_each(Pending::expire_together)?;
        for backlog in &all {
            self.report.detail(backlog.detail());
        }
        let [many, tenth, few] = all;
        let all = [many.close()?, tenth.close()?, few.close()?];
        let disk = disk_use(&data)?;
        let report = &mut self.report;
        let name = format!("{} pending orders", thousands(full as f64));
        let [many, ..] = &all;
        report.value(format!("{name}: placed"), many.placed, "/s");
        report.note("one for each user, with the user's wallet; folding included");
        report.value(
            format!("{name}: memory, wallets asleep"),
            memory as f64 / 1e6,
            "MB",
        );
        report.note("more than before them, in this process");
        report.value(format!("{name}: disk"), disk as f64 / 1e6, "MB");
        report.note(format!("{:.0} bytes each", disk as f64 / full as f64));
        self.order_figures(&name, &all);
        Ok(())
    }

    fn order_figures(&mut self, name: &str, [many, tenth, few]: &[Figures; 3]) {
        let report = &mut self.report;
        let counts = [tenth, few].map(|figures| thousands(figures.orders as f64));
        let [among_tenth, among_few] = &counts;
        let beside = |of: &dyn Fn(&Figures) -> f64, unit: &str| {
            let (tenth, few) = (of(tenth), of(few));
            format!("{tenth:.2} {unit} among {among_tenth}, {few:.2} {unit} among {among_few}")
        };
        for (what, of) in [
            ("expiring one", Figures::of_one as fn(&Figures) -> f64),
            ("expiring 1,000, each", |figures| figures.each),
        ] {
            report.value(format!("{name}: {what}"), of(many), "ms");
            report.note(beside(&of, "ms"));
            for (other, count) in [tenth, few].into_iter().zip(&counts) {
                let ratio = of(many) / of(other).max(1e-9);
                let name = format!("{what} / among {count}");
                report.add(name, ratio, "", Target::AtMost(1.5));
            }
        }
        for (what, unit, of) in [
            (
                "processor for expiring and folding 1,000, each",
                "µs",
                (|figures| figures.each_processor) as fn(&Figures) -> f64,
            ),
            ("folding 1,000 expiries", "ms", |figures| figures.fold),
            ("looking when none is due", "µs", |figures| figures.idle),
            ("a page of 100 pending places", "ms", |figures| {
                median(figures.places.iter().copied())
            }),
            ("a page of 100 orders, wallets asleep", "ms", |figures| {
                median(figures.page.iter().copied())
            }),
        ] {
            report.value(format!("{name}: {what}"), of(many), unit);
            report.note(beside(&of, unit));
        }
    }
}

impl Figures {
    fn of_one(&self) -> f64 {
        median(self.one.iter().copied())
    }
}

impl Pending {
    fn place(data: &Path, orders: u64) -> Result<Self> {
        eprintln!("orders: placing {orders}");
        let clock = Arc::new(ManualClock::new(START));
        let engine = Engine::open_at(data, 0, Arc::<ManualClock>::clone(&clock))?;
        let started = Instant::now();
        engine.together(IN_FLIGHT, |task| {
            let (handle, scope) = (engine.handle().clone(), engine.scope().clone());
            async move {
                for number in (task as u64..orders).step_by(IN_FLIGHT) {
                    stop::check()?;
                    place(&handle, &scope, number, placed_after(number, orders)).await?;
                }
                Ok(0)
            }
        })?;
        let folded = engine.block_on(engine.handle().fold_all());
        folded.context("folding")?;
        let placed = orders as f64 / started.elapsed().as_secs_f64();
        eprintln!("orders: {} placed a second", thousands(placed));
        // A day has passed since the first was placed, so that it is due in a millisecond.
        clock.advance_millis(PENDING_SECONDS * 1000 - 1);
        Ok(Self {
            engine,
            clock,
            orders,
            expired: 0,
            figures: Figures {
                orders,
                placed,
                ..Figures::default()
            },
        })
    }

    /// Waits until all wallets are asleep, as those of overdue orders are.
    fn asleep(&self) -> Result<()> {
        let started = Instant::now();
        while self.engine.handle().stats().awake > 0 && started.elapsed() < ASLEEP_WITHIN {
            stop::check()?;
            std::thread::sleep(Duration::from_millis(100));
        }
        // And until sled is idle.
        let window = Duration::from_millis(500);
        loop {
            let before = processor_time(std::process::id())?;
            std::thread::sleep(window);
            stop::check()?;
            let used = processor_time(std::process::id())?.saturating_sub(before);
            if used <= window / 10 || started.elapsed() >= ASLEEP_WITHIN {
                return Ok(());
            }
        }
    }

    /// Searches for overdue orders when there are none.
    fn look(&mut self) -> Result<()> {
        let times = 1_000;
        let started = Instant::now();
        for _ in 0..times {
            self.expire(0)?;
        }
        self.figures.idle = started.elapsed().as_secs_f64() * 1e6 / f64::from(times);
        Ok(())
    }

    /// Reads pages from all parts of the day.
    fn read(&mut self) -> Result<()> {
        let Self {
            engine, figures, ..
        } = self;
        let (handle, scope) = (engine.handle(), engine.scope());
        for page in 1..=PAGES {
            let after = (SPAN_MILLIS / (PAGES + 1) * page).cast_signed();
            let placed = Timestamp(START.0 + after);
            let due = (placed.plus_seconds(PENDING_SECONDS), OrderSerial(0));
            let started = Instant::now();
            let places = handle.pending(scope, Some(due), Timestamp::NEVER, PAGE);
            let places = places.context("pending orders")?.len();
            figures.places.push(milliseconds(started));
            let started = Instant::now();
            let orders = handle.orders(
                scope,
                OrderFilter::default(),
                Some((placed, OrderSerial(0))),
                PAGE,
            );
            let orders = engine.block_on(orders).context("orders")?.orders.len();
            figures.page.push(milliseconds(started));
            if places == 0 || orders == 0 {
                return Err(Error("a page of orders is empty".into()));
            }
        }
        Ok(())
    }

    fn expire_one(&mut self) -> Result<()> {
        let started = self.until_due(1)?;
        self.expire(1)?;
        self.figures.one.push(milliseconds(started));
        Ok(())
    }

    fn expire_together(&mut self) -> Result<()> {
        let started = self.until_due(TOGETHER)?;
        let processor = processor_time(std::process::id())?;
        self.expire(TOGETHER)?;
        let each = milliseconds(started) / TOGETHER as f64;
        let started = Instant::now();
        let folded = self.engine.block_on(self.engine.handle().fold_all());
        folded.context("folding")?;
        let used = processor_time(std::process::id())?.saturating_sub(processor);
        let figures = &mut self.figures;
        figures.each = each;
        figures.fold = milliseconds(started);
        figures.each_processor = used.as_secs_f64() * 1e6 / TOGETHER as f64;
        Ok(())
    }

    /// Advances the clock until exactly this many more are due; everything before is folded.
    fn until_due(&self, more: u64) -> Result<Instant> {
        let folded = self.engine.block_on(self.engine.handle().fold_all());
        folded.context("folding")?;
        let last = placed_after(self.expired + more - 1, self.orders);
        let due = START.plus_seconds(PENDING_SECONDS).0 + last;
        self.clock.advance_millis(due - self.clock.now().0);
        Ok(Instant::now())
    }

    fn expire(&mut self, expected: u64) -> Result<()> {
        let (handle, scope) = (self.engine.handle(), self.engine.scope());
        let expired = self
            .engine
            .block_on(handle.expire_due(scope, handle.now_in(scope)));
        let expired = expired.context("expiring")? as u64;
        self.expired += expired;
        if expired == expected {
            return Ok(());
        }
        Err(Error(format!(
            "{expired} of {} orders expired instead of {expected}",
            self.orders
        )))
    }

    fn detail(&self) -> serde_json::Value {
        let figures = &self.figures;
        json!({
            "suite": "orders", "pending": self.orders, "placedPerSecond": figures.placed,
            "lookMicroseconds": figures.idle, "expireOneMilliseconds": figures.one,
            "expireEachMilliseconds": figures.each,
            "expireEachProcessorMicroseconds": figures.each_processor,
            "foldMilliseconds": figures.fold, "placesMilliseconds": figures.places,
            "pageMilliseconds": figures.page,
        })
    }

    fn close(self) -> Result<Figures> {
        self.engine.close()?;
        Ok(self.figures)
    }
}

/// Places an order like a checkout, with a clock that is this far ahead.
async fn place(handle: &Handle, scope: &Scope, number: u64, ahead_millis: i64) -> Result<()> {
    let scope = Scope {
        ahead_millis,
        ..scope.clone()
    };
    let user = ExternalUserId::new(user(number)).context("a user's name")?;
    let address = Address::External(user);
    let terms = terms();
    let draft = handle
        .draft_order(&scope, Some(&address), &terms, domain::Quantity::ONE)
        .await;
    let (order, _) = draft.context("a draft")?;
    let command = PlaceOrder {
        order: order.serial,
        terms,
        checkout: Some(CheckoutId::new(format!("cs_test_{number:032}")).context("a checkout")?),
        email: None,
        quantity: domain::Quantity::ONE,
        metadata: domain::metadata::Metadata::default(),
        names_code: false,
    };
    let placed = handle.place_order(&scope, order, Some(&address), command);
    placed.await.context("an order")
}

/// Milliseconds between the placing of the first order and of this one.
fn placed_after(number: u64, orders: u64) -> i64 {
    // A day of milliseconds times ten million is far below 2^63.
    (number * SPAN_MILLIS / orders).cast_signed()
}

fn terms() -> Terms {
    Terms {
        price: PriceId(1),
        product: ProductId(1),
        fills: ProductId(1),
        credits: 100,
        expire_after_days: None,
        rollover: false,
        repeatable: false,
        trial_days: None,
        trial_credits: 0,
        features: std::collections::BTreeSet::new(),
        interval: Interval::OneTime,
        label: Some("1,000 credits".into()),
        amount_cents: 500,
        currency: "EUR".into(),
    }
}

fn milliseconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_orders_are_due_one_by_one() {
        let pending = 10_000_000;
        assert!((0..2_000).all(|n| placed_after(n, pending) < placed_after(n + 1, pending)));
        assert!(placed_after(pending - 1, pending) < SPAN_MILLIS.cast_signed());
    }

    #[test]
    fn exactly_what_is_due_expires() {
        let data = tempfile::tempdir().unwrap();
        let mut pending = Pending::place(&data.path().join("data"), 50).unwrap();
        pending.expire(0).unwrap();
        pending.expire_one().unwrap();
        pending.until_due(10).unwrap();
        pending.expire(10).unwrap();
        pending.expire(0).unwrap();
        assert_eq!(pending.expired, 11);
        pending.close().unwrap();
    }
}
