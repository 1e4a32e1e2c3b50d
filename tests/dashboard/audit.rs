//! Who did what.

use kit::{
    Client,
    service::{ADMIN_TOKEN, Service},
};
use serde_json::json;

use crate::browser::Browser;

#[tokio::test]
async fn every_write_is_in_the_log_with_who_and_where_from() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    browser.submit("/dashboard", &[("name", "Second")]).await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let path = "/api/admin/v1/projects";
    admin
        .post(path, &json!({"name": "Third"}))
        .await
        .expect(201);
    // What was refused, or only read, did nothing.
    admin.post(path, &json!({"name": ""})).await.expect(400);
    admin.get(path).await.expect(200);
    browser.post("/dashboard", &[("name", "")]).await;
    let page = browser.get("/dashboard/audit").await;
    page.shows("Signed in by token")
        .shows("“Second”")
        .shows("127.0.0.1")
        .shows("2026-11-18 11:06:40 UTC");
    page.shows("POST /api/admin/v1/projects")
        .shows("administrator's token");
    assert_eq!(
        page.html.matches("<tr>").count(),
        4,
        "a head and three changes: {}",
        page.html
    );
}

#[tokio::test]
async fn the_log_is_paged_and_survives_a_restart() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    for number in 0..90 {
        let kind = if number % 2 == 0 {
            "secret"
        } else {
            "publishable"
        };
        let keys = format!("/dashboard/projects/{}/keys", service.project.id);
        assert_eq!(browser.post(&keys, &[("kind", kind)]).await.status, 303);
    }
    let mut seen = 0;
    let mut path = "/dashboard/audit".to_owned();
    for _ in 0..5 {
        let page = browser.get(&path).await;
        seen += page.html.matches("Made ").count();
        if !page.html.contains("Older") {
            break;
        }
        path = format!(
            "/dashboard/audit{}",
            page.between("class=\"button\" href=\"", "\"")
        );
    }
    assert_eq!(seen, 90);
    // What was written is read back as it is at a start.
    service.handle.fold_all().await.unwrap();
    let again = scrip::audit::AuditLog::load(service.handle.clone()).unwrap();
    let (entries, older) = again.page(None).await.unwrap();
    assert_eq!(
        (entries.len(), older),
        (11, Some(3)),
        "91 entries in pages of 20"
    );
    assert!(
        entries[0].what.starts_with("Made publishable key"),
        "{entries:?}"
    );
}
