//! A wallet's subscriptions, on its page and on those of their orders: cancels and resumes them.

use actors::{Address, SubscriptionDetail};
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    id::{PublicSubscriptionId, WalletKey},
    wallet::{NamedSubscription, SubscriptionStatus, cancel::Cancel, loss::Loss, resume::Resume},
};
use edge::Support;
use identity::Privilege;
use maud::{Markup, html};
use operations::audit::Proof;
use payments::SubscriptionInstruction;
use uuid::Uuid;
use wire::{Error, ErrorCode};

use super::{
    actions::called,
    catalog::product_name,
    confirm::confirm,
    fields::{CONFIRMED, KEY},
    form,
    layout::{self, At, Tab},
    money::{grouped, money},
    page_request::{FormPost, PageRequest},
    wallets::{path, wallet},
};
use crate::state::App;

fn tier(project: &ProjectCatalog, known: &SubscriptionDetail) -> String {
    let label = known.subscription.label.as_deref().map(str::to_owned);
    label.unwrap_or_else(|| product_name(project, known.subscription.product))
}

pub(super) fn standing(project: &ProjectCatalog, known: &SubscriptionDetail) -> Markup {
    let subscription = &known.subscription;
    if let Some(at) = known.ended_at {
        return html! { p { span.badge { "Canceled" } " " (tier(project, known)) ", ended " (layout::when(at)) " " code.small { (subscription.id) } } };
    }
    html! {
        p {
            @match subscription.status {
                SubscriptionStatus::Active => span.badge.good { "Active" },
                SubscriptionStatus::PastDue => span.badge.bad { "Past due" },
                SubscriptionStatus::Paused => span.badge.wait { "Paused" },
                SubscriptionStatus::Canceled => span.badge { "Canceled" },
            }
            " " (tier(project, known))
            @if subscription.cancel_at_period_end { ", ends " } @else { ", paid until " }
            (layout::when(subscription.current_period_end))
            @if subscription.collection_paused { ", collection paused" }
            @if let Some(open) = &subscription.open_invoice {
                ". " (money(open.amount_cents, &open.currency.to_string()))
                " is due from the buyer: " a href=(open.url.as_str()) rel="noreferrer" { "invoice" }
                @if let Some(at) = open.next_attempt_at { ", next attempt " (layout::when(at)) }
            }
            " " code.small { (subscription.id) }
        }
    }
}

pub(super) fn buttons(
    request: &PageRequest,
    project: &ProjectCatalog,
    wallet: WalletKey,
    known: &SubscriptionDetail,
) -> Markup {
    html! {
        (standing(project, known))
        @if request.may(Privilege::Support) { form.row method="post" action={ (path(project, wallet)) "/subscription" } {
            (form::token(request))
            input type="hidden" name=(KEY) value=(Uuid::now_v7());
            input type="hidden" name="subscriptionId" value=(known.subscription.id);
            @if known.subscription.cancel_at_period_end {
                button name="action" value="resume" type="submit" { "Resume" }
            } @else {
                button name="action" value="end" type="submit" { "Cancel at the end of the period…" }
            }
            button.danger name="action" value="now" type="submit" { "Cancel now…" }
        } }
    }
}

/// What goes, for a confirmation page; `goes` is what becomes of credits.
pub(super) fn lost(project: &ProjectCatalog, loss: &Loss, goes: &str) -> Markup {
    let credits = loss.credits.iter().map(|(product, left)| {
        let unit = project.product(product);
        let unit = unit.and_then(|product| product.credit_unit.as_deref());
        format!("{} {}", grouped(*left), unit.unwrap_or("credits"))
    });
    let credits: Vec<_> = credits.collect();
    html! {
        div { dt { "Credits " (goes) } dd { @if credits.is_empty() { "None" } @else { (credits.join(", ")) } } }
        div { dt { "Features that end" } dd {
            @if loss.features.is_empty() { "None" }
            @for feature in &loss.features { span.tag { (feature) } " " }
        } }
    }
}

fn ending(project: &ProjectCatalog, known: &SubscriptionDetail, now: bool) -> Markup {
    let end = known.subscription.current_period_end;
    html! { dl {
        div { dt { "Paid until" } dd { (layout::when(end)) } }
        @if now { (lost(project, &known.loss, "that end now")) }
        @else {
            div { dt { "Until then" } dd { "Credits and features stay as they are. It can be resumed." } }
        }
        div { dt { "Money" } dd { "Nothing is refunded by this. Refund it on the order's page." } }
    } }
}

/// `POST …/wallets/{wallet}/subscription`: cancels or resumes one of the wallet's subscriptions.
pub(super) async fn change(
    State(app): State<App>,
    posted: FormPost<Support>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let page_path = path(&project, wallet);
    let address = Address::Stored(wallet);
    let id = fields.parsed("subscriptionId", "a subscription")?;
    let id: PublicSubscriptionId = id.ok_or_else(|| Error::missing("subscriptionId"))?;
    let named = NamedSubscription::Id(id, None);
    // One that is over is known by the key under which it was canceled.
    let detail = app.handle.inspect(&project.scope, &address, 0).await;
    let detail = detail.map_err(|error| Error::from_wallet(error, &project))?;
    let mut current = detail.subscriptions.iter();
    let known = current.find(|known| known.subscription.id == id);
    let key = fields.key()?;
    let action = fields.text("action");
    let ends = matches!(action, "end" | "now");
    if ends && !fields.is_on(CONFIRMED) {
        let known = known.ok_or(Error::new(ErrorCode::SubscriptionNotFound))?;
        let at = At::Project(&project, Tab::Wallets);
        let facts = ending(&project, known, action == "now");
        let when = if action == "now" {
            "now"
        } else {
            "at the end of the period"
        };
        let title = format!("Cancel {} {when}?", tier(&project, known));
        let paths = (&*format!("{page_path}/subscription"), &*page_path);
        return Ok(confirm(&request, at, &fields, paths, &title, &facts));
    }
    let (instruction, message, did) = match action {
        "end" | "now" => {
            let (at_period_end, did) = match action {
                "end" => (true, "Canceled at the end of its period"),
                _ => (false, "Canceled at once"),
            };
            let cancel = Cancel {
                named,
                at_period_end,
                key,
            };
            (SubscriptionInstruction::Cancel(cancel), "canceled", did)
        }
        "resume" => {
            let resume = SubscriptionInstruction::Resume(Resume { named, key });
            (resume, "resumed", "Resumed")
        }
        _ => return Err(Error::missing("action")),
    };
    let proof = Proof::Subscription {
        wallet,
        subscription: id,
        at_once: action == "now",
        ends,
    };
    let of = called(&app, &project, &address).await;
    let name = known.map(|known| format!("{} ({id})", tier(&project, known)));
    let name = name.unwrap_or_else(|| id.to_string());
    let verb = if ends { "Cancel" } else { "Resume" };
    let words = format!("{verb} the subscription of {of} to {name}");
    request.announce(&app, &words, Some(proof)).await?;
    let done = app
        .payments
        .instruct(project.clone(), address.clone(), instruction)
        .await;
    let done = done.map_err(|error| Error::from_instruction(error, &project))?;
    if done.replayed {
        return Ok(request.done_before(&page_path));
    }
    let what = format!("{did}: the subscription of {of} to {name}");
    Ok(request.done(&page_path, message, what))
}
