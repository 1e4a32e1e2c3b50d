//! Asking the provider about one order, because somebody who looks at it wants to know. It is asked as in the
//! background: at the account's pace, behind what buyers wait for.

use actors::OrderAnswer;
use catalog::ProjectCatalog;
use domain::{
    id::OrderId,
    wallet::{Order, OrderStatus},
};
use port::ObjectRef;

use super::{Context, Error, Payments, fulfilment::Progress};

/// What came of it.
#[derive(Debug, Clone)]
pub struct OrderRefresh {
    /// As it stands now.
    pub order: OrderAnswer,
    /// What that means.
    pub outcome: RefreshOutcome,
}

/// What the provider's word means for an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshOutcome {
    /// Something is not as it was.
    Changed,
    /// The buyer is done, and the money is on its way.
    Processing,
    /// The buyer has not paid, and still may.
    Open,
    /// All is as it was.
    Same,
}

impl Payments {
    /// Asks how an order's checkout, payment and subscription stand now, and does what follows. `None`: the
    /// order has nothing at the provider to be asked about.
    ///
    /// # Errors
    ///
    /// [`actors::Error::Overloaded`] where enough is being asked; [`domain::Rejection::OrderNotFound`];
    /// else see [`Error`].
    pub async fn refresh_order(
        &self,
        project: &ProjectCatalog,
        order: OrderId,
    ) -> Result<Option<OrderRefresh>, Error> {
        let Ok(_place) = self.0.asking.try_acquire() else {
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
        let mut progress = Progress::Settled;
        for subject in &subjects {
            progress = fulfilment.look(project, &*provider, subject).await?;
        }
        let now = handle.order(&project.scope, order).await?;
        let outcome = if facts(&now.order) != facts(&before) {
            RefreshOutcome::Changed
        } else {
            match progress {
                Progress::Processing => RefreshOutcome::Processing,
                Progress::Open => RefreshOutcome::Open,
                Progress::Settled => RefreshOutcome::Same,
            }
        };
        Ok(Some(OrderRefresh {
            order: now,
            outcome,
        }))
    }
}

/// What there is to ask about: until it is paid how the buyer's page stands, then the money and what goes on.
fn subjects(order: &Order) -> Vec<ObjectRef> {
    if order.paid_at.is_none() {
        let checkout = order.checkout.clone().map(ObjectRef::Checkout);
        return checkout.into_iter().collect();
    }
    let payment = order.payment.clone().map(ObjectRef::Payment);
    let subscription = order.subscription.clone().map(ObjectRef::Subscription);
    payment.into_iter().chain(subscription).collect()
}

/// What people would notice.
fn facts(order: &Order) -> (OrderStatus, i64, i64, i64, i64) {
    let back = order.reversal;
    (
        order.status(),
        back.refunded_cents,
        back.disputed_cents,
        order.granted,
        order.taken,
    )
}
