//! The documentation of a running server, read in a real browser.

use kit::Demo;

use crate::node::run_tool;

async fn read(phone: &'static str) {
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo::start(&folder.path().join(".scrip")).await;
    let base = demo.base().to_owned();
    let lines = tokio::task::spawn_blocking(move || {
        run_tool(
            "node",
            &["docs.mjs"],
            &[("BASE", base.as_str()), ("PHONE", phone)],
        )
    });
    assert_eq!(lines.await.unwrap().trim(), "the reader is content");
    demo.terminate().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_finds_their_way_on_a_desktop() {
    read("0").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_finds_their_way_on_a_phone() {
    read("1").await;
}
