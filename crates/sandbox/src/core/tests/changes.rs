//! Changes of subscriptions: within a cycle, with a whole new one, or at its end.

use super::*;
use crate::core::{
    calendar::Interval,
    objects::{BillingReason, Configuration, InvoiceStatus},
};

struct Tiers {
    shop: Shop,
    small: String,
    large: String,
    subscription: String,
}

impl Tiers {
    /// A shop with a subscription that is half a cycle old.
    fn new() -> Self {
        let mut shop = Shop::new();
        let small = shop.price("Small", 1000, "month");
        let large = shop.price("Large", 3000, "month");
        let subscription = shop.subscribed(&small, "");
        shop.sent_kinds();
        shop.db.now = START + 14 * DAY;
        Self {
            shop,
            small,
            large,
            subscription,
        }
    }

    fn change(&mut self, price: &str, more: &str) -> Value {
        let form = self.shop.item(&self.subscription, price);
        let path = format!("subscriptions/{}", self.subscription);
        self.shop.post(&path, &format!("{form}&{more}"))
    }

    /// Each line of the latest invoice: its amount, and whether it is a proration.
    fn lines(&self) -> Vec<(i64, bool)> {
        let invoice = self.shop.invoice_of(&self.subscription);
        let lines = invoice.lines.iter();
        lines.map(|line| (line.amount, line.proration)).collect()
    }
}

#[test]
fn a_switch_is_credited_and_billed_for_the_rest_of_the_cycle() {
    let mut tiers = Tiers::new();
    let large = tiers.large.clone();
    tiers.change(&large, "proration_behavior=always_invoice");
    let (now, subscription) = (tiers.shop.db.now, tiers.subscription.clone());
    let invoice = tiers.shop.invoice_of(&subscription);
    assert_eq!(
        (invoice.reason, invoice.paid()),
        (BillingReason::SubscriptionUpdate, 1000)
    );
    assert_eq!(tiers.lines(), [(-500, true), (1500, true)]);
    let view = tiers.shop.get(&format!("invoices/{}", invoice.head.id));
    assert_eq!(view["billing_reason"], "subscription_update");
    for line in view["lines"]["data"].as_array().unwrap() {
        assert_eq!(
            line["period"],
            serde_json::json!({"start": now, "end": months(1)})
        );
        assert_eq!(
            line["parent"]["subscription_item_details"]["proration"],
            true
        );
    }
    assert_eq!(
        tiers.shop.sent_kinds(),
        [
            "customer.subscription.updated",
            "payment_intent.succeeded",
            "invoice.paid"
        ]
    );
    tiers.shop.until(months(1) + HOUR);
    assert_eq!(tiers.shop.invoice_of(&subscription).paid(), 3000);
}

#[test]
fn prorations_wait_for_the_next_invoice_by_default() {
    for (more, at_once, next) in [
        ("", 0, 4000),
        ("proration_behavior=create_prorations", 0, 4000),
        ("proration_behavior=none", 0, 3000),
        ("proration_behavior=always_invoice", 1000, 3000),
    ] {
        let mut tiers = Tiers::new();
        let large = tiers.large.clone();
        let view = tiers.change(&large, more);
        assert_eq!(view["items"]["data"][0]["price"]["id"], large.as_str());
        let invoice = tiers.shop.invoice_of(&tiers.subscription);
        let paid = if invoice.reason == BillingReason::SubscriptionUpdate {
            invoice.paid()
        } else {
            0
        };
        assert_eq!(paid, at_once, "{more}");
        tiers.shop.until(months(1) + HOUR);
        assert_eq!(
            tiers.shop.invoice_of(&tiers.subscription).paid(),
            next,
            "{more}"
        );
    }
}

#[test]
fn what_a_switch_down_gives_back_pays_for_what_follows() {
    let mut tiers = Tiers::new();
    let (small, large) = (tiers.small.clone(), tiers.large.clone());
    tiers.change(&large, "proration_behavior=none");
    tiers.change(&small, "proration_behavior=always_invoice");
    let invoice = tiers.shop.invoice_of(&tiers.subscription);
    assert_eq!((invoice.total(), invoice.paid()), (-1000, 0));
    let view = tiers.shop.get(&format!("invoices/{}", invoice.head.id));
    assert_eq!(
        (&view["total"], &view["amount_due"], &view["ending_balance"]),
        (&(-1000).into(), &0.into(), &(-1000).into())
    );
    let customer = tiers.shop.subscription(&tiers.subscription).customer;
    assert_eq!(
        tiers.shop.get(&format!("customers/{customer}"))["balance"],
        -1000
    );
    tiers.shop.until(months(1) + HOUR);
    let renewal = tiers.shop.invoice_of(&tiers.subscription);
    assert_eq!(
        (renewal.total(), renewal.paid()),
        (1000, 0),
        "it was paid before"
    );
    tiers.shop.until(months(2) + HOUR);
    assert_eq!(tiers.shop.invoice_of(&tiers.subscription).paid(), 1000);
}

#[test]
fn another_interval_a_first_price_and_an_anchor_begin_a_whole_cycle() {
    let mut tiers = Tiers::new();
    let yearly = tiers.shop.price("Small", 10_000, "year");
    tiers.change(&yearly, "proration_behavior=always_invoice");
    assert_eq!(tiers.lines(), [(-500, true), (10_000, false)]);
    let year = after(tiers.shop.db.now, Interval::Year, 1);
    assert_eq!(
        tiers.shop.subscription(&tiers.subscription).period_end,
        year
    );
    assert_eq!(tiers.shop.invoice_of(&tiers.subscription).paid(), 9500);

    let mut tiers = Tiers::new();
    let (small, large) = (tiers.small.clone(), tiers.large.clone());
    let free = tiers.shop.price("Free", 0, "month");
    tiers.change(&free, "proration_behavior=none");
    assert_eq!(
        tiers.shop.subscription(&tiers.subscription).period_end,
        months(1)
    );
    tiers.change(&small, "");
    assert_eq!(tiers.lines(), [(0, true), (1000, false)]);
    let month = after(tiers.shop.db.now, Interval::Month, 1);
    assert_eq!(
        tiers.shop.subscription(&tiers.subscription).period_end,
        month
    );

    tiers.shop.db.now += DAY;
    tiers.change(&large, "billing_cycle_anchor=now&proration_behavior=none");
    assert_eq!(tiers.lines(), [(3000, false)]);
    let month = after(tiers.shop.db.now, Interval::Month, 1);
    assert_eq!(
        tiers.shop.subscription(&tiers.subscription).period_end,
        month
    );
}

#[test]
fn a_switch_that_is_not_paid_leaves_it_past_due_where_that_is_allowed() {
    let mut tiers = Tiers::new();
    tiers.shop.card_declines(&tiers.subscription, true);
    let large = tiers.large.clone();
    let view = tiers.change(&large, "proration_behavior=always_invoice");
    assert_eq!(view["status"], "past_due");
    assert_eq!(
        tiers.shop.sent_kinds(),
        ["customer.subscription.updated", "invoice.payment_failed"]
    );
    let invoice = tiers.shop.invoice_of(&tiers.subscription);
    assert_eq!(invoice.status, InvoiceStatus::Open);
    tiers.shop.card_declines(&tiers.subscription, false);
    tiers
        .shop
        .post(&format!("invoices/{}/pay", invoice.head.id), "");
    let paid = tiers.shop.invoice_of(&tiers.subscription);
    assert_eq!(paid.paid(), 1000);
}

#[test]
fn what_is_no_tier_of_it_is_refused() {
    let mut tiers = Tiers::new();
    let dollars = id(&tiers.shop.post(
        "prices",
        "currency=usd&unit_amount=5&recurring[interval]=month&product_data[name]=x",
    ));
    let once = id(&tiers
        .shop
        .post("prices", "currency=eur&unit_amount=5&product_data[name]=x"));
    let path = format!("subscriptions/{}", tiers.subscription);
    for price in [dollars, once, "price_none".into()] {
        let form = tiers.shop.item(&tiers.subscription, &price);
        let refusal = tiers.shop.call("POST", &path, &form).unwrap_err();
        assert_eq!(refusal.param.as_deref(), Some("items[0][price]"), "{price}");
    }
    let yearly = tiers.shop.price("Rarely", 5, "year");
    let second = format!("items[0][price]={yearly}");
    let refusal = tiers.shop.call("POST", &path, &second).unwrap_err();
    assert_eq!(refusal.param.as_deref(), Some("items[0][price]"));
}

#[test]
fn the_portal_switches_down_by_a_schedule_that_lets_go_afterwards() {
    let mut tiers = Tiers::new();
    let (small, large, subscription) = (
        tiers.small.clone(),
        tiers.large.clone(),
        tiers.subscription.clone(),
    );
    tiers.change(&large, "proration_behavior=none");
    let product = tiers.shop.get(&format!("prices/{small}"))["product"].clone();
    let update = "features[subscription_update]";
    let offer = id(&tiers.shop.post(
        "billing_portal/configurations",
        &format!(
            "{update}[enabled]=true&{update}[default_allowed_updates][0]=price\
             &{update}[proration_behavior]=always_invoice\
             &{update}[schedule_at_period_end][conditions][0][type]=decreasing_item_amount\
             &{update}[products][0][product]={}&{update}[products][0][prices][0]={small}",
            product.as_str().unwrap()
        ),
    ));
    let offer: Configuration = tiers.shop.db.find(&offer).unwrap();
    tiers.shop.sent_kinds();
    let shop = &mut tiers.shop;
    let switch = |shop: &mut Shop, to: &str| {
        let running = shop.subscription(&subscription);
        running.switch(&mut shop.db, &offer, to).unwrap();
    };
    switch(shop, &small);
    let sent = shop.sent_kinds();
    assert_eq!(
        sent,
        [
            "subscription_schedule.created",
            "subscription_schedule.updated",
            "customer.subscription.updated"
        ]
    );
    let view = shop.get(&format!("subscriptions/{subscription}"));
    assert_eq!(
        view["items"]["data"][0]["price"]["id"],
        large.as_str(),
        "until then"
    );
    let schedule = view["schedule"].as_str().unwrap().to_owned();
    let path = format!("subscription_schedules/{schedule}");
    let plan = shop.get(&path);
    assert_eq!(plan["phases"][1]["items"][0]["price"], small.as_str());
    assert_eq!(plan["phases"][1]["start_date"], months(1));
    assert_eq!(plan["current_phase"]["end_date"], months(1));
    let form = "cancel_at_period_end=true";
    let refusal = shop.call("POST", &format!("subscriptions/{subscription}"), form);
    assert!(refusal.unwrap_err().message.contains(&schedule));
    // The switch is withdrawn, and made again.
    switch(shop, &large);
    assert_eq!(shop.get(&path)["status"], "released");
    assert_eq!(shop.subscription(&subscription).schedule, None);
    switch(shop, &small);
    shop.until(months(1) + HOUR);
    assert_eq!(shop.subscription(&subscription).item.price, small);
    assert_eq!(shop.invoice_of(&subscription).paid(), 1000);
    let schedule = shop.subscription(&subscription).schedule.unwrap();
    shop.until(months(2));
    assert_eq!(shop.subscription(&subscription).schedule, None);
    let path = format!("subscription_schedules/{schedule}");
    assert_eq!(shop.get(&path)["released_at"], months(2));
}

#[test]
fn a_shop_plans_the_next_tier_by_the_api() {
    let mut tiers = Tiers::new();
    let (small, large, subscription) = (
        tiers.small.clone(),
        tiers.large.clone(),
        tiers.subscription.clone(),
    );
    let shop = &mut tiers.shop;
    let from = format!("from_subscription={subscription}");
    let plan = shop.post("subscription_schedules", &from);
    assert_eq!(plan["status"], "active");
    assert!(
        shop.call("POST", "subscription_schedules", &from).is_err(),
        "one at a time"
    );
    let path = format!("subscription_schedules/{}", id(&plan));
    let phases = |first: &str, second: &str| {
        format!(
            "phases[0][items][0][price]={first}&phases[0][items][0][quantity]=1\
             &phases[0][start_date]={START}&phases[0][end_date]={}\
             &phases[1][items][0][price]={second}&phases[1][duration][interval]=month\
             &phases[1][proration_behavior]=none&end_behavior=release",
            months(1)
        )
    };
    assert!(shop.call("POST", &path, &phases(&large, &small)).is_err());
    shop.post(&path, &phases(&small, &large));
    shop.until(months(1) + HOUR);
    assert_eq!(shop.invoice_of(&subscription).paid(), 3000);
    let view = shop.post(&format!("{path}/release"), "");
    assert_eq!(view["released_subscription"], subscription.as_str());
    assert!(shop.call("POST", &format!("{path}/release"), "").is_err());
    let list = shop
        .call("GET", "subscription_schedules", "limit=1")
        .unwrap();
    assert_eq!(list["data"][0]["id"], plan["id"]);
}

/// A subscription with the most pending items and the largest metadata.
fn piled_up() -> Tiers {
    let mut tiers = Tiers::new();
    let (small, large) = (tiers.small.clone(), tiers.large.clone());
    let path = format!("subscriptions/{}", tiers.subscription);
    let value = "v".repeat(490);
    let metadata = format!("metadata[a]={value}&metadata[b]={value}&metadata[c]={value}");
    tiers.shop.post(&path, &metadata);
    for price in [&large, &small].into_iter().cycle().take(19) {
        tiers.change(price, "");
    }
    let customer = tiers.shop.subscription(&tiers.subscription).customer;
    for cents in [5, 6] {
        let form = format!("customer={customer}&currency=eur&amount={cents}&description=Calls");
        tiers.shop.post("invoiceitems", &form);
    }
    let form = tiers.shop.item(&tiers.subscription, &small);
    assert!(tiers.shop.call("POST", &path, &form).is_err(), "enough");
    tiers.shop.db.take_changes();
    tiers
}

fn changed_bytes(shop: &mut Shop) -> usize {
    let changes = shop.db.take_changes();
    let sizes = changes.iter().map(|(id, note)| {
        note.as_ref()
            .map_or(0, String::len)
            .saturating_add(id.len())
    });
    sizes.sum()
}

#[test]
fn prorations_do_not_pile_up_and_their_invoice_is_saved_in_one_go() {
    let mut tiers = piled_up();
    let small = tiers.small.clone();
    tiers.change(&small, "proration_behavior=always_invoice");
    assert_eq!(tiers.lines().len(), 42, "they are on this one");
    let bytes = changed_bytes(&mut tiers.shop);
    assert!(bytes < 39_000, "{bytes}");

    let mut tiers = piled_up();
    tiers.shop.db.now = months(1) + HOUR;
    let mut steps = 0;
    while due::step(&mut tiers.shop.db) {
        let bytes = changed_bytes(&mut tiers.shop);
        assert!(bytes < 39_000, "{bytes}");
        steps += 1;
    }
    assert_eq!(steps, 2, "drawn up, then paid");
    assert_eq!(tiers.lines().len(), 41);
}

#[test]
fn an_invoice_shows_ten_lines_and_lists_all_what_waited_first_and_newest_first() {
    let mut tiers = Tiers::new();
    let customer = tiers.shop.subscription(&tiers.subscription).customer;
    for number in 1..=30 {
        let form =
            format!("customer={customer}&currency=eur&amount={number}&description=Calls+{number}");
        let item = tiers.shop.post("invoiceitems", &form);
        assert_eq!(
            (&item["amount"], &item["invoice"]),
            (&number.into(), &Value::Null)
        );
    }
    tiers.shop.until(months(1) + HOUR);
    let invoice = tiers.shop.invoice_of(&tiers.subscription);
    assert_eq!(invoice.paid(), 1000 + 465);
    let path = format!("invoices/{}", invoice.head.id);
    let view = tiers.shop.get(&path);
    let embedded = &view["lines"];
    assert_eq!(
        (&embedded["has_more"], &embedded["total_count"]),
        (&true.into(), &31.into())
    );
    assert_eq!(embedded["data"].as_array().unwrap().len(), 10);
    assert_eq!(embedded["data"][0]["description"], "Calls 30");
    let mut after = String::new();
    let mut amounts = Vec::new();
    loop {
        let query = format!("limit=12{after}");
        let page = tiers
            .shop
            .call("GET", &format!("{path}/lines"), &query)
            .unwrap();
        let lines = page["data"].as_array().unwrap();
        amounts.extend(lines.iter().map(|line| line["amount"].as_i64().unwrap()));
        after = format!("&starting_after={}", id(lines.last().unwrap()));
        if page["has_more"] == false {
            let line = lines.last().unwrap();
            assert_eq!(
                line["parent"]["subscription_item_details"]["proration"],
                false
            );
            break;
        }
    }
    let expected: Vec<i64> = (1..=30).rev().chain([1000]).collect();
    assert_eq!(amounts, expected);
    let query = format!("customer={customer}&pending=true");
    let pending = tiers.shop.call("GET", "invoiceitems", &query).unwrap();
    assert_eq!(pending["data"], serde_json::json!([]));
    tiers.shop.until(months(2) + HOUR);
    assert_eq!(
        tiers.shop.invoice_of(&tiers.subscription).paid(),
        1000,
        "once"
    );
}

#[test]
fn an_item_comes_and_goes_and_is_billed_with_the_others() {
    let mut tiers = Tiers::new();
    let path = format!("subscriptions/{}", tiers.subscription);
    let seat = tiers.shop.price("Seat", 200, "month");
    let more = format!("items[0][price]={seat}&items[0][quantity]=3&proration_behavior=none");
    let view = tiers.shop.post(&path, &more);
    let items = view["items"]["data"].as_array().unwrap();
    let prices: Vec<&str> = items
        .iter()
        .map(|item| item["price"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        prices,
        [seat.as_str(), tiers.small.as_str()],
        "the newest first"
    );
    assert_eq!(view.get("quantity"), None);
    let item = id(&items[0]);
    tiers.shop.until(months(1) + HOUR);
    assert_eq!(tiers.lines(), [(600, false), (1000, false)]);
    let gone = format!("items[0][id]={item}&items[0][deleted]=true&proration_behavior=none");
    let view = tiers.shop.post(&path, &gone);
    assert_eq!(view["items"]["data"].as_array().unwrap().len(), 1);
    let main = tiers.shop.subscription(&tiers.subscription).item.id;
    let last = format!("items[0][id]={main}&items[0][deleted]=true");
    assert!(
        tiers.shop.call("POST", &path, &last).is_err(),
        "one has to stay"
    );
    let double = format!("items[0][id]={main}&items[0][quantity]=2");
    tiers.shop.post(&path, &double);
    tiers.shop.until(months(2) + HOUR);
    let sum: i64 = tiers.lines().iter().map(|(amount, _)| amount).sum();
    assert!(sum > 2000, "the second half of the month, too: {sum}");
}
