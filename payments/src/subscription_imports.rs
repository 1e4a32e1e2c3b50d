//! Subscriptions that ran at the provider before there was a wallet: listed, and taken over one by one. The
//! cycle that runs is granted without a charge, once; from then on each follows the provider as any other.

use std::sync::Arc;

use actors::Address;
use catalog::ProjectCatalog;
use domain::{
    Quantity, Rejection,
    catalog::Price,
    id::{OrderId, PriceId},
    terms::Terms,
    text::{ExternalUserId, InvoiceId, SubscriptionId},
};
use port::{BillingTerms, ObjectRef, Reference, RunningSubscription};

use super::{Error, Payments, failpoint};

/// A subscription that runs, and the order that it has here, if any.
#[derive(Debug, Clone)]
pub struct ImportCandidate {
    /// As the provider has it.
    pub running: RunningSubscription,
    /// Its first order here.
    pub order: Option<OrderId>,
    /// How it is not billed as the price of ours charges that is to be its own.
    pub mismatch: Option<String>,
}

impl Payments {
    /// Subscriptions under a price of the provider's that are not over, a page at a time; where the next page
    /// begins. With the price of ours that is to be theirs, held against what they are billed by.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn running(
        &self,
        project: &ProjectCatalog,
        price: &str,
        ours: Option<&Price>,
        page: Option<&str>,
    ) -> Result<(Vec<ImportCandidate>, Option<String>), Error> {
        let provider = self.0.context.providers.of(project)?;
        let (running, next) = provider.running(price, page).await?;
        let mut found = Vec::with_capacity(running.len());
        for running in running {
            let handle = &self.0.context.handle;
            let order = handle.order_of_subscription(&project.scope, &running.id)?;
            let mismatch = ours.and_then(|ours| mismatch(&running, ours));
            found.push(ImportCandidate {
                running,
                order,
                mismatch,
            });
        }
        Ok((found, next))
    }

    /// Takes a subscription over for a user under one of our prices; its order, and whether this very call
    /// did it. Cut off and asked again it goes on where it was.
    ///
    /// # Errors
    ///
    /// [`Rejection::SubscriptionNotFound`] where none runs under this name; [`Error::OtherTerms`]; what an order
    /// of the user's would be refused for; else see [`Error`].
    pub async fn adopt(
        &self,
        project: Arc<ProjectCatalog>,
        subscription: SubscriptionId,
        price: PriceId,
        user: ExternalUserId,
    ) -> Result<(OrderId, bool), Error> {
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        let provider = self.0.context.providers.of(&project)?;
        if let Some(order) = handle.order_of_subscription(scope, &subscription)? {
            // It may have been cut off before that.
            provider.mark(&subscription, order).await?;
            return Ok((order, false));
        }
        let missing = || Error::Wallet(Rejection::SubscriptionNotFound.into());
        let running = match provider.running_one(&subscription).await {
            Err(port::Error::Missing(_)) => None,
            found => found?,
        };
        let running = running.filter(|it| it.runs).ok_or_else(missing)?;
        let known = project.any_price(&price);
        let known = known.ok_or(Error::Defect("the price is not this project's"))?;
        if let Some(mismatch) = mismatch(&running, known) {
            return Err(Error::OtherTerms(mismatch));
        }
        let terms = Terms::from(known);
        let address = Address::External(user.clone());
        let draft = handle
            .draft_order(scope, Some(&address), &terms, Quantity::ONE)
            .await?;
        // That of its newest bill: whichever way this is heard of, and however often, it is one order.
        let (name, made) = match running.newest {
            Some(newest) => (newest.id, newest.created),
            None => {
                let name = InvoiceId::new(format!("adopt/{}", subscription.as_str()));
                (name.map_err(|_| missing())?, running.created)
            }
        };
        let order = OrderId {
            serial: handle.renewal_order(scope, &name, made),
            wallet: draft.order.wallet,
        };
        let reference = Reference {
            project: project.project.id,
            order,
            price,
            user: Some(user),
            quantity: Quantity::ONE,
        };
        let paid = provider.adopt(&subscription, &reference).await?;
        // Before it is marked: what is heard of a marked one finds its order.
        let subject = ObjectRef::Subscription(subscription.clone());
        let place = self
            .0
            .context
            .fulfilment
            .place(&project, &*provider, &subject, paid);
        place.await?;
        handle.order(scope, order).await?;
        failpoint::reached("subscription.placed");
        provider.mark(&subscription, order).await?;
        Ok((order, true))
    }
}

/// How the provider does not charge what our price does: whoever pays would get something else for it.
fn mismatch(running: &RunningSubscription, ours: &Price) -> Option<String> {
    let ours = BillingTerms::by(ours);
    if running.charged.is_some() && running.charged == ours {
        return None;
    }
    let words = |charged: Option<BillingTerms>| {
        charged.map_or_else(
            || "otherwise than by one price a month or a year".to_owned(),
            |charged| charged.to_string(),
        )
    };
    let (theirs, ours) = (words(running.charged), words(ours));
    Some(format!("{theirs}, and this price {ours} (in minor units)"))
}
