//! The dashboard of a running server, used in a real browser.

use kit::Demo;

use crate::node::run_tool;

async fn operate(phone: &'static str) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".scrip");
    let demo = Demo::start(&data).await;
    let link = demo.value("Dashboard");
    let (base, _) = link
        .split_once("/dashboard")
        .expect("the dashboard's address");
    let base = base.to_owned();
    let token = demo.value("Admin token");
    let said = tokio::task::spawn_blocking(move || {
        let pictures = std::env::var("SCRIP_TEST_PICTURES").unwrap_or_default();
        let environment = [
            ("BASE", base.as_str()),
            ("LINK", link.as_str()),
            ("TOKEN", token.as_str()),
            ("WALLET_USER", "ann"),
            ("PHONE", phone),
            ("PICTURES", &pictures),
        ];
        run_tool("node", &["dashboard.mjs"], &environment)
    });
    assert_eq!(said.await.unwrap().trim(), "the operator is content");
    demo.terminate().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_sets_a_shop_up_at_a_desk() {
    operate("0").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_sets_a_shop_up_on_a_phone() {
    operate("1").await;
}
