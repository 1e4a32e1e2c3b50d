//! People in a cluster of several cells: every cell applies the role and limits that a person who is signed in at the first has at
//! that moment, wherever a request comes in.

use std::time::{Instant, SystemTime};

use domain::Timestamp;
use kit::{
    Client, Project,
    browser::{Browser, Page},
    launch::ADMIN_TOKEN,
};
use reqwest::Method;
use scrip::identity::TotpSecret;
use serde_json::{Value, json};

use crate::{
    cells::{split, waiting},
    members::Cluster,
};

const PASSWORD: &str = "a long enough password";
const USERS: &str = "/api/admin/v1/users";

/// The instant in so many seconds.
fn in_seconds(seconds: i64) -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = i64::try_from(since.unwrap().as_millis()).unwrap();
    Timestamp(now).plus_seconds(seconds)
}

/// Invites a person who accepts and signs in; returns their id.
async fn signed_in(cluster: &Cluster, name: &str, role: &str) -> (String, Browser) {
    let admin = cluster.client(0, ADMIN_TOKEN);
    let email = format!("{name}@example.com");
    let new = json!({"name": name, "email": email, "role": role});
    let invited = admin.post(USERS, &new).await.expect(201);
    let link = invited["invitationUrl"].as_str().unwrap();
    let (_, secret) = link.split_once('#').unwrap();
    let mut browser = Browser::new(&cluster.members[0].base());
    let accept = "/dashboard/invitation";
    let form = [("secret", secret), ("password", PASSWORD)];
    let page = browser.post_as_it_is(accept, &form, &[]).await;
    let ticket = page.value("ticket").expect("a ticket").to_owned();
    let totp = TotpSecret::read(page.between("secret=", "&")).unwrap();
    let code = totp.code_at(in_seconds(0));
    let form = [("ticket", ticket.as_str()), ("code", &code)];
    let page = browser.post_as_it_is(accept, &form, &[]).await;
    page.shows("recovery codes");
    let page = browser
        .sign_in(&[("email", &email), ("password", PASSWORD)])
        .await;
    let ticket = page.value("ticket").expect("a ticket").to_owned();
    // A code is good once.
    let code = totp.code_at(in_seconds(30));
    let page = browser
        .sign_in(&[("ticket", &ticket), ("code", &code)])
        .await;
    assert_eq!(page.status, 303, "{}", page.html);
    (invited["id"].as_str().unwrap().to_owned(), browser)
}

/// A project in a cell of its own, the path of a wallet's page there, and the cluster.
struct Stage {
    cluster: Cluster,
    project: Project,
    base: String,
    wallet: String,
}

async fn stage() -> Stage {
    let mut cluster = Cluster::start().await;
    let project = Project::create(&cluster.client(0, ADMIN_TOKEN)).await;
    waiting(&mut cluster, 1).await;
    split(&cluster, 0, 1, &[&project.id]).await;
    cluster.repair().await;
    let admin = cluster.client(0, ADMIN_TOKEN);
    let wallets = format!("/api/admin/v1/projects/{}/wallets", project.id);
    let user = json!({"externalUserId": "ann"});
    let wallet = admin.post(&wallets, &user).await.expect(200);
    let base = format!("/dashboard/projects/{}", project.id);
    Stage {
        wallet: format!("{base}/wallets/{}", wallet["ref"].as_str().unwrap()),
        base,
        cluster,
        project,
    }
}

impl Stage {
    /// Asks for so many credits, and waits for no redirect.
    async fn grant(&self, who: &Browser, token: &str, credits: &str, key: &str) -> Page {
        let form = [
            ("productId", self.project.product.as_str()),
            ("amount", credits),
            ("reason", "an outage"),
            ("idempotencyKey", key),
            ("confirmed", "on"),
            ("formToken", token),
        ];
        let path = format!("{}/grant", self.wallet);
        let origin = [("origin", who.base.as_str())];
        who.post_as_it_is(&path, &form, &origin).await
    }

    async fn balance(&self) -> Value {
        let client = self.cluster.client(1, &self.project.secret);
        let path = "/api/v1/wallets/external?externalUserId=ann";
        client.get(path).await.expect(200)["balances"][0]["balance"].clone()
    }

    async fn change(&self, user: &str, change: Value) {
        let admin = self.cluster.client(0, ADMIN_TOKEN);
        let changed = admin.patch(&format!("{USERS}/{user}"), &change).await;
        changed.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_cell_applies_the_role_that_a_person_has_now() {
    let stage = stage().await;
    let cluster = &stage.cluster;
    let admin = cluster.client(0, ADMIN_TOKEN);
    let of_project = format!("/api/admin/v1/projects/{}", stage.project.id);
    let rules = json!({"approvalAboveCredits": 500});
    admin.patch(&of_project, &rules).await.expect(200);
    let (sue, browser) = signed_in(cluster, "sue", "support").await;
    let mut owner = Browser::new(&browser.base);
    owner.sign_in(&[("token", ADMIN_TOKEN)]).await;
    let token = browser.token().await;
    let reply = stage.grant(&browser, &token, "5000", "k0").await;
    assert!(reply.location().ends_with("/approvals?done=asked"));
    let given = stage.grant(&browser, &token, "1", "k1").await;
    assert_eq!(given.status, 303, "{}", given.html);
    assert_eq!(stage.balance().await, 1);
    let waiting = owner.get(&format!("{}/approvals", stage.base)).await;
    let id = waiting.between("/approvals/", "/").to_owned();
    let approve = format!("{}/approvals/{id}/approve", stage.base);
    let role = |role| json!({"role": role, "grantLimitPerDay": null});
    for (change, refusal) in [
        (role("viewer"), "is no longer permitted to do it"),
        (
            json!({"role": "support", "grantLimitPerDay": 0}),
            "0 is left",
        ),
    ] {
        // Read there a moment ago: her role of then counts for reading alone.
        assert_eq!(browser.get(&stage.base).await.status, 200);
        stage.change(&sue, change).await;
        let refused = stage.grant(&browser, &token, "1", "k2").await;
        assert_eq!(refused.status, 403, "{refusal}: {}", refused.html);
        let refused = owner.post(&approve, &[]).await;
        assert_eq!(refused.status, 403, "{refusal}");
        refused.shows(refusal);
    }
    stage.change(&sue, role("support")).await;
    assert_eq!(browser.get(&stage.base).await.status, 200);
    let answer = admin.request(Method::DELETE, &format!("{USERS}/{sue}"));
    assert_eq!(Client::send(answer).await.unwrap().status, 204);
    let refused = stage.grant(&browser, &token, "1", "k3").await;
    assert_eq!(refused.location(), "/dashboard/sign-in");
    let refused = owner.post(&approve, &[]).await;
    assert_eq!(refused.status, 403);
    refused.shows("is no longer permitted to do it");
    assert_eq!(stage.balance().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_persons_requests_through_all_processes_count_together() {
    let stage = stage().await;
    let (_, browser) = signed_in(&stage.cluster, "sue", "support").await;
    let host = browser.base.trim_start_matches("http://").to_owned();
    let headers = [("origin", browser.base.as_str()), ("host", &host)];
    let path = format!("{}/search", stage.base);
    let mut through = Vec::new();
    for base in stage.cluster.bases() {
        let mut other = Browser::new(&base);
        other.cookie.clone_from(&browser.cookie);
        through.push(other);
    }
    let began = Instant::now();
    let mut statuses = Vec::new();
    // Without the form's token nothing is done.
    for turn in 0..400 {
        let through = &through[turn % through.len()];
        let page = through.post_as_it_is(&path, &[], &headers).await;
        statuses.push(page.status);
    }
    let refilled = usize::try_from(began.elapsed().as_secs()).unwrap() + 1;
    let counted = statuses.iter().filter(|status| **status == 403).count();
    let limited = statuses.iter().filter(|status| **status == 429).count();
    assert_eq!(counted + limited, 400, "{statuses:?}");
    assert!((300..=300 + refilled).contains(&counted), "{counted}");
}
