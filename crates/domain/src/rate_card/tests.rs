use serde_json::{Value, json};

use super::*;

fn rates(rates: Value) -> Vec<Rate> {
    serde_json::from_value(rates).unwrap()
}

fn table(card: Value) -> Result<RateTable, Refusal> {
    RateTable::new(&rates(card))
}

fn of<T>(pairs: &[(&str, T)]) -> BTreeMap<Box<str>, T>
where
    T: Clone,
{
    pairs
        .iter()
        .map(|(name, value)| ((*name).into(), value.clone()))
        .collect()
}

fn attributes(pairs: &[(&str, &str)]) -> Attributes {
    Attributes::new(
        pairs
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect(),
    )
    .unwrap()
}

fn cost(card: &RateTable, model: &str, used: &[(&str, u64)]) -> Result<String, RateError> {
    let quantities = Quantities::new(of(used)).unwrap();
    card.cost(&attributes(&[("model", model)]), &quantities)
        .map(|rated| rated.cost.to_string())
}

fn refused(card: Value) -> String {
    match table(card) {
        Err(Refusal::Invalid { param, .. }) => param,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_unit_without_a_price_takes_its_parents_and_otherwise_has_none() {
    let card = table(json!([
        {"match": {"model": "sonnet*"}, "unitPrices": {"input": "3", "cachedInput": "0.3", "output": "15"}, "per": 1_000_000},
        {"match": {"model": "haiku"}, "unitPrices": {"image": "2"}},
    ]))
    .unwrap();
    let used = [
        ("input", 1000),
        ("cachedInput", 10_000),
        ("cacheWrite1h", 1000),
        ("reasoning", 100),
        ("output", 10),
    ];
    // 3000 + 3000 + 3000 (as input) + 1500 (as output) + 150 millionths.
    assert_eq!(cost(&card, "sonnet-4", &used).unwrap(), "0.01065");
    assert_eq!(
        cost(&card, "sonnet-4", &[("second", 1)]),
        Err(RateError::NoPrice("second".into()))
    );
    assert_eq!(
        cost(&card, "haiku", &[("input", 1)]),
        Err(RateError::NoPrice("input".into()))
    );
    assert_eq!(
        cost(&card, "haiku-4", &[("image", 1)]),
        Err(RateError::NoRate)
    );
    assert_eq!(
        cost(&card, "haiku", &[("image", 9_007_199_254_740_991)]),
        Err(RateError::TooMuch)
    );
}

#[test]
fn most_attributes_win_then_exact_ones_then_the_longest() {
    let price = |text: &str| json!({"request": text});
    let card = table(json!([
        {"match": {}, "unitPrices": price("1")},
        {"match": {"model": "*"}, "unitPrices": price("2")},
        {"match": {"model": "gpt-*"}, "unitPrices": price("3")},
        {"match": {"model": "gpt-4*"}, "unitPrices": price("4")},
        {"match": {"model": "gpt-4"}, "unitPrices": price("5")},
        {"match": {"model": "gpt*", "region": "eu"}, "unitPrices": price("6")},
        {"match": {"model": "gpt-4", "region": "e*"}, "unitPrices": price("7")},
    ]))
    .unwrap();
    let find = |pairs: &[(&str, &str)]| {
        let once = Quantities::new(of(&[("request", 1)])).unwrap();
        card.cost(&attributes(pairs), &once)
            .unwrap()
            .cost
            .to_string()
    };
    assert_eq!(find(&[]), "1");
    assert_eq!(find(&[("region", "eu")]), "1");
    assert_eq!(find(&[("model", "o3")]), "2");
    assert_eq!(find(&[("model", "gpt-")]), "3");
    assert_eq!(find(&[("model", "gpt-4o")]), "4");
    assert_eq!(find(&[("model", "gpt-4")]), "5");
    assert_eq!(find(&[("model", "gpt-5"), ("region", "eu")]), "6");
    // One exact attribute each: the sum of the literals decides, 5 + 1 against 3 + 2.
    assert_eq!(find(&[("model", "gpt-4"), ("region", "eu")]), "7");
    assert_eq!(find(&[("model", "é")]), "2");
}

#[test]
fn rates_that_tie_are_refused_if_something_matches_both() {
    let price = json!({"request": "1"});
    let pair = |one: Value, other: Value| {
        table(json!([{"match": one, "unitPrices": price}, {"match": other, "unitPrices": price}]))
    };
    for (one, other) in [
        (json!({}), json!({})),
        (json!({"model": "a"}), json!({"model": "a"})),
        (json!({"model": "a*"}), json!({"model": "a*"})),
        (json!({"model": "a*"}), json!({"region": "b*"})),
        (
            json!({"model": "a", "region": "bc*"}),
            json!({"model": "a*", "region": "bc"}),
        ),
    ] {
        match pair(one, other) {
            Err(Refusal::Invalid { param, .. }) => assert_eq!(param, "rates[1].match"),
            other => panic!("{other:?}"),
        }
    }
    for (one, other) in [
        (json!({"model": "a*"}), json!({"model": "b*"})),
        (json!({"model": "a*"}), json!({"model": "ab*"})),
        (json!({"model": "ab*"}), json!({"model": "ab"})),
        (
            json!({"model": "a*", "region": "x"}),
            json!({"model": "b", "region": "y*"}),
        ),
    ] {
        assert!(pair(one.clone(), other.clone()).is_ok(), "{one} {other}");
    }
}

#[test]
fn the_greatest_tier_that_applies_prices_all_of_the_usage() {
    let card = table(json!([{
        "match": {},
        "unitPrices": {"input": "1", "cachedInput": "0.1", "output": "2"},
        "above": [
            {"unit": "input", "from": 100, "unitPrices": {"input": "10"}},
            {"unit": "input", "from": 200, "unitPrices": {"input": "100", "cachedInput": "50"}},
        ],
    }]))
    .unwrap();
    let cost = |input, cached| {
        cost(
            &card,
            "m",
            &[("input", input), ("cachedInput", cached), ("output", 1)],
        )
        .unwrap()
    };
    assert_eq!(cost(50, 50), "57", "not passed");
    assert_eq!(
        cost(51, 50),
        "517",
        "cached input is input, and keeps its price"
    );
    assert_eq!(cost(1, 200), "10102");
}

#[test]
fn bad_rates_are_refused_by_name() {
    let ok = json!({"request": "1"});
    assert_eq!(refused(json!([])), "rates");
    let many: Vec<Value> = (0..=1000)
        .map(|n| json!({"match": {"model": n.to_string()}, "unitPrices": ok}))
        .collect();
    assert_eq!(refused(Value::from(many)), "rates");
    let one = |rate: Value| refused(json!([rate]));
    assert_eq!(
        one(json!({"match": {"model": "a*b"}, "unitPrices": ok})),
        "rates[0].match.model"
    );
    assert_eq!(
        one(json!({"match": {"model": ""}, "unitPrices": ok})),
        "rates[0].match.model"
    );
    assert_eq!(
        one(json!({"match": {"a b": "x"}, "unitPrices": ok})),
        "rates[0].match"
    );
    assert_eq!(
        one(json!({"match": {}, "unitPrices": ok, "per": 3})),
        "rates[0].per"
    );
    assert_eq!(
        one(json!({"match": {}, "unitPrices": ok, "per": 0})),
        "rates[0].per"
    );
    assert_eq!(
        one(json!({"match": {}, "unitPrices": {}})),
        "rates[0].unitPrices"
    );
    assert_eq!(
        one(json!({"match": {}, "unitPrices": {"request": "0.0"}})),
        "rates[0].unitPrices"
    );
    assert_eq!(
        one(json!({"match": {}, "unitPrices": {"request": "1e3"}})),
        "rates[0].unitPrices.request"
    );
    assert_eq!(
        one(json!({"match": {}, "unitPrices": ok, "free": true})),
        "rates[0].unitPrices"
    );
    assert_eq!(
        one(json!({"match": {}, "free": true, "minimum": "1"})),
        "rates[0].minimum"
    );
    let tier = json!({"unit": "input", "from": 1, "unitPrices": {"input": "0"}});
    assert_eq!(
        one(json!({"match": {}, "unitPrices": ok, "above": [tier]})),
        "rates[0].above[0].unitPrices"
    );
    let tier = json!({"unit": "input", "from": 1, "unitPrices": ok});
    assert_eq!(
        one(json!({"match": {}, "unitPrices": ok, "above": [tier, tier]})),
        "rates[0].above[1].from"
    );
    let free = table(json!([{"match": {}, "free": true}])).unwrap();
    assert_eq!(cost(&free, "m", &[("anything", 5)]).unwrap(), "0");
    let minimum =
        table(json!([{"match": {}, "unitPrices": {"input": "1"}, "per": 1000, "minimum": "0.5"}]))
            .unwrap();
    let used = Quantities::new(of(&[("input", 1)])).unwrap();
    let rated = minimum.cost(&Attributes::default(), &used).unwrap();
    assert_eq!(
        (rated.cost.to_string(), rated.minimum.to_string()),
        ("0.001".into(), "0.5".into())
    );
}

#[test]
fn attributes_and_quantities_have_their_bounds() {
    assert!(Attributes::new(of(&[("model", "x".repeat(255).into())])).is_ok());
    for (name, value) in [
        ("model", "x".repeat(256)),
        ("model", String::new()),
        ("", "x".into()),
        ("model", "a\0".into()),
    ] {
        assert!(
            Attributes::new(of(&[(name, value.clone().into())])).is_err(),
            "{name} {value}"
        );
    }
    assert!(Quantities::new(of(&[("input", 0)])).is_err());
    assert!(Quantities::new(BTreeMap::new()).is_err());
    assert!(Quantities::new(of(&[("input", 1 << 53)])).is_err());
    let one = Quantities::new(of(&[("input", 1), ("output", 0)])).unwrap();
    assert_eq!(one, Quantities::new(of(&[("input", 1)])).unwrap());
}

fn read(format: &str, usage: Value) -> Result<Value, String> {
    let format = match format {
        "openai.chat" => UsageFormat::OpenaiChat,
        "openai.responses" => UsageFormat::OpenaiResponses,
        "anthropic" => UsageFormat::Anthropic,
        "gemini" => UsageFormat::Gemini,
        other => {
            assert_eq!(other, "ai-sdk");
            UsageFormat::AiSdk
        }
    };
    let quantities = read_usage(format, &usage).map_err(|refusal| match refusal {
        Refusal::Invalid { param, .. } => param,
        other => panic!("{other}"),
    })?;
    let units = quantities
        .iter()
        .map(|(unit, count)| (unit.to_owned(), count.into()));
    Ok(Value::Object(units.collect()))
}

#[test]
fn usage_is_counted_without_overlap() {
    let chat = json!({
        "prompt_tokens": 2006, "completion_tokens": 300, "total_tokens": 2306,
        "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": null},
        "completion_tokens_details": {"reasoning_tokens": 128, "accepted_prediction_tokens": 0},
    });
    let units =
        json!({"input": 86, "cachedInput": 1920, "output": 172, "reasoning": 128, "request": 1});
    assert_eq!(read("openai.chat", chat).unwrap(), units);
    let responses = json!({
        "input_tokens": 36, "output_tokens": 87, "total_tokens": 123,
        "input_tokens_details": {"cached_tokens": 6}, "output_tokens_details": {"reasoning_tokens": 7},
    });
    let units = json!({"input": 30, "cachedInput": 6, "output": 80, "reasoning": 7, "request": 1});
    assert_eq!(read("openai.responses", responses).unwrap(), units);
    let anthropic = json!({
        "input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 70,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 50}, "service_tier": "standard",
    });
    let units = json!({"input": 10, "cachedInput": 100, "cacheWrite": 20, "cacheWrite1h": 50, "output": 5, "request": 1});
    assert_eq!(read("anthropic", anthropic).unwrap(), units);
    let gemini = json!({
        "promptTokenCount": 1000, "cachedContentTokenCount": 400, "candidatesTokenCount": 20, "thoughtsTokenCount": 30,
        "toolUsePromptTokenCount": 7, "totalTokenCount": 1057,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 300}, {"modality": "AUDIO", "tokenCount": 700}],
        "cacheTokensDetails": [{"modality": "AUDIO", "tokenCount": 400}],
    });
    let units = json!({"input": 307, "cachedInput": 400, "inputAudio": 300, "output": 20, "reasoning": 30, "request": 1});
    assert_eq!(read("gemini", gemini).unwrap(), units);
    let sdk = json!({"inputTokens": 10, "outputTokens": 20, "totalTokens": 30, "cachedInputTokens": 4, "reasoningTokens": 5});
    let units = json!({"input": 6, "cachedInput": 4, "output": 15, "reasoning": 5, "request": 1});
    assert_eq!(read("ai-sdk", sdk).unwrap(), units);
    // As a model of the SDK has it itself, with what the provider answered.
    let model = json!({
        "inputTokens": {"total": 100, "noCache": 60, "cacheRead": 40}, "outputTokens": {"total": 7, "text": 7},
        "raw": {"prompt_tokens": 100, "some_new_tokens": 3},
    });
    let units = json!({"input": 60, "cachedInput": 40, "output": 7, "request": 1});
    assert_eq!(read("ai-sdk", model.clone()).unwrap(), units);
    assert!(unknown_counts(UsageFormat::AiSdk, &model).is_empty());
    // Some report reasoning beside the output: the total says so.
    let beside = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 35,
        "completion_tokens_details": {"reasoning_tokens": 20},
    });
    let units = json!({"input": 10, "output": 5, "reasoning": 20, "request": 1});
    assert_eq!(read("openai.chat", beside).unwrap(), units);
    let embedding = json!({"prompt_tokens": 8, "total_tokens": 8});
    assert_eq!(
        read("openai.chat", embedding).unwrap(),
        json!({"input": 8, "request": 1})
    );
}

#[test]
fn usage_that_measures_nothing_or_contradicts_itself_is_refused() {
    for nothing in [
        json!({}),
        json!(null),
        json!([]),
        json!({"prompt_tokens": 0, "completion_tokens": 0}),
        json!({"prompt_tokens": null}),
    ] {
        assert_eq!(read("openai.chat", nothing).unwrap_err(), "usage");
    }
    let chat = |usage: Value| read("openai.chat", usage).unwrap_err();
    assert_eq!(
        chat(json!({"prompt_tokens": -1, "completion_tokens": 2})),
        "usage.prompt_tokens"
    );
    assert_eq!(
        chat(json!({"prompt_tokens": 1.5, "completion_tokens": 2})),
        "usage.prompt_tokens"
    );
    assert_eq!(
        chat(json!({"prompt_tokens": "12", "completion_tokens": 2})),
        "usage.prompt_tokens"
    );
    assert_eq!(
        chat(json!({"prompt_tokens": 1_u64 << 53, "completion_tokens": 2})),
        "usage.prompt_tokens"
    );
    let cached = json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 11}});
    assert_eq!(chat(cached), "usage.prompt_tokens_details.cached_tokens");
    let more = json!({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 11});
    assert_eq!(chat(more), "usage.total_tokens");
}

#[test]
fn one_request_costs_where_it_has_a_price() {
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 0});
    let used = read_usage(UsageFormat::OpenaiChat, &usage).unwrap();
    let cost = |prices: Value| {
        table(json!([{"match": {}, "unitPrices": prices, "per": 1000}]))
            .unwrap()
            .cost(&Attributes::default(), &used)
    };
    assert_eq!(cost(json!({"input": "2"})).unwrap().cost.to_string(), "2");
    assert_eq!(
        cost(json!({"input": "2", "request": "5"}))
            .unwrap()
            .cost
            .to_string(),
        "2.005"
    );
    assert_eq!(
        cost(json!({"output": "2"})),
        Err(RateError::NoPrice("input".into()))
    );
}

#[test]
fn counts_that_are_newer_than_this_program_are_named() {
    let usage = json!({
        "input_tokens": 1, "output_tokens": 2, "server_tool_use": {"web_search_requests": 3, "fetches": 0},
        "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 0}, "service_tier": "priority",
    });
    assert_eq!(
        unknown_counts(UsageFormat::Anthropic, &usage),
        ["server_tool_use.web_search_requests"]
    );
    let usage = json!({"promptTokenCount": 1, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1}], "totalTokenCount": 1});
    assert!(unknown_counts(UsageFormat::Gemini, &usage).is_empty());
}

#[test]
fn slugs_have_their_bounds() {
    for slug in ["chat", "a.b-c_9", &"x".repeat(64)] {
        assert!(RateCardSlug::new(slug).is_ok());
    }
    for slug in ["", "Chat", "a b", "é", &"x".repeat(65)] {
        assert!(RateCardSlug::new(slug).is_err(), "{slug}");
    }
}
