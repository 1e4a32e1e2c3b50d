//! A project's requests for approval: lists, approves, declines and withdraws them.

use actors::Address;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    id::{ApprovalId, OrderId},
};
use edge::{Support, audit::NothingDone};
use identity::{Action, Approval, OutgoingValue, Privilege, Recipient};
use maud::{Markup, html};
use operator::{Approved, price_words};
use wire::{Error, ErrorCode};

use super::{
    approval_request::path,
    catalog::product_name,
    changes,
    deduction::deduction_path,
    form, keys,
    layout::{self, Tab, base},
    money::{grouped, money},
    orders,
    page_request::{FormPost, PageFor, PageRequest},
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
            let found = app
                .handle
                .peek(&project.scope, &Address::Stored(*wallet))
                .await;
            let name = found.map_or_else(
                |_| verbatim(&wallet.to_string()),
                |it| wallets::name(&it.view),
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
    let operator = request.operator(&app, &project);
    let message = match answer.as_str() {
        "decline" => {
            operator.decline(id).await?;
            "declined"
        }
        "create" => {
            let minted = operator.create_approved_key(id).await?;
            return Ok(keys::hand_out(&app, &request, &project, minted));
        }
        "approve" => match operator.approve(id, request.client()).await {
            Ok(Approved::CarriedOut) => "approved",
            Ok(Approved::Before) => "again",
            Ok(Approved::Key) => "approved_key",
            Err(error) => return Ok(all(&request, &app, &project, Some(&error)).await),
        },
        _ => return Err(Error::new(ErrorCode::RouteNotFound)),
    };
    Ok(layout::done(&path(&project), message))
}
