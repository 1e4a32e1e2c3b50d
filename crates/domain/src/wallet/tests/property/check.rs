//! What must hold after every step.

use std::collections::HashMap;

use super::{
    super::{KEY, driver::Driver, hold_id, project_events::steps},
    balances::Group,
    instructions,
    model::{LedgerRow, Model, push_line},
};
use crate::{
    MAX_CREDITS, Timestamp,
    history::{HoldStatus, Reason, Record, RecordContent},
    id::{OrderSerial, ProductId},
    project_event::{EventData, LowBalance},
    text::IdempotencyKey,
    wallet::{Applied, Order, OrderStatus, Reversal, Subscription, SubscriptionStatus, Wallet},
};

/// Balances, the origin of every credit, holds, features and ledgers are the model's.
pub(super) fn same(driver: &Driver, model: &Model) {
    assert_eq!(
        groups(&driver.wallet, model.worth),
        model.coins.groups(),
        "whose credits, until when, held by whom"
    );
    assert_eq!(driver.wallet.touched_at.0, model.touched);
    for &product in &model.products {
        let balance = model.coins.count(product, None) * model.worth;
        assert_eq!(driver.wallet.available(product), balance);
        let expected = model.ledgers.get(&product).cloned().unwrap_or_default();
        assert_eq!(ledger(driver, product), expected, "the ledger of {product}");
    }
    for (&serial, expected) in &model.holds {
        let facts = driver.find_hold(hold_id(serial)).unwrap();
        assert_eq!(facts.status, expected.status, "hold {serial}");
        assert_eq!(facts.product, expected.product);
        assert_eq!(facts.amount, expected.amount * model.worth);
        assert_eq!(facts.settled, expected.settled * model.worth);
        assert_eq!(facts.expires_at.0, expected.end);
        assert_eq!(facts.drawn, expected.drawn * model.worth);
        assert_eq!(facts.owed, expected.owed * model.worth);
        assert_eq!(facts.uncovered, expected.uncovered * model.worth);
        let open = driver.wallet.hold(&hold_id(serial));
        assert_eq!(open.is_some(), expected.status == HoldStatus::Open);
    }
    let features = model.all_features();
    let features: Vec<&str> = features.iter().map(String::as_str).collect();
    assert_eq!(driver.wallet.features(driver.now), features);
    purchases(driver, model);
    instructions::same(driver, model);
}

/// Orders and subscriptions stand as the model's do.
fn purchases(driver: &Driver, model: &Model) {
    assert_eq!(driver.orders().len(), model.purchases.orders.len());
    for (serial, order) in driver.wallet.orders() {
        assert_eq!(
            order.status(),
            OrderStatus::Pending,
            "{serial:?} is settled"
        );
    }
    let current = |s: &Subscription| s.status != SubscriptionStatus::Canceled;
    assert!(driver.wallet.subscriptions().all(current));
    for (&serial, expected) in &model.purchases.orders {
        let order = driver.placed_order(serial);
        assert_eq!(order.status(), expected.status(), "order {serial}");
        let credits = (order.granted_credits, order.reclaimed_credits);
        let coins = (expected.granted, expected.taken);
        assert_eq!(credits, (coins.0 * model.worth, coins.1 * model.worth));
        assert_eq!(order.amount_cents, expected.cents);
        let Reversal {
            refunded_cents,
            disputed_cents,
            as_of,
            ..
        } = order.reversal;
        assert_eq!((refunded_cents, disputed_cents, as_of.0), expected.away);
        assert_eq!(order.expires_at.0, expected.end);
        let pending = order.pending_refunds.map(|it| (it.cents, it.at.0));
        assert_eq!(pending, expected.pending_refunds, "order {serial}");
    }
    for (&number, expected) in &model.purchases.subscriptions {
        let existing = driver.subscription(number);
        assert_eq!(existing.status, expected.status, "subscription {number}");
        if existing.is_current() {
            assert_eq!(existing.tier().price.0, model.tier_of(expected) as u128);
        }
        assert_eq!(existing.current_period_end.0, expected.period_end);
        assert_eq!(existing.cancel_at_period_end, expected.canceling);
        assert_eq!(existing.grace_ends_at.map(|end| end.0), expected.grace_end);
    }
    let current = |s: &&super::orders::ModelSubscription| s.status != SubscriptionStatus::Canceled;
    let current = model
        .purchases
        .subscriptions
        .values()
        .filter(current)
        .count();
    assert_eq!(driver.wallet.subscriptions().count(), current);
}

/// The books balance, nothing is below zero, nothing that should have happened has not.
pub(in crate::wallet::tests) fn sound(driver: &Driver) {
    let Driver {
        wallet,
        records,
        now,
        ..
    } = driver;
    assert_eq!(wallet.next_due(&driver.rules, *now), None, "caught up");
    assert_eq!(wallet.faults(), Vec::<String>::new());
    assert_eq!(wallet.version, driver.events.len() as u64);
    assert_eq!(wallet.records, records.len() as u64);
    let mut sums: HashMap<ProductId, i64> = HashMap::new();
    let mut last_at = Timestamp(i64::MIN);
    let mut last_seq = 0;
    for record in records {
        assert!(record.seq > last_seq, "numbers rise");
        last_seq = record.seq;
        assert!(record.at >= last_at, "the ledger never steps back in time");
        last_at = record.at;
        if let Some(entry) = record.entry() {
            let sum = sums.entry(entry.product).or_insert(0);
            *sum += entry.delta;
            assert_eq!(entry.balance_after, *sum);
            assert!((-MAX_CREDITS..=MAX_CREDITS).contains(sum));
        }
    }
    let mut earliest = Timestamp::NEVER;
    for account in wallet.accounts() {
        let sum = sums.get(&account.product).copied().unwrap_or(0);
        assert_eq!(account.sum(), sum);
        let (owed, held) = (account.debt().owed, account.set_aside());
        assert_eq!(account.available() + held - owed, sum);
        assert!(account.available() >= 0 && account.held >= 0);
        let lots = account.lots();
        assert_eq!(
            lots.iter().map(|lot| lot.left).sum::<i64>(),
            account.balance
        );
        assert_eq!(lots.iter().map(|lot| lot.held).sum::<i64>(), account.held);
        assert!(lots.is_sorted_by_key(|lot| lot.expires_at));
        assert!(
            lots.iter()
                .all(|lot| lot.left > 0 && (0..=lot.left).contains(&lot.held))
        );
        let free = lots.iter().filter(|lot| lot.free() > 0);
        earliest = free
            .map(|lot| lot.expires_at)
            .min()
            .into_iter()
            .fold(earliest, Timestamp::min);
        let holds = wallet
            .holds()
            .values()
            .filter(|hold| hold.product == account.product);
        assert_eq!(
            holds.map(|hold| hold.amount.max(hold.drawn)).sum::<i64>(),
            account.held
        );
    }
    assert!(earliest > *now, "no expired credit is visible");
    earliest = wallet
        .holds()
        .values()
        .map(|hold| hold.expires_at)
        .fold(earliest, Timestamp::min);
    let pending = wallet
        .orders()
        .filter(|(_, o)| o.status() == OrderStatus::Pending);
    earliest = pending
        .map(|(_, o)| o.expires_at)
        .fold(earliest, Timestamp::min);
    assert!(wallet.due_at() <= earliest, "nothing falls due unnoticed");
    for (serial, order) in driver.orders() {
        assert_eq!(order.faults(serial), Vec::<String>::new());
        fulfilled_once(records, serial, order);
    }
}

/// Checks that an order's entries add up to what it says of itself.
fn fulfilled_once(records: &[Record], serial: OrderSerial, order: &Order) {
    let own = records.iter().filter_map(Record::entry);
    let own: Vec<_> = own.filter(|entry| entry.order == Some(serial)).collect();
    let deltas = |reason| {
        own.iter()
            .filter(move |e| e.reason == reason)
            .map(|e| e.delta)
    };
    assert_eq!(
        deltas(Reason::Refund).sum::<i64>(),
        -order.reclaimed_credits
    );
    assert!((0..=order.granted_credits).contains(&order.reclaimed_credits));
    if order.subscription.is_none() {
        assert_eq!(deltas(Reason::Purchase).sum::<i64>(), order.granted_credits);
        assert!(deltas(Reason::Purchase).count() <= 1);
    } else {
        assert!(
            deltas(Reason::Purchase).sum::<i64>() >= order.granted_credits,
            "or more: switches"
        );
    }
    let expired = deltas(Reason::Expiry)
        .chain(deltas(Reason::Refund))
        .sum::<i64>();
    assert!(
        deltas(Reason::Purchase).sum::<i64>() + expired >= 0,
        "never from elsewhere"
    );
}

/// Checks that replaying any prefix of the events gives the wallet of that time and the same history, also when the
/// wallet is stored and read back after each event.
pub(in crate::wallet::tests) fn replays(driver: &Driver) {
    let mut state: Option<Wallet> = None;
    let mut records: Vec<Record> = Vec::new();
    for (event, expected) in driver.events.iter().zip(&driver.states) {
        let former = state.clone();
        let (wallet, applied) = Wallet::replay(&mut state, KEY, event.clone()).unwrap();
        if let Some(former) = &former {
            says_what_it_did(former, wallet, event.at, &applied);
        }
        records.extend(applied.record);
        assert_eq!(wallet, expected);
        let restored = wallet.clone().recovered().unwrap();
        assert_eq!(restored, *wallet);
        assert!(wallet.due_at() <= restored.due_at(), "early at most");
        state = Some(restored);
    }
    assert_eq!(records, driver.records);
}

/// Checks that all visible differences of a wallet before and after an event are in what the event did.
fn says_what_it_did(before: &Wallet, after: &Wallet, at: Timestamp, applied: &Applied) {
    let credits = |wallet: &Wallet, product| {
        let account = wallet.account(product)?;
        Some((
            account.available(),
            account.least_left(),
            account.debt().owed,
        ))
    };
    let product = applied.account.map(|(product, _)| product);
    if let Some((product, former)) = applied.account {
        let former = former.map(|it| (it.available, it.least_left, it.owed));
        assert_eq!(former, credits(before, product));
    }
    for account in after.accounts() {
        let other = account.product;
        let is_same = credits(before, other) == credits(after, other);
        assert!(is_same || product == Some(other), "credits of {other}");
    }
    let unlocked =
        |wallet: &Wallet| -> Vec<_> { wallet.unlocked(at).into_iter().cloned().collect() };
    let former = Some(unlocked(before)).filter(|former| *former != unlocked(after));
    assert_eq!(applied.features, former);
    let serial = applied.order.as_ref().map(|(serial, _)| *serial);
    for (other, order) in after.orders().filter(|(other, _)| serial != Some(*other)) {
        let Some(former) = before.order(other) else {
            continue;
        };
        let listed = |order: &Order| (order.status(), order.is_processing(), order.reversal);
        assert_eq!(listed(order), listed(former), "{other:?}");
    }
    assert_eq!(applied.last_used.is_some(), before.is_usable());
    assert_eq!(applied.is_freeze, before.frozen() != after.frozen());
}

/// Which alerts may come for one product.
#[derive(Default)]
struct Armed {
    low: bool,
    depleted: bool,
}

/// Checks that alerts come once each time what is left falls to the threshold or to zero, and again only after credits
/// came. Recounts from the history: what is charged is gone, whether or not a hold still pins it.
pub(in crate::wallet::tests) fn alerts(driver: &Driver, low: i64) {
    let products: Vec<_> = (1..=3).map(ProductId).collect();
    let thresholds: Vec<_> = products
        .iter()
        .map(|&product| LowBalance {
            product,
            credits: low,
        })
        .collect();
    let mut armed: HashMap<ProductId, Armed> = HashMap::new();
    let mut records = driver.records.iter().peekable();
    for step in steps(driver, &thresholds) {
        let wallet = &driver.states[step.end - 1];
        let mut came = Vec::new();
        while let Some(record) = records.next_if(|record| record.seq <= wallet.version) {
            let by_hand = matches!(record.fact, RecordContent::Reversed(..));
            let entry = record.entry().filter(|entry| entry.delta > 0);
            came.extend(entry.and_then(|entry| match entry.reason {
                Reason::Purchase | Reason::Manual | Reason::FreeGrant | Reason::Refund => {
                    Some(entry.product)
                }
                Reason::Reversal if by_hand => Some(entry.product),
                _ => None,
            }));
        }
        for &product in &products {
            let held = wallet.holds().values().filter(|it| it.product == product);
            let held: i64 = held.map(|it| (it.amount - it.drawn).max(0)).sum();
            let left = wallet.available(product) + held;
            let armed = armed.entry(product).or_default();
            let count_of = |wanted: fn(&EventData) -> Option<ProductId>| {
                let count_of = step.data.iter().filter_map(wanted);
                count_of.filter(|it| *it == product).count()
            };
            let is_low = count_of(|data| match data {
                EventData::BalanceLow { product, .. } => Some(*product),
                _ => None,
            });
            let is_depleted = count_of(|data| match data {
                EventData::Depleted { product } => Some(*product),
                _ => None,
            });
            let falls = (armed.low && left <= low, armed.depleted && left == 0);
            let expected = (usize::from(falls.0), usize::from(falls.1));
            assert_eq!((is_low, is_depleted), expected, "{left} left of {product}");
            armed.low &= left > low;
            armed.depleted &= left > 0;
            if came.contains(&product) {
                armed.low = left > low;
                armed.depleted = left > 0;
            }
        }
    }
}

fn ledger(driver: &Driver, product: ProductId) -> Vec<LedgerRow> {
    let mut lines = Vec::new();
    for record in &driver.records {
        let Some(entry) = record.entry().filter(|entry| entry.product == product) else {
            continue;
        };
        let key = entry
            .key
            .as_ref()
            .map(IdempotencyKey::as_str)
            .map(str::to_owned);
        let Record {
            at: Timestamp(at), ..
        } = *record;
        let reason = entry.reason;
        push_line(
            &mut lines,
            LedgerRow {
                at,
                reason,
                delta: entry.delta,
                key,
                order: entry
                    .order
                    .filter(|_| reason != Reason::Expiry)
                    .map(|o| o.0),
            },
        );
    }
    lines
}

/// The coins of each origin, each worth so many credits.
fn groups(wallet: &Wallet, worth: i64) -> HashMap<Group, i64> {
    let mut groups = HashMap::new();
    let mut count = |group: Group, credits: i64| {
        if credits > 0 {
            assert_eq!(credits % worth, 0);
            *groups.entry(group).or_insert(0) += credits / worth;
        }
    };
    for account in wallet.accounts() {
        for lot in account.lots() {
            let product = account.product;
            let order = lot.order.map(|order| order.0);
            let group = |hold| (product, lot.source, lot.expires_at.0, order, hold);
            count(group(None), lot.free());
            for (id, hold) in wallet
                .holds()
                .iter()
                .filter(|(_, hold)| hold.product == product)
            {
                let pins = hold.pins.iter().filter(|(number, _)| *number == lot.number);
                let pinned = pins.map(|(_, credits)| credits).sum();
                count(group(Some(id.serial)), pinned);
            }
        }
    }
    groups
}
