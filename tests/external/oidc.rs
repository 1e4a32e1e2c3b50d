//! Signing in by a real identity provider, in a real browser.

use std::{net::TcpListener, process::Command};

use kit::{Launch, deadline, launch::ADMIN_TOKEN, process::Process};

use crate::node::{folder, run_tool};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_was_invited_signs_in_by_a_real_identity_provider() {
    let data = tempfile::tempdir().unwrap();
    // The provider needs the dashboard's address before it starts.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let dashboard = free.local_addr().unwrap();
    let base = format!("http://{dashboard}");
    let mut command = Command::new("node");
    command.arg("identity-provider.mjs").current_dir(folder());
    command.env("BASE", &base);
    let mut provider = Process::start(command, false);
    let issuer = provider
        .wait_for_line("the provider's address", |line| {
            let (_, rest) = line.split_once("provider at ")?;
            rest.split_whitespace().next().map(str::to_owned)
        })
        .await;
    let launch = Launch::default()
        .env("SCRIP_ADMIN_LISTEN", dashboard.to_string())
        .env("SCRIP_OIDC_ISSUER", &issuer)
        .env("SCRIP_OIDC_CLIENT_ID", "scrip")
        .env("SCRIP_OIDC_CLIENT_SECRET", "what the provider gave")
        .env("SCRIP_OIDC_NAME", "Test ID");
    drop(free);
    let mut server = Process::start(launch.serve(&data.path().join("data")), false);
    let listens = |line: &str| line.contains("listening on").then_some(());
    server
        .wait_for_line("the line with the address", listens)
        .await;
    let doctor = launch
        .command("doctor", &data.path().join("data"))
        .output()
        .unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    let callback = format!(
        "{issuer} answers; it must send browsers back to {base}/dashboard/sign-in/oidc/callback"
    );
    assert!(doctor.contains(&callback), "{doctor}");
    let lines = tokio::task::spawn_blocking(move || {
        let environment = [("BASE", base.as_str()), ("TOKEN", ADMIN_TOKEN)];
        run_tool("node", &["oidc.mjs"], &environment)
    });
    assert_eq!(lines.await.unwrap().trim(), "who was invited came in");
    server.terminate();
    assert!(server.wait(deadline::SOON).await.success());
    provider.kill();
}
