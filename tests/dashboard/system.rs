//! The system page, with the real binary on a disk, as a journal in memory never waits.

use std::{fs, os::unix::fs::PermissionsExt as _};

use kit::{Launch, Server, deadline, launch::ADMIN_TOKEN};

use crate::browser::Browser;

async fn look(server: &Server) -> crate::browser::Page {
    let mut browser = Browser::new(server.instance().base());
    let page = browser.sign_in(&[("token", ADMIN_TOKEN)]).await;
    assert_eq!(page.status, 303);
    browser.get("/dashboard/system").await
}

#[tokio::test]
async fn it_says_how_long_the_disk_takes_and_when_the_data_was_verified() {
    let mut server = Server::start().await;
    server.grant("ann", 10, "g1").await;
    look(&server)
        .await
        .shows("Never; ")
        .shows("group commits since the start")
        .shows("data-chart")
        .shows("<th>Latency ≤</th>");
    let text = server.figures().await;
    let name = "scrip_journal_commit_duration_seconds";
    let line = |end: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(end));
        line.unwrap_or_else(|| panic!("no {end} in {text}")).trim()
    };
    let count: u64 = line(&format!("{name}_count")).parse().unwrap();
    let all: u64 = line(&format!("{name}_bucket{{le=\"+Inf\"}}"))
        .parse()
        .unwrap();
    let sum: f64 = line(&format!("{name}_sum")).parse().unwrap();
    assert!(
        count > 0 && count == all && sum > 0.0,
        "{count} {all} {sum}"
    );

    assert!(server.terminate().await.success());
    server.verify();
    let file = server.data_dir().join("verify.json");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // The result of `scrip verify` hinders neither a start nor another run.
    server.verify();
    server.start_again().await;
    look(&server).await.shows("No problems").lacks("Never; ");
    fs::write(&file, r#"{"at":1795000000000,"problems":2}"#).unwrap();
    look(&server).await.shows("2 problems");
    fs::write(&file, "?").unwrap();
    look(&server).await.shows("cannot be read");
}

#[tokio::test]
async fn it_shows_the_processes_that_share_a_log() {
    let alone = Server::start().await;
    let page = look(&alone).await;
    page.lacks("<h2>Cluster</h2>");
    let database = postgres_kit::shared();
    let url = database.url(&database.create_database());
    let server = Server::launch(Launch::default().env("SCRIP_STORAGE_URL", url)).await;
    let mut browser = Browser::new(server.instance().base());
    browser.sign_in(&[("token", ADMIN_TOKEN)]).await;
    let page = deadline::answered("the leader is shown", deadline::SOON, async || {
        let page = browser.get("/dashboard/system").await;
        page.html.contains("Leads").then_some(page)
    })
    .await;
    page.shows("<h2>Cluster</h2>")
        .shows(server.instance().base())
        .shows("No follower");
}

#[tokio::test]
async fn a_backup_is_begun_by_a_button_where_the_configuration_says_where_to() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("backups");
    let launch = Launch::default().env("SCRIP_BACKUP_TO", &to);
    let server = Server::launch(launch).await;
    look(&server).await.shows("None known").shows("Back up now");
    let mut browser = Browser::new(server.instance().base());
    browser.sign_in(&[("token", ADMIN_TOKEN)]).await;
    let page = browser.submit("/dashboard/system", &[]).await;
    page.shows("A backup is being made.");
    deadline::answered("a backup", deadline::SOON, async || {
        let page = look(&server).await;
        (!page.html.contains("None known")).then_some(())
    })
    .await;
    assert!(to.join("scrip-backup.json").exists());
    let without = Server::start().await;
    look(&without).await.lacks("Back up now").shows("backup.to");
}
