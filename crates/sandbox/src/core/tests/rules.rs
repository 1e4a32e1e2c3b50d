//! What Stripe would refuse, and the settings that a shop may ask for.

use super::*;
use crate::core::objects::SessionStatus;

fn basket(currency: &str, amount: i64) -> String {
    format!(
        "success_url=https://shop.example&mode=payment&line_items[0][quantity]=1\
         &line_items[0][price_data][currency]={currency}\
         &line_items[0][price_data][unit_amount]={amount}\
         &line_items[0][price_data][product_data][name]=Credits"
    )
}

#[test]
fn what_is_below_a_currencys_minimum_is_not_sold() {
    let mut shop = Shop::new();
    for (currency, amount, code) in [
        ("usd", 49, Some("amount_too_small")),
        ("usd", 50, None),
        ("usd", 0, None),
        ("gbp", 29, Some("amount_too_small")),
        ("gbp", 30, None),
        ("jpy", 49, Some("amount_too_small")),
        ("jpy", 50, None),
        ("huf", 17_400, Some("amount_too_small")),
        ("kwd", 1_005, Some("parameter_invalid_integer")),
        ("kwd", 1_010, None),
        ("isk", 1_050, Some("parameter_invalid_integer")),
        ("isk", 1_100, None),
    ] {
        let made = shop.call("POST", "checkout/sessions", &basket(currency, amount));
        assert_eq!(
            made.err().and_then(|refusal| refusal.code),
            code,
            "{currency} {amount}"
        );
    }
    // A promotion may make the total zero, but not less than the minimum otherwise.
    let form = format!("{}&discounts[0][coupon]=sandbox20", basket("usd", 60));
    let refusal = shop.call("POST", "checkout/sessions", &form).unwrap_err();
    assert_eq!(refusal.code, Some("amount_too_small"));
}

#[test]
fn a_customer_has_subscriptions_in_one_currency() {
    let mut shop = Shop::new();
    let euros = shop.price("Pro", 1900, "month");
    let dollars = id(&shop.post(
        "prices",
        "currency=usd&unit_amount=1900&recurring[interval]=month&product_data[name]=Pro",
    ));
    let subscription = shop.subscribed(&euros, "");
    let customer = shop.subscription(&subscription).customer;
    let form = |price: &str| {
        format!(
            "success_url=https://shop.example&mode=subscription&customer={customer}\
             &line_items[0][price]={price}&line_items[0][quantity]=1"
        )
    };
    let refusal = shop
        .call("POST", "checkout/sessions", &form(&dollars))
        .unwrap_err();
    assert_eq!(
        (refusal.status, refusal.kind),
        (400, "invalid_request_error")
    );
    assert!(
        refusal
            .message
            .starts_with("You cannot combine currencies on a single customer.")
    );
    assert!(refusal.message.ends_with("with currency eur."));
    shop.post("checkout/sessions", &form(&euros));
    let once = format!("{}&customer={customer}", basket("usd", 500));
    shop.post("checkout/sessions", &once);
    shop.call("DELETE", &format!("subscriptions/{subscription}"), "")
        .unwrap();
    // Two sessions that were opened before either was paid.
    let (one, other) = (
        id(&shop.post("checkout/sessions", &form(&dollars))),
        id(&shop.post("checkout/sessions", &form(&euros))),
    );
    shop.act(&one, Action::Pay).unwrap();
    assert!(shop.act(&other, Action::Pay).is_err());
}

#[test]
fn e_mail_addresses_are_checked_wherever_they_come_in() {
    let mut shop = Shop::new();
    for bad in ["ann", "ann@localhost", "a..b@mail.example"] {
        let form = format!("{}&customer_email={bad}", basket("usd", 500));
        for (path, form) in [
            ("checkout/sessions", form),
            ("customers", format!("email={bad}")),
        ] {
            let refusal = shop.call("POST", path, &form).unwrap_err();
            assert_eq!(
                (refusal.status, refusal.code),
                (400, Some("email_invalid")),
                "{bad}"
            );
        }
    }
}

#[test]
fn a_bank_asks_for_authentication_and_gets_it_or_not() {
    for (first, intents) in [(Action::Authenticate, 1), (Action::FailAuthentication, 2)] {
        let mut shop = Shop::new();
        let session = shop.once(500, "");
        assert!(
            shop.act(&session, Action::Authenticate).is_err(),
            "nobody asked"
        );
        shop.act(&session, Action::Challenge).unwrap();
        shop.act(&session, Action::Challenge).unwrap();
        assert_eq!(shop.sent_kinds(), ["payment_intent.requires_action"]);
        let view = shop.get(&format!("checkout/sessions/{session}"));
        assert_eq!(
            (&view["status"], &view["payment_status"]),
            (&"open".into(), &"unpaid".into())
        );
        let after = shop.act(&session, first).unwrap();
        if first == Action::FailAuthentication {
            assert_eq!(after.status, SessionStatus::Open);
            assert!(shop.sent_kinds().is_empty());
            shop.act(&session, Action::Pay).unwrap();
        }
        assert_eq!(
            shop.sent_kinds(),
            ["payment_intent.succeeded", "checkout.session.completed"]
        );
        let list = shop.get("payment_intents");
        assert_eq!(list["data"].as_array().unwrap().len(), intents);
    }
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let session = shop.session(&format!(
        "mode=subscription&line_items[0][price]={price}&line_items[0][quantity]=1"
    ));
    shop.act(&session, Action::Challenge).unwrap();
    let done = shop.act(&session, Action::Authenticate).unwrap();
    assert!(done.subscription.is_some());
}

#[test]
fn what_a_shop_wishes_for_is_shown_and_its_invoice_drawn_up() {
    let mut shop = Shop::new();
    let wishes = "locale=de&automatic_tax[enabled]=true&tax_id_collection[enabled]=true\
                  &billing_address_collection=required&invoice_creation[enabled]=true\
                  &consent_collection[terms_of_service]=required&metadata[a]=b\
                  &payment_intent_data[description]=Credits";
    let session = shop.once(500, wishes);
    let path = format!("checkout/sessions/{session}");
    let view = shop.get(&path);
    assert_eq!(
        (&view["locale"], &view["billing_address_collection"]),
        (&"de".into(), &"required".into())
    );
    assert_eq!(view["automatic_tax"]["enabled"], true);
    assert_eq!(view["tax_id_collection"]["enabled"], true);
    assert_eq!(view["consent_collection"]["terms_of_service"], "required");
    assert_eq!(view["consent"]["terms_of_service"], Value::Null);
    assert_eq!(view["invoice_creation"]["enabled"], true);
    shop.act(&session, Action::Pay).unwrap();
    assert_eq!(
        shop.sent_kinds(),
        [
            "invoice.paid",
            "payment_intent.succeeded",
            "checkout.session.completed"
        ]
    );
    let view = shop.get(&path);
    assert_eq!(view["consent"]["terms_of_service"], "accepted");
    let invoice = shop.get(&format!("invoices/{}", view["invoice"].as_str().unwrap()));
    assert_eq!(
        (&invoice["billing_reason"], &invoice["amount_paid"]),
        (&"manual".into(), &500.into())
    );
    assert_eq!(invoice["parent"], Value::Null);
    let query = format!("invoice={}", id(&invoice));
    let paid = shop.call("GET", "invoice_payments", &query).unwrap();
    assert_eq!(
        paid["data"][0]["payment"]["payment_intent"],
        view["payment_intent"]
    );
    let intent = shop.get(&format!(
        "payment_intents/{}",
        view["payment_intent"].as_str().unwrap()
    ));
    let charge = shop.get(&format!(
        "charges/{}",
        intent["latest_charge"].as_str().unwrap()
    ));
    assert!(
        charge["receipt_url"]
            .as_str()
            .unwrap()
            .contains("/receipts/ch_")
    );
    let customer = view["customer"].as_str().unwrap();
    for (wrong, code) in [
        ("locale=xx".to_owned(), None),
        ("billing_address_collection=maybe".to_owned(), None),
        ("payment_method_collection=always".to_owned(), None),
        ("customer_update[name]=auto".to_owned(), None),
        (
            format!("customer={customer}&automatic_tax[enabled]=true"),
            Some("customer_tax_location_invalid"),
        ),
        (
            format!("customer={customer}&tax_id_collection[enabled]=true"),
            None,
        ),
    ] {
        let form = format!("{}&{wrong}", basket("usd", 500));
        let refusal = shop.call("POST", "checkout/sessions", &form).unwrap_err();
        assert_eq!(refusal.code, code, "{wrong}");
    }
}

#[test]
fn what_is_archived_is_not_sold_and_what_was_never_sold_may_go() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let product = shop.get(&format!("prices/{price}"))["product"].clone();
    let product = format!("products/{}", product.as_str().unwrap());
    let form = format!(
        "success_url=https://shop.example&mode=subscription&line_items[0][price]={price}\
         &line_items[0][quantity]=1"
    );
    for path in [format!("prices/{price}"), product.clone()] {
        assert_eq!(shop.post(&path, "active=false")["active"], false);
        let refusal = shop.call("POST", "checkout/sessions", &form).unwrap_err();
        assert_eq!(refusal.param.as_deref(), Some("line_items[0][price]"));
        assert_eq!(shop.post(&path, "active=true")["active"], true);
        shop.post("checkout/sessions", &form);
    }
    assert_eq!(shop.post(&product, "name=Max")["name"], "Max");
    let view = shop.post(&format!("prices/{price}"), "lookup_key=pro&nickname=x");
    assert_eq!(
        (&view["lookup_key"], &view["nickname"]),
        (&"pro".into(), &"x".into())
    );
    let other = shop.price("Other", 5, "month");
    let path = format!("prices/{other}");
    assert!(
        shop.call("POST", &path, "lookup_key=pro").is_err(),
        "it is taken"
    );
    shop.post(&path, "lookup_key=pro&transfer_lookup_key=true");
    assert_eq!(
        shop.get(&format!("prices/{price}"))["lookup_key"],
        Value::Null
    );
    assert_eq!(shop.post(&path, "lookup_key=")["lookup_key"], Value::Null);
    assert!(shop.call("DELETE", &product, "").is_err(), "it has a price");
    let unused = id(&shop.post("products", "name=Unused"));
    let path = format!("products/{unused}");
    assert_eq!(shop.call("DELETE", &path, "").unwrap()["deleted"], true);
    assert_eq!(shop.call("GET", &path, "").unwrap_err().status, 404);
    assert!(
        shop.call("POST", &format!("prices/{price}"), "unit_amount=1")
            .is_err()
    );
}

#[test]
fn endpoints_show_their_secret_once_and_are_few() {
    let mut shop = Shop::new();
    let form = "url=http://127.0.0.1:9/hook&enabled_events[]=invoice.paid&enabled_events[]=charge.refunded";
    let made = shop.post("webhook_endpoints", form);
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    let path = format!("webhook_endpoints/{}", id(&made));
    let view = shop.get(&path);
    assert_eq!(
        (view.get("secret"), &view["status"]),
        (None, &"enabled".into())
    );
    assert_eq!(shop.post(&path, "disabled=true")["status"], "disabled");
    for wrong in [
        "url=x&enabled_events[]=*",
        "url=http://a.example",
        "url=http://a.example&enabled_events[]=paid",
    ] {
        assert!(
            shop.call("POST", "webhook_endpoints", wrong).is_err(),
            "{wrong}"
        );
    }
    for _ in 1..16 {
        shop.post("webhook_endpoints", form);
    }
    assert!(
        shop.call("POST", "webhook_endpoints", form).is_err(),
        "there are enough"
    );
    assert_eq!(shop.call("DELETE", &path, "").unwrap()["deleted"], true);
    assert_eq!(shop.call("GET", &path, "").unwrap_err().status, 404);
    let account = shop.get("account");
    assert_eq!(
        (&account["object"], &account["id"]),
        (&"account".into(), &shop.get("account")["id"])
    );
}
