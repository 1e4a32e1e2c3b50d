//! The list of events.

use super::*;

fn kinds(list: &Value) -> Vec<&str> {
    let data = list["data"].as_array().unwrap().iter();
    data.map(|event| event["type"].as_str().unwrap()).collect()
}

#[test]
fn a_reader_sees_everything_once_whichever_way_it_pages() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    shop.subscribed(&price, "");
    shop.subscribed(&price, "");
    shop.until(months(1));
    let whole = shop.call("GET", "events", "limit=100").unwrap();
    let all: Vec<String> = whole["data"].as_array().unwrap().iter().map(id).collect();
    assert!(
        all.len() > 12 && whole["has_more"] == false,
        "{}",
        all.len()
    );
    let created: Vec<i64> = whole["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["created"].as_i64().unwrap())
        .collect();
    assert!(created.is_sorted_by(|a, b| a >= b), "the newest first");
    let mut down: Vec<String> = Vec::new();
    let mut query = "limit=5".to_owned();
    loop {
        let page = shop.call("GET", "events", &query).unwrap();
        down.extend(page["data"].as_array().unwrap().iter().map(id));
        if page["has_more"] == false {
            break;
        }
        query = format!("limit=5&starting_after={}", down.last().unwrap());
    }
    assert_eq!(down, all);
    let mut up: Vec<String> = vec![all.last().unwrap().clone()];
    loop {
        let query = format!("limit=5&ending_before={}", up[0]);
        let page = shop.call("GET", "events", &query).unwrap();
        let newer: Vec<String> = page["data"].as_array().unwrap().iter().map(id).collect();
        up.splice(0..0, newer);
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(up, all);
}

#[test]
fn a_reader_asks_for_a_time_and_for_kinds() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    shop.subscribed(&price, "");
    shop.until(months(1) + DAY);
    let one = months(1);
    for (query, expected) in [
        (
            format!("created[gte]={one}&type=customer.subscription.updated"),
            1,
        ),
        (format!("created[lt]={one}&type=customer.subscription.*"), 1),
        (format!("created={START}&type=invoice.paid"), 1),
        (
            format!("created[gt]={START}&types[]=invoice.paid&types[]=charge.succeeded"),
            2,
        ),
        (format!("created[lte]={START}&types[0]=charge.succeeded"), 1),
        ("type=charge.dispute.created".to_owned(), 0),
        ("delivery_success=true".to_owned(), 0),
    ] {
        let list = shop.call("GET", "events", &query).unwrap();
        assert_eq!(kinds(&list).len(), expected, "{query}: {:?}", kinds(&list));
    }
    shop.sent_kinds();
    let list = shop
        .call("GET", "events", "delivery_success=true&limit=1")
        .unwrap();
    assert_eq!(list["data"][0]["pending_webhooks"], 0);
    for (query, param) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("starting_after=evt_none", "starting_after"),
        ("type=a&types[]=b", "type"),
        ("created[gte]=x", "created[gte]"),
    ] {
        let refusal = shop.call("GET", "events", query).unwrap_err();
        assert_eq!(refusal.param.as_deref(), Some(param), "{query}");
    }
}

#[test]
fn an_event_is_as_it_was_and_is_kept_thirty_days() {
    let mut shop = Shop::new();
    let price = shop.price("Pro", 1900, "month");
    let subscription = shop.subscribed(&price, "");
    shop.post(
        &format!("subscriptions/{subscription}"),
        "cancel_at_period_end=true",
    );
    let query = "type=customer.subscription.created";
    let event = shop.call("GET", "events", query).unwrap()["data"][0].clone();
    let subject = &event["data"]["object"];
    assert_eq!(subject["cancel_at_period_end"], false, "as it was then");
    assert_eq!(subject["items"]["data"][0]["price"]["id"], price.as_str());
    assert_eq!(event["api_version"], stripe::API_VERSION);
    assert_eq!(
        (&event["livemode"], &event["object"]),
        (&false.into(), &"event".into())
    );
    let path = format!("events/{}", id(&event));
    shop.sent_kinds();
    shop.db.now = START + 30 * DAY;
    assert_eq!(shop.get(&path)["type"], "customer.subscription.created");
    shop.db.now += 1;
    assert_eq!(shop.call("GET", &path, "").unwrap_err().status, 404);
    let list = shop.call("GET", "events", query).unwrap();
    assert_eq!(kinds(&list).len(), 0);
    due::tidy(&mut shop.db);
    assert!(
        shop.db.get::<Event>(&id(&event)).is_none(),
        "nor does it take room"
    );
}

#[test]
fn the_oldest_make_room_for_new_ones() {
    let mut shop = Shop::new();
    shop.db.most_events = 10;
    for _ in 0..4 {
        shop.post("products", "name=Something");
        shop.price("Pro", 1900, "month");
    }
    let list = shop.call("GET", "events", "limit=100").unwrap();
    assert_eq!(kinds(&list).len(), 10, "of twelve");
    assert_eq!(shop.db.all::<Event>().count(), 10);
}
