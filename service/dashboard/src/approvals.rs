//! `…/approvals`: large grants and refunds that wait for another person's yes. Whoever asked cannot give it; with it the
//! deed is done once, as if who asked did it now: with their role and their daily limit.

use actors::Address;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    Amount, Timestamp,
    id::{ApprovalId, OrderId},
    text::{IdempotencyKey, Meta},
    wallet::{credit::Credit, reverse_deduction::ReverseDeduction},
};
use edge::{Support, permission::allow, refused};
use maud::{Markup, html};
use people::{Approval, Authority, Gift, Privilege, Recipient};
use wire::{Error, ErrorCode, note::with_note};

use super::{
    catalog::product_name,
    elsewhere, form,
    give_back::deduction_path,
    layout::{self, Tab, base},
    money::{grouped, money},
    orders,
    page_request::{FormPost, PageFor, PageRequest},
    prices::price_words,
    verbatim::verbatim,
    wallets,
};
use crate::state::App;

/// Where a project's requests wait.
pub(super) fn path(project: &ProjectCatalog) -> String {
    format!("{}/approvals", base(project))
}

fn needed(request: &PageRequest, project: &ProjectCatalog, gift: &Gift) -> bool {
    request.authority.user().is_some() && gift.needs_approval(project.project.approval)
}

/// What a page says before somebody asks for what needs another person's yes.
pub(super) fn notice(request: &PageRequest, project: &ProjectCatalog, gift: &Gift) -> Markup {
    html! { @if needed(request, project, gift) {
        p.hint { "This is more than one person may do alone here: it waits for another person's yes, for seven days at most." }
    } }
}

/// Before a gift: counts it towards what somebody may give today (`None`: it may be given now), or keeps it where it
/// needs another person's yes, and leads to where it waits.
pub(super) async fn admit(
    app: &App,
    request: &PageRequest,
    project: &ProjectCatalog,
    gift: &Gift,
    (reason, key): (&str, &str),
) -> Result<Option<Response>, Error> {
    let (id, now) = (project.project.id, app.edge.clock.now());
    let people = &app.edge.people;
    if !needed(request, project, gift) {
        let counted = people.count_gift(&request.authority, gift, key, now).await;
        return counted.map(|()| None).map_err(refused);
    }
    let who = (id, &request.authority);
    let kept = people.ask_for_approval(who, gift.clone(), (reason, key), now);
    let kept = kept.await;
    let kept = kept.map_err(refused)?;
    let what = format!(
        "Asked for another person's yes to {}",
        words(project, &kept)
    );
    Ok(Some(request.done(&path(project), "asked", what)))
}

/// A gift in words for the audit log.
fn words(project: &ProjectCatalog, approval: &Approval) -> String {
    let what = match &approval.gift {
        Gift::Grant {
            wallet,
            product,
            credits,
            ..
        } => {
            format!(
                "grant {} of {product} in wallet {wallet}",
                grouped(*credits)
            )
        }
        Gift::Refund { order, cents } => format!("refund {cents} cents of order {order}"),
        Gift::Payment { payment, cents } => {
            format!("refund payment {payment} of {cents} cents")
        }
        Gift::Reversal { deduction, credits } => {
            format!("give back {} of deduction {deduction}", grouped(*credits))
        }
        Gift::Assignment {
            payment,
            price,
            credits,
            cents,
            ..
        } => {
            let (price, credits) = (price_words(project, *price), grouped(*credits));
            format!(
                "assign payment {payment} to {price}, which brings {credits} credits and {cents} cents beyond what was paid"
            )
        }
    };
    match approval.reason.is_empty() {
        true => format!("{what} ({})", approval.id),
        false => format!("{what} ({}): {}", approval.id, approval.reason),
    }
}

/// A gift on the page, with a link to what it is about.
async fn shown(app: &App, project: &ProjectCatalog, approval: &Approval) -> Markup {
    let base = base(project);
    match &approval.gift {
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
        p.hint { "Grants and refunds above what the settings say need another person's yes. It is given by an operator or an owner who did not ask." }
        @if rows.is_empty() { p.empty { "Nothing waits." } }
        @for (approval, what) in &rows { section.card {
            h2 { (what) }
            dl {
                div { dt { "Asked for by" } dd { (verbatim(approval.asker.label())) } }
                div { dt { "Asked" } dd { (layout::when(Timestamp(approval.at))) } }
                div { dt { "Lapses" } dd { (layout::when(approval.until())) } }
                @if !approval.reason.is_empty() { div { dt { "Reason" } dd { (verbatim(&approval.reason)) } } }
            }
            div.row {
                @if approval.is_of(&request.authority) {
                    (act(approval, "decline", None, "Withdraw"))
                } @else if may {
                    (act(approval, "approve", Some("primary"), "Approve, and do it"))
                    (act(approval, "decline", None, "Decline"))
                }
            }
        } }
    };
    let mut page = Tab::Overview.page(request, project, "Approvals", &body);
    if let Some(error) = error {
        *page.status_mut() = error.code().status();
    }
    page
}

/// `POST …/approvals/{approval}/{answer}`: approves, which does it, or declines; who asked may withdraw.
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
    let approval = people
        .approval(project.project.id, id, now)
        .map_err(refused)?;
    let is_own = approval.is_of(&request.authority);
    if !is_own && !request.may(Privilege::Manage) {
        return Err(Error::new(ErrorCode::RoleForbidden));
    }
    let asked = format!(
        "{}, which {} asked for",
        words(&project, &approval),
        approval.asker.name()
    );
    match answer.as_str() {
        "decline" => {
            people.forget_approval(&approval).await.map_err(refused)?;
            let what = match is_own {
                true => format!("Withdrew the request to {}", words(&project, &approval)),
                false => format!("Declined to {asked}"),
            };
            Ok(request.done(&path(&project), "declined", what))
        }
        "approve" if is_own => {
            let error = Error::new(ErrorCode::OwnApproval);
            Ok(all(&request, &app, &project, Some(&error)).await)
        }
        "approve" => match done(&app, &project, &approval, now).await {
            Ok(replayed) => {
                people.forget_approval(&approval).await.map_err(refused)?;
                match replayed {
                    true => Ok(layout::done(&path(&project), "again")),
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

/// Who asked, with what they may do now. Where another cell keeps the people, with what they might do then.
fn asker(app: &App, approval: &Approval) -> Result<Authority, Error> {
    let authority = match (elsewhere::keeps_sessions(app), approval.asker.user()) {
        (true, Some(user)) => app
            .edge
            .people
            .user(user)
            .ok()
            .and_then(|user| user.authority()),
        _ => Some(approval.asker.clone()),
    };
    let gone = || {
        Error::new(ErrorCode::RoleForbidden).saying("Whoever asked for it may not do it any more.")
    };
    let authority = authority.ok_or_else(gone)?;
    allow::<Support>(&authority, Some(approval.project)).map_err(|_| gone())?;
    Ok(authority)
}

/// Does what was asked for; returns whether it was done before.
async fn done(
    app: &App,
    project: &std::sync::Arc<ProjectCatalog>,
    approval: &Approval,
    now: Timestamp,
) -> Result<bool, Error> {
    let asker = asker(app, approval)?;
    let key =
        IdempotencyKey::new(approval.key.as_str()).map_err(|error| Error::text("key", error))?;
    let counted = app
        .edge
        .people
        .count_gift(&asker, &approval.gift, key.as_str(), now)
        .await;
    counted.map_err(refused)?;
    match &approval.gift {
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
            let refund = app
                .payments
                .refund(project.clone(), *order, Some(*cents), key)
                .await;
            let refund = refund.map_err(|error| Error::from_instruction(error, project))?;
            Ok(refund.replayed)
        }
        Gift::Payment { payment, .. } => {
            let refund = app
                .payments
                .refund_unfulfilled(project.clone(), payment.clone())
                .await;
            refund.map_err(|error| Error::from_instruction(error, project))?;
            Ok(false)
        }
        Gift::Assignment {
            payment, price, to, ..
        } => {
            let order = app
                .payments
                .assign(project.clone(), payment.clone(), *price, to.address());
            let order = order.await;
            order.map_err(|error| Error::from_instruction(error, project))?;
            Ok(false)
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
