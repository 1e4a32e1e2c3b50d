//! The audit log: who did what.

use kit::{
    Client,
    service::{ADMIN_TOKEN, Service},
    stripe::Override,
};
use persistence::AppendRefusal;
use scrip::{
    audit::{AuditEntry, AuditLog, ChangeOutcome},
    audit_search::AuditFilter,
};
use serde_json::json;

use crate::{
    browser::Browser,
    order_refresh::{begun, open, sell, text},
};

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
    // Requests that were refused or only read are not logged.
    admin.post(path, &json!({"name": ""})).await.expect(400);
    admin.get(path).await.expect(200);
    browser.post("/dashboard", &[("name", "")]).await;
    let page = browser.get("/dashboard/audit").await;
    page.shows("Signed in by token")
        .shows("“Second”")
        .shows("127.0.0.1")
        .shows("2026-11-18 11:06:40</time>");
    page.shows("Created project")
        .shows("“Third”")
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
        seen += page.html.matches(">Created ").count();
        if !page.html.contains("Older") {
            break;
        }
        path = format!(
            "/dashboard/audit{}",
            page.between("class=\"button\" href=\"", "\"")
        );
    }
    assert_eq!(seen, 90);
    // The entries are loaded as at a start.
    service.handle.fold_all().await.unwrap();
    let again = AuditLog::load(service.handle.clone()).unwrap();
    let found = again.search(AuditFilter::default(), None, 100).await;
    let (entries, older) = found.unwrap();
    assert_eq!((entries.len(), older), (91, None));
    assert!(
        entries[0].what.starts_with("Created publishable key"),
        "{entries:?}"
    );
}

#[tokio::test]
async fn what_was_begun_when_the_service_ended_is_said_to_be_unknown() {
    let (service, stripe, browser, base) = open().await;
    sell(&service).await;
    let price = service.add_price(100).await;
    let order = begun(&service, &price).await;
    let path = format!("{base}/orders/{}/refresh", text(&order, "orderId"));
    let session = format!("/v1/checkout/sessions/{}", text(&order, "checkoutId"));
    stripe.instead(&session, Override::Silence);
    let asked = stripe.calls(&session).len();
    let url = format!("{}{path}", service.base);
    let form = format!("formToken={}", browser.token().await);
    let request = kit::client::unled_http()
        .post(url)
        .header("origin", &service.base)
        .header("cookie", browser.cookie.as_deref().unwrap())
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form);
    let waits = tokio::spawn(request.send());
    while stripe.calls(&session).len() == asked {
        tokio::task::yield_now().await;
    }
    let request = format!("POST {path}");
    let page = browser.get("/dashboard/audit").await;
    page.shows(&request)
        .shows("Under way")
        .lacks("Outcome unknown");
    // The client disconnects; then the service stops.
    waits.abort();
    let base = stripe.base.parse().unwrap();
    let again = service.again(|config| config.stripe.api_base = base).await;
    let browser = Browser::signed_in(&again).await;
    let page = browser.get("/dashboard/audit").await;
    page.shows(&request)
        .shows("Outcome unknown")
        .lacks("Under way");
}

#[tokio::test]
async fn nothing_is_done_that_cannot_be_written_down() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let token = browser.token().await;
    let (form, origin) = (
        [("name", "Tulip shop"), ("formToken", &token)],
        &service.base,
    );
    service.journal.refuse(Some(AppendRefusal::DiskFull));
    let headers = [("origin", origin.as_str())];
    let page = browser.post_as_it_is("/dashboard", &form, &headers).await;
    assert_eq!(page.status, 503, "{}", page.html);
    let path = "/api/admin/v1/projects";
    let refused = admin.post(path, &json!({"name": "Rose shop"})).await;
    assert_eq!(refused.status, 503);
    assert_eq!(
        admin.get(path).await.status,
        200,
        "reading is not written down"
    );
    service.journal.refuse(None);
    let projects = admin.get(path).await.expect(200).to_string();
    assert!(
        !projects.contains("Tulip shop") && !projects.contains("Rose shop"),
        "{projects}"
    );
    // A request without authorization logs nothing either.
    let stranger = Client::new(&service.base, "wrong");
    assert_eq!(
        stranger
            .post(path, &json!({"name": "Rose shop"}))
            .await
            .status,
        401
    );
    let page = browser.get("/dashboard/audit").await;
    assert_eq!(page.html.matches("<tr>").count(), 2, "{}", page.html);
}

#[tokio::test]
async fn entries_stay_in_order_however_their_ends_come() {
    let service = Service::start().await;
    let log = AuditLog::load(service.handle.clone()).unwrap();
    let entry = |number: usize| {
        let at = domain::Timestamp(i64::try_from(number).unwrap());
        AuditEntry::done(at, "me".into(), &format!("begins {number}"), "here".into())
    };
    let mut begun = Vec::new();
    for number in 0..50 {
        begun.push(log.begin(entry(number)).await.unwrap());
    }
    // The newest first; every third failed, the last two never ended.
    for (number, intent) in begun.into_iter().enumerate().rev().skip(2) {
        let what = format!("did {number}");
        let outcome = match number % 3 {
            0 => ChangeOutcome::Nothing,
            _ => ChangeOutcome::Done(&what),
        };
        log.end(intent, outcome).await.unwrap();
    }
    let all = async |log: &AuditLog| {
        let (mut all, mut before) = (Vec::new(), None);
        loop {
            let found = log.search(AuditFilter::default(), before, 7).await.unwrap();
            all.extend(found.0);
            before = found.1;
            if before.is_none() {
                return all;
            }
        }
    };
    let expected: Vec<String> = (0..50)
        .rev()
        .filter(|number| number % 3 > 0 || *number > 47)
        .map(|number| match number {
            48.. => format!("begins {number}"),
            _ => format!("did {number}"),
        })
        .collect();
    let found = all(&log).await;
    let what: Vec<_> = found.iter().map(|entry| entry.what.clone()).collect();
    assert_eq!(what, expected);
    assert!(found.iter().all(|it| it.open == it.under_way.is_some()));
    service.handle.fold_all().await.unwrap();
    let again = AuditLog::load(service.handle.clone()).unwrap();
    let found = all(&again).await;
    let what: Vec<_> = found.iter().map(|entry| entry.what.clone()).collect();
    assert_eq!(what, expected);
    let open = found.iter().filter(|entry| entry.open);
    assert_eq!(open.count(), 2);
    assert!(found.iter().all(|entry| entry.under_way.is_none()));
    // It continues after the last entry.
    again.add(entry(50)).await.unwrap();
    assert_eq!(all(&again).await.len(), expected.len() + 1);
}

#[tokio::test]
async fn the_log_is_filtered_by_who_what_project_and_day_and_exported() {
    let service = Service::start().await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let api = "/api/admin/v1";
    let project = format!("{api}/projects/{}", service.project.id);
    let change = json!({"subscriptionGraceDays": 3, "allowedOrigins": ["https://shop.example"]});
    admin.patch(&project, &change).await.expect(200);
    admin
        .post(&format!("{project}/keys"), &json!({"kind": "secret"}))
        .await
        .expect(201);
    service.clock.advance_millis(3 * 86_400_000);
    let browser = Browser::signed_in(&service).await;
    let wrong = Browser::new(&service.base)
        .sign_in(&[("token", "a guess at a token")])
        .await;
    assert_eq!(wrong.status, 401);
    let rows = async |query: &str| {
        let page = browser.get(&format!("/dashboard/audit?{query}")).await;
        assert_eq!(page.status, 200, "{query}");
        (page.html.matches("<tr>").count().saturating_sub(1), page)
    };
    let (all, page) = rows("").await;
    assert_eq!(all, 4);
    page.shows("subscriptionGraceDays 7 -&gt; 3")
        .shows("A sign-in failed")
        .lacks("a guess at");
    for (query, expected) in [
        ("kind=keys", 1),
        ("kind=people", 2),
        ("who=TOKEN", 3),
        ("who=nobody", 1),
        ("text=gracedays", 1),
        ("text=none", 0),
        ("from=2026-11-19", 2),
        ("to=2026-11-18", 2),
        ("from=2026-11-19&to=2026-11-20", 0),
    ] {
        assert_eq!(rows(query).await.0, expected, "{query}");
    }
    let of_project = format!("projectId={}", service.project.id);
    assert_eq!(rows(&of_project).await.0, 2);
    let csv = browser
        .get("/dashboard/audit/export?format=csv&kind=keys")
        .await;
    assert!(
        csv.html.starts_with("at,actor,description,") && csv.html.lines().count() == 2,
        "{}",
        csv.html
    );
    let page = admin
        .get(&format!("{api}/audit?limit=3&{of_project}"))
        .await
        .expect(200);
    assert_eq!(
        (
            page["entries"].as_array().unwrap().len(),
            &page["nextCursor"]
        ),
        (2, &json!(null))
    );
    let first = admin.get(&format!("{api}/audit?limit=3")).await.expect(200);
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = admin
        .get(&format!("{api}/audit?limit=3&cursor={cursor}"))
        .await
        .expect(200);
    assert_eq!(second["entries"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_the_admin_api_did_is_said_in_words_with_amounts_and_reasons() {
    let service = Service::start().await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let base = format!("/api/admin/v1/projects/{}", service.project.id);
    service.grant("ann", 100).await;
    let deduct = json!({"externalUserId": "ann", "amount": 60, "idempotencyKey": "d"});
    let path = "/api/v1/wallets/external/deduct";
    service.secret.post(path, &deduct).await.expect(200);
    let code = service.code().await;
    let named = async |clue: &str| {
        let path = format!("{base}/wallets?query={clue}");
        let found = admin.get(&path).await.expect(200);
        found["wallets"][0]["ref"].as_str().unwrap().to_owned()
    };
    let (ann, anonymous) = (named("ann").await, named(&code).await);
    let freeze = json!({"frozen": true, "reason": "A stolen card"});
    let path = format!("{base}/wallets/{ann}/freeze");
    admin.post(&path, &freeze).await.expect(200);
    admin
        .post(&path, &json!({"frozen": false}))
        .await
        .expect(200);
    let path = format!("{base}/wallets/{anonymous}/replace-code");
    let new = admin.post(&path, &json!({})).await.expect(200);
    let path = format!("{base}/wallets/{ann}/ledger?reason=deduction");
    let page = admin.get(&path).await.expect(200);
    let entry = page["entries"][0]["id"].as_str().unwrap();
    let path = format!("{base}/deductions/{entry}/reverse");
    let back = json!({"amount": 20, "idempotencyKey": "r", "note": "It crashed"});
    admin.post(&path, &back).await.expect(200);
    let hook = json!({"url": "https://shop.example/hooks"});
    let path = format!("{base}/webhooks");
    let hook = admin.post(&path, &hook).await.expect(201);
    let hook = hook["id"].as_str().unwrap();
    let rotate = format!("{path}/{hook}/rotate-secret");
    admin.post(&rotate, &json!({})).await.expect(200);
    let gone = admin.request(reqwest::Method::DELETE, &format!("{path}/{hook}"));
    assert_eq!(Client::send(gone).await.unwrap().status, 204);
    let product = json!({"name": "Images", "type": "credits", "creditUnit": "images"});
    let path = format!("{base}/products");
    let product = admin.post(&path, &product).await.expect(201);
    let product = product["id"].as_str().unwrap();
    let price =
        json!({"amountCents": 950, "currency": "EUR", "creditsGranted": 5, "interval": "one_time"});
    let path = format!("{path}/{product}/prices");
    admin.post(&path, &price).await.expect(201);
    let browser = Browser::signed_in(&service).await;
    let page = browser.get("/dashboard/audit").await;
    for sentence in [
        "Froze wal_",
        ": A stolen card",
        "Unfroze wal_",
        "Replaced the recovery code of wal_",
        "and showed it",
        &format!("Reversed 20 of deduction {entry}: It crashed"),
        &format!("Created webhook endpoint {hook}"),
        "https://shop.example/hooks",
        &format!("Rotated the secret of webhook endpoint {hook}"),
        &format!("Deleted webhook endpoint {hook}"),
        "“Images”",
        &format!("of {product}: 9.50 EUR"),
    ] {
        page.shows(sentence);
    }
    page.lacks("POST /api/admin")
        .lacks("DELETE /api")
        .lacks(new["code"].as_str().unwrap());
}
