//! A wallet's subscriptions, on its page and on those of their orders: cancels and resumes them.

use actors::SubscriptionDetail;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{id::WalletKey, wallet::SubscriptionStatus};
use identity::Privilege;
use maud::{Markup, html};
use operator::{EndSubscription, SubscriptionEnd};
use uuid::Uuid;
use wire::Error;

use super::{
    catalog::product_name,
    confirm::ActionForm,
    fields::KEY,
    form,
    layout::{self, Tab},
    money::money,
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

/// `POST …/wallets/{wallet}/subscription`: cancels or resumes one of the wallet's subscriptions.
pub(super) async fn change(
    State(app): State<App>,
    posted: FormPost<EndSubscription>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let id = fields.parsed("subscriptionId", "a subscription")?;
    let (end, message) = match fields.text("action") {
        "end" => (SubscriptionEnd::AfterPeriod, "canceled"),
        "now" => (SubscriptionEnd::Now, "canceled"),
        "resume" => (SubscriptionEnd::Never, "resumed"),
        _ => return Err(Error::missing("action")),
    };
    let change = EndSubscription {
        wallet,
        subscription: id.ok_or_else(|| Error::missing("subscriptionId"))?,
        end,
        key: fields.key()?,
    };
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Wallets);
    form.run(change, &path(&project, wallet), message).await
}
