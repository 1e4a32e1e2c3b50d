//! Subscriptions that run in the account and were not begun here: listed by their price, to be adopted.

use std::collections::BTreeMap;

use domain::{Timestamp, text::Email};
use port::{InvoiceName, RunningSubscription};
use serde::Deserialize;

use super::{
    client::Client,
    error::Error,
    form::Form,
    id::{CustomerId, InvoiceId, StripePriceId, SubscriptionId},
    key::OperationKey,
    metadata,
    read::Page,
    subscriptions::SubscriptionStatus,
};

/// A page of them: each may be of some kilobytes.
const PAGE: u32 = 20;

/// One, with what a person knows it by.
#[derive(Debug, Deserialize)]
struct Running {
    id: SubscriptionId,
    customer: Payer,
    status: SubscriptionStatus,
    created: i64,
    #[serde(default)]
    metadata: BTreeMap<String, String>,
    #[serde(default)]
    items: Page<Item>,
    current_period_end: Option<i64>,
    latest_invoice: Option<Newest>,
}

/// Its newest bill: by name alone where it was not asked for, or the key may not read it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Newest {
    Object { id: InvoiceId, created: i64 },
    Other(serde::de::IgnoredAny),
}

impl Newest {
    fn name(self) -> Option<InvoiceName> {
        match self {
            Self::Object { id, created } => Some(InvoiceName {
                id,
                created: Timestamp(created.saturating_mul(1000)),
                carried: false,
            }),
            Self::Other(_) => None,
        }
    }
}

#[derive(Debug, Deserialize)]
struct Item {
    price: ItemPrice,
    current_period_end: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct ItemPrice {
    id: StripePriceId,
}

/// Who pays it: by name alone where the key may not read more.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Payer {
    Id(CustomerId),
    Object {
        id: CustomerId,
        email: Option<String>,
        #[serde(default)]
        metadata: BTreeMap<String, String>,
    },
}

impl Running {
    fn into_port(self) -> Option<RunningSubscription> {
        let (customer, email, notes) = match self.customer {
            Payer::Id(id) => (id, None, BTreeMap::new()),
            Payer::Object {
                id,
                email,
                metadata,
            } => (id, email, metadata),
        };
        let ends = self
            .items
            .data
            .iter()
            .filter_map(|item| item.current_period_end);
        let ends = ends.max().or(self.current_period_end);
        let instant = |seconds: i64| Timestamp(seconds.saturating_mul(1000));
        let price = self.items.data.first()?.price.id.as_str().to_owned();
        Some(RunningSubscription {
            id: self.id,
            customer,
            email: email.and_then(|email| Email::new(email).ok()),
            price,
            runs: matches!(
                self.status,
                SubscriptionStatus::Active | SubscriptionStatus::Trialing
            ),
            created: instant(self.created),
            newest: self.latest_invoice.and_then(Newest::name),
            current_period_end: ends.map(instant),
            customer_metadata: notes,
            metadata: self.metadata,
        })
    }
}

impl Client {
    /// Subscriptions under a price that are not over, newest first, from behind one on; whether there are
    /// more.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn running(
        &self,
        price: &str,
        after: Option<&str>,
    ) -> Result<(Vec<RunningSubscription>, bool), Error> {
        let query = Form::new()
            .with("price", price)
            .with("limit", PAGE)
            .with_some("starting_after", after);
        let with = ["data.customer"];
        let Page::<Running> { data, has_more } =
            self.get_with(&["subscriptions"], &query, &with).await?;
        let found = data.into_iter().filter_map(Running::into_port);
        Ok((found.collect(), has_more))
    }

    /// One of them.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn running_one(
        &self,
        id: &SubscriptionId,
    ) -> Result<Option<RunningSubscription>, Error> {
        let path = ["subscriptions", id.as_str()];
        let with = ["latest_invoice"];
        let one: Running = self.get_with(&path, &Form::new(), &with).await?;
        Ok(one.into_port())
    }

    /// Writes our price on one of Stripe's.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn mark_price(
        &self,
        id: &StripePriceId,
        ours: domain::id::PriceId,
        key: &OperationKey,
    ) -> Result<(), Error> {
        let form = Form::new().with(format!("metadata[{}]", metadata::PRICE), ours);
        let _: serde_json::Value = self.post(&["prices", id.as_str()], &form, key).await?;
        Ok(())
    }
}
