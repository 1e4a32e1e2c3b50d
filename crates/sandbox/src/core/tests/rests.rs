//! The hour for which invoices are drafts, both kinds of pause, and trials.

use super::*;
use crate::core::{
    objects::{InvoiceStatus, SubscriptionStatus},
    script,
};

#[test]
fn a_renewals_invoice_is_a_draft_for_an_hour_while_the_period_has_moved_on() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "");
    shop.sent_kinds();
    shop.until(months(1));
    assert_eq!(shop.sent_kinds(), ["customer.subscription.updated"]);
    assert_eq!(shop.subscription(&subscription).period_end, months(2));
    let path = format!("invoices/{}", shop.invoice_of(&subscription).head.id);
    let draft = shop.get(&path);
    assert_eq!(
        (&draft["status"], &draft["auto_advance"]),
        (&"draft".into(), &true.into())
    );
    assert_eq!(draft["automatically_finalizes_at"], months(1) + HOUR);
    assert_eq!(
        (&draft["number"], &draft["hosted_invoice_url"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        (&draft["amount_due"], &draft["amount_paid"]),
        (&1900.into(), &0.into())
    );
    let drafts = format!("subscription={subscription}&status=draft");
    let drafts = shop.call("GET", "invoices", &drafts).unwrap();
    assert_eq!(drafts["data"].as_array().unwrap().len(), 1);
    shop.until(months(1) + HOUR - 1);
    assert_eq!(shop.get(&path)["status"], "draft");
    shop.until(months(1) + HOUR);
    let paid = shop.get(&path);
    assert_eq!(
        (&paid["status"], &paid["created"]),
        (&"paid".into(), &months(1).into())
    );
    assert_eq!(paid["status_transitions"]["finalized_at"], months(1) + HOUR);
    assert!(
        paid["hosted_invoice_url"]
            .as_str()
            .unwrap()
            .starts_with("http://here")
    );
    let kinds: Vec<String> = shop
        .db
        .newest::<Event>(|event| event.kind.starts_with("invoice."))
        .into_iter()
        .take(4)
        .map(|event| event.kind.clone())
        .collect();
    let expected = ["payment_succeeded", "paid", "finalized", "created"];
    assert_eq!(kinds, expected.map(|kind| format!("invoice.{kind}")));
    assert_eq!(
        shop.sent_kinds(),
        ["payment_intent.succeeded", "invoice.paid"]
    );
    assert!(shop.call("POST", &format!("{path}/finalize"), "").is_err());
}

#[test]
fn a_shop_finalizes_a_draft_before_its_time() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "");
    shop.until(months(1));
    let path = format!("invoices/{}/pay", shop.invoice_of(&subscription).head.id);
    assert_eq!(shop.post(&path, "")["status"], "paid");
    assert!(shop.call("POST", &path, "").is_err());
    assert_eq!(due::next(&shop.db, 0).unwrap().max(months(2)), months(2));
}

#[test]
fn a_draft_of_what_was_canceled_is_not_collected() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "");
    shop.until(months(1));
    shop.call("DELETE", &format!("subscriptions/{subscription}"), "")
        .unwrap();
    shop.until(months(2));
    let invoice = shop.invoice_of(&subscription);
    assert_eq!(invoice.status, InvoiceStatus::Draft);
}

#[test]
fn while_nothing_is_collected_cycles_go_on() {
    for (behavior, status) in [
        ("void", InvoiceStatus::Void),
        ("mark_uncollectible", InvoiceStatus::Uncollectible),
        ("keep_as_draft", InvoiceStatus::Draft),
    ] {
        let mut shop = Shop::new();
        let price = shop.price("Pro", 1900, "month");
        let subscription = shop.subscribed(&price, "");
        let path = format!("subscriptions/{subscription}");
        let form = format!("pause_collection[behavior]={behavior}");
        let view = shop.post(&path, &form);
        assert_eq!(view["pause_collection"]["behavior"], behavior);
        assert_eq!(view["status"], "active");
        shop.until(months(1) + DAY);
        assert_eq!(shop.invoice_of(&subscription).status, status, "{behavior}");
        assert_eq!(shop.subscription(&subscription).period_end, months(2));
        let view = shop.post(&path, "pause_collection=");
        assert_eq!(view["pause_collection"], Value::Null);
        shop.until(months(2) + HOUR);
        assert_eq!(shop.invoice_of(&subscription).status, InvoiceStatus::Paid);
        let form = format!("{form}&pause_collection[resumes_at]={}", months(3) - DAY);
        shop.post(&path, &form);
        shop.until(months(3) - DAY);
        assert_eq!(shop.subscription(&subscription).pause, None, "by itself");
        for wrong in [
            "pause_collection[resumes_at]=1",
            "pause_collection[behavior]=x",
        ] {
            assert!(shop.call("POST", &path, wrong).is_err(), "{wrong}");
        }
    }
}

#[test]
fn a_trial_costs_nothing_is_announced_and_then_billed() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let form = format!(
        "mode=subscription&line_items[0][price]={price}&line_items[0][quantity]=1\
         &subscription_data[trial_period_days]=14"
    );
    let session = shop.session(&form);
    let view = shop.get(&format!("checkout/sessions/{session}"));
    assert_eq!(view["amount_total"], 0);
    let session = shop.act(&session, Action::Pay).unwrap();
    let subscription = session.subscription.unwrap();
    assert_eq!(session.payment_status.word(), "no_payment_required");
    assert_eq!(
        shop.sent_kinds(),
        [
            "customer.subscription.created",
            "invoice.paid",
            "checkout.session.completed"
        ]
    );
    let view = shop.get(&format!("subscriptions/{subscription}"));
    let end = START + 14 * DAY;
    assert_eq!(
        (&view["status"], &view["trial_end"]),
        (&"trialing".into(), &end.into())
    );
    assert_eq!(view["items"]["data"][0]["current_period_end"], end);
    assert_eq!(shop.invoice_of(&subscription).paid(), 0);
    shop.until(end - 3 * DAY);
    assert_eq!(shop.sent_kinds(), ["customer.subscription.trial_will_end"]);
    shop.until(end);
    assert_eq!(shop.sent_kinds(), ["customer.subscription.updated"]);
    assert_eq!(
        shop.subscription(&subscription).status,
        SubscriptionStatus::Active
    );
    shop.until(end + HOUR);
    assert_eq!(shop.invoice_of(&subscription).paid(), 1900);
    let next = after(end, super::super::calendar::Interval::Month, 1);
    assert_eq!(shop.subscription(&subscription).period_end, next);
    for wrong in [
        "trial_period_days]=0",
        "trial_period_days]=731",
        "trial_end]=5",
    ] {
        let form = format!(
            "success_url=https://shop.example&mode=subscription&line_items[0][price]={price}\
             &line_items[0][quantity]=1&subscription_data[{wrong}"
        );
        assert!(
            shop.call("POST", "checkout/sessions", &form).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn a_trial_without_a_card_is_billed_ended_or_paused_until_it_is_resumed() {
    for (behavior, status) in [
        ("create_invoice", SubscriptionStatus::PastDue),
        ("cancel", SubscriptionStatus::Canceled),
        ("pause", SubscriptionStatus::Paused),
    ] {
        let mut shop = Shop::new();
        let price = shop.price("Pro", 1900, "month");
        let setting = "subscription_data[trial_settings][end_behavior][missing_payment_method]";
        let subscription = shop.subscribed(
            &price,
            &format!(
                "subscription_data[trial_period_days]=7&payment_method_collection=if_required\
                 &{setting}={behavior}"
            ),
        );
        shop.until(START + 7 * DAY + HOUR);
        assert_eq!(
            shop.subscription(&subscription).status,
            status,
            "{behavior}"
        );
        let path = format!("subscriptions/{subscription}/resume");
        if status != SubscriptionStatus::Paused {
            assert!(shop.call("POST", &path, "").is_err());
            continue;
        }
        assert_eq!(
            shop.sent_kinds().last().unwrap(),
            "customer.subscription.paused"
        );
        assert_eq!(due::next(&shop.db, 0), None, "it waits");
        shop.db.now += 30 * DAY;
        let view = shop.post(&path, "billing_cycle_anchor=now");
        assert_eq!(view["status"], "active");
        assert_eq!(
            shop.sent_kinds(),
            [
                "customer.subscription.resumed",
                "payment_intent.succeeded",
                "invoice.paid"
            ]
        );
        assert_eq!(shop.invoice_of(&subscription).paid(), 1900);
    }
}

#[test]
fn a_trial_is_given_and_ended_by_the_shop() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "");
    let path = format!("subscriptions/{subscription}");
    let end = START + 40 * DAY;
    let view = shop.post(&path, &format!("trial_end={end}&proration_behavior=none"));
    assert_eq!(
        (&view["status"], &view["billing_cycle_anchor"]),
        (&"trialing".into(), &end.into())
    );
    let before = shop.invoice_of(&subscription).head.id;
    shop.until(START + 35 * DAY);
    assert_eq!(
        shop.invoice_of(&subscription).head.id,
        before,
        "nothing was billed"
    );
    let view = shop.post(&path, "trial_end=now");
    assert_eq!(view["status"], "active");
    assert_eq!(shop.invoice_of(&subscription).paid(), 1900);
    for wrong in ["trial_end=1", "trial_end=soon"] {
        assert!(shop.call("POST", &path, wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_script_pauses_what_runs() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "");
    shop.sent_kinds();
    let params = Params::new([]).unwrap();
    let path = format!("subscriptions/{subscription}/pause");
    let view = script::call(&mut shop.db, "POST", &path, &params).unwrap();
    assert_eq!(view["status"], "paused");
    assert_eq!(shop.sent_kinds(), ["customer.subscription.paused"]);
    let list = shop.call("GET", "subscriptions", "status=paused").unwrap();
    assert_eq!(list["data"][0]["id"], subscription.as_str());
    shop.post(
        &format!("subscriptions/{subscription}/resume"),
        "billing_cycle_anchor=unchanged",
    );
    assert_eq!(
        shop.subscription(&subscription).status,
        SubscriptionStatus::Active
    );
    assert_eq!(shop.subscription(&subscription).period_end, months(1));
}
