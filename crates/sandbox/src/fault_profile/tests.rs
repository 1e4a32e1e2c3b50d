//! Each switch, in front of a provider that answers with the objects given to it.

use std::{collections::BTreeMap, convert::Infallible};

use serde_json::json;

use super::{permissions::permission, *};

const NOW: i64 = 1_795_000_000;

/// A provider of a few objects and events.
#[derive(Default)]
struct Kind {
    objects: BTreeMap<String, Value>,
    /// The newest first.
    events: Vec<Value>,
    asked: Vec<String>,
}

impl Kind {
    fn event(&mut self, number: i64, kind: &str, object: Value) {
        let event = json!({
            "id": format!("evt_{number}"), "object": "event", "type": kind, "created": NOW + number,
            "data": { "object": object },
        });
        self.events.insert(0, event);
    }

    fn answer(&mut self, path: &str, form: &Parameters) -> Answer {
        self.asked.push(path.to_owned());
        let found = match path {
            "/v1/events" => {
                let after = form.get("starting_after");
                let from = after.map_or(0, |after| {
                    let place = self.events.iter().position(|it| it["id"] == **after);
                    place.unwrap().saturating_add(1)
                });
                let limit: usize = form["limit"].parse().unwrap();
                let rest = &self.events[from..];
                let page = &rest[..rest.len().min(limit)];
                Some(json!({ "object": "list", "data": page, "has_more": rest.len() > limit }))
            }
            path => self.objects.get(path).cloned(),
        };
        match found {
            Some(body) => Answer { status: 200, body },
            None => Answer {
                status: 404,
                body: json!({}),
            },
        }
    }
}

struct Account {
    injector: FaultInjector,
    kind: Kind,
    now: i64,
    millis: i64,
}

impl Account {
    fn of(settings: FaultProfile) -> Self {
        let mut injector = FaultInjector::default();
        injector.switch(settings, NOW);
        Self {
            injector,
            kind: Kind::default(),
            now: NOW,
            millis: 0,
        }
    }

    fn ask(&mut self, method: &str, path: &str, query: &str) -> Outcome {
        let form: Parameters = url::form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect();
        let request = Request {
            method,
            path,
            form: &form,
            key: "rk_test_51RealKeyOfTheShopAbCdEf",
            operation: Some("key").filter(|_| method == "POST"),
            now: self.now,
            millis: self.millis,
        };
        let kind = &mut self.kind;
        let asked = self.injector.answer(&request, |_, path, form| {
            Ok::<_, Infallible>(kind.answer(path, form))
        });
        asked.unwrap()
    }

    fn answer(&mut self, method: &str, path: &str, query: &str) -> (u16, Value) {
        match self.ask(method, path, query) {
            Outcome::Answer { answer, .. } => (answer.status, answer.body),
            Outcome::Silence => panic!("silence"),
        }
    }

    fn get(&mut self, path: &str, query: &str) -> (u16, Value) {
        self.answer("GET", path, query)
    }

    /// The identifiers of a page, and whether there is more.
    fn ids(&mut self, path: &str, query: &str) -> (Vec<String>, bool) {
        let (_, page) = self.get(path, query);
        let data = page["data"].as_array().unwrap();
        let ids = data
            .iter()
            .map(|object| object["id"].as_str().unwrap().to_owned());
        (ids.collect(), page["has_more"] == true)
    }
}

#[test]
fn without_a_switch_nothing_is_changed() {
    let mut account = Account::of(FaultProfile::default());
    let invoice = json!({ "id": "in_1", "lines": { "data": vec![json!({ "id": "il_1" }); 40] } });
    account
        .kind
        .objects
        .insert("/v1/invoices/in_1".into(), invoice.clone());
    for _ in 0..200 {
        assert_eq!(account.get("/v1/invoices/in_1", ""), (200, invoice.clone()));
    }
    assert_eq!(account.injector.print(&invoice), invoice.to_string());
}

#[test]
fn each_endpoint_asks_for_a_permission_of_its_own() {
    for (method, path, name) in [
        ("GET", "/v1/disputes", "rak_dispute_read"),
        ("GET", "/v1/invoice_payments", "rak_invoice_payment_read"),
        ("GET", "/v1/invoices/in_1/lines", "rak_invoice_read"),
        (
            "POST",
            "/v1/subscription_schedules/sub_sched_1/release",
            "rak_subscription_schedule_write",
        ),
        (
            "DELETE",
            "/v1/subscriptions/sub_1",
            "rak_subscription_write",
        ),
        (
            "POST",
            "/v1/checkout/sessions",
            "rak_checkout_session_write",
        ),
        ("GET", "/v1/prices", "rak_plan_read"),
    ] {
        assert_eq!(permission(method, path).as_deref(), Some(name));
    }
    let denied = ["rak_dispute_read".to_owned(), "rak_charge_write".to_owned()];
    let mut account = Account::of(FaultProfile {
        denied: denied.into(),
        ..FaultProfile::default()
    });
    let (status, body) = account.get("/v1/disputes", "limit=1");
    assert_eq!(status, 403);
    let said = body["error"]["message"].as_str().unwrap();
    assert!(said.ends_with(
        "does not have the required permissions for this endpoint on account 'acct_1Faulty'. Having \
         the 'rak_dispute_read' permission would allow this request to continue."
    ));
    assert!(said.starts_with("The provided key 'rk_test_***") && !said.contains("RealKey"));
    assert_eq!(account.answer("POST", "/v1/disputes/dp_1", "").0, 403);
    assert_eq!(account.answer("POST", "/v1/refunds", "").0, 403);
    assert_eq!(
        account.get("/v1/refunds", "").0,
        404,
        "that may be read, and is not there"
    );
}

#[test]
fn an_endpoint_takes_so_many_requests_a_second_and_the_account_more() {
    let mut account = Account::of(FaultProfile::as_stripe());
    let taken = |account: &mut Account, path: &str| {
        (0..30).filter(|_| account.get(path, "").0 != 429).count()
    };
    assert_eq!(taken(&mut account, "/v1/charges/ch_1"), 25);
    assert_eq!(
        taken(&mut account, "/v1/charges/ch_2"),
        0,
        "it is the same endpoint"
    );
    assert_eq!(taken(&mut account, "/v1/invoices/in_1"), 25);
    assert_eq!(taken(&mut account, "/v1/disputes"), 25);
    assert_eq!(taken(&mut account, "/v1/refunds"), 25);
    assert_eq!(
        taken(&mut account, "/v1/events"),
        0,
        "a hundred of the account's"
    );
    account.millis = 1000;
    let Outcome::Answer { answer, headers } = account.ask("GET", "/v1/charges/ch_1", "") else {
        panic!("silence")
    };
    assert_eq!((answer.status, headers), (404, vec![]));
    taken(&mut account, "/v1/charges/ch_1");
    let (_, refused) = account.get("/v1/charges/ch_1", "");
    assert_eq!(refused["error"]["code"], "rate_limit");
}

#[test]
fn objects_have_their_real_size_and_what_they_say_is_as_it_was() {
    let mut account = Account::of(FaultProfile::as_stripe());
    let subscription = json!({
        "id": "sub_1", "status": "active", "metadata": { "scrip_order_id": "ord_1" },
        "items": { "data": [{ "id": "si_1", "price": { "id": "price_1" } }] },
    });
    account
        .kind
        .event(0, "customer.subscription.updated", subscription);
    account
        .kind
        .event(1, "invoice.paid", json!({ "id": "in_1" }));
    let (_, page) = account.get("/v1/events", "limit=100");
    let size = |place: usize| account.injector.print(&page["data"][place]).len();
    assert!(
        (10_900..13_000).contains(&size(1)),
        "a subscription's event has {}",
        size(1)
    );
    assert!(
        (7_900..9_500).contains(&size(0)),
        "an event has {}",
        size(0)
    );
    let object = &page["data"][1]["data"]["object"];
    assert_eq!(object["metadata"], json!({ "scrip_order_id": "ord_1" }));
    assert_eq!(object["items"]["data"][0]["price"]["id"], "price_1");
    let mut hundred = Account::of(FaultProfile {
        foreign_sales: 400,
        ..FaultProfile::as_stripe()
    });
    let (_, page) = hundred.get(
        "/v1/events",
        "limit=100&types[0]=customer.subscription.updated",
    );
    let printed = hundred.injector.print(&page);
    assert_eq!(page["data"].as_array().unwrap().len(), 100);
    assert!(
        printed.len() > 1 << 20,
        "a page has {} bytes",
        printed.len()
    );
    assert!(printed.contains("\"metadata\": {\n"));
}

#[test]
fn late_events_turn_up_behind_newer_ones() {
    let late_types = ["refund.created".to_owned()].into();
    let settings = FaultProfile {
        events_late_seconds: 300,
        late_types,
        ..FaultProfile::default()
    };
    let mut account = Account::of(settings);
    account
        .kind
        .event(1, "refund.created", json!({ "id": "re_1" }));
    account
        .kind
        .event(2, "invoice.paid", json!({ "id": "in_1" }));
    account.now = NOW + 2;
    assert_eq!(account.ids("/v1/events", "limit=10").0, ["evt_2"]);
    account.now = NOW + 301;
    assert_eq!(account.ids("/v1/events", "limit=10").0, ["evt_2", "evt_1"]);
    // Each by a different time: some are listed at once, all of them in the end.
    let settings = FaultProfile {
        events_late_seconds: 300,
        ..FaultProfile::default()
    };
    let mut account = Account::of(settings);
    for number in 0..50 {
        account
            .kind
            .event(number, "invoice.paid", json!({ "id": "in_1" }));
    }
    let mut listed = |now: i64| {
        account.now = now;
        account.ids("/v1/events", "limit=100").0.len()
    };
    assert!((1..49).contains(&listed(NOW + 50)));
    assert_eq!(listed(NOW + 350), 50);
}

#[test]
fn an_object_of_an_event_is_not_there_yet() {
    let mut account = Account::of(FaultProfile {
        missing_reads: 2,
        ..FaultProfile::default()
    });
    let path = "/v1/payment_intents/pi_1";
    account
        .kind
        .objects
        .insert(path.into(), json!({ "id": "pi_1" }));
    assert_eq!(account.get(path, "").0, 200);
    account.kind.event(
        1,
        "charge.refunded",
        json!({ "id": "ch_1", "payment_intent": "pi_1" }),
    );
    account.get("/v1/events", "limit=10");
    let (status, missing) = account.get(path, "");
    assert_eq!(
        (status, &missing["error"]["code"]),
        (404, &json!("resource_missing"))
    );
    account.get("/v1/events", "limit=10");
    assert_eq!(account.get(path, "").0, 404);
    assert_eq!(account.get(path, "").0, 200, "it was reported once");
}

#[test]
fn another_product_is_on_the_account() {
    let sales = FaultProfile {
        foreign_sales: 1000,
        foreign_days: 10,
        ..FaultProfile::default()
    };
    let mut account = Account::of(sales);
    account
        .kind
        .event(-5 * 86_400, "invoice.paid", json!({ "id": "in_own" }));
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let (ids, more) = account.ids("/v1/events", &format!("limit=100{after}"));
        after = format!("&starting_after={}", ids.last().unwrap());
        all.extend(ids);
        if !more {
            break;
        }
    }
    assert_eq!(all.len(), 1001);
    let own = all.iter().position(|id| id.starts_with("evt_-")).unwrap();
    assert_eq!(own, 500, "in its place among those of ten days");
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 1001);
    for own in ["charges", "refunds", "disputes"] {
        let empty = json!({ "object": "list", "data": [], "has_more": false });
        let lists = &mut account.kind.objects;
        lists.insert(format!("/v1/{own}"), empty);
    }
    let charges = account.ids("/v1/charges", "limit=100").0;
    assert_eq!(
        (charges.len(), charges[0].as_str()),
        (100, "ch_1Other0000000999")
    );
    let since = format!("limit=100&created[gte]={}", NOW - 86_400);
    assert_eq!(account.ids("/v1/refunds", &since).0.len(), 25);
    assert_eq!(
        account.ids("/v1/disputes", &since).0,
        ["du_1Other0000000999"]
    );
    let (_, session) = account.get("/v1/checkout/sessions/cs_test_1Other0000000004", "");
    assert_eq!(session["payment_intent"], "pi_1Other0000000004");
    let (_, intent) = account.get(
        "/v1/payment_intents/pi_1Other0000000004",
        "expand[0]=latest_charge",
    );
    assert_eq!(intent["latest_charge"]["amount"], intent["amount"]);
    let bill = account.ids(
        "/v1/invoice_payments",
        "payment[type]=payment_intent&payment[payment_intent]=pi_1Other0000000005",
    );
    assert_eq!(bill.0.len(), 1);
    assert_eq!(account.get("/v1/charges/ch_1Other0000001000", "").0, 404);
}

#[test]
fn a_failure_is_kept_and_a_broken_object_stays_broken() {
    let mut broken = BTreeMap::from([("in_1".to_owned(), 503)]);
    broken.insert("in_2".into(), 0);
    let settings = FaultProfile {
        failed_posts: 1,
        broken,
        ..FaultProfile::default()
    };
    let mut account = Account::of(settings);
    let path = "/v1/refunds";
    account.kind.objects.insert(path.into(), json!({}));
    for replayed in [false, true, true] {
        let Outcome::Answer { answer, headers } = account.ask("POST", path, "amount=1") else {
            panic!("silence")
        };
        assert_eq!((answer.status, !headers.is_empty()), (500, replayed));
    }
    assert_eq!(account.get("/v1/invoices/in_1", "").0, 503);
    assert_eq!(account.get("/v1/invoice_payments", "invoice=in_1").0, 503);
    assert_eq!(
        account.ask("GET", "/v1/invoices/in_2", ""),
        Outcome::Silence
    );
    assert_eq!(account.get("/v1/invoices/in_3", "").0, 404);
    let away = FaultProfile {
        away: 502,
        ..FaultProfile::default()
    };
    account.injector.switch(away, NOW);
    assert_eq!(account.get("/v1/invoices/in_3", "").0, 502);
}

#[test]
fn switches_are_set_by_their_names() {
    let form = |query: &str| {
        url::form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect::<Parameters>()
    };
    let stripe = FaultProfile::as_stripe();
    let set = stripe.with(&form(
        "indented=false&lines_embedded=5&denied[0]=rak_dispute_read&broken[in_1]=500",
    ));
    let set = set.unwrap();
    assert!(!set.indented && set.real_sizes);
    assert_eq!((set.lines_embedded, set.broken["in_1"]), (5, 500));
    assert!(set.with(&form("denied=")).unwrap().denied.is_empty());
    for wrong in [
        "kind=true",
        "indented=1",
        "denied[0]=disputes",
        "broken[in_1]=200",
        "away=404",
        "lines_embedded=-1",
    ] {
        assert!(stripe.with(&form(wrong)).is_err(), "{wrong}");
    }
}
