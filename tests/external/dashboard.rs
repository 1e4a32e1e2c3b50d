//! The dashboard of a running server, used in a real browser.

use kit::Demo;

use crate::node::run_tool;

/// Runs a script in a browser against a demo shop; returns its output.
async fn use_dashboard(script: &'static str, phone: &'static str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".scrip");
    let demo = Demo::start(&data).await;
    let link = demo.value("Dashboard");
    let (base, _) = link
        .split_once("/dashboard")
        .expect("the dashboard's address");
    let base = base.to_owned();
    let token = demo.value("Admin token");
    let lines = tokio::task::spawn_blocking(move || {
        let pictures = std::env::var("SCRIP_TEST_PICTURES").unwrap_or_default();
        let environment = [
            ("BASE", base.as_str()),
            ("LINK", link.as_str()),
            ("TOKEN", token.as_str()),
            ("WALLET_USER", "ann"),
            ("PHONE", phone),
            ("PICTURES", &pictures),
        ];
        run_tool("node", &[script], &environment)
    });
    let lines = lines.await.unwrap();
    demo.terminate().await;
    lines
}

async fn operate(phone: &'static str) {
    let text = use_dashboard("dashboard.mjs", phone).await;
    assert_eq!(text.trim(), "the operator is content");
}

async fn answer_customers(phone: &'static str) {
    let clicks = use_dashboard("questions.mjs", phone).await;
    assert_eq!(clicks.lines().count(), 7, "{clicks}");
    eprintln!("{clicks}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_sets_a_shop_up_on_a_desktop() {
    operate("0").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_sets_a_shop_up_on_a_phone() {
    operate("1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seven_questions_of_customers_are_answered_with_few_clicks_on_a_desktop() {
    answer_customers("0").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seven_questions_of_customers_are_answered_with_few_clicks_on_a_phone() {
    answer_customers("1").await;
}
