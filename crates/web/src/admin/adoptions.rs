//! Subscriptions that run at a project's payment provider and were not started through Scrip: list,
//! take over.

use std::collections::BTreeMap;

use axum::Json;
use domain::{
    catalog::{Interval, Price},
    text::SubscriptionId,
};
use edge::{Read, body::Body};
use operator::AdoptSubscription;
use payments::ImportCandidate;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{PriceName, Text, UserText},
    view::instant,
};

use super::call::AdminCall;
use crate::http::query::Params;

/// Which subscriptions to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct RunningSubscriptionsQuery {
    /// The provider's price, such as Stripe's `price_1Pb…`.
    price: String,
    /// Your price to take them over under: `mismatch` then says how it differs from what they are billed by.
    price_id: Option<String>,
    /// `nextCursor` of the page before.
    cursor: Option<String>,
}

/// A subscription that runs at the provider.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunningSubscription {
    /// The provider's name for it.
    pub id: String,
    /// The provider's name for the customer who pays.
    pub customer_id: String,
    /// The customer's e-mail address, where the key may read it.
    pub customer_email: Option<String>,
    /// The provider's price.
    pub provider_price_id: String,
    /// Whether it is paid up, or in its trial: only then it can be taken over.
    pub active: bool,
    /// When its period ends.
    pub current_period_end: Option<String>,
    /// The metadata that you put on the customer at the provider.
    pub customer_metadata: BTreeMap<String, String>,
    /// The metadata that you put on the subscription.
    pub metadata: BTreeMap<String, String>,
    /// Its order here; null: it was not taken over.
    pub order_id: Option<String>,
    /// What the provider charges, where `priceId` charges something else: it cannot be taken over under
    /// that price.
    pub mismatch: Option<String>,
}

/// A page of subscriptions, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunningSubscriptions {
    /// Subscriptions that have not ended.
    pub subscriptions: Vec<RunningSubscription>,
    /// Pass as `cursor` for the next page; null on the last one.
    pub next_cursor: Option<String>,
}

/// Which subscription to take over, and for whom.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Adoption)]
pub(super) struct Adopt {
    /// The provider's name for the subscription.
    #[schema(pattern = "^[!-~]+$", max_length = 255)]
    subscription_id: String,
    /// Your price that it is billed by from now on.
    price_id: PriceName,
    /// The user whose wallet it fills.
    external_user_id: UserText,
}

/// The result of taking a subscription over.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Adopted {
    /// The subscription's order here.
    pub order_id: String,
    /// Whether this very call took it over; false if an earlier one did.
    pub adopted: bool,
}

pub(super) async fn list(
    call: AdminCall<Read>,
    Params(wanted): Params<RunningSubscriptionsQuery>,
) -> Result<Json<RunningSubscriptions>, Error> {
    let project = call.project()?;
    let ours = wanted.price_id.as_deref().map(|id| {
        let price = id.parse().ok().and_then(|id| project.any_price(&id));
        recurring(price)
    });
    let ours = ours.transpose()?;
    let payments = &call.app.payments;
    let listed = payments.running(&project, &wanted.price, ours, wanted.cursor.as_deref());
    let page = listed
        .await
        .map_err(|error| Error::from_payments(error, &project))?;
    Ok(Json(RunningSubscriptions {
        subscriptions: page.items.into_iter().map(Into::into).collect(),
        next_cursor: page.next,
    }))
}

impl From<ImportCandidate> for RunningSubscription {
    fn from(found: ImportCandidate) -> Self {
        let ImportCandidate {
            running,
            order,
            mismatch,
        } = found;
        Self {
            id: running.id.as_str().to_owned(),
            customer_id: running.customer.as_str().to_owned(),
            customer_email: running.email.map(|email| email.as_str().to_owned()),
            provider_price_id: running.price,
            active: running.is_running,
            current_period_end: running.current_period_end.map(|at| instant(at).to_string()),
            customer_metadata: running.customer_metadata,
            metadata: running.metadata,
            order_id: order.map(|order| order.to_string()),
            mismatch,
        }
    }
}

/// A price that a subscription may be billed by.
fn recurring(price: Option<&Price>) -> Result<&Price, Error> {
    let price = price.filter(|price| price.interval != Interval::OneTime);
    price.ok_or(Error::new(ErrorCode::PriceNotFound))
}

pub(super) async fn adopt(
    call: AdminCall<AdoptSubscription>,
    body: Body,
) -> Result<Json<Adopted>, Error> {
    let Adopt {
        subscription_id,
        price_id: Text(price),
        external_user_id: Text(user),
    } = body.parse()?;
    let subscription = SubscriptionId::new(subscription_id);
    let subscription =
        subscription.map_err(|why| Error::invalid("subscriptionId", why.to_string()))?;
    let project = call.project()?;
    let price = price.0.as_ref().and_then(|price| project.any_price(price));
    let adopt = AdoptSubscription {
        subscription,
        price: recurring(price)?.id,
        user,
    };
    let (order, adopted) = call.run(project, adopt).await?;
    Ok(Json(Adopted {
        order_id: order.to_string(),
        adopted,
    }))
}
