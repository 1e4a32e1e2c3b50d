//! `…/approvals`: large grants and refunds that wait for another person's yes. Whoever asked cannot give it; with it the
//! deed is done once, as if who asked did it now: with their role and their daily limit.

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
    audit::{NothingDone, deed_of_approval},
    refused,
};
use identity::{Action, Approval, Authority, CatalogChange, Gift, Privilege, Recipient};
use maud::{Markup, html};
use operations::audit::Proof;
use wire::{Error, ErrorCode, note::with_note};

use super::{
    admission::refund_proof,
    approval_request::{path, words},
    catalog::product_name,
    changes, elsewhere, form,
    give_back::deduction_path,
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

/// What somebody asked for on the page, with a link to what it is about.
async fn shown(app: &App, project: &ProjectCatalog, approval: &Approval) -> Markup {
    match &approval.action {
        Action::Gift(gift) => shown_gift(app, project, gift).await,
        Action::Change(change) => changes::title(project, change),
    }
}

async fn shown_gift(app: &App, project: &ProjectCatalog, gift: &Gift) -> Markup {
    let base = base(project);
    match gift {
        Gift::Grant {
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
        Gift::Refund { order, cents } => html! {
            "Refund " (amount(app, project, *order, *cents).await) " of order "
            a href=(orders::path(project, *order)) { code { (order) } }
        },
        Gift::Payment { payment, cents } => html! {
            "Refund payment " a href={ (base) "/unfulfilled-payments/" (payment) } { code { (payment) } } " of " (grouped(*cents)) " cents"
        },
        Gift::Reversal { deduction, credits } => html! {
            "Give back " (grouped(*credits)) " of deduction "
            a href=(deduction_path(project, *deduction)) { code { (deduction) } }
        },
        Gift::Assignment {
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

/// `GET …/approvals`: what waits.
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
    let act = |approval: &Approval, deed: &str, class: Option<&str>, label: &str| {
        html! { form method="post" action={ (path) "/" (approval.id) "/" (deed) } {
            (form::token(request))
            button class=[class] type="submit" { (label) }
        } }
    };
    let body = html! {
        h1 { "Approvals" }
        @if let Some(error) = error { p.alert role="alert" { (error.message()) } }
        p.hint { "Grants and refunds above what the settings say need another person's yes, and so do operators' secret keys, prices and free credits. It is given by an operator or an owner who did not ask." }
        @if rows.is_empty() { p.empty { "Nothing waits." } }
        @for (approval, what) in &rows { section.card {
            h2 { (what) }
            dl {
                @if let Action::Change(change) = &approval.action { (changes::facts(project, change)) }
                div { dt { "Asked for by" } dd { (verbatim(approval.asker.label())) } }
                div { dt { "Asked" } dd { (layout::when(Timestamp(approval.at))) } }
                div { dt { "Lapses" } dd { (layout::when(approval.until())) } }
                @if !approval.reason.is_empty() { div { dt { "Reason" } dd { (verbatim(&approval.reason)) } } }
                @if let Some(by) = &approval.approved_by { div { dt { "Approved by" } dd { (verbatim(by)) } } }
            }
            div.row {
                @if approval.is_of(&request.authority) {
                    @if may && approval.approved_by.is_some() { (act(approval, "make", Some("primary"), "Make the key, and show it")) }
                    (act(approval, "decline", None, "Withdraw"))
                } @else if may {
                    @if approval.approved_by.is_none() { (act(approval, "approve", Some("primary"), "Approve, and do it")) }
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

/// `POST …/approvals/{approval}/{answer}`: approves, which does it, or declines; who asked may withdraw, and makes the
/// secret key that was approved.
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
        Action::Gift(_) => None,
        Action::Change(_) => Some(app.edge.saving.lock().await),
    };
    let is_own = approval.is_of(&request.authority);
    if !is_own && !request.may(Privilege::Manage) {
        return Err(Error::new(ErrorCode::RoleForbidden));
    }
    let asked = format!(
        "{}, which {} asked for",
        words(&approval),
        approval.asker.name()
    );
    match answer.as_str() {
        "decline" => {
            let former = former_try(&app, &approval).await;
            people.forget_approval(&approval).await.map_err(refused)?;
            let what = match is_own {
                true => format!("Withdrew the request to {}{former}", words(&approval)),
                false => format!("Declined to {asked}{former}"),
            };
            Ok(request.done(&path(&project), "declined", what))
        }
        "make" => changes::come_for_key(&app, &request, &approval).await,
        "approve" if is_own => {
            let error = Error::new(ErrorCode::OwnApproval);
            Ok(all(&request, &app, &project, Some(&error)).await)
        }
        "approve" if approval.approved_by.is_some() => Ok(request.done_before(&path(&project))),
        "approve" => match tried(&app, &request, (&project, &approval), &asked, now).await {
            Ok(false) if is_new_key(&approval) => {
                let what = format!("Approved to {asked}");
                Ok(request.done(&path(&project), "approved_key", what))
            }
            Ok(replayed) => {
                people.forget_approval(&approval).await.map_err(refused)?;
                match replayed {
                    true => Ok(request.done_before(&path(&project))),
                    false => {
                        let what = format!("Approved to {asked}: it is done");
                        Ok(request.done(&path(&project), "approved", what))
                    }
                }
            }
            Err(error) => Ok(all(&request, &app, &project, Some(&error)).await),
        },
        _ => Err(Error::new(ErrorCode::RouteNotFound)),
    }
}

/// Whether it is a secret key, which whoever asked makes once it is approved.
fn is_new_key(approval: &Approval) -> bool {
    match &approval.action {
        Action::Gift(_) => false,
        Action::Change(change) => matches!(**change, CatalogChange::NewKey(_)),
    }
}

/// What became of a former try to do it, for the audit log.
async fn former_try(app: &App, approval: &Approval) -> &'static str {
    let (log, deed) = (&app.edge.audit, deed_of_approval(approval.id));
    let was_unknown = log.is_unknown(&deed).await;
    log.look_for_proofs(&app.catalog, &app.payments).await;
    match (was_unknown, log.is_unknown(&deed).await) {
        (false, _) => "",
        (true, true) => "; an earlier try may have done it: its outcome is unknown",
        (true, false) => "; an earlier try had done it",
    }
}

/// Says in the audit log what is about to be done, and does it; returns whether it was done before.
async fn tried(
    app: &App,
    request: &PageRequest,
    (project, approval): (&Arc<ProjectCatalog>, &Approval),
    asked: &str,
    now: Timestamp,
) -> Result<bool, Error> {
    let proof = match &approval.action {
        Action::Gift(Gift::Refund { order, cents }) => {
            let known = app.handle.order(&project.scope, *order).await;
            let known = known.map_err(|error| Error::from_wallet(error, project))?;
            Some(refund_proof(&known, *cents))
        }
        Action::Gift(Gift::Payment { payment, .. }) => Some(Proof::Payment {
            payment: payment.clone(),
        }),
        Action::Gift(Gift::Assignment { payment, .. }) => Some(Proof::Assignment {
            payment: payment.clone(),
        }),
        Action::Gift(Gift::Grant { .. } | Gift::Reversal { .. }) | Action::Change(_) => None,
    };
    request
        .announce(app, &format!("Approve to {asked}"), proof)
        .await?;
    let asker = asker(app, request, approval).await?;
    match &approval.action {
        Action::Gift(gift) => given(app, request, project, (&asker, approval, gift), now).await,
        Action::Change(change) => changes::make(app, request, approval, change).await,
    }
}

/// Who asked, with what they may do now.
async fn asker(app: &App, request: &PageRequest, approval: &Approval) -> Result<Authority, Error> {
    let authority = match approval.asker.user() {
        Some(user) => elsewhere::authority_of(app, user, request.client()).await?,
        None => Some(approval.asker.clone()),
    };
    let gone = || {
        Error::new(ErrorCode::RoleForbidden).saying("Whoever asked for it may not do it any more.")
    };
    let authority = authority.ok_or_else(gone)?;
    let needed = match &approval.action {
        Action::Gift(_) => Privilege::Support,
        Action::Change(_) => Privilege::Manage,
    };
    match authority.may(needed, Some(approval.project)) {
        true => Ok(authority),
        false => Err(gone()),
    }
}

/// Gives what was asked for; returns whether it was given before.
async fn given(
    app: &App,
    request: &PageRequest,
    project: &Arc<ProjectCatalog>,
    (asker, approval, gift): (&Authority, &Approval, &Gift),
    now: Timestamp,
) -> Result<bool, Error> {
    let key =
        IdempotencyKey::new(approval.key.as_str()).map_err(|error| Error::text("key", error))?;
    let counted = app
        .edge
        .people
        .count_gift(asker, gift, key.as_str(), now)
        .await;
    counted.map_err(refused)?;
    match gift {
        Gift::Grant {
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
        Gift::Refund { order, cents } => {
            let known = app.handle.order(&project.scope, *order).await;
            let known = known.map_err(|error| Error::from_wallet(error, project))?;
            order::give_back(app, request, project, &known, *cents, key).await
        }
        Gift::Payment { payment, .. } => {
            unfulfilled::give_back(app, request, project, payment).await?;
            Ok(false)
        }
        Gift::Assignment {
            payment, price, to, ..
        } => {
            let order = app
                .payments
                .assign(project.clone(), payment.clone(), *price, to.address());
            let order = order.await;
            let order = order.map_err(|error| Error::from_instruction(error, project))?;
            Ok(order.replayed)
        }
        Gift::Reversal { deduction, credits } => {
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
