//! A server with TLS and a certificate of its own, used in a real browser.

use kit::{Launch, deadline, launch::ADMIN_TOKEN, process::Process};
use rcgen::{CertifiedKey, generate_simple_self_signed};

use crate::node::run_tool;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_tls_a_browser_keeps_a_cookie_of_this_host_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name);
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    std::fs::write(path("cert.pem"), cert.pem()).unwrap();
    std::fs::write(path("key.pem"), signing_key.serialize_pem()).unwrap();
    let launch = Launch::default()
        .env("SCRIP_HTTP_TLS_CERT", path("cert.pem"))
        .env("SCRIP_HTTP_TLS_KEY", path("key.pem"));
    let mut process = Process::start(launch.serve(&path("data")), false);
    let port = process
        .wait_for_line("the line with the address", |line| {
            let (_, address) = line.split_once("listening on https://127.0.0.1:")?;
            address.trim().parse::<u16>().ok()
        })
        .await;
    let base = format!("https://localhost:{port}");
    let lines = tokio::task::spawn_blocking(move || {
        let environment = [("BASE", base.as_str()), ("TOKEN", ADMIN_TOKEN)];
        run_tool("node", &["https.mjs"], &environment)
    });
    assert_eq!(
        lines.await.unwrap().trim(),
        "the cookie is this host's alone"
    );
    process.terminate();
    assert!(process.wait(deadline::SOON).await.success());
}
