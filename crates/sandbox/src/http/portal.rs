//! The portal's page and its actions. The unguessable URL is the only secret, so forms need no token against forgery.

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
};

use super::{PageAt, Sent, absent, acted, drawn, ended, fields::fields, is_browser, status};
use crate::{
    Sandbox,
    core::{prelude::*, refunds::RefundParams},
    pages,
    store::Failure,
};

/// The metadata key of the shop's own price id.
const SHOPS_PRICE: &str = "scrip_price_id";
const VISIT: &str = "billing_portal.session";
const FIELDS: [&str; 10] = [
    "subscription",
    "price",
    "charge",
    "refund",
    "dispute",
    "status",
    "inquiry",
    "amount",
    "amountCents",
    "declines",
];

pub(super) async fn show(State(sandbox): State<Sandbox>, Path(at): Path<PageAt>) -> Response {
    page(&sandbox, at, StatusCode::OK, None).await
}

/// The portal session, unless it has expired.
fn visit(db: &Database, id: &str) -> Result<PortalSession> {
    let visit: PortalSession = db.find(id)?;
    Refusal::no_such(VISIT, id).when(visit.closes_at() <= db.now)?;
    Ok(visit)
}

async fn page(
    sandbox: &Sandbox,
    at: PageAt,
    status: StatusCode,
    notice: Option<String>,
) -> Response {
    let (project, id) = at;
    let draw = move |db: &mut Database, shop: &str| {
        let visit = visit(db, &id)?;
        let offer: Configuration = db.find(&visit.configuration)?;
        Ok(pages::portal(&visit, &offer, db, shop, notice.as_deref()).answer(status))
    };
    drawn(sandbox, &project, draw).await
}

pub(super) async fn act(
    State(sandbox): State<Sandbox>,
    Path((project_text, id, word)): Path<(String, String, String)>,
    sent: Sent,
) -> Response {
    let browser = is_browser(&sent);
    let Some((project, _)) = sandbox.project(&project_text) else {
        return absent(browser, VISIT, &id);
    };
    let (params, named) = (fields(&sent, &FIELDS), id.clone());
    let work = move |db: &mut Database| done(db, &named, &word, &params?).map_err(as_state);
    match acted(&sandbox, project, work).await {
        Ok(_) if browser => {
            Redirect::to(&format!("/sandbox/{project}/portal/{id}")).into_response()
        }
        Ok(state) => Json(state).into_response(),
        Err(Failure::Refused(refusal)) if browser => {
            let (status, notice) = (status(&refusal), Some(refusal.message));
            page(&sandbox, (project_text, id), status, notice).await
        }
        Err(failure) => ended(browser, &failure),
    }
}

/// Turns a 400 without a parameter into a 409: the request is right, the state does not allow it.
fn as_state(refusal: Refusal) -> Refusal {
    if refusal.status == 400 && refusal.param.is_none() {
        let status = 409;
        return Refusal { status, ..refusal };
    }
    refusal
}

/// Does an action and returns the customer's state afterwards.
fn done(db: &mut Database, id: &str, word: &str, params: &Params) -> Result<Value> {
    let visit = visit(db, id)?;
    match word {
        "switch" | "cancel" | "undo" | "pay_now" => of_subscription(db, &visit, word, params)?,
        "card" => {
            let mut customer: Customer = db.find(&visit.customer)?;
            customer.declines = need(params.flag("declines")?, "declines")?;
            db.put(customer);
        }
        "refund" => {
            let charge = charge(db, &visit, params)?;
            let begins = params.word("status", &["succeeded", "pending", "failed"])?;
            let wanted = RefundParams {
                amount: amount(params, &charge)?,
                status: begins.and_then(RefundStatus::of),
                ..RefundParams::default()
            };
            refunds::refund(db, charge, wanted)?;
        }
        "refund_succeeds" | "refund_fails" => {
            let is_theirs = |one: &Refund| is_theirs(db, &visit, &one.charge);
            let is_pending = |one: &Refund| one.status == RefundStatus::Pending;
            let refund = named(db, params, "refund", is_theirs, is_pending)?;
            let status = match word {
                "refund_fails" => RefundStatus::Failed,
                _ => RefundStatus::Succeeded,
            };
            refunds::turn(db, refund, status, None)?;
        }
        "dispute" => {
            let charge = charge(db, &visit, params)?;
            let amount = amount(params, &charge)?;
            let is_inquiry = params.flag("inquiry")? == Some(true);
            disputes::open(db, charge, amount, None, is_inquiry)?;
        }
        "dispute_won" | "dispute_lost" | "dispute_escalated" => {
            let dispute = dispute(db, &visit, params)?;
            match word {
                "dispute_escalated" => disputes::escalate(db, dispute)?,
                _ => disputes::close(db, dispute, word == "dispute_won")?,
            };
        }
        _ => return Err(Refusal::no_such("action", word)),
    }
    Ok(state(db, &visit.customer))
}

fn of_subscription(
    db: &mut Database,
    visit: &PortalSession,
    word: &str,
    params: &Params,
) -> Result<()> {
    let offer: Configuration = db.find(&visit.configuration)?;
    let price = params.text("price")?;
    Refusal::missing("price").when(word == "switch" && price.is_none())?;
    let subscription = subscription(db, visit, params)?;
    match (word, price) {
        ("switch", Some(price)) => {
            let price = offered(db, &offer, &subscription, &price);
            let price = price.filter(|_| offer.offers("subscription_update"));
            let price =
                price.ok_or_else(|| Refusal::param("price", "This tier is not offered here."))?;
            subscription.switch(db, &offer, &price).map(drop)
        }
        ("pay_now", _) => subscription.pay_now(db),
        _ if !offer.offers("subscription_cancel") => {
            Err(Refusal::invalid("Subscriptions cannot be canceled here."))
        }
        ("cancel", _) if offer.cancels_now() => subscription.cancel_now(db).map(drop),
        _ => subscription.cancel_at_end(db, word == "cancel").map(drop),
    }
}

/// The offered or current tier with this id, its own or the shop's.
fn offered(
    db: &Database,
    offer: &Configuration,
    subscription: &Subscription,
    name: &str,
) -> Option<String> {
    let mut tiers = offer.prices().chain([subscription.item.price.as_str()]);
    let is_named = |tier: &&str| {
        let tier_of_shop = || db.find::<Price>(tier).ok();
        *tier == name
            || tier_of_shop()
                .is_some_and(|it| it.metadata.get(SHOPS_PRICE).is_some_and(|it| it == name))
    };
    tiers.find(is_named).map(ToOwned::to_owned)
}

/// The named subscription, or the only running one.
fn subscription(db: &Database, visit: &PortalSession, params: &Params) -> Result<Subscription> {
    let is_theirs = |one: &Subscription| one.customer == visit.customer;
    let running = db.newest::<Subscription>(|one| is_theirs(one) && one.status.is_running());
    Refusal::missing("subscription")
        .when(params.text("subscription")?.is_none() && running.len() > 1)?;
    named(db, params, "subscription", is_theirs, |one| {
        one.status.is_running()
    })
}

/// The named charge, or the newest.
fn charge(db: &Database, visit: &PortalSession, params: &Params) -> Result<Charge> {
    named(
        db,
        params,
        "charge",
        |one: &Charge| is_theirs(db, visit, &one.head.id),
        |_| true,
    )
}

/// The customer's object with the id of a parameter; without it the newest for which `is_default` is true.
fn named<T: StoredObject>(
    db: &Database,
    params: &Params,
    param: &str,
    is_theirs: impl Fn(&T) -> bool,
    is_default: impl Fn(&T) -> bool,
) -> Result<T> {
    let id = params.text(param)?;
    let is_it = |object: &T| match &id {
        Some(id) => object.head().id == *id,
        None => is_default(object),
    };
    let found = db.copies(|object| is_theirs(object) && is_it(object));
    let none = || Refusal::no_such(T::NAME, id.as_deref().unwrap_or_default());
    found.into_iter().next().ok_or_else(none)
}

/// The named dispute, or the newest of the named charge. Without an open one a decided one, so that a decision can be
/// repeated.
fn dispute(db: &Database, visit: &PortalSession, params: &Params) -> Result<Dispute> {
    let charge = params.text("charge")?;
    let is_theirs = |one: &Dispute| {
        is_theirs(db, visit, &one.charge)
            && charge.as_ref().is_none_or(|charge| *charge == one.charge)
    };
    named(db, params, "dispute", is_theirs, |one| one.status.is_open())
        .or_else(|_| named(db, params, "dispute", is_theirs, |_| true))
        .map_err(|_| Refusal::invalid("This payment is not disputed."))
}

fn is_theirs(db: &Database, visit: &PortalSession, charge: &str) -> bool {
    let charge = db.get::<Charge>(charge);
    charge
        .is_some_and(|charge| charge.is_paid() && charge.customer.as_ref() == Some(&visit.customer))
}

/// A typed `amount`, or a script's `amountCents`; `None` for all that is left.
fn amount(params: &Params, charge: &Charge) -> Result<Option<i64>> {
    let typed = match (params.text("amount")?, params.text("amountCents")?) {
        (None, None) => return Ok(None),
        (Some(text), None) => money::typed(&text, &charge.currency),
        (None, Some(text)) => text.parse().ok(),
        (Some(_), Some(_)) => {
            return Err(Refusal::exclusive("amount", "amount, amountCents"));
        }
    };
    let message = "This is not an amount that can be refunded.";
    let amount = typed.ok_or_else(|| Refusal::param("amount", message))?;
    Ok(Some(amount))
}

/// The customer's subscriptions and payments, for scripts.
fn state(db: &Database, customer: &str) -> Value {
    let theirs = db.newest::<Subscription>(|one| one.customer == customer);
    let subscriptions = theirs.into_iter().map(|one| {
        json!({
            "id": one.head.id, "status": one.status.word(), "price": one.item.price,
            "scheduledPrice": one.scheduled, "cancelAtPeriodEnd": one.cancel_at_end,
            "currentPeriodEnd": one.period_end,
        })
    });
    let part = |id: &str, amount: i64, status: &str| json!({ "id": id, "amountCents": amount, "status": status });
    let is_theirs = |one: &Charge| one.is_paid() && one.customer.as_deref() == Some(customer);
    let charges = db.newest::<Charge>(is_theirs);
    let payments = charges.into_iter().map(|one| {
        let refunds = db.newest::<Refund>(|refund| refund.charge == one.head.id);
        let refunds = refunds.into_iter().map(|refund| part(&refund.head.id, refund.amount, refund.status.word()));
        let disputes = disputes::of(db, &one.head.id);
        json!({
            "charge": one.head.id, "paymentIntent": one.intent, "amountCents": one.amount,
            "refundedCents": one.amount_refunded, "currency": one.currency,
            "dispute": disputes.first().map(|dispute| dispute.status.word()),
            "refunds": refunds.collect::<Vec<_>>(),
            "disputes": disputes.iter().map(|dispute| part(&dispute.head.id, dispute.amount, dispute.status.word())).collect::<Vec<_>>(),
        })
    });
    json!({
        "customer": customer, "cardDeclines": db.declines(customer),
        "subscriptions": subscriptions.collect::<Vec<_>>(),
        "payments": payments.collect::<Vec<_>>(),
    })
}
