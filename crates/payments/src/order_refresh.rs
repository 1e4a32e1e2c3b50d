//! Refreshes one order from the provider at a caller's request, as background work: at the account's pace, behind
//! requests that buyers wait for.

use actors::OrderAnswer;
use catalog::ProjectCatalog;
use domain::{
    id::OrderId,
    wallet::{Order, OrderStatus},
};
use payments_port::ObjectRef;

use super::{
    Context, Error, Payments, fulfilment::CheckoutProgress, project_account::ProjectAccount,
};

#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct OrderRefresh {
    pub order: OrderAnswer,
    /// Whether anything visible about the order changed.
    pub changed: bool,
    pub progress: CheckoutProgress,
}

impl Payments {
    /// Fetches an order's checkout, or its payment and subscription, and applies their state. `None` if the order has
    /// no object at the provider.
    /// # Errors
    /// [`actors::Error::Overloaded`] when too many refreshes are under way; [`domain::Rejection::OrderNotFound`];
    /// else see [`Error`].
    pub async fn refresh_order(
        &self,
        project: &ProjectCatalog,
        order: OrderId,
    ) -> Result<Option<OrderRefresh>, Error> {
        let Ok(_permit) = self.0.refreshes.try_acquire() else {
            return Err(Error::Wallet(actors::Error::Overloaded));
        };
        let Context {
            handle,
            providers,
            fulfilment,
            ..
        } = &self.0.context;
        let before = handle.order(&project.scope, order).await?.order;
        let subjects = subjects(&before);
        if subjects.is_empty() {
            return Ok(None);
        }
        let provider = providers.of(project)?.in_background();
        let account = ProjectAccount::new(project, &*provider);
        let mut progress = CheckoutProgress::Finished;
        for subject in &subjects {
            progress = fulfilment.refresh(account, subject).await?;
        }
        let after = handle.order(&project.scope, order).await?;
        Ok(Some(OrderRefresh {
            changed: facts(&after.order) != facts(&before),
            progress,
            order: after,
        }))
    }
}

/// The objects to fetch: the checkout until the order is paid, then the payment and the subscription.
fn subjects(order: &Order) -> Vec<ObjectRef> {
    if order.paid_at.is_none() {
        let checkout = order.checkout.clone().map(ObjectRef::Checkout);
        return checkout.into_iter().collect();
    }
    let payment = order.payment.clone().map(ObjectRef::Payment);
    let subscription = order.subscription.clone().map(ObjectRef::Subscription);
    payment.into_iter().chain(subscription).collect()
}

fn facts(order: &Order) -> (OrderStatus, i64, i64, i64, i64) {
    let back = order.reversal;
    (
        order.status(),
        back.refunded_cents,
        back.disputed_cents,
        order.granted_credits,
        order.reclaimed_credits,
    )
}
