//! A project's requests for approval: lists, approves, declines and withdraws them.

use domain::id::ApprovalId;
use edge::{Support, audit::NothingDone};
use identity::{Action, Approval, CatalogChange};
use operator::{Approved, is_stale, stale};

use super::{
    audit_names::{WalletNames, sentence},
    keys,
    prelude::*,
};

/// What a change is compared with: whether it is still what was requested, and which prices there are.
fn facts(project: &ProjectCatalog, change: &CatalogChange) -> Markup {
    html! {
        @if is_stale(project, change) { p.alert { (stale().message()) } }
        @if let CatalogChange::NewPrice { product, .. } = change {
            div { dt { "Offered now" } dd {
                @for price in project.prices(product).filter(|price| price.active) {
                    (money(price.amount_cents, &price.currency)) " for " (grouped(price.credits_granted)) " credits" br;
                }
                @if !project.prices(product).any(|price| price.active) { "Nothing" }
            } }
        }
    }
}

/// The words with a capital at their beginning.
fn title(what: &str) -> String {
    let (first, rest) = what.split_at_checked(1).unwrap_or((what, ""));
    first.to_uppercase() + rest
}

pub(super) async fn list(request: PageFor<Support>) -> PageResult {
    Ok(all(&request, None).await)
}

async fn all(request: &PageRequest, error: Option<&Error>) -> Response {
    let (app, project) = (&request.app, &request.project);
    let id = project.project.id;
    let waiting = app.edge.people.approvals(id, app.edge.clock.now());
    let names = WalletNames::of(app, waiting.iter().map(|it| (id, &*it.what))).await;
    let path = layout::approvals(project);
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
        @if waiting.is_empty() { p.empty { "No pending requests." } }
        @for approval in &waiting { section.card {
            h2 { (sentence(app, &names, Some(id), &title(&approval.what))) }
            dl {
                @if let Action::Change(change) = &approval.action { (facts(project, change)) }
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
    let mut page = request.show("Approvals", &body);
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
pub(super) async fn answer(request: FormPost<Support>) -> PageResult {
    let id: ApprovalId = request.named("approval", ErrorCode::ApprovalNotFound)?;
    let answer: String = request.named("answer", ErrorCode::RouteNotFound)?;
    let operator = request.operator();
    let message = match answer.as_str() {
        "decline" => {
            operator.decline(id).await?;
            "declined"
        }
        "create" => {
            let minted = operator.create_approved_key(id).await?;
            return Ok(keys::hand_out(&request, minted));
        }
        "approve" => match operator.approve(id, request.client()).await {
            Ok(Approved::CarriedOut) => "approved",
            Ok(Approved::Before) => "again",
            Ok(Approved::Key) => "approved_key",
            Err(error) => return Ok(all(&request, Some(&error)).await),
        },
        _ => return Err(Error::new(ErrorCode::RouteNotFound)),
    };
    Ok(layout::done(&layout::approvals(&request.project), message))
}
