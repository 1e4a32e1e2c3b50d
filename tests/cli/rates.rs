//! `scrip rates import`: a rate card from published prices, against a running server.

use std::{
    io::Write as _,
    process::{Output, Stdio},
};

use kit::{Client, Server};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{all_output, errors, failure_of, stdout_of};

const GENAI_PRICES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/cli/prices/genai_prices.json"
);
const LITELLM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/prices/litellm.json");

fn words<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = [
        "rates",
        "import",
        file,
        "--card",
        "ai",
        "--credits-per-dollar",
        "1000",
    ];
    [&words, more].concat()
}

fn import(server: &Server, file: &str, more: &[&str]) -> String {
    stdout_of(server, &words(file, &[&["--yes"], more].concat()))
}

/// Imports with answers to the questions.
fn answer(server: &Server, file: &str, answers: &str) -> Output {
    let mut command = server.command(&words(file, &[]));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(answers.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

async fn card(server: &Server) -> Value {
    let path = format!("{}/rate-cards/ai", server.project_path());
    server.admin().get(&path).await.expect(200)
}

/// The rate for models of a pattern, without what all have.
fn rate(card: &Value, model: &str) -> Value {
    let rates = card["rates"].as_array().unwrap();
    let rate = rates.iter().find(|rate| rate["match"]["model"] == model);
    let mut rate = rate.unwrap_or_else(|| panic!("no {model}: {card}")).clone();
    assert_eq!(rate["per"], 1_000_000);
    let fields = rate.as_object_mut().unwrap();
    fields.remove("per");
    fields.remove("match");
    rate
}

#[tokio::test]
async fn genai_prices_become_rates() {
    let server = Server::start().await;
    let output = import(&server, GENAI_PRICES, &["--markup", "1.3"]);
    let made = card(&server).await;
    assert_eq!(made["productId"], server.product());
    let sonnet = json!({
        "unitPrices": {"input": "3900", "cacheWrite": "4875", "cacheWrite1h": "7800", "cachedInput": "390", "output": "19500"},
        "above": [{"unit": "input", "from": 200_000,
                   "unitPrices": {"input": "7800", "cacheWrite": "9750", "output": "29250"}}],
    });
    assert_eq!(rate(&made, "claude-sonnet-4-5*"), sonnet);
    assert_eq!(rate(&made, "claude-4-5-sonnet*"), sonnet);
    let dated = json!({"unitPrices": {"input": "3900", "output": "19500"}});
    assert_eq!(rate(&made, "claude-sonnet-5"), dated);
    let audio = json!({
        "unitPrices": {"input": "3250", "inputAudio": "32500", "output": "13000", "outputAudio": "26000"},
    });
    assert_eq!(rate(&made, "gpt-4o-audio-preview*"), audio);
    let request = json!({"unitPrices": {"input": "1300", "output": "1300", "request": "15600000"}});
    assert_eq!(rate(&made, "sonar"), request);
    // Of two providers the first in the file counts.
    let rounded = json!({"unitPrices": {"input": "0.000130001", "output": "260"}});
    assert_eq!(rate(&made, "gpt-oss-20b*"), rounded);
    let models = made["rates"].as_array().unwrap().iter();
    let models: Vec<&str> = models
        .map(|it| it["match"]["model"].as_str().unwrap())
        .collect();
    assert_eq!(
        models,
        [
            "claude-4-5-sonnet*",
            "claude-sonnet-4*",
            "claude-sonnet-4-5*",
            "claude-sonnet-5",
            "gpt-4o",
            "gpt-4o-2024*",
            "gpt-4o-audio-preview*",
            "gpt-oss-20b*",
            "sonar",
        ],
    );
    for expected in [
        "left out, a price of zero: write a rate with `free = true` if it is to cost nothing: deepseek-free (deepseek)",
        "left out, a price that depends on the time of day: deepseek-chat (deepseek)",
        "left out, another price of a provider that comes first: gpt-oss-20b (groq)",
        "left out, names that no pattern can say, such as those with a text in their middle: gpt-4o (openai), gpt-oss-20b (openai)",
        "left out, no price for a unit of a rate card: deepseek-unknown (deepseek)",
        "prices without a unit, by how many models have them: web_searches_kcount (1)",
        "rounded up to nine digits after the point: input of gpt-oss-20b (openai)",
        "from 2099-01-01 on, other prices of 1 models: import again",
        "+ model gpt-4o: cachedInput 1625, input 3250, output 13000, per 1000000",
        "9 rates; 9 new, 0 changed, 0 gone",
        "is at version 1; took ",
    ] {
        assert!(output.contains(expected), "{expected}: {output}");
    }
    let output = import(&server, GENAI_PRICES, &["--markup", "1.30"]);
    assert!(output.contains("nothing to change; took "), "{output}");
}

#[tokio::test]
async fn litellm_prices_become_rates() {
    let server = Server::start().await;
    let output = import(&server, LITELLM, &[]);
    let made = card(&server).await;
    let expected = [
        (
            "gpt-4o",
            json!({"unitPrices": {"input": "2500", "cachedInput": "1250", "output": "10000"}}),
        ),
        (
            "gpt-image-1",
            json!({"unitPrices": {"input": "5000", "inputImage": "10000", "outputImage": "40000"}}),
        ),
        ("whisper-1", json!({"unitPrices": {"second": "100000"}})),
        (
            "claude-sonnet-4-5",
            json!({
                "unitPrices": {"input": "3000", "cachedInput": "300", "cacheWrite": "3750", "cacheWrite1h": "6000", "output": "15000"},
                "above": [{"unit": "input", "from": 200_000,
                           "unitPrices": {"input": "6000", "cacheWrite1h": "12000", "output": "22500"}}],
            }),
        ),
        // Here the higher price begins at the bound.
        (
            "xai/grok-4",
            json!({
                "unitPrices": {"input": "3000", "output": "15000"},
                "above": [{"unit": "input", "from": 127_999, "unitPrices": {"input": "6000", "output": "30000"}}],
            }),
        ),
        (
            "dashscope/qwen-flash",
            json!({
                "unitPrices": {"input": "50", "cachedInput": "10", "output": "400"},
                "above": [{"unit": "input", "from": 256_000,
                           "unitPrices": {"input": "250", "cachedInput": "250", "output": "2000"}}],
            }),
        ),
        (
            "perplexity/pplx-7b-online",
            json!({"unitPrices": {"input": "0", "output": "280", "request": "5000000"}}),
        ),
    ];
    for (model, expected) in &expected {
        assert_eq!(rate(&made, model), *expected, "{model}");
    }
    assert_eq!(made["rates"].as_array().unwrap().len(), expected.len());
    assert!(output.contains("cost nothing: ollama/llama3"), "{output}");
    assert!(
        output.contains("input_cost_per_token_batches (1)"),
        "{output}"
    );
    for left_out in [
        "a name with a `*`: bedrock/*/1-month-commitment/",
        "a price that depends on the time of day: deepseek/deepseek-v4-pro",
    ] {
        assert!(output.contains(left_out), "{left_out}: {output}");
    }
}

#[tokio::test]
async fn what_changes_is_shown_and_asked_for() {
    let server = Server::start().await;
    let output = answer(&server, LITELLM, "n\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(all_output(&output).contains("+ model gpt-4o: "));
    assert!(errors(&output).contains("nothing was changed. Without questions: --yes"));
    let path = format!("{}/rate-cards", server.project_path());
    let all = server.admin().get(&path).await.expect(200);
    assert_eq!(all["rateCards"], json!([]));
    assert!(answer(&server, LITELLM, "y\n").status.success());

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prices.json");
    let text = std::fs::read_to_string(LITELLM).unwrap();
    // From 2.5 to 3.75 dollars is half more; 3.76 is above that.
    let change = |price: &str| std::fs::write(&file, text.replace("2.5e-06", price)).unwrap();
    let file = file.to_str().unwrap();
    change("3.75e-06");
    import(&server, file, &[]);
    change("1.8e-06");
    let output = answer(&server, file, "y\n");
    assert_eq!(output.status.code(), Some(1), "{}", all_output(&output));
    let shown = all_output(&output);
    let line = "~ model gpt-4o: input 3750 -> 1800";
    assert_eq!(shown.matches(line).count(), 2, "{shown}");
    let failure = server.command(&words(file, &["--yes"])).output().unwrap();
    assert!(errors(&failure).contains("--yes --accept-large-changes"));
    assert_eq!(card(&server).await["version"], 2);
    assert!(answer(&server, file, "y\ny\n").status.success());
    change("3.6e-06");
    import(&server, file, &["--accept-large-changes"]);
    assert_eq!(card(&server).await["version"], 4);
}

#[tokio::test]
async fn rates_of_ones_own_are_kept() {
    let server = Server::start().await;
    let path = format!("{}/rate-cards/ai", server.project_path());
    let own = json!([
        {"match": {"kind": "image"}, "unitPrices": {"image": "52"}},
        {"match": {"model": "whisper-1"}, "unitPrices": {"second": "0.2"}, "minimum": "1"},
        {"match": {"model": "gone"}, "unitPrices": {"input": "1"}},
        {"match": {"model": "ollama/llama3"}, "free": true},
    ]);
    let body = json!({"productId": server.product(), "rates": own});
    let put = server.admin().request(Method::PUT, &path).json(&body);
    Client::send(put).await.unwrap().expect(200);
    let output = import(&server, LITELLM, &["--provider", "openai"]);
    assert!(output.contains("\n- model gone\n"), "{output}");
    assert!(output.contains("whisper-1 (openai)"), "{output}");
    let made = card(&server).await;
    let rates = made["rates"].as_array().unwrap();
    let models: Vec<&Value> = rates.iter().map(|it| &it["match"]).collect();
    assert_eq!(
        models,
        [
            &json!({"kind": "image"}),
            &json!({"model": "whisper-1"}),
            &json!({"model": "ollama/llama3"}),
            &json!({"model": "gpt-4o"}),
            &json!({"model": "gpt-image-1"}),
        ],
    );
    assert_eq!(rates[1]["unitPrices"]["second"], "0.2");
}

#[tokio::test]
async fn a_file_that_cannot_be_imported_is_explained() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prices.json");
    let path = file.to_str().unwrap();
    let failure = |text: &str, more: &[&str]| {
        std::fs::write(&file, text).unwrap();
        failure_of(&server, &words(path, &[&["--yes"], more].concat()))
    };
    assert!(failure("{", &[]).contains("prices.json: EOF"));
    assert!(failure("[1, 2]", &[]).contains("neither genai-prices nor LiteLLM"));
    assert!(failure("{}", &["--product", "none"]).contains("no product fits"));
    let models = |count| {
        let model = |n| {
            format!(
                r#""m{n}": {{"litellm_provider": "p{}", "input_cost_per_token": 1e-6}}"#,
                n % 3
            )
        };
        format!(
            "{{{}}}",
            (0..count).map(model).collect::<Vec<_>>().join(",")
        )
    };
    let refused = failure(&models(1001), &[]);
    assert!(
        refused.contains("1001 rates are more than the 1000 of a card: choose by --provider and --model. There are p0 (334), p1 (334), p2 (333)"),
        "{refused}"
    );
    let refused = failure(&models(3), &["--provider", "p1,p9"]);
    assert!(refused.contains("has no prices of p9"), "{refused}");
    for wrong in ["-1", "1,5", "NaN", "0"] {
        let factor = format!("--markup={wrong}");
        let words = words(path, &["--yes", &factor]);
        let output = server.command(&words).output().unwrap();
        assert!(!output.status.success(), "{wrong}");
    }
    std::fs::write(&file, models(1001)).unwrap();
    let output = import(&server, path, &["--model", "m0,m5"]);
    assert!(output.contains("112 new, 0 changed, 0 gone"), "{output}");
    std::fs::write(&file, models(1000)).unwrap();
    let output = import(&server, path, &[]);
    assert!(output.contains("888 new, 0 changed, 0 gone"), "{output}");
}
