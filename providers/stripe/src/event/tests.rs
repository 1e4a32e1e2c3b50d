//! Every type that is acted on, and everything else.

use super::*;

const SESSION: &str = r#"{"id":"cs_1","object":"checkout.session","mode":"payment",
    "status":"complete","payment_status":"paid"}"#;
const INVOICE: &str = r#"{"id":"in_1","object":"invoice","amount_paid":1,"currency":"usd",
    "created":1}"#;
const SUBSCRIPTION: &str = r#"{"id":"sub_1","object":"subscription","customer":"cus_1",
    "status":"active"}"#;
const CHARGE: &str = r#"{"id":"ch_1","object":"charge","amount":5,"amount_refunded":5,
    "refunded":true,"currency":"usd"}"#;
const DISPUTE: &str = r#"{"id":"du_1","object":"dispute","status":"lost","amount":5,
    "currency":"usd","charge":"ch_1"}"#;

/// Each known type, what it is about, and the name of what it becomes.
const KNOWN: [(&str, &str, &str); 14] = [
    ("checkout.session.completed", SESSION, "CheckoutCompleted"),
    (
        "checkout.session.async_payment_succeeded",
        SESSION,
        "CheckoutPaymentSucceeded",
    ),
    (
        "checkout.session.async_payment_failed",
        SESSION,
        "CheckoutPaymentFailed",
    ),
    ("checkout.session.expired", SESSION, "CheckoutExpired"),
    ("invoice.paid", INVOICE, "InvoicePaid"),
    ("invoice.payment_failed", INVOICE, "InvoicePaymentFailed"),
    (
        "customer.subscription.created",
        SUBSCRIPTION,
        "SubscriptionCreated",
    ),
    (
        "customer.subscription.updated",
        SUBSCRIPTION,
        "SubscriptionUpdated",
    ),
    (
        "customer.subscription.deleted",
        SUBSCRIPTION,
        "SubscriptionDeleted",
    ),
    ("charge.refunded", CHARGE, "ChargeRefunded"),
    ("charge.dispute.created", DISPUTE, "DisputeCreated"),
    (
        "charge.dispute.funds_withdrawn",
        DISPUTE,
        "DisputeFundsWithdrawn",
    ),
    (
        "charge.dispute.funds_reinstated",
        DISPUTE,
        "DisputeFundsReinstated",
    ),
    ("charge.dispute.closed", DISPUTE, "DisputeClosed"),
];

fn body(kind: &str, object: &str) -> String {
    format!(
        r#"{{"id":"evt_1","object":"event","api_version":"2026-10-28.endive","created":7,
        "livemode":false,"pending_webhooks":1,"request":{{"id":null,"idempotency_key":null}},
        "type":"{kind}","data":{{"object":{object},"previous_attributes":{{"x":1}}}}}}"#
    )
}

fn parse(json: &str) -> Result<Event, Error> {
    Event::parse(json.as_bytes())
}

#[test]
fn every_known_type_is_read() {
    for (kind, object, name) in KNOWN {
        let event = parse(&body(kind, object)).unwrap();
        assert_eq!((event.id.as_str(), &*event.kind), ("evt_1", kind));
        assert_eq!((event.created, event.livemode), (Some(7), Some(false)));
        assert_eq!(event.api_version.as_deref(), Some("2026-10-28.endive"));
        let debug = format!("{:?}", event.payload);
        assert!(debug.starts_with(&format!("{name}(")), "{kind}: {debug}");
    }
}

#[test]
fn the_object_is_the_one_that_was_sent() {
    let event = parse(&body("charge.refunded", CHARGE)).unwrap();
    let Payload::ChargeRefunded(charge) = event.payload else {
        panic!("{event:?}");
    };
    assert!(charge.refunded);
    assert_eq!(charge.amount_refunded, 5);
}

#[test]
fn an_unknown_type_is_ignored_whatever_it_holds() {
    for json in [
        body("customer.created", r#"{"id":"cus_1"}"#),
        body("checkout.session.completed.v2", "null"),
        r#"{"id":"evt_1","type":"ping"}"#.into(),
        // A thin event has its time as a text and no data.
        r#"{"id":"evt_1","object":"v2.core.event","type":"v2.core.account.updated",
            "created":"2026-01-01T00:00:00Z","livemode":"?","related_object":{}}"#
            .into(),
    ] {
        assert_eq!(parse(&json).unwrap().payload, Payload::Ignored, "{json}");
    }
}

#[test]
fn a_known_type_without_its_object_is_an_error() {
    for (kind, object, _) in KNOWN {
        for broken in ["null", "{}", "[]", "1", r#"{"id":""}"#, r#"{"id":1}"#] {
            assert!(parse(&body(kind, broken)).is_err(), "{kind} {broken}");
        }
        // Each object needs its id.
        let without = object.replacen("\"id\"", "\"no_id\"", 1);
        let said = parse(&body(kind, &without)).unwrap_err().to_string();
        assert!(
            said.contains("data.object") && said.contains("`id`"),
            "{said}"
        );
        let nothing = format!(r#"{{"id":"evt_1","type":"{kind}"}}"#);
        assert!(parse(&nothing).is_err(), "{kind}");
    }
}

#[test]
fn what_is_no_event_is_an_error() {
    let good = body("ping", "{}");
    for json in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"id":"evt_1"}"#,
        r#"{"type":"ping"}"#,
        r#"{"id":7,"type":"ping"}"#,
        r#"{"id":"","type":"ping"}"#,
        &good[..good.len() - 1],
        &format!("{good}{good}"),
    ] {
        assert!(parse(json).is_err(), "{json}");
    }
    assert!(Event::parse(&[0xff, 0xfe]).is_err());
}

proptest::proptest! {
    #[test]
    fn nothing_makes_it_panic(body in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
        let _ = Event::parse(&body);
    }
}
