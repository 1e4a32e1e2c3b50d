//! The adapter between Stripe's API and the port of payments: what an account's objects are, in Scrip's
//! own words. It knows orders by the names that it wrote on the objects, and nothing else of them.

mod checkout;
mod look;
mod money;
mod portal;
mod prices;

use std::{future::Future, sync::Arc, time::Duration};

use dashmap::DashMap;
use domain::{
    id::{OrderId, PriceId, ProjectId},
    text::{CheckoutId, SubscriptionId},
    time::Timestamp,
    wallet::{ProviderKind, Receipt},
};
use port::{
    Asked, CheckoutRequest, Memory, OpenedCheckout, Operation, Page, PortalRequest, Provider,
    RefundRequest, Report, Subject, Told, Untrusted,
};
use uuid::Uuid;

use crate::{
    Client, Error, OperationKey, Refusal,
    events::Notice,
    id::StripePriceId,
    metadata::Metadata,
    prices::StoredPrice,
    signature::{self, SigningSecret},
    subscriptions::SubscriptionStatus,
};

/// For one thing that is asked, however many calls and retries it takes: somebody waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

/// One project's account.
#[derive(Clone)]
pub struct Stripe {
    project: ProjectId,
    client: Client,
    /// What webhooks may be signed with now.
    secrets: Vec<SigningSecret>,
    /// Who is called in this form.
    kind: ProviderKind,
    /// Whether the key moves real money; `None`: it does not say.
    livemode: Option<bool>,
    shared: Arc<Shared>,
}

/// What is remembered of all accounts. It only saves asking: Stripe's own catalog is what counts.
pub struct Shared {
    prices: DashMap<(ProjectId, PriceId), StoredPrice>,
    ours: DashMap<(ProjectId, StripePriceId), Option<PriceId>>,
    /// Held while a price is looked for or made, so that two buyers do not make two.
    making: tokio::sync::Mutex<()>,
    memory: Arc<dyn Memory>,
}

impl Shared {
    /// Nothing yet, but for what is in the memory.
    #[must_use]
    pub fn new(memory: Arc<dyn Memory>) -> Self {
        Self {
            prices: DashMap::new(),
            ours: DashMap::new(),
            making: tokio::sync::Mutex::default(),
            memory,
        }
    }

    /// Forgets all that is remembered of a project's account: the project has another one.
    #[must_use]
    pub fn forget(&self, project: ProjectId) -> Asked<'static, ()> {
        self.prices.retain(|(of, _), _| *of != project);
        self.ours.retain(|(of, _), _| *of != project);
        self.memory.forget_all(project)
    }
}

impl Stripe {
    /// A project's account, by its client and what its webhooks are signed with.
    #[must_use]
    pub const fn new(
        project: ProjectId,
        client: Client,
        secrets: Vec<SigningSecret>,
        (kind, livemode): (ProviderKind, Option<bool>),
        shared: Arc<Shared>,
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

    /// Gives up after a while, whatever was asked. What nobody waits for has its place first.
    fn asked<'a, T>(
        &'a self,
        ask: impl Future<Output = Result<T, port::Error>> + Send + 'a,
    ) -> Asked<'a, T> {
        Box::pin(async {
            let _place = self.client.place().await;
            let answer = tokio::time::timeout(PATIENCE, ask).await;
            answer.unwrap_or_else(|_| {
                Err(port::Error::Unavailable {
                    reason: "it does not answer in time".into(),
                    retry_after_seconds: None,
                })
            })
        })
    }

    /// Who took the money.
    fn receipt(&self) -> Receipt {
        Receipt {
            provider: Some(self.kind),
            livemode: self.livemode.unwrap_or(false),
            ..Receipt::default()
        }
    }

    /// The order that something was made for, if it is one of this project's.
    fn ours(&self, metadata: &Metadata) -> Option<OrderId> {
        let project = metadata.project?;
        (project == self.project).then_some(metadata.order)?
    }

    /// An event of the other mode is none of this account's key.
    fn told(&self, notice: &Notice) -> Result<Option<Told>, String> {
        let other = self.livemode.zip(notice.livemode());
        match other.is_some_and(|(ours, theirs)| ours != theirs) {
            true => Ok(None),
            false => notice.told(),
        }
    }
}

impl Stripe {
    /// What a schedule decides about is let go of first: what ends has no next tier.
    async fn end(
        &self,
        id: &SubscriptionId,
        at_period_end: bool,
        operation: &Operation,
    ) -> Result<(), port::Error> {
        if !at_period_end {
            let key = key(operation.as_str())?;
            self.client.cancel_now(id, &key).await?;
            return Ok(());
        }
        let now = self.client.subscription(id).await?;
        if let Some(schedule) = &now.schedule {
            let key = key_anew(operation, "release")?;
            self.client.release(schedule, &key).await?;
        }
        let key = key_anew(operation, "set")?;
        self.client.end_with_period(id, true, &key).await?;
        Ok(())
    }
}

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
    ) -> Result<Option<Told>, Untrusted> {
        signature::verify(signature, body, &self.secrets, now)
            .map_err(|error| Untrusted::Signature(error.to_string()))?;
        let told = Notice::parse(body).and_then(|notice| self.told(&notice));
        told.map_err(Untrusted::Malformed)
    }

    fn events<'a>(&'a self, since: Timestamp, page: Option<&'a str>) -> Asked<'a, Page> {
        self.asked(async move {
            let since = since.0.div_euclid(1000).max(0);
            let notices = self.client.events(since, page).await?;
            let oldest = notices.data.last().filter(|_| notices.has_more);
            let next = oldest.map(|notice| notice.id.as_str().to_owned());
            let mut events = Vec::with_capacity(notices.data.len());
            for notice in &notices.data {
                match self.told(notice) {
                    Ok(told) => events.extend(told),
                    // One that is not as it should be must not hide the others.
                    Err(why) => {
                        tracing::warn!(event.id = %notice.id, why, "An event was passed over")
                    }
                }
            }
            Ok(Page { events, next })
        })
    }

    fn look<'a>(&'a self, subject: &'a Subject) -> Asked<'a, Vec<Report>> {
        self.asked(async move { Ok(self.reports(subject).await?) })
    }

    fn open_checkout<'a>(&'a self, request: &'a CheckoutRequest<'a>) -> Asked<'a, OpenedCheckout> {
        self.asked(self.checkout(request))
    }

    fn close_checkout<'a>(&'a self, checkout: &'a CheckoutId, order: OrderId) -> Asked<'a, ()> {
        self.asked(async move {
            let key = key(&format!("expire/{order}"))?;
            self.client.expire_session(checkout, &key).await?;
            Ok(())
        })
    }

    fn open_portal<'a>(&'a self, request: &'a PortalRequest<'a>) -> Asked<'a, String> {
        self.asked(self.portal(request))
    }

    fn refund<'a>(&'a self, request: &'a RefundRequest) -> Asked<'a, ()> {
        self.asked(self.give_back(request))
    }

    fn cancel<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
        at_period_end: bool,
        operation: &'a Operation,
    ) -> Asked<'a, ()> {
        self.asked(self.end(subscription, at_period_end, operation))
    }

    fn resume<'a>(
        &'a self,
        subscription: &'a SubscriptionId,
        operation: &'a Operation,
    ) -> Asked<'a, ()> {
        self.asked(async move {
            let now = self.client.subscription(subscription).await?;
            let key = key_anew(operation, "set")?;
            self.client.go_on(&now, &key).await?;
            if now.status == SubscriptionStatus::Paused {
                let key = key_anew(operation, "resume")?;
                self.client.resume(subscription, &key).await?;
            }
            Ok(())
        })
    }
}

/// Names an operation.
fn key(name: &str) -> Result<OperationKey, port::Error> {
    OperationKey::new(name).ok_or_else(nameless)
}

/// Names a step of an operation that may be done again: under the same name Stripe would repeat for a day
/// what it once answered, whatever became of the subscription since.
fn key_anew(operation: &Operation, step: &str) -> Result<OperationKey, port::Error> {
    let once = Uuid::new_v4().simple();
    key(&format!("{}/{step}/{once}", operation.as_str()))
}

/// Something of ours has no name that can be sent.
fn nameless() -> port::Error {
    port::Error::Garbage("an identifier that cannot be sent".into())
}

impl From<Error> for port::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => (*refusal).into(),
            Error::Unavailable {
                reason,
                retry_after_seconds,
            } => Self::Unavailable {
                reason,
                retry_after_seconds,
            },
            Error::Garbage(what) => Self::Garbage(what),
        }
    }
}

impl From<Refusal> for port::Error {
    fn from(refusal: Refusal) -> Self {
        let said = refusal.to_string();
        if refusal.is_about_the_key() {
            Self::Key(said)
        } else if refusal.is_missing() {
            Self::Missing(said)
        } else if refusal.is_about_the_currency() {
            Self::CurrencyMismatch(said)
        } else {
            Self::Refused(said)
        }
    }
}
