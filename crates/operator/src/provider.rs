//! What is asked of a project's payment provider: an order's state, all payments of a span, a subscription that was not
//! started here.

use domain::{
    Timestamp,
    id::{OrderId, PriceId},
    text::{ExternalUserId, SubscriptionId},
    time::DAY_SECONDS,
};
use edge::audit::AuditEvent;
use payments::{CheckoutProgress, OrderRefresh, RECONCILIATION_DAYS};
use wire::{Error, ErrorCode, view::instant};

use crate::{Action, Execution, Operator};

needs!(Support: RefreshOrder, StartReconciliation);
needs!(Manage: AdoptSubscription);

/// Refreshes an order from the payment provider.
#[derive(Debug)]
pub struct RefreshOrder(pub OrderId);

/// Compares the provider's charges, refunds and disputes with the orders, in the background.
#[derive(Debug, Default)]
pub struct StartReconciliation {
    /// The first instant; left out, so many days before the end as each day.
    pub from: Option<Timestamp>,
    /// The instant before which it ends; left out, now.
    pub until: Option<Timestamp>,
}

/// Takes over a subscription that runs at the provider.
#[derive(Debug)]
pub struct AdoptSubscription {
    /// The provider's name for it.
    pub subscription: SubscriptionId,
    /// The price that it is billed by from now on.
    pub price: PriceId,
    /// Whose wallet it fills.
    pub user: ExternalUserId,
}

impl Action for RefreshOrder {
    /// `None`: the provider has nothing for it.
    type Answer = Option<OrderRefresh>;

    async fn execute(self, by: &Operator<'_>) -> Execution<Self::Answer> {
        let Self(order) = self;
        let refreshed = by.app.payments.refresh_order(&by.project, order).await;
        let refresh = refreshed.map_err(|error| {
            let refusal = Error::from_payments(error, &by.project);
            match refusal.code() {
                ErrorCode::ProviderError => refusal.saying(
                    "The payment provider did not answer, or does not know this order. Nothing was changed.",
                ),
                _ => refusal,
            }
        })?;
        let outcome = match refresh.as_ref().map(|it| (it.changed, it.progress)) {
            None => "the provider does not have it",
            Some((true, _)) => "it changed",
            Some((_, CheckoutProgress::Processing)) => "the payment is processing",
            Some((_, CheckoutProgress::Open)) => "it is not paid",
            Some((_, CheckoutProgress::Finished)) => "nothing changed",
        };
        let what = format!("Refreshed order {order} from the payment provider: {outcome}");
        Ok((refresh, AuditEvent::Did(what)))
    }
}

impl Action for StartReconciliation {
    type Answer = ();

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let now = || by.app.handle.now_in(&by.project.scope);
        let until = self.until.unwrap_or_else(now);
        let usual = RECONCILIATION_DAYS.saturating_mul(DAY_SECONDS);
        let from = self
            .from
            .unwrap_or_else(|| until.plus_seconds(usual.saturating_neg()));
        if from >= until {
            return Err(Error::invalid("from", "from has to be before to."));
        }
        let begun = by
            .app
            .payments
            .reconciliations()
            .begin(&by.project, from, until);
        match begun.map_err(|error| Error::from_payments(error, &by.project))? {
            false => Err(Error::new(ErrorCode::ReconciliationRunning)),
            true => {
                let (from, until) = (instant(from), instant(until));
                let what = format!(
                    "Started to compare the provider's payments with the orders, {from} to {until}"
                );
                Ok(((), AuditEvent::Did(what)))
            }
        }
    }
}

impl Action for AdoptSubscription {
    /// Its order, and whether it was taken over now.
    type Answer = (OrderId, bool);

    async fn execute(self, by: &Operator<'_>) -> Execution<Self::Answer> {
        let Self {
            subscription,
            price,
            user,
        } = self;
        let what = format!(
            "Adopted subscription {} for user {user:?} at {price}",
            subscription.as_str()
        );
        let project = by.project.clone();
        let adopted = by
            .app
            .payments
            .adopt(project, subscription, price, user)
            .await;
        let (order, is_new) = adopted.map_err(|error| Error::from_payments(error, &by.project))?;
        let event = AuditEvent::once(!is_new, format!("{what} as order {order}"));
        Ok(((order, is_new), event))
    }
}
