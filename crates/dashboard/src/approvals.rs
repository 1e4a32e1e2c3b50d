//! A project's requests for approval: lists, approves, declines and withdraws them. Nobody approves their own; an approved
//! one is carried out once, with the requester's present role and daily limit.

use std::sync::Arc;

use actors::Address;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    Amount, Timestamp,
    id::{ApprovalId, OrderId},
    text::{IdempotencyKey, Meta},
    wallet::{credit::Credit, reverse_deduction::ReverseDeduction},
};
use edge::{
    Support,
    audit::{NothingDone, retry_key_of_approval},
    refused,
};
use identity::{Action, Approval, Authority, CatalogChange, OutgoingValue, Privilege, Recipient};
use maud::{Markup, html};
use operations::audit::Proof;
use wire::{Error, ErrorCode, note::with_note};

use super::{
    admission::refund_proof,
    approval_request::{path, words},
    catalog::product_name,
    changes,
    deduction::deduction_path,
    elsewhere, form,
    layout::{self, Tab, base},
    money::{grouped, money},
    order, orders,
    page_request::{FormPost, PageFor, PageRequest},
    prices::price_words,
    unfulfilled,
    verbatim::verbatim,
    wallets,
};
use crate::state::App;

/// A request on the page, with a link to what it is about.
async fn shown(app: &App, project: &ProjectCatalog, approval: &Approval) -> Markup {
    match &approval.action {
        Action::Outgoing(value) => shown_value(app, project, value).await,
        Action::Change(change) => changes::title(project, change),
    }
}

async fn shown_value(app: &App, project: &ProjectCatalog, value: &OutgoingValue) -> Markup {
    let base = base(project);
    match value {
        OutgoingValue::Grant {
            wallet,
            product,
            credits,
            expires_at,
        } => {
            let view = app
                .handle
                .read(&project.scope, &Address::Stored(*wallet))
                .await;
            let name = view.map_or_else(
                |_| verbatim(&wallet.to_string()),
                |view| wallets::name(&view),
            );
            html! {
                "Grant " (grouped(*credits)) " of " (product_name(project, *product)) " to "
                a href=(wallets::path(project, *wallet)) { (name) }
                @if let Some(at) = expires_at { ", until " (layout::when(Timestamp(*at))) }
            }
        }
        OutgoingValue::Refund { order, cents } => html! {
            "Refund " (amount(app, project, *order, *cents).await) " of order "
            a href=(orders::path(project, *order)) { code { (order) } }
        },
        OutgoingValue::Payment { payment, cents } => html! {
            "Refund payment " a href={ (base) "/unfulfilled-payments/" (payment) } { code { (payment) } } " of " (grouped(*cents)) " cents"
        },
        OutgoingValue::Reversal { deduction, credits } => html! {
            "Reverse " (grouped(*credits)) " of deduction "
            a href=(deduction_path(project, *deduction)) { code { (deduction) } }
        },
        OutgoingValue::Assignment {
            payment,
            price,
            credits,
            cents,
            to,
        } => html! {
            "Assign payment " a href={ (base) "/unfulfilled-payments/" (payment) } { code { (payment) } }
            " to " (price_words(project, *price)) ": " (grouped(*credits)) " credits and "
            (grouped(*cents)) " cents beyond what was paid, to "
            @match to {
                Recipient::New => "a new wallet",
                Recipient::User(user) => (verbatim(user.as_str())),
                Recipient::Wallet(key) => a href=(wallets::path(project, *key)) { "this wallet" },
            }
        },
    }
}

async fn amount(app: &App, project: &ProjectCatalog, order: OrderId, cents: i64) -> String {
    let known = app.handle.order(&project.scope, order).await;
    known.map_or_else(
        |_| format!("{} cents", grouped(cents)),
        |known| money(cents, &known.order.terms.currency),
    )
}

/// `GET …/approvals`: the pending requests.
pub(super) async fn list(
    page: PageFor<Support>,
    State(app): State<App>,
) -> Result<Response, Error> {
    let project = page.request.project(&app)?;
    Ok(all(&page.request, &app, &project, None).await)
}

async fn all(
    request: &PageRequest,
    app: &App,
    project: &ProjectCatalog,
    error: Option<&Error>,
) -> Response {
    let waiting = app
        .edge
        .people
        .approvals(project.project.id, app.edge.clock.now());
    let mut rows = Vec::new();
    for approval in &waiting {
        rows.push((approval, shown(app, project, approval).await));
    }
    let path = path(project);
    let may = request.may(Privilege::Manage);
    let act = |approval: &Approval, answer: &str, class: Option<&str>, label: &str| {
        html! { form method="post" action={ (path) "/" (approval.id) "/" (answer) } {
            (form::token(request))
            button class=[class] type="submit" { (label) }
        } }
    };
    let body = html! {
        h1 { "Approvals" }
        @if let Some(error) = error { p.alert role="alert" { (error.message()) } }
        p.hint { "Grants and refunds above the limits in the settings require approval by a second person; so do secret keys, prices and free credits of operators. Any other operator or owner can approve them. "
            (layout::docs("people", "People and approvals")) }
        @if rows.is_empty() { p.empty { "No pending requests." } }
        @for (approval, what) in &rows { section.card {
            h2 { (what) }
            dl {
                @if let Action::Change(change) = &approval.action { (changes::facts(project, change)) }
                div { dt { "Requested by" } dd { (verbatim(approval.asker.label())) } }
                div { dt { "Requested" } dd { (layout::when(Timestamp(approval.at))) } }
                div { dt { "Expires" } dd { (layout::when(approval.until())) } }
                @if !approval.reason.is_empty() { div { dt { "Reason" } dd { (verbatim(&approval.reason)) } } }
                @if let Some(by) = &approval.approved_by { div { dt { "Approved by" } dd { (verbatim(by)) } } }
            }
            div.row {
                @if approval.is_of(&request.authority) {
                    @if may && approval.approved_by.is_some() { (act(approval, "create", Some("primary"), "Create the key")) }
                    (act(approval, "decline", None, "Withdraw"))
                } @else if may {
                    @if approval.approved_by.is_none() { (act(approval, "approve", Some("primary"), "Approve")) }
                    (act(approval, "decline", None, "Decline"))
                }
            }
        } }
    };
    let mut page = Tab::Overview.page(request, project, "Approvals", &body);
    if let Some(error) = error {
        *page.status_mut() = error.code().status();
        if error.nothing_was_done() {
            page.extensions_mut().insert(NothingDone);
        }
    }
    page
}

/// `POST …/approvals/{approval}/{answer}`: approves and carries it out, or declines; the requester may withdraw, and
/// creates the secret key that was approved.
pub(super) async fn answer(
    State(app): State<App>,
    posted: FormPost<Support>,
) -> Result<Response, Error> {
    let (request, _) = posted.split();
    let project = request.project(&app)?;
    let id: ApprovalId = request.named("approval", ErrorCode::ApprovalNotFound)?;
    let answer: String = request.named("answer", ErrorCode::RouteNotFound)?;
    let people = &app.edge.people;
    let now = app.edge.clock.now();
    let waiting = people.answer_approval(project.project.id, id, now);
    let (approval, _answering) = waiting.map_err(refused)?;
    let _saving = match &approval.action {
        Action::Outgoing(_) => None,
        Action::Change(_) => Some(app.edge.saving.lock().await),
    };
    let is_own = approval.is_of(&request.authority);
    if !is_own && !request.may(Privilege::Manage) {
        return Err(Error::new(ErrorCode::RoleForbidden));
    }
    let asked = format!(
        "{}, requested by {}",
        words(&approval),
        approval.asker.name()
    );
    match answer.as_str() {
        "decline" => {
            let earlier = earlier_attempt(&app, &approval).await;
            people.forget_approval(&approval).await.map_err(refused)?;
            let what = match is_own {
                true => format!("Withdrew the request to {}{earlier}", words(&approval)),
                false => format!("Declined to {asked}{earlier}"),
            };
            Ok(request.done(&path(&project), "declined", what))
        }
        "create" => changes::create_approved_key(&app, &request, &approval).await,
        "approve" if is_own => {
            let error = Error::new(ErrorCode::OwnApproval);
            Ok(all(&request, &app, &project, Some(&error)).await)
        }
        "approve" if approval.approved_by.is_some() => Ok(request.done_before(&path(&project))),
        "approve" => match carry_out(&app, &request, (&project, &approval), &asked, now).await {
            Ok(false) if is_new_key(&approval) => {
                let what = format!("Approved to {asked}");
                Ok(request.done(&path(&project), "approved_key", what))
            }
            Ok(replayed) => {
                people.forget_approval(&approval).await.map_err(refused)?;
                match replayed {
                    true => Ok(request.done_before(&path(&project))),
                    false => {
                        let what = format!("Approved to {asked}: carried out");
                        Ok(request.done(&path(&project), "approved", what))
                    }
                }
            }
            Err(error) => Ok(all(&request, &app, &project, Some(&error)).await),
        },
        _ => Err(Error::new(ErrorCode::RouteNotFound)),
    }
}

/// Whether it is a secret key, which the requester creates once it is approved.
fn is_new_key(approval: &Approval) -> bool {
    match &approval.action {
        Action::Outgoing(_) => false,
        Action::Change(change) => matches!(**change, CatalogChange::NewKey(_)),
    }
}

/// The outcome of an earlier attempt, for the audit log.
async fn earlier_attempt(app: &App, approval: &Approval) -> &'static str {
    let (log, attempt) = (&app.edge.audit, retry_key_of_approval(approval.id));
    let was_unknown = log.is_unknown(&attempt).await;
    log.look_for_proofs(&app.catalog, &app.payments).await;
    match (was_unknown, log.is_unknown(&attempt).await) {
        (false, _) => "",
        (true, true) => "; an earlier attempt may have carried it out: its outcome is unknown",
        (true, false) => "; an earlier attempt had carried it out",
    }
}

/// Announces it in the audit log, and carries it out; returns whether that was done before.
async fn carry_out(
    app: &App,
    request: &PageRequest,
    (project, approval): (&Arc<ProjectCatalog>, &Approval),
    asked: &str,
    now: Timestamp,
) -> Result<bool, Error> {
    let proof = match &approval.action {
        Action::Outgoing(OutgoingValue::Refund { order, cents }) => {
            let known = app.handle.order(&project.scope, *order).await;
            let known = known.map_err(|error| Error::from_wallet(error, project))?;
            Some(refund_proof(&known, *cents))
        }
        Action::Outgoing(OutgoingValue::Payment { payment, .. }) => Some(Proof::Payment {
            payment: payment.clone(),
        }),
        Action::Outgoing(OutgoingValue::Assignment { payment, .. }) => Some(Proof::Assignment {
            payment: payment.clone(),
        }),
        Action::Outgoing(OutgoingValue::Grant { .. } | OutgoingValue::Reversal { .. })
        | Action::Change(_) => None,
    };
    request
        .announce(app, &format!("Approve to {asked}"), proof)
        .await?;
    let asker = asker(app, request, approval).await?;
    match &approval.action {
        Action::Outgoing(value) => {
            give(app, request, project, (&asker, approval, value), now).await
        }
        Action::Change(change) => changes::make(app, request, approval, change).await,
    }
}

/// The requester, with their present permissions.
async fn asker(app: &App, request: &PageRequest, approval: &Approval) -> Result<Authority, Error> {
    let authority = match approval.asker.user() {
        Some(user) => elsewhere::authority_of(app, user, request.client()).await?,
        None => Some(approval.asker.clone()),
    };
    let gone = || {
        Error::new(ErrorCode::RoleForbidden)
            .saying("The person who requested it is no longer permitted to do it.")
    };
    let authority = authority.ok_or_else(gone)?;
    let needed = match &approval.action {
        Action::Outgoing(_) => Privilege::Support,
        Action::Change(_) => Privilege::Manage,
    };
    match authority.may(needed, Some(approval.project)) {
        true => Ok(authority),
        false => Err(gone()),
    }
}

/// Carries it out; returns whether that was done before.
async fn give(
    app: &App,
    request: &PageRequest,
    project: &Arc<ProjectCatalog>,
    (asker, approval, value): (&Authority, &Approval, &OutgoingValue),
    now: Timestamp,
) -> Result<bool, Error> {
    let key =
        IdempotencyKey::new(approval.key.as_str()).map_err(|error| Error::text("key", error))?;
    let counted = app
        .edge
        .people
        .count_outgoing(asker, value, key.as_str(), now)
        .await;
    counted.map_err(refused)?;
    match value {
        OutgoingValue::Grant {
            wallet,
            product,
            credits,
            expires_at,
        } => {
            let meta =
                serde_json::json!({"reason": approval.reason, "by": "dashboard"}).to_string();
            let command = Credit {
                product: *product,
                amount: Amount::new(*credits).ok_or_else(|| Error::missing("amount"))?,
                expires_at: expires_at.map(Timestamp),
                key,
                meta: Some(Meta::new(meta).map_err(|error| Error::text("reason", error))?),
            };
            let address = Address::Stored(*wallet);
            let applied = app.handle.credit(&project.scope, &address, command).await;
            let applied = applied.map_err(|error| Error::from_wallet(error, project))?;
            Ok(applied.replayed)
        }
        OutgoingValue::Refund { order, cents } => {
            let known = app.handle.order(&project.scope, *order).await;
            let known = known.map_err(|error| Error::from_wallet(error, project))?;
            order::refund_amount(app, request, project, &known, *cents, key).await
        }
        OutgoingValue::Payment { payment, .. } => {
            unfulfilled::refund_payment(app, request, project, payment).await?;
            Ok(false)
        }
        OutgoingValue::Assignment {
            payment, price, to, ..
        } => {
            let order = app
                .payments
                .assign(project.clone(), payment.clone(), *price, to.address());
            let order = order.await;
            let order = order.map_err(|error| Error::from_instruction(error, project))?;
            Ok(order.replayed)
        }
        OutgoingValue::Reversal { deduction, credits } => {
            let amount = Amount::new(*credits).ok_or_else(|| Error::missing("amount"))?;
            let given = app
                .handle
                .reverse_deduction(&project.scope, *deduction, |meta| ReverseDeduction {
                    amount: Some(amount),
                    key,
                    meta: with_note(meta, Some(approval.reason.clone())),
                });
            let given = given.await;
            let given = given.map_err(|error| Error::from_wallet(error, project))?;
            Ok(given.replayed)
        }
    }
}
