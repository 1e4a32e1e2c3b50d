//! Lists and imports subscriptions that ran at the provider before they had a wallet here. The current cycle is granted
//! once, without a charge; from then on each follows the provider.

use std::sync::Arc;

use actors::Address;
use catalog::ProjectCatalog;
use domain::{
    Quantity, Rejection,
    catalog::Price,
    id::{OrderId, PriceId},
    terms::Terms,
    text::{ExternalUserId, SubscriptionId},
};
use payments_port::{BillingTerms, ImportableSubscription, ListPage, ObjectRef, OrderReference};

use super::{Error, Payments, failpoint, project_account::ProjectAccount};

#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct ImportCandidate {
    pub running: ImportableSubscription,
    /// Its first order here; `None` if it is not imported yet.
    pub order: Option<OrderId>,
    /// How its billing terms differ from our price's, in words; `None` if they match.
    pub mismatch: Option<String>,
}

impl Payments {
    /// Running subscriptions to one of the provider's prices, page by page. If `ours` is given, their billing terms are
    /// compared with it.
    /// # Errors
    /// [`Error`] when there is no provider, it fails, or a look-up cannot be read.
    pub async fn running(
        &self,
        project: &ProjectCatalog,
        price: &str,
        ours: Option<&Price>,
        page: Option<&str>,
    ) -> Result<ListPage<ImportCandidate>, Error> {
        let handle = &self.0.context.handle;
        let provider = self.0.context.providers.of(project)?;
        let subscriptions = provider.running_subscriptions(price, page).await?;
        let mut candidates = Vec::with_capacity(subscriptions.items.len());
        for running in subscriptions.items {
            let order = handle.order_of(&project.scope, &running.id)?;
            let mismatch = ours.and_then(|ours| mismatch(&running, ours));
            candidates.push(ImportCandidate {
                running,
                order,
                mismatch,
            });
        }
        Ok(ListPage {
            items: candidates,
            next: subscriptions.next,
        })
    }

    /// Imports a subscription for a user under one of our prices; returns its order, and whether this call imported it.
    /// A repeated call continues an interrupted one.
    /// # Errors
    /// [`Rejection::SubscriptionNotFound`] when none runs under this id; [`Error::OtherTerms`]; the rejections of
    /// an order of the user's; else see [`Error`].
    pub async fn adopt(
        &self,
        project: Arc<ProjectCatalog>,
        subscription: SubscriptionId,
        price: PriceId,
        user: ExternalUserId,
    ) -> Result<(OrderId, bool), Error> {
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        let provider = self.0.context.providers.of(&project)?;
        if let Some(order) = handle.order_of(scope, &subscription)? {
            // An interrupted import may have stopped before this.
            provider.mark_subscription(&subscription, order).await?;
            return Ok((order, false));
        }
        let missing = || Error::Wallet(Rejection::SubscriptionNotFound.into());
        let running = match provider.running_subscription(&subscription).await {
            Err(payments_port::Error::Missing(_)) => None,
            running => running?,
        };
        let running = running
            .filter(|running| running.is_running)
            .ok_or_else(missing)?;
        let ours = project.any_price(&price);
        let ours = ours.ok_or(Error::Defect("the price is not this project's"))?;
        if let Some(mismatch) = mismatch(&running, ours) {
            return Err(Error::OtherTerms(mismatch));
        }
        let terms = Terms::from(ours);
        let address = Address::External(user.clone());
        let (draft, _) = handle
            .draft_order(scope, Some(&address), &terms, Quantity::ONE)
            .await?;
        // Derived from its newest invoice, as events derive it, so that it stays one order.
        let (name, made) = match running.newest_invoice {
            Some(newest) => (newest.id.as_str().to_owned(), newest.created),
            None => (format!("adopt/{}", subscription.as_str()), running.created),
        };
        let order = OrderId {
            serial: handle.renewal_order(scope, &name, made),
            wallet: draft.wallet,
        };
        let reference = OrderReference {
            project: project.project.id,
            order,
            price,
            user: Some(user),
            quantity: Quantity::ONE,
        };
        let paid = provider.adopt(&subscription, &reference).await?;
        // The order is placed before the metadata is written, because events with metadata need its order.
        let subject = ObjectRef::Subscription(subscription.clone());
        let account = ProjectAccount::new(&project, &*provider);
        let fulfilment = &self.0.context.fulfilment;
        fulfilment.place_paid_order(account, &subject, paid).await?;
        handle.order(scope, order).await?;
        failpoint::reached("subscription.placed");
        provider.mark_subscription(&subscription, order).await?;
        Ok((order, true))
    }
}

/// How the provider's billing terms differ from our price's, in words.
fn mismatch(running: &ImportableSubscription, ours: &Price) -> Option<String> {
    let ours = BillingTerms::of_price(ours);
    if running.terms.is_some() && running.terms == ours {
        return None;
    }
    let words = |terms: Option<BillingTerms>| {
        terms.map_or_else(
            || "otherwise than by one price a month or a year".to_owned(),
            |terms| terms.to_string(),
        )
    };
    let (theirs, ours) = (words(running.terms), words(ours));
    Some(format!("{theirs}, and this price {ours} (in minor units)"))
}
