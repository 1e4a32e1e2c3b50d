//! What a million orders cost the indexes:
//! `cargo test --release -p persistence a_million -- --ignored --nocapture`

use std::time::{Duration, Instant};

use domain::{
    Timestamp,
    id::{OrderSerial, ProjectId, WalletKey},
    text::{CheckoutId, Email},
    wallet::{
        Change, Event, OrderKind,
        event::{OrderPaid, OrderPlaced},
    },
};

use super::{
    super::{
        orders::Changes,
        store::{Store, Tuning},
    },
    world::{Rng, shop::terms},
};

const ORDERS: u64 = 1_000_000;

#[test]
#[ignore = "a measurement"]
fn a_million_orders() {
    for group in [500, 65_536] {
        measure(Tuning::default().packed_bytes, group);
    }
}

fn measure(packed_bytes: usize, group: u64) {
    let dir = tempfile::tempdir().unwrap();
    let config = sled::Config::new().path(dir.path()).segment_size(8 << 20);
    let config = config.cache_capacity(16 << 20).flush_every_ms(Some(200));
    let db = config.open().unwrap();
    let tuning = Tuning {
        packed_bytes,
        ..Tuning::default()
    };
    let store = Store::open(&db, tuning).unwrap();
    let before = resident_mb();
    print!("pages of {packed_bytes:5}, {group:5} a fold:");
    for pending in [true, false] {
        let started = Instant::now();
        let mut number = 0;
        while number < ORDERS {
            let mut changes = Changes::default();
            let end = (number + group).min(ORDERS);
            (number..end).for_each(|number| add(&mut changes, number, pending));
            changes.store(&store).unwrap();
            db.flush().unwrap();
            number = end;
        }
        let each = started.elapsed().as_secs_f64() * 1e6 / ORDERS as f64;
        let what = if pending { "placed" } else { "paid" };
        print!(
            "  {what} {each:5.1} us, {:4} MB more",
            resident_mb() - before
        );
    }
    let project = ProjectId(3);
    let started = Instant::now();
    for _ in 0..1000 {
        let none = Changes::default();
        let page = store.orders.before(&none, project, None, 20).unwrap();
        assert_eq!(page.len(), 20);
    }
    let list = started.elapsed().as_secs_f64() * 1e3;
    let trees = ["orders", "checkouts", "due", "buyers"];
    let pages = trees.map(|tree| db.open_tree(tree).unwrap().len());
    let disk = || db.size_on_disk().unwrap() >> 20;
    let written = disk();
    // What sled's own thread makes of it once there is time.
    std::thread::sleep(Duration::from_secs(15));
    let rested = disk();
    println!("; a list {list:.1} us; pages {pages:?}; disk {written}, later {rested} MB");
}

fn add(changes: &mut Changes, number: u64, pending: bool) {
    let wallet = Rng(number).next();
    let checkout = CheckoutId::new(format!("cs_test_{wallet:x}")).unwrap();
    let email = Email::new(format!("{wallet:x}@mail.example")).unwrap();
    let at = 1_760_000_000_000 + number as i64;
    let order = OrderSerial(u128::from(number) << 64 | u128::from(wallet));
    let key = WalletKey((u128::from(wallet) << 64).to_be_bytes());
    let project = ProjectId(u128::from(number % 10));
    let expires_at = Timestamp(at + 86_400_000);
    let change = if pending {
        Change::OrderPlaced(Box::new(OrderPlaced {
            order,
            project,
            kind: OrderKind::Checkout,
            terms: terms(),
            checkout: Some(checkout),
            email: None,
            expires_at,
        }))
    } else {
        Change::OrderPaid(Box::new(OrderPaid {
            order,
            project,
            expires_at,
            amount_cents: 100,
            credits: 5,
            credits_expire_at: None,
            payment: None,
            invoice: None,
            subscription: None,
            customer: None,
            email: Some(email),
        }))
    };
    let at = Timestamp(at);
    changes.note(key, &Event { at, change });
}

fn resident_mb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<i64>().ok());
    kib.unwrap_or(0) / 1024
}
