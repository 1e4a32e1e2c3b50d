//! How something stands at the provider, as what it means for a wallet. Reports are dated by when they
//! were asked for, so that of two answers about the same thing the later one counts, in whichever order
//! they arrive.

use actors::{Handle, Paid};
use catalog::ProjectCatalog;
use domain::{
    Rejection, Timestamp,
    id::{OrderId, OrderSerial, PriceId},
    metadata::Metadata,
    terms::Terms,
    text::{CheckoutId, Email},
    wallet::{
        OrderKind, Reversal, SubscriptionStatus,
        pay::{Billing, Payment},
        place_order::PlaceOrder,
        purchase::Purchase,
        renew::Renew,
        switch::Switch,
        update_subscription::UpdateSubscription,
    },
};
use port::{
    Cycle, CycleKind, InvoiceName, Money, PaidOrder, Payable, Proration, Provider, Report,
    Standing, Subject, SubscriptionNow,
};

use super::{Error, failpoint, tenures::Tenures};

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Fulfilment {
    handle: Handle,
    tenures: Tenures,
}

/// How far a buyer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Has not paid, and still may.
    Open,
    /// Is done; the money is on its way.
    Processing,
    /// Nothing is to be waited for.
    Settled,
}

impl Fulfilment {
    pub(crate) const fn new(handle: Handle, tenures: Tenures) -> Self {
        Self { handle, tenures }
    }

    /// Asks how something stands, and does what follows from it. Doing it again changes nothing.
    pub(crate) async fn look(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        subject: &Subject,
    ) -> Result<Progress, Error> {
        let _at_work = self.tenures.begin(project).await?;
        let telling = Telling {
            handle: &self.handle,
            project,
            at: self.handle.now_in(&project.scope),
            checkout: match subject {
                Subject::Checkout(id) => Some(id),
                Subject::Subscription(_) | Subject::Invoice(_) | Subject::Payment(_) => None,
            },
        };
        let mut progress = Progress::Settled;
        for report in provider.look(subject).await? {
            match &report {
                Report::Open(_) => progress = Progress::Open,
                Report::Processing(_) => progress = Progress::Processing,
                _ => {}
            }
            telling.apply(report).await?;
        }
        Ok(progress)
    }
}

/// One answer on its way to its wallets.
struct Telling<'a> {
    handle: &'a Handle,
    project: &'a ProjectCatalog,
    /// When it was asked for, by the project's clock.
    at: Timestamp,
    checkout: Option<&'a CheckoutId>,
}

impl Telling<'_> {
    async fn apply(&self, report: Report) -> Result<(), Error> {
        match report {
            Report::Open(_) => Ok(()),
            Report::Processing(order) => self.tell(order, Purchase::Process(order.serial)).await,
            Report::Paid(paid) => self.paid(*paid).await,
            Report::Failed(order) => self.tell(order, Purchase::Fail(order.serial)).await,
            Report::Expired(order) => self.tell(order, Purchase::Expire(order.serial)).await,
            Report::Subscription(now) => self.subscription(*now).await,
            Report::Cycle(cycle) => {
                failpoint::reached("cycle.asked");
                self.cycle(*cycle).await?;
                failpoint::reached("cycle.told");
                Ok(())
            }
            Report::Money(money) => {
                failpoint::reached("money.asked");
                self.money(money).await?;
                failpoint::reached("money.told");
                Ok(())
            }
        }
    }

    async fn paid(&self, report: PaidOrder) -> Result<(), Error> {
        let PaidOrder {
            reference,
            amount_cents,
            payment,
            customer,
            email,
            receipt,
            subscription,
            invoice,
        } = report;
        let order = reference.order;
        let billing = subscription.as_ref().map(|now| Billing {
            subscription: now.id.clone(),
            invoice: invoice.clone(),
            // Before all that follows: nothing else is asked of the first one.
            cycle_start: Timestamp(0),
            current_period_end: now.current_period_end.unwrap_or(self.at),
            trial: now.is_trial,
            paused: false,
            reported_at: self.at,
        });
        let known = self.project.any_price(&reference.price);
        let placed = known.map(|price| PlaceOrder {
            order: order.serial,
            terms: Terms::from(price),
            quantity: reference.quantity,
            // The provider was not told.
            metadata: Metadata::default(),
            checkout: self.checkout.cloned(),
            email: None,
        });
        let paid = Paid {
            placed,
            payment: Payment {
                amount_cents: amount_cents
                    .or(known.map(|price| reference.quantity.of(price.amount_cents)))
                    .unwrap_or_default(),
                payment,
                invoice,
                customer,
                email: email.and_then(|email| Email::new(email).ok()),
                receipt,
            },
            billing,
        };
        let scope = &self.project.scope;
        let done = self.handle.pay(scope, order, reference.user, paid).await;
        self.known(order, done)?;
        match subscription {
            // It may have changed since its checkout, and that may have been told too early.
            Some(now) => self.subscription(now).await,
            None => Ok(()),
        }
    }

    async fn cycle(&self, report: Cycle) -> Result<(), Error> {
        let Cycle {
            first,
            invoice,
            kind,
            price,
            payment,
            mut billing,
        } = report;
        // What the provider dates is never ahead of our own clock, by which what is asked for is dated.
        billing.reported_at = billing.reported_at.min(self.at);
        let terms = match price.and_then(|price| self.terms(price)) {
            Some(terms) => terms,
            None => {
                // Changed by hand at the provider: what was paid for is at least what was bought.
                tracing::warn!(order = %first, "A subscription was billed under a price that is not ours");
                match self.handle.order(&self.project.scope, first).await {
                    Ok(known) => known.order.terms,
                    Err(actors::Error::Rejected(_)) => return Ok(()),
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let order = self.order_of(&invoice);
        let renewed = |kind, terms, payment, billing| {
            Purchase::Renew(Box::new(Renew {
                order,
                kind,
                terms,
                payment,
                billing,
            }))
        };
        let purchase = match kind {
            CycleKind::Renewal => renewed(OrderKind::Renewal, terms, payment, billing),
            CycleKind::Anew => renewed(OrderKind::Switch, terms, payment, billing),
            CycleKind::Switch(Proration { at, from, .. }) => {
                // From a tier that is none of ours nothing can be reckoned.
                let Some(old) = from.and_then(|price| self.terms(price)) else {
                    return Ok(());
                };
                Purchase::Switch(Box::new(Switch {
                    order,
                    old,
                    terms,
                    at,
                    payment,
                    billing,
                }))
            }
        };
        self.tell(first, purchase).await
    }

    async fn subscription(&self, now: SubscriptionNow) -> Result<(), Error> {
        let status = match now.standing {
            Standing::Is(status) => status,
            Standing::NotBegun => return Ok(()),
            Standing::NeverBegan => SubscriptionStatus::Canceled,
        };
        let report = UpdateSubscription {
            subscription: now.id,
            terms: now.price.and_then(|price| self.terms(price)),
            status,
            // Without one it ends now: the next report says more.
            current_period_end: now.current_period_end.unwrap_or(self.at),
            cancel_at_period_end: now.cancel_at_period_end,
            grace_days: self.project.project.subscription_grace_days,
            reported_at: self.at,
        };
        self.tell(now.first, Purchase::Update(Box::new(report)))
            .await
    }

    /// Where not even the wallet is there, the payment itself has yet to be heard of.
    async fn money(&self, money: Money) -> Result<(), Error> {
        let order = match &money.of {
            Payable::Order(order) => *order,
            Payable::Invoice(first, invoice) => OrderId {
                serial: self.order_of(invoice),
                wallet: first.wallet,
            },
        };
        let reversal = Reversal {
            refunded_cents: money.refunded_cents,
            disputed_cents: money.disputed_cents,
            as_of: self.at,
        };
        let report = Purchase::Reverse(order.serial, reversal);
        let scope = &self.project.scope;
        match self.handle.report(scope, order.wallet, report).await {
            // Of what was never taken nothing can have gone back.
            Err(actors::Error::Rejected(Rejection::OrderNotFound))
                if money.refunded_cents == 0 && money.disputed_cents == 0 =>
            {
                Ok(())
            }
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => Err(Error::TooEarly),
            told => self.known(order, told).map(drop),
        }
    }

    fn terms(&self, price: PriceId) -> Option<Terms> {
        self.project.any_price(&price).map(Terms::from)
    }

    /// The order that a subscription's bill makes.
    fn order_of(&self, invoice: &InvoiceName) -> OrderSerial {
        let scope = &self.project.scope;
        self.handle
            .renewal_order(scope, &invoice.id, invoice.created)
    }

    async fn tell(&self, order: OrderId, report: Purchase) -> Result<(), Error> {
        let scope = &self.project.scope;
        let told = self.handle.report(scope, order.wallet, report).await;
        self.known(order, told).map(drop)
    }

    /// A report of an order that is not there has nobody to go to: not an error of anybody's.
    fn known(&self, order: OrderId, done: Result<bool, actors::Error>) -> Result<bool, Error> {
        match done {
            Ok(changed) => Ok(changed),
            Err(actors::Error::Rejected(rejection)) => {
                tracing::warn!(%order, reason = %rejection, "A report of the payment provider was of no use");
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}
