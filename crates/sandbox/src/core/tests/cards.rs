//! Cards on file without a server: what is refused, and what a page leaves behind.

use super::*;
use crate::core::objects::PaymentStatus;

/// A customer and a card of theirs.
fn saved(shop: &mut Shop) -> (String, String) {
    let form = "mode=setup&success_url=https://a.b/c&allowed_payment_method_types[0]=card\
        &customer_creation=always&setup_intent_data[metadata][a]=b";
    let session = id(&shop.post("checkout/sessions", form));
    shop.act(&session, Action::Pay).unwrap();
    let view = shop.get(&format!("checkout/sessions/{session}"));
    let entry = shop.get(&format!(
        "setup_intents/{}",
        view["setup_intent"].as_str().unwrap()
    ));
    assert_eq!(
        (&entry["status"], &entry["metadata"]["a"]),
        (&"succeeded".into(), &"b".into())
    );
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&view["customer"]), text(&entry["payment_method"]))
}

#[test]
fn a_card_is_entered_without_a_payment() {
    let mut shop = Shop::new();
    let (customer, method) = saved(&mut shop);
    let expected = [
        "setup_intent.created",
        "payment_method.attached",
        "setup_intent.succeeded",
        "checkout.session.completed",
    ];
    assert_eq!(shop.sent_kinds(), expected);
    let view = shop.get(&format!("payment_methods/{method}"));
    assert_eq!(view["customer"], customer);
    assert_eq!(view["number"], Value::Null, "Stripe never shows it");
    let form = "mode=setup&success_url=https://a.b/c&currency=usd";
    let session = id(&shop.post("checkout/sessions", form));
    shop.act(&session, Action::Challenge).unwrap();
    shop.act(&session, Action::FailAuthentication).unwrap();
    let open = shop.get(&format!("checkout/sessions/{session}"));
    assert_eq!(open["status"], "open", "another card may be entered");
    let closed = shop.act(&session, Action::Expire).unwrap();
    assert_eq!(closed.payment_status, PaymentStatus::NoPaymentRequired);
    let refused = shop.call(
        "POST",
        "checkout/sessions",
        "mode=setup&success_url=https://a.b/c",
    );
    assert_eq!(refused.unwrap_err().param.as_deref(), Some("currency"));
}

#[test]
fn a_charge_that_stripe_would_refuse_is_refused() {
    let mut shop = Shop::new();
    let (customer, method) = saved(&mut shop);
    let base = format!(
        "amount=500&currency=eur&customer={customer}&payment_method={method}&confirm=true\
         &off_session=true"
    );
    let of_customer = format!("customer={customer}");
    let by_card = format!("payment_method={method}");
    for (from, to, param) in [
        ("amount=500&", "", "amount"),
        ("amount=500", "amount=0", "amount"),
        ("amount=500", "amount=49", "amount"),
        ("amount=500", "amount=100000000", "amount"),
        ("currency=eur&", "", "currency"),
        ("currency=eur", "currency=xxx", "currency"),
        (&*of_customer, "customer=cus_nobody", "customer"),
        (&*of_customer, "description=x", "payment_method"),
        (&*by_card, "payment_method=pm_nothing", "payment_method"),
        (&*by_card, "description=x", "payment_method"),
        ("&confirm=true", "", "off_session"),
        ("&confirm=true&off_session=true", "", "confirm"),
        ("confirm=true", "confirm=true&colour=red", "colour"),
    ] {
        let form = base.replace(from, to);
        let refusal = shop.call("POST", "payment_intents", &form).unwrap_err();
        assert_eq!(
            (refusal.status, refusal.param.as_deref()),
            (400, Some(param)),
            "{form}"
        );
    }
    assert_eq!(shop.get("payment_intents")["data"], serde_json::json!([]));
    let paid = shop.post("payment_intents", &base);
    assert_eq!(paid["status"], "succeeded");
    // With its owner at hand a bank that asks is answered.
    let mut card: crate::core::objects::PaymentMethod = shop.db.find(&method).unwrap();
    card.number = "4000002760003184".into();
    shop.db.put(card);
    let asked = shop.post("payment_intents", &base.replace("&off_session=true", ""));
    assert_eq!(asked["status"], "requires_action");
    shop.post(&format!("payment_methods/{method}/detach"), "");
    for form in [&base, &base.replace(&of_customer, "description=x")] {
        let gone = shop.call("POST", "payment_intents", form).unwrap_err();
        assert_eq!(gone.param.as_deref(), Some("payment_method"), "{form}");
    }
}
