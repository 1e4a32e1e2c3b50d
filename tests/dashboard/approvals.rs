//! Approval by a second person: requested by one, carried out once when another approves, never by the requester.

use kit::{
    Client,
    service::{ADMIN_TOKEN, Service},
};
use scrip::identity::{Role, UserChange};
use serde_json::json;

use crate::{
    browser::Browser,
    orders::{buy, price},
    people::{new, person, signed_in},
};

/// A grant of so many credits, as its form is sent the second time.
fn grant<'a>(service: &'a Service, credits: &'a str, key: &'a str) -> [(&'a str, &'a str); 5] {
    [
        ("productId", &service.product),
        ("amount", credits),
        ("reason", "a long outage"),
        ("idempotencyKey", key),
        ("confirmed", "on"),
    ]
}

pub(crate) struct Stage {
    pub(crate) service: Service,
    pub(crate) base: String,
    wallet: String,
    pub(crate) sue: Browser,
    pub(crate) olga: Browser,
}

/// A project in which grants above 100 need another's yes, support who asks, and an operator.
pub(crate) async fn stage() -> Stage {
    let service = Service::start().await;
    service.grant("ann", 5).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let owner = Browser::signed_in(&service).await;
    let wallet = owner.search(&base, "ann").await.location().to_owned();
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let path = format!("/api/admin/v1/projects/{}", service.project.id);
    let rules = json!({"approvalAboveCredits": 100, "approvalAboveCents": 300});
    let changed = admin.patch(&path, &rules).await.expect(200);
    assert_eq!(changed["approvalAboveCredits"], 100);
    let sue = person(&service, new("Sue", Role::Support)).await;
    let olga = person(&service, new("Olga", Role::Operator)).await;
    let (sue, olga) = (
        signed_in(&service, &sue).await,
        signed_in(&service, &olga).await,
    );
    Stage {
        service,
        base,
        wallet,
        sue,
        olga,
    }
}

impl Stage {
    /// The path of the only request that waits.
    pub(crate) async fn request(&self) -> String {
        let page = self.olga.get(&format!("{}/approvals", self.base)).await;
        let id = page.between("/approvals/", "/").to_owned();
        format!("{}/approvals/{id}", self.base)
    }

    async fn stands(&self) -> i64 {
        self.service.position("ann").await[0]
    }
}

#[tokio::test]
async fn a_large_grant_waits_for_another_person_and_is_done_once() {
    let stage = stage().await;
    let Stage {
        service,
        base,
        wallet,
        sue,
        olga,
    } = &stage;
    let path = format!("{wallet}/grant");
    sue.submit(&path, &grant(service, "100", "k0"))
        .await
        .shows("The credits were granted.");
    assert_eq!(stage.stands().await, 105, "not above it");
    let unconfirmed = &grant(service, "101", "k1")[..4];
    sue.post(&path, unconfirmed)
        .await
        .shows("Requires approval by a second person.");
    for _ in 0..2 {
        let page = sue.submit(&path, &grant(service, "101", "k1")).await;
        page.shows("This waits here for approval")
            .shows("a long outage")
            .shows("Sue");
        page.shows("Withdraw").lacks(">Approve<");
    }
    assert_eq!(stage.stands().await, 105, "nothing is done yet");
    olga.get(base).await.shows("1 request waits for approval");
    sue.get(base).await.lacks("for approval");
    let request = stage.request().await;
    // She edits the address bar.
    let page = sue.post(&format!("{request}/approve"), &[]).await;
    assert_eq!(page.status, 403);
    page.shows("You cannot approve your own request");
    assert_eq!(stage.stands().await, 105);
    let approve = format!("{request}/approve");
    olga.submit(&approve, &[])
        .await
        .shows("Approved and carried out.")
        .shows("No pending requests.");
    assert_eq!(stage.stands().await, 206);
    assert_eq!(olga.post(&approve, &[]).await.status, 404, "answered");
    // The form that asked is sent once more: under its key it was done.
    sue.post(&path, &grant(service, "101", "k1")).await;
    let again = stage.request().await;
    olga.submit(&format!("{again}/approve"), &[])
        .await
        .shows("nothing was done twice");
    assert_eq!(stage.stands().await, 206);
    let log = olga.get("/dashboard/audit").await;
    log.shows("Requested approval to grant 101 of")
        .shows("requested by Sue (usr_")
        .shows("Olga (usr_");
    // The administrator's token needs nobody.
    let owner = Browser::signed_in(service).await;
    owner
        .submit(&path, &grant(service, "1000", "k2"))
        .await
        .shows("The credits were granted.");
    assert_eq!(stage.stands().await, 1206);
}

#[tokio::test]
async fn giving_back_a_large_deduction_waits_too() {
    let stage = stage().await;
    let Stage {
        service,
        base,
        wallet,
        sue,
        olga,
    } = &stage;
    service.grant("ann", 500).await;
    let body = json!({"externalUserId": "ann", "amount": 400, "idempotencyKey": "used"});
    let deduct = "/api/v1/wallets/external/deduct";
    service.secret.post(deduct, &body).await.expect(200);
    let page = sue.get(wallet).await;
    let id = page.between("/deductions/", "\"").to_owned();
    let path = format!("{wallet}/deductions/{id}");
    let form = |amount| {
        [
            ("amount", amount),
            ("note", "a crash"),
            ("idempotencyKey", "back"),
        ]
    };
    sue.submit(&path, &form("300"))
        .await
        .shows("This waits here for approval")
        .shows("Reverse 300 of deduction");
    assert_eq!(stage.stands().await, 105, "nothing is done yet");
    let request = stage.request().await;
    olga.submit(&format!("{request}/approve"), &[]).await;
    assert_eq!(stage.stands().await, 405);
    let reused = sue.post(&path, &form("100")).await;
    assert_eq!(reused.status, 409, "{}", reused.html);
    olga.get(&format!("{base}/approvals"))
        .await
        .shows("No pending requests.");
}

#[tokio::test]
async fn who_may_answer_is_an_operator_who_did_not_ask_and_a_request_expires() {
    let stage = stage().await;
    let Stage {
        service,
        base,
        wallet,
        sue,
        olga,
    } = &stage;
    let path = format!("{wallet}/grant");
    // An operator's own needs another, too.
    olga.submit(&path, &grant(service, "500", "k1"))
        .await
        .shows("Withdraw");
    let request = stage.request().await;
    assert_eq!(
        olga.post(&format!("{request}/approve"), &[]).await.status,
        403
    );
    for answer in ["approve", "decline"] {
        let page = sue.post(&format!("{request}/{answer}"), &[]).await;
        assert_eq!(page.status, 403, "support may not {answer}");
    }
    let vera = person(service, new("Vera", Role::Viewer)).await;
    let vera = signed_in(service, &vera).await;
    assert_eq!(vera.get(&format!("{base}/approvals")).await.status, 403);
    olga.submit(&format!("{request}/decline"), &[])
        .await
        .shows("The request was removed");
    sue.submit(&path, &grant(service, "500", "k2")).await;
    let request = stage.request().await;
    olga.submit(&format!("{request}/decline"), &[])
        .await
        .shows("The request was removed");
    assert_eq!(stage.stands().await, 5);
    sue.submit(&path, &grant(service, "500", "k3")).await;
    let request = stage.request().await;
    // It outlives a restart, and not a week.
    let again = service.again(|_| {}).await;
    let now = actors::clock::Clock::now(&*again.clock);
    assert_eq!(again.people().approvals(again.project.id, now).len(), 1);
    service.clock.advance_millis(7 * 24 * 3600 * 1000);
    let owner = Browser::signed_in(service).await;
    owner
        .get(&format!("{base}/approvals"))
        .await
        .shows("No pending requests.");
    assert_eq!(
        owner.post(&format!("{request}/approve"), &[]).await.status,
        404
    );
    assert_eq!(stage.stands().await, 5);
}

#[tokio::test]
async fn what_changed_since_the_request_is_the_actions_own_refusal() {
    let stage = stage().await;
    let Stage {
        service,
        wallet,
        sue,
        olga,
        ..
    } = &stage;
    let people = service.people();
    let sue_id = people
        .users()
        .iter()
        .find(|user| user.name == "Sue")
        .unwrap()
        .id;
    let change = async |change: UserChange| people.change(sue_id, change, None).await.unwrap();
    let path = format!("{wallet}/grant");
    sue.submit(&path, &grant(service, "500", "k1")).await;
    let request = stage.request().await;
    change(UserChange {
        role: Some(Role::Viewer),
        ..UserChange::default()
    })
    .await;
    let page = olga.post(&format!("{request}/approve"), &[]).await;
    assert_eq!(page.status, 403);
    page.shows("no longer permitted to do it")
        .shows("a long outage");
    let limited = UserChange {
        role: Some(Role::Support),
        grant_limit_per_day: Some(Some(200)),
        ..UserChange::default()
    };
    change(limited).await;
    let page = olga.post(&format!("{request}/approve"), &[]).await;
    assert_ne!(page.status, 303);
    page.shows("Daily limit exceeded");
    assert_eq!(stage.stands().await, 5);
    change(UserChange {
        grant_limit_per_day: Some(None),
        ..UserChange::default()
    })
    .await;
    olga.submit(&format!("{request}/approve"), &[])
        .await
        .shows("Approved and carried out.");
    assert_eq!(stage.stands().await, 505);
}

#[tokio::test]
async fn a_large_refund_waits_too_and_refunds_since_are_shown() {
    let stage = stage().await;
    let Stage {
        service,
        base,
        sue,
        olga,
        ..
    } = &stage;
    let owner = Browser::signed_in(service).await;
    owner
        .submit(&format!("{base}/settings/provider"), &[("kind", "sandbox")])
        .await;
    let product = format!("{base}/catalog/{}", service.product);
    let terms = [
        ("label", "Pack"),
        ("amountCents", "10"),
        ("currency", "EUR"),
        ("creditsGranted", "1000"),
        ("interval", "one_time"),
    ];
    let price = price(&owner, &product, &terms).await;
    let order = buy(service, json!({"externalUserId": "bea", "priceId": price})).await;
    let refund = format!("{base}/orders/{order}/refund");
    let form = |amount, key| {
        [
            ("amount", amount),
            ("idempotencyKey", key),
            ("confirmed", "on"),
        ]
    };
    sue.submit(&refund, &form("3", "r0"))
        .await
        .shows("The refund is on its way");
    sue.submit(&refund, &form("4", "r1"))
        .await
        .shows("This waits here for approval");
    let request = stage.request().await;
    olga.get(&format!("{base}/approvals"))
        .await
        .shows("Refund 4.00 EUR of order");
    olga.submit(&format!("{request}/approve"), &[])
        .await
        .shows("Approved and carried out.");
    assert_eq!(service.balance("bea").await, 300);
    sue.submit(&refund, &form("3.01", "r2")).await;
    owner
        .submit(&refund, &form("3", "r3"))
        .await
        .shows("The refund is on its way");
    let request = stage.request().await;
    let page = olga.post(&format!("{request}/approve"), &[]).await;
    assert_eq!(page.status, 409, "{}", page.html);
    page.shows("role=\"alert\"")
        .shows("Refund 3.01 EUR of order");
    olga.submit(&format!("{request}/decline"), &[])
        .await
        .shows("No pending requests.");
    assert_eq!(service.balance("bea").await, 0);
}

#[tokio::test]
async fn only_an_owner_decides_what_requires_approval() {
    let stage = stage().await;
    let Stage {
        service,
        base,
        olga,
        ..
    } = &stage;
    let settings = format!("{base}/settings");
    olga.get(&settings)
        .await
        .shows("Approval by a second person");
    let form = |cents| {
        [
            ("name", "Demo"),
            ("mode", "credit_codes"),
            ("subscriptionGraceDays", "7"),
            ("approvalAboveCents", cents),
            ("approvalAboveCredits", "100"),
        ]
    };
    let page = olga.post(&settings, &form("")).await;
    assert_eq!(page.status, 403);
    page.shows("Only an owner can change what requires approval");
    assert_eq!(
        olga.post(&settings, &form("300")).await.status,
        303,
        "all else is hers"
    );
    let owner = Browser::signed_in(service).await;
    assert_eq!(owner.post(&settings, &form("")).await.status, 303);
    let project = service.catalog.project(service.project.id).unwrap();
    let rules = project.project.approval;
    assert_eq!((rules.above_cents, rules.above_credits), (None, Some(100)));
}
