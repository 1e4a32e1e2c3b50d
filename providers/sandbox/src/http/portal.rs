//! The portal's page, and what its buttons and scripts do. There is no other secret than the visit's
//! unguessable address, so a form needs no token against forgery.

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Redirect, Response},
};

use super::{checkout::encoded, failed, fields::Fields, is_browser, refused};
use crate::core::prelude::*;
use crate::{
    Sandbox,
    core::{
        billing, disputes, money,
        refunds::{self, Wanted},
    },
    courier, pages,
    till::Failure,
};

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

pub(super) async fn show(
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    page(&sandbox, &project, id, StatusCode::OK, None).await
}

pub(super) async fn back(Path((project, id, _)): Path<(String, String, String)>) -> Response {
    Redirect::to(&format!("/sandbox/{project}/portal/{}", encoded(&id))).into_response()
}

/// The visit, while it lasts.
fn visit(books: &Books, id: &str) -> Result<PortalSession> {
    let visit: PortalSession = books.find(id)?;
    if visit.closes_at() <= books.now {
        return Err(Refusal::no_such("billing_portal.session", id));
    }
    Ok(visit)
}

async fn page(
    sandbox: &Sandbox,
    project: &str,
    id: String,
    status: StatusCode,
    notice: Option<String>,
) -> Response {
    let Some((project, settings)) = sandbox.project(project) else {
        return pages::nothing();
    };
    if sandbox.0.catch_up(project).await.is_err() {
        return pages::unavailable();
    }
    let work = move |books: &mut Books| {
        let visit = visit(books, &id)?;
        let offer: Configuration = books.find(&visit.configuration)?;
        let notice = notice.as_deref();
        Ok(pages::portal(&visit, &offer, books, &settings.name, notice))
    };
    match sandbox.0.at(project, work).await {
        Ok(page) => page.answer(status),
        Err(Failure::Refused(_)) => pages::nothing(),
        Err(Failure::Broken(_)) => pages::unavailable(),
    }
}

pub(super) async fn act(
    State(sandbox): State<Sandbox>,
    Path((project_text, id, word)): Path<(String, String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let browser = is_browser(&headers);
    let Some((project, _)) = sandbox.project(&project_text) else {
        return if browser {
            pages::nothing()
        } else {
            refused(&Refusal::no_such("billing_portal.session", &id))
        };
    };
    let outcome = match Fields::read(&headers, &body, &FIELDS) {
        Ok(fields) => {
            // What the page shows may be behind the clock.
            match sandbox.0.catch_up(project).await {
                Ok(()) => {
                    let id = id.clone();
                    let work =
                        move |books: &mut Books| done(books, &id, &word, fields).map_err(as_state);
                    sandbox.0.at(project, work).await
                }
                Err(failure) => Err(failure),
            }
        }
        Err(refusal) => Err(Failure::Refused(refusal)),
    };
    match outcome {
        Ok(state) => {
            let _: Result<(), _> = courier::deliver(&sandbox.0, project).await;
            if browser {
                let here = format!("/sandbox/{project}/portal/{}", encoded(&id));
                Redirect::to(&here).into_response()
            } else {
                Json(state).into_response()
            }
        }
        Err(Failure::Refused(refusal)) if browser => {
            let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
            page(&sandbox, &project_text, id, status, Some(refusal.message)).await
        }
        Err(Failure::Broken(_)) if browser => pages::unavailable(),
        Err(failure) => failed(&failure),
    }
}

/// With nothing wrong in what was sent, it is how things stand that does not allow it.
fn as_state(refusal: Refusal) -> Refusal {
    if refusal.status == 400 && refusal.param.is_none() {
        let status = 409;
        return Refusal { status, ..refusal };
    }
    refusal
}

/// Does what was asked for, and tells how things stand then.
fn done(books: &mut Books, id: &str, word: &str, mut fields: Fields) -> Result<Value> {
    let visit = visit(books, id)?;
    match word {
        "switch" | "cancel" | "undo" | "pay_now" => {
            of_subscription(books, &visit, word, &mut fields)?;
        }
        "card" => {
            let mut customer: Customer = books.find(&visit.customer)?;
            customer.declines = match fields.take("declines").as_deref() {
                Some("true") => true,
                Some("false") => false,
                _ => return Err(Refusal::missing("declines")),
            };
            books.put(customer);
        }
        "refund" => give_back(books, &visit, &mut fields)?,
        "refund_succeeds" | "refund_fails" => {
            let refund = refund(books, &visit, &mut fields)?;
            let status = match word {
                "refund_fails" => RefundStatus::Failed,
                _ => RefundStatus::Succeeded,
            };
            refunds::turn(books, refund, status, None)?;
        }
        "dispute" => {
            let charge = charge(books, &visit, &mut fields)?;
            let amount = amount(&mut fields, &charge)?;
            let wanted = disputes::Wanted {
                amount,
                reason: None,
                inquiry: fields.take("inquiry").as_deref() == Some("true"),
            };
            disputes::open(books, charge, wanted)?;
        }
        "dispute_won" | "dispute_lost" => {
            let dispute = dispute(books, &visit, &mut fields)?;
            disputes::close(books, dispute, word == "dispute_won")?;
        }
        "dispute_escalated" => {
            let dispute = dispute(books, &visit, &mut fields)?;
            disputes::escalate(books, dispute)?;
        }
        _ => return Err(Refusal::no_such("action", word)),
    }
    Ok(state(books, &visit.customer))
}

fn of_subscription(
    books: &mut Books,
    visit: &PortalSession,
    word: &str,
    fields: &mut Fields,
) -> Result<()> {
    let offer: Configuration = books.find(&visit.configuration)?;
    if word == "switch" {
        let price = fields.take("price");
        let price = price.ok_or_else(|| Refusal::missing("price"))?;
        let subscription = subscription(books, visit, fields)?;
        let offered = offer.prices().any(|one| one == price);
        if !offer.offers("subscription_update") || !(offered || price == subscription.item.price) {
            return Err(Refusal::param("price", "This tier is not offered here."));
        }
        billing::switch(books, &offer, subscription, &price)?;
        return Ok(());
    }
    let subscription = subscription(books, visit, fields)?;
    match word {
        "pay_now" => billing::pay_now(books, subscription)?,
        _ if !offer.offers("subscription_cancel") => {
            return Err(Refusal::invalid("Subscriptions cannot be canceled here."));
        }
        "cancel" if offer.cancels_now() => {
            billing::cancel_now(books, subscription)?;
        }
        _ => {
            billing::cancel_at_end(books, subscription, word == "cancel")?;
        }
    }
    Ok(())
}

fn give_back(books: &mut Books, visit: &PortalSession, fields: &mut Fields) -> Result<()> {
    let charge = charge(books, visit, fields)?;
    let amount = amount(fields, &charge)?;
    let status = match fields.take("status").as_deref() {
        None => None,
        Some("succeeded") => Some(RefundStatus::Succeeded),
        Some("pending") => Some(RefundStatus::Pending),
        Some("failed") => Some(RefundStatus::Failed),
        Some(_) => return Err(Refusal::param("status", "No refund begins like this.")),
    };
    let wanted = Wanted {
        amount,
        status,
        ..Wanted::default()
    };
    refunds::refund(books, charge, wanted).map(drop)
}

/// The one that is named, or the only one that runs.
fn subscription(books: &Books, visit: &PortalSession, fields: &mut Fields) -> Result<Subscription> {
    let id = fields.take("subscription");
    let found = books.newest::<Subscription>(|subscription| {
        subscription.customer == visit.customer
            && match &id {
                Some(id) => subscription.head.id == *id,
                None => subscription.status.is_running(),
            }
    });
    match found.as_slice() {
        [only] => Ok((*only).clone()),
        [] => Err(Refusal::no_such(
            "subscription",
            id.as_deref().unwrap_or_default(),
        )),
        _ => Err(Refusal::missing("subscription")),
    }
}

/// The one that is named, or the newest.
fn charge(books: &Books, visit: &PortalSession, fields: &mut Fields) -> Result<Charge> {
    let id = fields.take("charge");
    let found = books.newest::<Charge>(|charge| {
        charge.customer.as_ref() == Some(&visit.customer)
            && id.as_ref().is_none_or(|id| *id == charge.head.id)
    });
    let first = found.first().copied().cloned();
    first.ok_or_else(|| Refusal::no_such("charge", id.as_deref().unwrap_or_default()))
}

/// The one that is named, or the newest that waits.
fn refund(books: &Books, visit: &PortalSession, fields: &mut Fields) -> Result<Refund> {
    let id = fields.take("refund");
    let found = books.newest::<Refund>(|refund| match &id {
        Some(id) => *id == refund.head.id,
        None => refund.status == RefundStatus::Pending,
    });
    let theirs = |refund: &&&Refund| is_theirs(books, visit, &refund.charge);
    let first = found.iter().find(theirs).copied().cloned();
    first.ok_or_else(|| Refusal::no_such("refund", id.as_deref().unwrap_or_default()))
}

/// The one that is named, or the newest of the charge that is.
fn dispute(books: &Books, visit: &PortalSession, fields: &mut Fields) -> Result<Dispute> {
    let (id, charge) = (fields.take("dispute"), fields.take("charge"));
    let found = books.newest::<Dispute>(|dispute| match (&id, &charge) {
        (Some(id), _) => *id == dispute.head.id,
        (None, Some(charge)) => *charge == dispute.charge,
        (None, None) => true,
    });
    let theirs = |dispute: &&&Dispute| is_theirs(books, visit, &dispute.charge);
    let mut theirs = found.iter().filter(theirs).copied();
    // Those that are decided, where none waits: saying it again is no error.
    let first = theirs.clone().find(|dispute| dispute.status.is_open());
    let first = first.or_else(|| theirs.next()).cloned();
    first.ok_or_else(|| Refusal::invalid("This payment is not disputed."))
}

fn is_theirs(books: &Books, visit: &PortalSession, charge: &str) -> bool {
    let charge = books.get::<Charge>(charge);
    charge.is_some_and(|charge| charge.customer.as_ref() == Some(&visit.customer))
}

/// `amount` as a person types it, or `amountCents` as a script counts; none: all that is left.
fn amount(fields: &mut Fields, charge: &Charge) -> Result<Option<i64>> {
    let typed = match (fields.take("amount"), fields.take("amountCents")) {
        (None, None) => return Ok(None),
        (Some(text), None) => money::typed(&text, &charge.currency),
        (None, Some(text)) => text.parse().ok(),
        (Some(_), Some(_)) => {
            let message = "You may only specify one of these parameters: amount, amountCents.";
            return Err(Refusal::param("amount", message));
        }
    };
    let message = "This is not an amount that can be refunded.";
    typed
        .map(Some)
        .ok_or_else(|| Refusal::param("amount", message))
}

/// How things stand, for scripts.
fn state(books: &Books, customer: &str) -> Value {
    let subscriptions = books.newest::<Subscription>(|one| one.customer == customer);
    let subscriptions = subscriptions.into_iter().map(|one| {
        json!({
            "id": one.head.id,
            "status": one.status.word(),
            "price": one.item.price,
            "scheduledPrice": one.scheduled,
            "cancelAtPeriodEnd": one.cancel_at_end,
            "currentPeriodEnd": one.period_end,
        })
    });
    let payments = books.newest::<Charge>(|one| one.customer.as_deref() == Some(customer));
    let payments = payments.into_iter().map(|one| {
        let dispute = one
            .dispute
            .as_deref()
            .and_then(|id| books.get::<Dispute>(id));
        let refunds = books.newest::<Refund>(|refund| refund.charge == one.head.id);
        let refunds = refunds.into_iter().map(|refund| {
            json!({
                "id": refund.head.id, "amountCents": refund.amount, "status": refund.status.word(),
            })
        });
        let disputes = disputes::of(books, &one.head.id)
            .into_iter()
            .map(|dispute| {
                json!({
                    "id": dispute.head.id, "amountCents": dispute.amount,
                    "status": dispute.status.word(),
                })
            });
        json!({
            "charge": one.head.id,
            "paymentIntent": one.intent,
            "amountCents": one.amount,
            "refundedCents": one.amount_refunded,
            "currency": one.currency,
            "dispute": dispute.map(|dispute| dispute.status.word()),
            "refunds": refunds.collect::<Vec<_>>(),
            "disputes": disputes.collect::<Vec<_>>(),
        })
    });
    let declines = books
        .get::<Customer>(customer)
        .is_some_and(|customer| customer.declines);
    json!({
        "customer": customer,
        "cardDeclines": declines,
        "subscriptions": subscriptions.collect::<Vec<_>>(),
        "payments": payments.collect::<Vec<_>>(),
    })
}
