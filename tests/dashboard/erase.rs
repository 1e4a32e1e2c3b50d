//! Erasing a customer, and archiving a project: a page before each says what that means.

use kit::{Client, service::Service};
use serde_json::json;

use crate::browser::Browser;

#[tokio::test]
async fn a_customer_is_erased_after_a_page_that_says_what_stays() {
    let service = Service::start().await;
    service.grant("ada", 5).await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let page = browser.search(&base, "ada").await;
    let here = match page.status {
        303 => page.location().split('?').next().unwrap().to_owned(),
        _ => format!("{base}/wallets/{}", page.between("/wallets/", "\"")),
    };
    let notes = [("text", "Called from 0151 1234")];
    let page = browser.submit(&format!("{here}/notes"), &notes).await;
    page.shows("0151 1234").shows("Erase the customer");
    let erase = format!("{here}/erase");
    let page = browser.post(&erase, &[]).await;
    page.shows("Erase this customer?").shows("What stays");
    browser.get(&here).await.shows("0151 1234");
    let page = browser.submit(&erase, &[("confirmed", "on")]).await;
    page.shows("Erased.").lacks("0151 1234");
    let audit = browser.get("/dashboard/audit").await;
    audit.shows("Erased the customer of wal_").shows("1 notes");
}

#[tokio::test]
async fn a_project_is_archived_and_back_and_says_so_on_each_page() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let archive = format!("{base}/settings/archive");
    let form = [("archived", "true"), ("confirmed", "on")];
    let page = browser.post(&archive, &form[..1]).await;
    page.shows("Archive this project?")
        .shows("project_archived");
    browser.get(&base).await.lacks("<b>Archived</b>");
    browser
        .submit(&archive, &form)
        .await
        .shows("<b>Archived</b>");
    browser.get(&base).await.shows("<b>Archived</b>");
    let list = browser.get("/dashboard").await;
    list.lacks(&base).shows("Archived projects");
    browser.get("/dashboard?archived=true").await.shows(&base);
    let client = Client::new(&service.base, service.secret.key());
    let body = json!({"externalUserId": "ada", "amount": 1, "idempotencyKey": "a"});
    let deduct = "/api/v1/wallets/external/deduct";
    assert_eq!(client.post(deduct, &body).await.code(), "project_archived");
    let form = [("archived", "false"), ("confirmed", "on")];
    browser
        .submit(&archive, &form)
        .await
        .lacks("<b>Archived</b>");
    assert_eq!(client.post(deduct, &body).await.code(), "wallet_not_found");
}
