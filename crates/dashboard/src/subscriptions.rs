//! A wallet's subscriptions, on its page and on those of their orders: cancels and resumes them.

use actors::SubscriptionDetail;
use domain::{id::WalletKey, wallet::SubscriptionStatus};
use operator::{EndSubscription, SubscriptionEnd};
use uuid::Uuid;

use super::{
    catalog::product_name,
    prelude::*,
    wallets::{path, wallet},
};

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
    wallet: WalletKey,
    known: &SubscriptionDetail,
) -> Markup {
    html! {
        (standing(&request.project, known))
        @if request.may(Privilege::Support) { form.row method="post" action={ (path(&request.project, wallet)) "/subscription" } {
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

pub(super) async fn change(request: FormPost<EndSubscription>) -> PageResult {
    let wallet = wallet(&request)?;
    let (end, message) = match request.fields.text("action") {
        "end" => (SubscriptionEnd::AfterPeriod, "canceled"),
        "now" => (SubscriptionEnd::Now, "canceled"),
        "resume" => (SubscriptionEnd::Never, "resumed"),
        _ => return Err(Error::missing("action")),
    };
    let change = EndSubscription {
        wallet,
        subscription: request
            .fields
            .required("subscriptionId", "a subscription")?,
        end,
        key: request.fields.key()?,
    };
    request
        .run(change, &path(&request.project, wallet), message)
        .await
}
