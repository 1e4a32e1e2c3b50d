//! Backups by the schedule of the configuration.

use std::fs;

use kit::{Launch, Server, deadline};

#[tokio::test]
async fn the_schedule_makes_them_and_keeps_as_many_as_it_says() {
    let holder = tempfile::tempdir().unwrap();
    let to = holder.path().join("backups");
    let launch = Launch::default()
        .env("SCRIP_BACKUP_TO", &to)
        .env("SCRIP_BACKUP_EVERY", "1s")
        .env("SCRIP_BACKUP_KEEP", "2");
    let server = Server::launch(launch).await;
    let mut ids = std::collections::BTreeSet::new();
    deadline::until("four backups by the schedule", deadline::SOON, || {
        let names = fs::read_dir(to.join("backups")).ok()?;
        let names: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
        assert!(names.len() <= 3, "{names:?}");
        ids.extend(names);
        (ids.len() >= 4).then_some(())
    })
    .await;
    let warned = "There is no backup in this directory yet";
    let warnings = server.instance().output();
    let warnings = warnings.iter().filter(|line| line.contains(warned));
    assert_eq!(warnings.count(), 1, "before the first");
    let figures = server.figures().await;
    let age = figures
        .lines()
        .find_map(|line| line.strip_prefix("scrip_backup_age_seconds "));
    assert!(age.unwrap().parse::<u64>().unwrap() < 60, "{figures}");
    let backups = server
        .admin()
        .get("/api/admin/v1/backups")
        .await
        .expect(200);
    assert!(backups["lastSuccessAt"].is_string(), "{backups}");
}
