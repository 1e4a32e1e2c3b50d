//! Subscriptions over months of a simulated clock.

use super::*;
use crate::core::objects::{BillingReason, InvoiceStatus, SubscriptionStatus};
use crate::fault_profile::FaultProfile;
use serde_json::json;

#[test]
fn a_subscription_is_billed_at_once_and_then_each_month() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "subscription_data[metadata][order]=7");
    assert_eq!(
        shop.sent_kinds(),
        [
            "customer.subscription.created",
            "payment_intent.succeeded",
            "invoice.paid",
            "checkout.session.completed"
        ]
    );
    let view = shop.get(&format!("subscriptions/{subscription}"));
    assert_eq!(view["items"]["data"][0]["current_period_end"], months(1));
    let invoice = shop.invoice_of(&subscription);
    assert_eq!(
        (invoice.reason, invoice.paid()),
        (BillingReason::SubscriptionCreate, 1900)
    );
    let view = shop.get(&format!("invoices/{}", invoice.head.id));
    assert_eq!(
        view["parent"]["subscription_details"]["metadata"]["order"],
        "7"
    );
    // Two cycles at once, each at its own instant: 28 February, then 31 March.
    shop.until(months(2) + HOUR);
    let sent = shop.sent_kinds();
    assert_eq!(
        sent.iter().filter(|kind| *kind == "invoice.paid").count(),
        2
    );
    let invoices = shop.db.newest::<Invoice>(|_| true);
    let dates: Vec<i64> = invoices
        .iter()
        .map(|invoice| invoice.head.created)
        .collect();
    assert_eq!(dates, [months(2), months(1), START]);
    assert_eq!(shop.subscription(&subscription).period_end, months(3));
    let intent = shop.invoice_of(&subscription).intent.unwrap();
    let query = format!("payment[type]=payment_intent&payment[payment_intent]={intent}");
    let payments = shop.call("GET", "invoice_payments", &query).unwrap();
    assert_eq!(payments["data"].as_array().unwrap().len(), 1);
}

#[test]
fn a_declined_card_is_tried_three_times_and_then_it_ends() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "");
    shop.card_declines(&subscription, true);
    shop.sent_kinds();
    let first = months(1) + HOUR;
    shop.until(first);
    assert_eq!(
        shop.sent_kinds(),
        [
            "customer.subscription.updated",
            "customer.subscription.updated",
            "invoice.payment_failed"
        ]
    );
    assert_eq!(
        shop.subscription(&subscription).status,
        SubscriptionStatus::PastDue
    );
    for day in [1, 3] {
        assert_eq!(due::next(&shop.db, 0), Some(first + day * DAY));
        shop.until(first + day * DAY);
        assert_eq!(shop.sent_kinds(), ["invoice.payment_failed"]);
    }
    shop.until(first + 5 * DAY);
    assert_eq!(
        shop.sent_kinds(),
        ["invoice.payment_failed", "customer.subscription.deleted"]
    );
    assert_eq!(
        shop.subscription(&subscription).status,
        SubscriptionStatus::Canceled
    );
    assert_eq!(due::next(&shop.db, 0), None);
}

#[test]
fn a_card_that_works_again_pays_at_the_next_attempt() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "");
    shop.card_declines(&subscription, true);
    shop.until(months(1) + HOUR);
    shop.card_declines(&subscription, false);
    shop.sent_kinds();
    shop.until(months(1) + HOUR + DAY);
    let sent = shop.sent_kinds();
    assert!(sent.contains(&"invoice.paid".to_owned()), "{sent:?}");
    assert_eq!(
        shop.subscription(&subscription).status,
        SubscriptionStatus::Active
    );
    assert_eq!(shop.invoice_of(&subscription).status, InvoiceStatus::Paid);
    assert_eq!(due::next(&shop.db, 0), Some(months(2)));
}

#[test]
fn a_switch_that_cannot_be_paid_changes_nothing() {
    let mut shop = Shop::new();
    let (small, large) = (
        shop.price("Small", 1000, "month"),
        shop.price("Large", 3000, "month"),
    );
    let subscription = shop.subscribed(&small, "");
    shop.card_declines(&subscription, true);
    shop.db.take_changes();
    let path = format!("subscriptions/{subscription}");
    let form = format!(
        "{}&payment_behavior=error_if_incomplete&proration_behavior=always_invoice",
        shop.item(&subscription, &large)
    );
    let refusal = shop.call("POST", &path, &form).unwrap_err();
    assert_eq!((refusal.status, refusal.code), (402, Some("card_declined")));
    assert!(!shop.db.is_changed());
}

#[test]
fn it_ends_with_its_period_unless_that_is_taken_back() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "");
    let path = format!("subscriptions/{subscription}");
    let view = shop.post(&path, "cancel_at_period_end=true");
    assert_eq!(view["cancel_at"], months(1));
    shop.post(&path, "cancel_at_period_end=false");
    shop.until(months(1));
    assert_eq!(
        shop.subscription(&subscription).status,
        SubscriptionStatus::Active
    );
    shop.post(&path, "cancel_at_period_end=true");
    shop.until(months(1) + HOUR);
    shop.sent_kinds();
    shop.until(months(2));
    assert_eq!(shop.sent_kinds(), ["customer.subscription.deleted"]);
    assert_eq!(shop.subscription(&subscription).ended_at, Some(months(2)));
    assert_eq!(shop.call("DELETE", &path, "").unwrap_err().status, 404);
}

#[test]
fn a_first_payment_that_comes_later_starts_it_or_does_not() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    for (action, status) in [
        (Action::Settle, SubscriptionStatus::Active),
        (Action::Fail, SubscriptionStatus::IncompleteExpired),
    ] {
        let session = shop.session(&format!(
            "mode=subscription&line_items[0][price]={price}&line_items[0][quantity]=1"
        ));
        let complete = shop.act(&session, Action::PayLater).unwrap();
        let subscription = complete.subscription.unwrap();
        assert_eq!(
            shop.subscription(&subscription).status,
            SubscriptionStatus::Incomplete
        );
        shop.act(&session, action).unwrap();
        assert_eq!(shop.subscription(&subscription).status, status);
    }
}

#[test]
fn a_discount_lasts_as_long_as_its_coupon_says() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1000, "month");
    shop.post(
        "coupons",
        "id=half&percent_off=50&duration=repeating&duration_in_months=2",
    );
    for (coupon, paid) in [("sandbox20", [800, 1000, 1000]), ("half", [500, 500, 1000])] {
        shop.db.now = START;
        let more = format!("discounts[0][coupon]={coupon}");
        let subscription = shop.subscribed(&price, &more);
        for (cycle, paid) in (0..).zip(paid) {
            shop.until(months(cycle) + HOUR);
            assert_eq!(
                shop.invoice_of(&subscription).paid(),
                paid,
                "{coupon} {cycle}"
            );
        }
        shop.call("DELETE", &format!("subscriptions/{subscription}"), "")
            .unwrap();
    }
}

#[test]
fn a_free_cycle_is_paid_without_a_payment() {
    let mut shop = Shop::new();
    let price = shop.price("Free", 0, "month");
    let subscription = shop.subscribed(&price, "");
    shop.card_declines(&subscription, true);
    shop.until(months(1) + HOUR);
    let invoice = shop.invoice_of(&subscription);
    assert_eq!(
        (invoice.status, invoice.intent),
        (InvoiceStatus::Paid, None)
    );
}

#[test]
fn invoices_embed_so_many_lines_pending_items_first() {
    let mut shop = Shop::new();
    let settings = FaultProfile {
        lines_embedded: 4,
        items_in_front: 30,
        ..FaultProfile::default()
    };
    shop.db.listing = settings.listing();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "");
    let path = |shop: &Shop| format!("invoices/{}", shop.invoice_of(&subscription).head.id);
    let first = path(&shop);
    assert_eq!(shop.get(&first)["lines"]["total_count"], 1);
    shop.until(months(1) + HOUR);
    let renewal = path(&shop);
    assert_ne!(renewal, first);
    let lines = shop.get(&renewal)["lines"].clone();
    assert_eq!(lines["data"].as_array().unwrap().len(), 4);
    assert_eq!(
        (&lines["has_more"], &lines["total_count"]),
        (&json!(true), &json!(31))
    );
    let mut page = |query: &str| {
        let page = shop
            .call("GET", &format!("{renewal}/lines"), query)
            .unwrap();
        (
            page["data"].as_array().unwrap().clone(),
            page["has_more"] == true,
        )
    };
    let (begun, more) = page("limit=20");
    assert_eq!((begun.len(), more), (20, true));
    let after = format!("limit=20&starting_after={}", id(&begun[19]));
    let (rest, more) = page(&after);
    assert_eq!((rest.len(), more), (11, false));
    assert_eq!(rest[10]["amount"], 1900, "behind all that is pending");
    shop.db.listing = FaultProfile::as_stripe().listing();
    assert_eq!(shop.get(&renewal)["lines"]["total_count"], 1);
}
