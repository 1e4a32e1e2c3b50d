//! Pages of rate cards, and what they say that use cost.

use std::{sync::Arc, time::Instant};

use actors::clock::Clock as _;
use domain::{
    Timestamp,
    rate_card::{PutRateCard, RateCardSlug, RateList},
};
use kit::service::Service;
use serde_json::{Value, json};

use crate::browser::Browser;

/// Makes the next version of a card.
pub(crate) async fn put(service: &Service, slug: &str, rates: &Value, from: Option<Timestamp>) {
    let rates = RateList::new(serde_json::from_value(rates.clone()).unwrap()).unwrap();
    let put = PutRateCard {
        slug: RateCardSlug::new(slug).unwrap(),
        product: service.product.parse().unwrap(),
        rates: Arc::new(rates),
        effective_from: from,
    };
    let put = service.catalog.put_rate_card(service.project.id, put).await;
    put.unwrap();
}

/// A card's rates, with this price of a thousand tokens of input.
pub(crate) fn rates(input: &str) -> Value {
    json!([
        {"match": {"model": "sonnet*"}, "unitPrices": {"input": input, "cachedInput": "0.1", "output": "15"}, "per": 1000,
         "above": [{"unit": "input", "from": 200_000, "unitPrices": {"input": "6"}}]},
        {"match": {"model": "whisper"}, "unitPrices": {"second": "0.13"}, "minimum": "1"},
        {"match": {"model": "local"}, "free": true},
    ])
}

/// A service with the card `chat`, a browser, and the path of the project's pages.
async fn shop() -> (Service, Browser, String) {
    let service = Service::start().await;
    put(&service, "chat", &rates("3"), None).await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    (service, browser, base)
}

#[tokio::test]
async fn a_card_is_listed_and_shows_what_things_cost() {
    let (service, browser, base) = shop().await;
    for page in [
        "/catalog".to_owned(),
        format!("/catalog/{}", service.product),
    ] {
        let page = browser.get(&format!("{base}{page}")).await;
        page.shows(&format!("href=\"{base}/rate-cards\""));
    }
    let card = format!("{base}/rate-cards/chat");
    let list = browser.get(&format!("{base}/rate-cards")).await;
    list.shows(&format!("href=\"{card}\""))
        .shows("Render credits")
        .shows("In force");
    let page = browser.get(&card).await;
    page.shows("<code><bdi>sonnet*</bdi></code>")
        .shows("<bdi>input above 200,000 input</bdi>")
        .shows("at least")
        .shows("free");
    let found = browser.get(&format!("{card}?find=WHISPER")).await;
    found
        .shows("<bdi>whisper</bdi>")
        .lacks("<bdi>sonnet*</bdi>");
    for unknown in [
        "/rate-cards/none",
        "/rate-cards/NONE",
        "/rate-cards/none/versions",
        "/rate-cards/chat?version=2",
    ] {
        assert_eq!(browser.get(&format!("{base}{unknown}")).await.status, 404);
    }
}

#[tokio::test]
async fn the_calculator_says_what_an_estimate_says() {
    let (service, browser, base) = shop().await;
    let card = format!("{base}/rate-cards/chat");
    let usage = r#"{"prompt_tokens": 2000, "completion_tokens": 100, "total_tokens": 2100, "prompt_tokens_details": {"cached_tokens": 1000, "made_up_tokens": 7}}"#;
    let parsed: Value = serde_json::from_str(usage).unwrap();
    let cases = [
        (
            vec![
                ("attributes.model", "sonnet-4"),
                ("quantities.input", "300"),
            ],
            json!({"attributes": {"model": "sonnet-4"}, "quantities": {"input": 300}}),
            vec!["0.9", "3 per 1,000", "<bdi>sonnet*</bdi>"],
        ),
        (
            vec![("attributes.model", "whisper"), ("quantities.second", "2")],
            json!({"attributes": {"model": "whisper"}, "quantities": {"second": 2}}),
            vec!["0.26", "at least"],
        ),
        (
            vec![
                ("attributes.model", "sonnet-4"),
                ("usage", usage),
                ("usageFormat", "openai.chat"),
            ],
            json!({"attributes": {"model": "sonnet-4"}, "usage": parsed, "usageFormat": "openai.chat"}),
            vec!["cachedInput", "prompt_tokens_details.made_up_tokens"],
        ),
    ];
    for (fields, mut body, shown) in cases {
        body["rateCard"] = json!("chat");
        let estimate = service.publishable.post("/api/v1/estimate", &body).await;
        let estimate = estimate.expect(200);
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(&fields)
            .finish();
        let page = browser.get(&format!("{card}?{query}")).await;
        assert_eq!(page.status, 200, "{}", page.html);
        page.shows(&format!("<b>{}</b> credits", estimate["amount"]));
        page.shows(&format!("<b>{}</b>", estimate["cost"].as_str().unwrap()));
        for text in shown {
            page.shows(text);
        }
        // What was entered is still there.
        assert_eq!(page.value("attributes.model"), Some(fields[0].1));
    }
}

#[tokio::test]
async fn what_cannot_be_estimated_is_explained_beside_its_field() {
    let (_service, browser, base) = shop().await;
    for (name, value, wrong) in [
        ("quantities.input", "many", "quantities.input"),
        ("quantities.input", "-1", "quantities.input"),
        ("quantities.input", "9007199254740992", "quantities.input"),
        (
            "quantities.input",
            "99999999999999999999",
            "quantities.input",
        ),
        ("quantities.input", "0", "quantities.input"),
        ("usage", "{", "usage"),
        ("usage", "{}", "usageFormat"),
        ("usage", "{}&usageFormat=anthropic", "usage"),
        (
            "usage",
            "{\"input_tokens\": -1}&usageFormat=anthropic",
            "usage",
        ),
        ("usage", "{}&quantities.input=1", "usage"),
        ("attributes.model", &"x".repeat(256), "attributes.model"),
    ] {
        let path = format!("{base}/rate-cards/chat?attributes.model=kept-1&{name}={value}");
        let path = match name {
            "attributes.model" => path.replace("attributes.model=kept-1&", ""),
            _ => path,
        };
        let page = browser.get(&path).await;
        assert_eq!(page.status, 400, "{name} {value}");
        assert_eq!(page.html.matches("class=\"wrong\"").count(), 1, "{value}");
        page.shows(&format!("id=\"{wrong}-wrong\""));
        if name != "attributes.model" {
            assert_eq!(page.value("attributes.model"), Some("kept-1"));
        }
    }
    // What has no price is refused, never free.
    for (query, message) in [
        (
            "attributes.model=none&quantities.input=1",
            "No rate of the card",
        ),
        (
            "attributes.model=whisper&quantities.input=1",
            "no price for input",
        ),
    ] {
        let page = browser
            .get(&format!("{base}/rate-cards/chat?{query}"))
            .await;
        assert_eq!(page.status, 404);
        page.shows("role=\"alert\"").shows(message);
    }
}

#[tokio::test]
async fn versions_say_what_changed() {
    let (service, browser, base) = shop().await;
    let mut changed = rates("4");
    changed[1] = json!({"match": {"model": "tts"}, "unitPrices": {"second": "2"}});
    service.clock.advance_millis(1000);
    put(&service, "chat", &changed, None).await;
    let later = Timestamp(service.clock.now().0.saturating_add(60_000));
    put(&service, "chat", &rates("2"), Some(later)).await;
    let card = format!("{base}/rate-cards/chat");
    let page = browser.get(&format!("{card}/versions")).await;
    page.shows("Planned")
        .shows("Former")
        .shows("1 new, 1 gone, 1 changed")
        .shows("3 → <b>4</b> (+33.3 %)")
        .shows("4 → <b>2</b> (−50.0 %)");
    let first = browser.get(&format!("{card}?version=1")).await;
    first.shows("not in force").lacks("id=\"changes\"");
    let planned = browser.get(&format!("{card}?version=3")).await;
    planned.shows("What version 3 changed").shows("−50.0 %");
    // Each is looked up in the log.
    let audit = page.between("<a class=\"small\" href=\"", "\"");
    let audit = browser.get(&audit.replace("&amp;", "&")).await;
    assert_eq!(audit.status, 200);
    service.clock.advance_millis(60_000);
    let page = browser.get(&format!("{card}/versions")).await;
    page.lacks("Planned").shows("In force");
}

#[tokio::test]
async fn a_large_card_with_many_versions_is_shown_in_parts() {
    let (service, browser, base) = shop().await;
    let mut many: Vec<Value> = (0..1000)
        .map(|number| {
            // Names of one length would all be compared with each other.
            let model = format!("model-{number:03}{}", "x".repeat(number % 50));
            json!({"match": {"model": model}, "unitPrices": {"input": "3", "output": "15"}, "per": 1000})
        })
        .collect();
    for version in 1..=300_u32 {
        let changed = many.len() - 1;
        many[changed]["unitPrices"]["input"] = json!(version.to_string());
        service.clock.advance_millis(1);
        put(&service, "many", &json!(many), None).await;
    }
    // All at once.
    for rate in &mut many {
        rate["unitPrices"]["output"] = json!("16");
    }
    service.clock.advance_millis(1);
    put(&service, "many", &json!(many), None).await;
    let card = format!("{base}/rate-cards/many");
    let began = Instant::now();
    let paths = [
        "",
        "?version=7",
        "/versions",
        "/versions?before=31",
        "?rate=950&change=900",
    ];
    for path in paths {
        let page = browser.get(&format!("{card}{path}")).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.html.len() < 120_000, "{path}: {}", page.html.len());
    }
    let took = began.elapsed().as_secs();
    assert!(took < 10, "{took} s");
    let page = browser.get(&card).await;
    page.shows("1–50 of 1,000")
        .shows("1–100 of 1,000")
        .shows("301 versions");
    let page = browser.get(&format!("{card}?rate=950")).await;
    page.shows("model-999").lacks("model-949");
}

#[tokio::test]
async fn all_versions_are_reached_by_links() {
    let (service, browser, base) = shop().await;
    for version in 2..=25 {
        service.clock.advance_millis(1);
        put(&service, "chat", &rates(&version.to_string()), None).await;
    }
    let card = format!("{base}/rate-cards/chat");
    let mut path = format!("{card}/versions");
    let mut seen = 0;
    loop {
        let page = browser.get(&path).await;
        seen += page.html.matches("?version=").count();
        let Some((_, older)) = page.html.split_once("?before=") else {
            break;
        };
        path = format!(
            "{card}/versions?before={}",
            older.split('"').next().unwrap()
        );
        assert!(seen < 100, "{path}");
    }
    assert_eq!(seen, 25);
    for past in ["0", "1", "99"] {
        let page = browser.get(&format!("{card}/versions?before={past}")).await;
        assert_eq!(page.status, 200, "{past}");
    }
}

#[tokio::test]
async fn an_entry_explains_what_it_charged_and_use_is_summed_up() {
    let (service, browser, base) = shop().await;
    service.grant("ann", 100).await;
    for (key, model, quantities) in [
        ("k1", "sonnet-4", json!({"input": 300, "output": 100})),
        ("k2", "whisper", json!({"second": 2})),
    ] {
        let body = json!({
            "externalUserId": "ann", "idempotencyKey": key, "rateCard": "chat",
            "attributes": {"model": model}, "quantities": quantities,
        });
        let path = "/api/v1/wallets/external/deduct";
        service.secret.post(path, &body).await.expect(200);
    }
    // It was charged by the version that counted then.
    service.clock.advance_millis(1000);
    put(&service, "chat", &rates("9"), None).await;
    let wallet = browser.search(&base, "ann").await.location().to_owned();
    let page = browser.get(&wallet).await;
    page.shows("<summary>2.4 by chat</summary>")
        .shows("?version=1\">chat version 1</a>")
        .shows("300 input × 3 per 1,000 = 0.9")
        .shows("100 output × 15 per 1,000 = 1.5")
        .shows("Cost <b>2.4</b>; charged <b>2</b>; carried on <b>0.4</b>")
        .shows("Cost <b>1</b>, the least; charged <b>1</b>");
    let page = browser.get(&format!("{wallet}/spending")).await;
    page.shows("Spent, by model")
        .shows("<bdi>whisper</bdi></td><td class=\"number\">1</td>")
        .shows("<bdi>chat</bdi></td><td class=\"number\">3</td>");
    let page = browser.get(&base).await;
    page.shows("Used by model").shows("<bdi>sonnet-4</bdi>");
    page.shows("Used by rate card");
}

#[tokio::test]
async fn a_part_that_was_drawn_before_is_not_taken_for_a_discount() {
    let (service, browser, base) = shop().await;
    service.grant("ann", 100).await;
    let with = |mut body: Value, key: &str, input: u32| {
        body["idempotencyKey"] = json!(key);
        body["rateCard"] = json!("chat");
        body["attributes"] = json!({"model": "sonnet-4"});
        body["quantities"] = json!({"input": input});
        body
    };
    let api = "/api/v1/wallets/external/holds";
    let placed = with(json!({"externalUserId": "ann"}), "h", 3000);
    let hold = service.secret.post(api, &placed).await.expect(200);
    let hold = format!("/api/v1/holds/{}", hold["holdId"].as_str().unwrap());
    let path = format!("{hold}/draw");
    let drawn = with(json!({}), "d", 2000);
    service.secret.post(&path, &drawn).await.expect(200);
    let path = format!("{hold}/settle");
    let settled = with(json!({}), "s", 3000);
    service.secret.post(&path, &settled).await.expect(200);
    let wallet = browser.search(&base, "ann").await.location().to_owned();
    let page = browser.get(&wallet).await;
    page.shows("Cost <b>6</b>; charged <b>6</b>")
        .shows("Cost <b>9</b>; charged <b>3</b>");
    let notes = page.html.matches("drawn before").count();
    assert_eq!(notes, 1, "{}", page.html);
}

#[tokio::test]
async fn a_card_is_closed_after_a_question() {
    let (_service, browser, base) = shop().await;
    let card = format!("{base}/rate-cards/chat");
    browser.get(&card).await.shows("Close…");
    let page = browser.confirm(&format!("{card}/close"), &[]).await;
    page.shows("The rate card was closed.")
        .shows("<span class=\"badge\">Closed</span>")
        .shows("<bdi>sonnet*</bdi>")
        .lacks("Close…");
    let list = browser.get(&format!("{base}/rate-cards")).await;
    list.shows("<span class=\"badge\">Closed</span>");
    let close = format!("{card}/close");
    let again = browser.post(&close, &[("confirmed", "on")]).await;
    assert_eq!(again.status, 404);
}
