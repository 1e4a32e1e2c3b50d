//! Changes of a project that would go around approvals: where they are required, operators' secret keys, prices
//! and free credits wait for it, too.

use kit::{Client, service::Service};
use scrip::{
    catalog::ProjectChange,
    identity::{Role, UserChange},
};

use crate::{
    approvals::{Stage, stage},
    browser::Browser,
    people::{new, person, signed_in},
};

const PRICE: [(&str, &str); 4] = [
    ("amountCents", "0.50"),
    ("currency", "EUR"),
    ("creditsGranted", "1000000"),
    ("interval", "one_time"),
];
const KEY: [(&str, &str); 2] = [("kind", "secret"), ("name", "Worker")];

/// A product with so many free credits.
const fn free(credits: &str) -> [(&str, &str); 6] {
    [
        ("name", "Free"),
        ("type", "credits"),
        ("creditUnit", "credits"),
        ("active", "on"),
        ("freeGrant.credits", credits),
        ("freeGrant.period", "once"),
    ]
}

/// Another operator, signed in.
async fn otto(service: &Service) -> Browser {
    let otto = person(service, new("Otto", Role::Operator)).await;
    signed_in(service, &otto).await
}

async fn set_role(service: &Service, name: &str, role: Role) {
    let people = service.people();
    let users = people.users();
    let user = users.iter().find(|user| user.name == name).unwrap();
    let change = UserChange {
        role: Some(role),
        ..UserChange::default()
    };
    people.change(user.id, change, None).await.unwrap();
}

#[tokio::test]
async fn what_evades_approvals_requires_one_and_owners_need_none() {
    let stage = stage().await;
    let Stage {
        service,
        base,
        olga,
        ..
    } = &stage;
    let otto = otto(service).await;
    let otis = person(service, new("Otis", Role::Owner)).await;
    let otis = signed_in(service, &otis).await;
    let without = ProjectChange {
        free_grants_for_code_wallets: Some(false),
        ..ProjectChange::default()
    };
    service.set(without.clone()).await;
    let product = format!("{base}/catalog/{}", service.product);
    let (keys, prices) = (format!("{base}/keys"), format!("{product}/prices"));
    let (settings, catalog) = (format!("{base}/settings"), format!("{base}/catalog"));
    let tick = [
        ("name", "Demo"),
        ("mode", "credit_codes"),
        ("subscriptionGraceDays", "7"),
        ("approvalAboveCents", "300"),
        ("approvalAboveCredits", "100"),
        ("freeGrantsForCodeWallets", "on"),
    ];
    let waits = format!("{base}/approvals?done=asked");
    // As the form has all else.
    assert_eq!(otis.post(&settings, &tick[..5]).await.status, 303);
    let stored = || format!("{:?}", service.catalog.project(service.project.id).unwrap());
    for (path, form, shown) in [
        (&keys, &KEY[..], "Create a secret key"),
        (&prices, &PRICE[..], "Create a price of"),
        (&catalog, &free("1000000")[..], "Create a product"),
        (&product, &free("1000000")[..], "Change product"),
        (&settings, &tick[..], "Give anonymous wallets free credits"),
    ] {
        let before = stored();
        for _ in 0..2 {
            let page = olga.post(path, form).await;
            assert_eq!(page.status, 303, "{path}: {}", page.html);
            assert_eq!(page.location(), waits, "{path}");
        }
        assert_eq!(stored(), before, "{path}");
        let approve = format!("{}/approve", stage.request().await);
        otto.get(&waits).await.shows(shown);
        assert_eq!(olga.post(&approve, &[]).await.status, 403, "her own");
        assert_eq!(stored(), before, "{path}");
        let page = otto.submit(&approve, &[]).await;
        page.shows("Approved");
        let is_key = path == &keys;
        assert_eq!(stored() == before, is_key, "{path}");
        let again = otto.post(&approve, &[]).await.status;
        assert_eq!(again, if is_key { 303 } else { 404 }, "{path}");
        if is_key {
            let request = stage.request().await;
            olga.submit(&format!("{request}/decline"), &[]).await;
        }
        assert_eq!(otis.get(&waits).await.status, 200);
        otis.get(&waits).await.shows("No pending requests.");
    }
    service.set(without).await;
    for (path, form) in [(&keys, &KEY[..]), (&prices, &PRICE), (&settings, &tick)] {
        let page = otis
            .post(path, &[form, &[("confirmed", "on")]].concat())
            .await;
        assert_ne!(page.location(), waits, "{path}: an owner needs nobody");
    }
    let public = [("kind", "publishable")];
    let page = olga.post(&keys, &public).await;
    assert_eq!(page.location(), format!("{keys}?done=created"));
    // Not beside something else, which needs nobody.
    service
        .set(ProjectChange {
            free_grants_for_code_wallets: Some(false),
            ..ProjectChange::default()
        })
        .await;
    let renamed = [&tick[1..], &[("name", "Other")]].concat();
    let page = olga.post(&settings, &renamed).await;
    assert_eq!(page.status, 400);
    page.shows("save the other changes separately");
    // A broken form is refused at once.
    let broken = [&PRICE[..3], &[("interval", "month")]].concat();
    assert_eq!(olga.post(&prices, &broken).await.status, 400);
    let none = ProjectChange {
        approval_above_cents: Some(None),
        approval_above_credits: Some(None),
        ..ProjectChange::default()
    };
    service.set(none).await;
    let page = olga.post(&keys, &KEY).await;
    assert_eq!(page.location(), format!("{keys}?done=created"), "no rule");
}

#[tokio::test]
async fn a_secret_key_is_shown_to_its_requester_alone_and_once() {
    let stage = stage().await;
    let Stage {
        service,
        base,
        sue,
        olga,
        ..
    } = &stage;
    let (keys, waiting) = (format!("{base}/keys"), format!("{base}/approvals"));
    let otto = person(service, new("Otto", Role::Operator)).await;
    let asker = signed_in(service, &otto).await;
    asker.submit(&keys, &KEY).await.shows("Worker");
    let request = stage.request().await;
    let (make, approve) = (format!("{request}/create"), format!("{request}/approve"));
    assert_eq!(asker.post(&make, &[]).await.status, 403, "not approved yet");
    olga.get(base).await.shows("1 request waits for approval");
    let page = olga.submit(&approve, &[]).await;
    page.shows("sees it once").shows("Approved by");
    page.lacks("pay_sk_").lacks("Create the key");
    let count = |service: &Service| {
        let project = service.catalog.project(service.project.id).unwrap();
        project.keys().count()
    };
    assert_eq!(count(service), 2, "it is not made yet");
    for (who, browser) in [("the other", olga), ("support", sue)] {
        assert_eq!(browser.post(&make, &[]).await.status, 403, "{who}");
    }
    olga.get(base).await.lacks("for approval");
    // The yes outlives a restart; the role of that moment decides.
    let again = service.again(|_| {}).await;
    let asker = signed_in(&again, &otto).await;
    set_role(&again, "Otto", Role::Support).await;
    asker.get(&waiting).await.lacks("Create the key");
    assert_eq!(asker.post(&make, &[]).await.status, 403);
    assert_eq!(count(&again), 2);
    set_role(&again, "Otto", Role::Operator).await;
    let home = asker.get(base).await;
    home.shows("1 secret key that you asked for");
    asker.get(&waiting).await.shows("Create the key");
    let page = asker.submit(&make, &[]).await;
    page.shows("shown only this once").shows("Worker");
    let secret = page.between("<code class=\"key\">", "<").to_owned();
    assert!(secret.starts_with("pay_sk_"), "{secret}");
    asker.get(&keys).await.lacks(&secret);
    assert_eq!(asker.post(&make, &[]).await.status, 404, "once");
    assert_eq!(count(&again), 3);
    let client = Client::new(&again.base, &secret);
    client.get("/api/v1/products").await.expect(200);
    let owner = Browser::signed_in(&again).await;
    let log = owner.get("/dashboard/audit").await;
    log.shows("Approved to create a secret key “Worker”")
        .shows("approved by Olga")
        .lacks(&secret);
}

#[tokio::test]
async fn a_key_works_for_longer_once_another_person_approves() {
    let stage = stage().await;
    let Stage {
        service,
        base,
        olga,
        ..
    } = &stage;
    let otto = otto(service).await;
    let owner = Browser::signed_in(service).await;
    let keys = format!("{base}/keys");
    let form = |end| [("kind", "secret"), ("name", "Worker"), ("expiresAt", end)];
    owner.submit(&keys, &form("2099-01-01")).await;
    let project = || service.catalog.project(service.project.id).unwrap();
    let key = || {
        let project = project();
        let mut keys = project.keys();
        keys.find(|key| key.name.is_some()).unwrap().clone()
    };
    let (path, before) = (format!("{keys}/{}", key().id), key());
    // An earlier end needs nobody.
    let page = olga.post(&path, &form("2098-01-01")[1..]).await;
    assert_eq!(page.location(), format!("{keys}?done=saved"));
    let shorter = key();
    assert!(shorter.expires_at < before.expires_at);
    let page = olga.submit(&path, &form("")[1..]).await;
    page.shows("Change secret key")
        .shows("expiresAt “2098-01-02T00:00:00.000Z” -&gt; “”");
    assert_eq!(key(), shorter);
    let approve = format!("{}/approve", stage.request().await);
    otto.submit(&approve, &[])
        .await
        .shows("Approved and carried out.");
    assert_eq!(key().expires_at, None);
    // A key that was revoked since does not come back.
    olga.submit(&path, &form("2098-01-01")[1..]).await;
    olga.submit(&path, &form("2099-01-01")[1..]).await;
    service
        .catalog
        .revoke_key(service.project.id, before.id)
        .await
        .unwrap();
    let request = stage.request().await;
    let page = otto.post(&format!("{request}/approve"), &[]).await;
    assert_eq!(page.status, 412);
    page.shows("changed since it was requested");
}

#[tokio::test]
async fn an_approved_price_is_made_once_though_two_approve_and_the_server_restarts() {
    let stage = stage().await;
    let Stage {
        service,
        base,
        olga,
        ..
    } = &stage;
    let (otto, otis) = (otto(service).await, new("Otis", Role::Owner));
    let otis = person(service, otis).await;
    let otis = signed_in(service, &otis).await;
    let prices = format!("{base}/catalog/{}/prices", service.product);
    let count = |service: &Service| {
        let project = service.catalog.project(service.project.id).unwrap();
        let product = service.product.parse().unwrap();
        project.prices(&product).count()
    };
    let had = count(service);
    olga.submit(&prices, &PRICE)
        .await
        .shows("0.50 EUR")
        .shows("1,000,000")
        .shows("Offered now");
    let approve = format!("{}/approve", stage.request().await);
    let both = tokio::join!(otto.post(&approve, &[]), otis.post(&approve, &[]));
    let mut statuses = [both.0.status, both.1.status];
    statuses.sort_unstable();
    assert!(matches!(statuses, [303, 404 | 409]), "{statuses:?}");
    assert_eq!(count(service), had + 1);
    let again = service.again(|_| {}).await;
    assert_eq!(count(&again), had + 1);
    let owner = Browser::signed_in(&again).await;
    let page = owner.get(&format!("{base}/approvals")).await;
    page.shows("No pending requests.");
    owner
        .get("/dashboard/audit")
        .await
        .shows("Approved to create a price of")
        .shows("requested by Olga (usr_");
}

#[tokio::test]
async fn what_changed_since_somebody_asked_for_a_change_is_refused() {
    let stage = stage().await;
    let Stage {
        service,
        base,
        olga,
        ..
    } = &stage;
    let otto = otto(service).await;
    let owner = Browser::signed_in(service).await;
    let path = format!("{base}/catalog/{}", service.product);
    let product = || {
        let project = service.catalog.project(service.project.id).unwrap();
        project
            .product(&service.product.parse().unwrap())
            .unwrap()
            .clone()
    };
    olga.submit(&path, &free("5000"))
        .await
        .shows("freeGrant “” -&gt; ")
        .shows("5000");
    let request = stage.request().await;
    let approve = format!("{request}/approve");
    set_role(service, "Olga", Role::Support).await;
    let page = otto.post(&approve, &[]).await;
    assert_eq!(page.status, 403);
    page.shows("no longer permitted to do it");
    set_role(service, "Olga", Role::Operator).await;
    owner.post(&path, &free("7")).await;
    let between = product();
    let page = otto.post(&approve, &[]).await;
    assert_eq!(page.status, 412, "{}", page.html);
    page.shows("changed since it was requested");
    assert_eq!(product(), between);
    otto.submit(&format!("{request}/decline"), &[])
        .await
        .shows("No pending requests.");
    // Requested again; after a week it has expired.
    olga.submit(&path, &free("5000"))
        .await
        .shows("credits 7 -&gt; 5000");
    let approve = format!("{}/approve", stage.request().await);
    service.clock.advance_millis(7 * 24 * 3600 * 1000);
    let owner = Browser::signed_in(service).await;
    assert_eq!(owner.post(&approve, &[]).await.status, 404);
    assert_eq!(product(), between);
}
