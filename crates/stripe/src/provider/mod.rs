//! The adapter between Stripe's API and the payments port: it translates an account's objects into the port's types. It
//! knows only the ids of orders, which it wrote on the objects.

mod adopt;
mod bills;
mod cards;
mod checkout;
mod fetch;
mod invoice_items;
mod invoice_parts;
mod lists;
mod money;
mod portal;
mod prices;
mod tier;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use async_trait::async_trait;
use dashmap::DashMap;
use domain::{
    id::{OrderId, PriceId, ProjectId},
    text::{CardId, CheckoutId, CustomerId, InvoiceId, PaymentId, SubscriptionId},
    time::Timestamp,
    wallet::{ProviderKind, Receipt},
};
use payments_port::{
    CardCharge, CardOutcome, CardSetupRequest, CheckoutPage, CheckoutRequest,
    ImportableSubscription, ListPage, ObjectIds, ObjectRef, Operation, OrderReference, Owners,
    PaidOrder, PartPayment, PortalRequest, Provider, ProviderCharge, ProviderEvent, ProviderList,
    ProviderListItem, RefundRequest, Report, Result, Span, WebhookError,
};

use crate::{
    Client, Error, Form,
    events::StripeEvent,
    id::StripePriceId,
    key,
    metadata::{self, Metadata},
    prices::StoredPrice,
    signature::{self, SigningSecret},
    subscriptions::{self, Subscription, SubscriptionStatus},
};

/// Timeout of one port operation with all its calls and retries: somebody waits for it.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A project's account at Stripe, or at the sandbox.
#[derive(Clone)]
pub struct Stripe {
    project: ProjectId,
    client: Client,
    secrets: Vec<SigningSecret>,
    kind: ProviderKind,
    /// Whether the key is for live mode, if it tells.
    livemode: Option<bool>,
    shared: Arc<PriceCache>,
}

/// A cache of all accounts' prices. It only saves requests; Stripe's catalog counts.
pub struct PriceCache {
    prices: DashMap<(ProjectId, PriceId), StoredPrice>,
    ours: DashMap<(ProjectId, StripePriceId), Option<PriceId>>,
    /// Held while a price is searched or created, so that two buyers do not create two.
    making: tokio::sync::Mutex<()>,
    memory: Arc<dyn ObjectIds>,
}

impl PriceCache {
    /// An empty cache over the stored ids in `memory`.
    #[must_use]
    pub fn new(memory: Arc<dyn ObjectIds>) -> Self {
        Self {
            prices: DashMap::new(),
            ours: DashMap::new(),
            making: tokio::sync::Mutex::default(),
            memory,
        }
    }

    /// Forgets everything cached and stored for a project, which has another account now.
    /// # Errors
    /// Those of [`ObjectIds::forget_all`].
    pub async fn forget(&self, project: ProjectId) -> Result<()> {
        self.prices.retain(|(of, _), _| *of != project);
        self.ours.retain(|(of, _), _| *of != project);
        self.memory.forget_all(project).await
    }
}

impl Stripe {
    /// A project's account, with its client and the secrets that its webhooks are signed with.
    #[must_use]
    pub const fn new(
        project: ProjectId,
        client: Client,
        secrets: Vec<SigningSecret>,
        (kind, livemode): (ProviderKind, Option<bool>),
        shared: Arc<PriceCache>,
    ) -> Self {
        Self {
            project,
            client,
            secrets,
            kind,
            livemode,
            shared,
        }
    }

    /// Runs an operation for at most [`TIMEOUT`]. Background work first waits for a place.
    fn within_timeout<'a, T>(
        &'a self,
        ask: impl Future<Output = Result<T, Error>> + Send + 'a,
    ) -> Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>> {
        Box::pin(async {
            let _place = self.client.place().await;
            let answer = tokio::time::timeout(TIMEOUT, ask).await;
            let late = |_| Err(Error::unavailable("it does not answer in time", None));
            Ok(answer.unwrap_or_else(late)?)
        })
    }

    fn receipt(&self) -> Receipt {
        Receipt {
            provider: Some(self.kind),
            livemode: self.livemode.unwrap_or(false),
            ..Receipt::default()
        }
    }

    /// The order of these metadata, if it is this project's.
    fn ours(&self, metadata: &Metadata) -> Option<OrderId> {
        let is_ours = metadata.project == Some(self.project);
        metadata.order.filter(|_| is_ours)
    }

    /// The events of an account; none from another mode than the key's.
    fn provider_event(&self, event: &StripeEvent) -> Result<Option<ProviderEvent>, String> {
        let other = self.livemode.zip(event.livemode);
        match other.is_some_and(|(ours, theirs)| ours != theirs) {
            true => Ok(None),
            false => event.provider_event(self.project),
        }
    }
}

impl Stripe {
    /// Cancels a subscription. It is released from a schedule first, because it has no next tier.
    async fn end(
        &self,
        id: &SubscriptionId,
        at_period_end: bool,
        operation: &Operation,
    ) -> Result<(), Error> {
        let path = ["subscriptions", id.as_str()];
        if !at_period_end {
            let key = unique(operation, "now")?;
            self.client.delete::<Subscription>(&path, &key).await?;
            return Ok(());
        }
        let now = self.client.read(id).await?;
        if let Some(schedule) = &now.schedule {
            let key = unique(operation, "release")?;
            // The current tier stays.
            self.change(
                &["subscription_schedules", schedule.as_str(), "release"],
                &Form::new(),
                &key,
            )
            .await?;
        }
        let ending = Form::new().with("cancel_at_period_end", true);
        let key = unique(operation, "set")?;
        self.change(&path, &ending, &key).await
    }

    async fn change(&self, path: &[&str], form: &Form, key: &Operation) -> Result<(), Error> {
        let _: serde_json::Value = self.client.post(path, form, key).await?;
        Ok(())
    }

    /// Writes a subscription's first order into its metadata.
    async fn write_on(&self, subscription: &SubscriptionId, order: OrderId) -> Result<(), Error> {
        let form = Form::new()
            .with(format!("metadata[{}]", metadata::PROJECT), self.project)
            .with(format!("metadata[{}]", metadata::ORDER), order);
        let id = subscription.as_str();
        let key = key::unique(format_args!("mark/{id}"))?;
        self.change(&["subscriptions", id], &form, &key).await
    }
}

#[async_trait]
impl Provider for Stripe {
    fn in_background(&self) -> Arc<dyn Provider> {
        Arc::new(Self {
            client: self.client.in_background(),
            ..self.clone()
        })
    }

    fn webhook(
        &self,
        signature: &[u8],
        body: &[u8],
        now: Timestamp,
    ) -> Result<Option<ProviderEvent>, WebhookError> {
        signature::verify(signature, body, &self.secrets, now)
            .map_err(|error| WebhookError::Signature(error.to_string()))?;
        let event = StripeEvent::parse(body).and_then(|event| self.provider_event(&event));
        event.map_err(WebhookError::Malformed)
    }

    fn missing_permissions(&self) -> Vec<String> {
        self.client.missing_permissions()
    }

    async fn retry_missing_permissions(&self) -> Result<()> {
        self.within_timeout(self.client.retry_missing_permissions())
            .await
    }

    async fn events(&self, span: Span, page: Option<&str>) -> Result<ListPage<ProviderEvent>> {
        self.within_timeout(async move {
            let page = self.client.events(span, page).await?;
            let mut items = Vec::with_capacity(page.data.len());
            for event in &page.data {
                match self.provider_event(event) {
                    Ok(event) => items.extend(event),
                    // A malformed event must not hide the others.
                    Err(why) => {
                        tracing::warn!(event.id = %event.id, why, "An event was passed over")
                    }
                }
            }
            Ok(ListPage {
                items,
                next: page.next,
            })
        })
        .await
    }

    async fn fetch(&self, subject: &ObjectRef, owners: &dyn Owners) -> Result<Vec<Report>> {
        self.within_timeout(self.reports(subject, owners)).await
    }

    async fn charge(&self, payment: &PaymentId) -> Result<Option<ProviderCharge>> {
        self.within_timeout(self.charge_of(payment)).await
    }

    async fn payments_of(&self, invoice: &InvoiceId) -> Result<Vec<PartPayment>> {
        self.within_timeout(self.parts_of(invoice)).await
    }

    async fn list(
        &self,
        list: ProviderList,
        from: Timestamp,
        until: Timestamp,
        page: Option<&str>,
    ) -> Result<ListPage<ProviderListItem>> {
        self.within_timeout(self.list_page(list, (from, until), page))
            .await
    }

    async fn open_checkout(&self, request: &CheckoutRequest<'_>) -> Result<CheckoutPage> {
        self.within_timeout(self.checkout(request)).await
    }

    async fn close_checkout(&self, checkout: &CheckoutId, order: OrderId) -> Result<()> {
        self.within_timeout(async move {
            let name = key::operation(format_args!("expire/{order}"))?;
            let path = ["checkout", "sessions", checkout.as_str(), "expire"];
            let form = Form::new();
            let closed = self
                .client
                .try_post::<serde_json::Value>(&path, &form, &name);
            match closed.await {
                Ok(_) => Ok(()),
                // Stripe would replay a stored failure for a day.
                Err(failure) if failure.is_replay() || failure.broke() => {
                    let key = unique(&name, "again")?;
                    self.change(&path, &form, &key).await
                }
                Err(failure) => Err(failure.error),
            }
        })
        .await
    }

    async fn open_portal(&self, request: &PortalRequest<'_>) -> Result<String> {
        self.within_timeout(self.portal(request)).await
    }

    async fn running_subscriptions(
        &self,
        price: &str,
        page: Option<&str>,
    ) -> Result<ListPage<ImportableSubscription>> {
        self.within_timeout(self.all_running(price, page)).await
    }

    async fn running_subscription(
        &self,
        subscription: &SubscriptionId,
    ) -> Result<Option<ImportableSubscription>> {
        self.within_timeout(self.one_running(subscription)).await
    }

    async fn adopt(
        &self,
        subscription: &SubscriptionId,
        reference: &OrderReference,
    ) -> Result<PaidOrder> {
        self.within_timeout(self.take_over(subscription, reference))
            .await
    }

    async fn mark_subscription(&self, subscription: &SubscriptionId, order: OrderId) -> Result<()> {
        self.within_timeout(self.write_on(subscription, order))
            .await
    }

    async fn refund(&self, request: &RefundRequest) -> Result<()> {
        self.within_timeout(self.give_back(request)).await
    }

    async fn open_card_setup(&self, request: &CardSetupRequest<'_>) -> Result<CheckoutPage> {
        self.within_timeout(self.card_setup(request)).await
    }

    async fn charge_card(&self, charge: &CardCharge) -> Result<CardOutcome> {
        self.within_timeout(self.charge_once(charge)).await
    }

    async fn find_card_charge(
        &self,
        order: OrderId,
        customer: &CustomerId,
        operation: &Operation,
        since: Timestamp,
    ) -> Result<Option<CardOutcome>> {
        self.within_timeout(self.found_charge(order, customer, operation, since))
            .await
    }

    async fn cancel_card_charge(&self, payment: &PaymentId) -> Result<()> {
        self.within_timeout(self.close_charge(payment)).await
    }

    async fn forget_card(&self, card: &CardId) -> Result<()> {
        self.within_timeout(self.detach(card)).await
    }

    async fn cancel(
        &self,
        subscription: &SubscriptionId,
        at_period_end: bool,
        operation: &Operation,
    ) -> Result<()> {
        self.within_timeout(self.end(subscription, at_period_end, operation))
            .await
    }

    async fn resume(&self, subscription: &SubscriptionId, operation: &Operation) -> Result<()> {
        self.within_timeout(async move {
            let (id, now) = (subscription.as_str(), self.client.read(subscription).await?);
            let form = subscriptions::resume_form(&now);
            if !form.pairs().is_empty() {
                let key = unique(operation, "set")?;
                self.change(&["subscriptions", id], &form, &key).await?;
            }
            // Its trial ended without a card; resuming begins a cycle.
            if now.status == SubscriptionStatus::Paused {
                let key = unique(operation, "resume")?;
                self.change(&["subscriptions", id, "resume"], &Form::new(), &key)
                    .await?;
            }
            Ok(())
        })
        .await
    }
}

/// A unique idempotency key for a repeatable step of an operation.
fn unique(operation: &Operation, step: &str) -> Result<Operation, Error> {
    key::unique(format_args!("{}/{step}", operation.as_str()))
}
