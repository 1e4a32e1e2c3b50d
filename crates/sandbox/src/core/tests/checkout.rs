//! Sessions: what is refused, and what each button does.

use super::*;
use crate::core::{
    objects::{PaymentStatus, SessionStatus},
    operations,
};

#[test]
fn a_payment_makes_customer_intent_and_charge() {
    let mut shop = Shop::new();
    let session = shop.once(
        500,
        "payment_intent_data[metadata][order]=7&metadata[order]=7",
    );
    let view = shop.get(&format!("checkout/sessions/{session}"));
    assert_eq!(view["status"], "open");
    assert_eq!(
        view["url"],
        format!("http://here/sandbox/p/checkout/{session}")
    );
    shop.act(&session, Action::Pay).unwrap();
    assert_eq!(
        shop.sent_kinds(),
        ["payment_intent.succeeded", "checkout.session.completed"]
    );
    let view = shop.get(&format!("checkout/sessions/{session}"));
    assert_eq!(view["status"], "complete");
    assert_eq!(view["payment_status"], "paid");
    assert_eq!(view["url"], Value::Null);
    let intent = shop.get(&format!(
        "payment_intents/{}",
        view["payment_intent"].as_str().unwrap()
    ));
    assert_eq!(intent["amount_received"], 500);
    let charge = shop.get(&format!(
        "charges/{}",
        intent["latest_charge"].as_str().unwrap()
    ));
    assert_eq!(charge["metadata"]["order"], "7");
    assert_eq!(charge["customer"], view["customer"]);
    // A repeat changes nothing.
    shop.act(&session, Action::Pay).unwrap();
    assert!(shop.sent_kinds().is_empty());
    assert_eq!(shop.act(&session, Action::Expire).unwrap_err().status, 409);
}

#[test]
fn money_that_comes_later_is_settled_or_fails() {
    let mut shop = Shop::new();
    for (action, kind, status) in [
        (
            Action::Settle,
            "checkout.session.async_payment_succeeded",
            PaymentStatus::Paid,
        ),
        (
            Action::Fail,
            "checkout.session.async_payment_failed",
            PaymentStatus::Unpaid,
        ),
    ] {
        let session = shop.once(500, "");
        assert_eq!(shop.act(&session, Action::Settle).unwrap_err().status, 409);
        let paid = shop.act(&session, Action::PayLater).unwrap();
        assert_eq!(
            (paid.status, paid.payment_status),
            (SessionStatus::Complete, PaymentStatus::Unpaid)
        );
        assert_eq!(shop.sent_kinds(), ["checkout.session.completed"]);
        assert_eq!(shop.act(&session, Action::Pay).unwrap_err().status, 409);
        let done = shop.act(&session, action).unwrap();
        assert_eq!(done.payment_status, status);
        assert!(shop.sent_kinds().contains(&kind.to_owned()));
        shop.act(&session, action).unwrap();
        assert!(shop.sent_kinds().is_empty());
    }
}

#[test]
fn an_open_session_can_fail_at_once_decline_and_expire() {
    let mut shop = Shop::new();
    let session = shop.once(500, "");
    assert_eq!(
        shop.act(&session, Action::Decline).unwrap().status,
        SessionStatus::Open
    );
    assert!(shop.sent_kinds().is_empty());
    shop.act(&session, Action::Fail).unwrap();
    assert_eq!(
        shop.sent_kinds(),
        [
            "checkout.session.completed",
            "checkout.session.async_payment_failed"
        ]
    );
    let session = shop.once(500, "");
    shop.act(&session, Action::Expire).unwrap();
    shop.act(&session, Action::Expire).unwrap();
    assert_eq!(shop.sent_kinds(), ["checkout.session.expired"]);
    assert_eq!(shop.act(&session, Action::Pay).unwrap_err().status, 409);
}

#[test]
fn a_session_closes_when_its_time_is_over() {
    let mut shop = Shop::new();
    let session = shop.once(500, &format!("expires_at={}", START + 3600));
    assert_eq!(due::next(&shop.db, 0), Some(START + 3600));
    shop.until(START + 3599);
    assert!(shop.sent_kinds().is_empty());
    shop.until(START + 9000);
    assert_eq!(shop.sent_kinds(), ["checkout.session.expired"]);
    let event = shop.db.newest::<Event>(|_| true)[0].clone();
    assert_eq!(event.head.created, START + 3600);
    assert_eq!(shop.act(&session, Action::Pay).unwrap_err().status, 409);
}

#[test]
fn a_code_takes_its_part_off() {
    let mut shop = Shop::new();
    let enter = |shop: &mut Shop, session: &str, code: &str, action| {
        let buyer = Buyer {
            code: Some(code.into()),
            ..Buyer::default()
        };
        act(&mut shop.db, session, action, &buyer)
    };
    let session = shop.once(1000, "allow_promotion_codes=true");
    let wrong = enter(&mut shop, &session, "NOPE", Action::Promotion).unwrap_err();
    assert_eq!(
        (wrong.status, wrong.param.as_deref()),
        (400, Some("promotionCode"))
    );
    let applied = enter(&mut shop, &session, "sandbox20", Action::Promotion).unwrap();
    assert_eq!(applied.total(), 800);
    let paid = shop.act(&session, Action::Pay).unwrap();
    let view = shop.get(&format!("payment_intents/{}", paid.intent.unwrap()));
    assert_eq!(view["amount"], 800);
    let free = shop.once(1000, "allow_promotion_codes=true");
    let free = enter(&mut shop, &free, "SANDBOX100", Action::Pay).unwrap();
    assert_eq!(free.payment_status, PaymentStatus::NoPaymentRequired);
    assert_eq!(free.intent, None);
    let not_allowed = shop.once(1000, "");
    assert!(enter(&mut shop, &not_allowed, "SANDBOX20", Action::Pay).is_err());
}

#[test]
fn what_stripe_would_refuse_is_refused() {
    let mut shop = Shop::new();
    let base = "mode=payment&success_url=https://a.b/c&line_items[0][quantity]=1\
        &line_items[0][price_data][currency]=usd&line_items[0][price_data][unit_amount]=500\
        &line_items[0][price_data][product_data][name]=X";
    for (from, to, param) in [
        ("mode=payment", "mode=donation", "mode"),
        ("mode=payment", "mode=setup", "line_items"),
        (
            "mode=payment",
            "mode=setup&setup_intent_data[metadata][a]=b&payment_intent_data[metadata][a]=b",
            "payment_intent_data",
        ),
        (
            "mode=payment",
            "mode=payment&payment_intent_data[setup_future_usage]=always",
            "payment_intent_data[setup_future_usage]",
        ),
        // Removed from the API with version 2026-10-28.
        (
            "mode=payment",
            "mode=payment&payment_method_types[0]=card",
            "payment_method_types[0]",
        ),
        ("mode=payment&", "", "mode"),
        ("success_url=https://a.b/c", "success_url=/c", "success_url"),
        (
            "success_url=https://a.b/c",
            "success_url=ftp://a.b/c",
            "success_url",
        ),
        (
            "currency]=usd",
            "currency]=xxx",
            "line_items[0][price_data][currency]",
        ),
        (
            "unit_amount]=500",
            "unit_amount]=-1",
            "line_items[0][price_data][unit_amount]",
        ),
        (
            "unit_amount]=500",
            "unit_amount]=5.5",
            "line_items[0][price_data][unit_amount]",
        ),
        ("quantity]=1", "quantity]=0", "line_items[0][quantity]"),
        ("mode=payment", "mode=payment&customer=cus_1", "customer"),
        (
            "mode=payment",
            "mode=payment&customer_email=nobody",
            "customer_email",
        ),
        ("mode=payment", "mode=payment&expires_at=1", "expires_at"),
        (
            "mode=payment",
            "mode=payment&subscription_data[metadata][a]=b",
            "subscription_data",
        ),
        (
            "mode=payment",
            "mode=payment&discounts[0][coupon]=none",
            "discounts[0][coupon]",
        ),
        (
            "mode=payment",
            "mode=payment&allow_promotion_codes=true&discounts[0][coupon]=sandbox20",
            "allow_promotion_codes",
        ),
        (
            "mode=payment",
            "mode=subscription&invoice_creation[enabled]=true",
            "invoice_creation",
        ),
        ("mode=payment", "mode=payment&colour=red", "colour"),
        ("mode=payment", "mode=subscription", "line_items[0]"),
    ] {
        let form = base.replace(from, to);
        let refusal = shop.call("POST", "checkout/sessions", &form).unwrap_err();
        assert_eq!(
            (refusal.status, refusal.param.as_deref()),
            (400, Some(param)),
            "{form}"
        );
    }
    shop.db.take_changes();
    let form = format!("{base}&colour=red");
    let refusal = shop.call("POST", "checkout/sessions", &form).unwrap_err();
    assert_eq!(refusal.code, Some("parameter_unknown"));
    assert!(!shop.db.is_changed());
}

#[test]
fn an_expiry_has_five_minutes_of_leeway() {
    let mut shop = Shop::new();
    for (seconds, taken) in [(1499, false), (1500, true), (86_700, true), (86_701, false)] {
        let form = format!(
            "mode=payment&success_url=https://a.b&expires_at={}&line_items[0][quantity]=1\
             &line_items[0][price_data][currency]=jpy&line_items[0][price_data][unit_amount]=0\
             &line_items[0][price_data][product_data][name]=X",
            START + seconds
        );
        let answer = shop.call("POST", "checkout/sessions", &form);
        assert_eq!(answer.is_ok(), taken, "{seconds}");
    }
}

#[test]
fn an_operation_is_known_by_key_and_form() {
    let mut shop = Shop::new();
    let mut ask = |key: &str, path: &str, query: &str| {
        let form = url::form_urlencoded::parse(query.as_bytes()).into_owned();
        let call = operations::Call {
            method: "POST",
            path,
            params: &Params::new(form).unwrap(),
            key: Some(key),
            instead: None,
        };
        let done = operations::answer(&mut shop.db, call);
        done.map(|done| (done.is_replayed, done.answer))
            .map_err(|refusal| refusal.status)
    };
    let (replayed, first) = ask("k", "customers", "name=a").unwrap();
    assert!(!replayed);
    assert_eq!(ask("k", "customers", "name=a"), Ok((true, first.clone())));
    assert_eq!(ask("k", "customers", "name=b"), Err(400));
    assert_eq!(ask("k", "products", "name=a"), Err(400));
    let (replayed, other) = ask("other", "customers", "name=a").unwrap();
    assert!(!replayed && other != first);
}

#[test]
fn books_are_the_same_when_they_are_read_again() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "subscription_data[metadata][a]=b");
    let notes: Vec<(String, String)> = shop
        .db
        .take_changes()
        .into_iter()
        .filter_map(|(id, note)| Some((id, note?)))
        .collect();
    let mut again = Database::new("http://here/sandbox/p".into(), START, Ids::new([8; 32]));
    again.restore(&notes).unwrap();
    assert_eq!(again.first_due(), shop.db.first_due());
    assert_eq!(again.outgoing().count(), shop.db.outgoing().count());
    let before = shop.get(&format!("subscriptions/{subscription}"));
    shop.db = again;
    assert_eq!(shop.get(&format!("subscriptions/{subscription}")), before);
    assert!(notes.iter().all(|(_, note)| note.len() < 4096));
    let fresh = shop.once(50, "");
    assert_ne!(fresh, subscription);
}

#[test]
fn a_first_debit_that_a_bank_gives_back_leaves_an_invoice_that_can_be_paid() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let session = shop.session(&format!(
        "mode=subscription&line_items[0][price]={price}&line_items[0][quantity]=1"
    ));
    shop.act(&session, Action::PayLater).unwrap();
    let session = shop.act(&session, Action::FailLate).unwrap();
    assert_eq!(
        (session.status.word(), session.payment_status.word()),
        ("complete", "unpaid")
    );
    let path = format!("subscriptions/{}", session.subscription.unwrap());
    let query = "expand[]=latest_invoice.payments.data.payment.payment_intent";
    let view = shop.call("GET", &path, query).unwrap();
    let invoice = &view["latest_invoice"];
    assert_eq!(
        (&view["status"], &invoice["status"]),
        (&"past_due".into(), &"open".into())
    );
    let intent = &invoice["payments"]["data"][0]["payment"]["payment_intent"];
    assert_eq!(intent["status"], "requires_payment_method");
    let paid = shop.post(&format!("invoices/{}/pay", id(invoice)), "");
    assert_eq!(paid["amount_paid"], 1900);
    assert_eq!(shop.get(&path)["status"], "active");
}
