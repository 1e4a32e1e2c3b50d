//! How something stands at the provider, as what it means for a wallet. Reports are dated by when they
//! were asked for, so that of two answers about the same thing the later one counts, in whichever order
//! they arrive.

use actors::{Handle, Paid, Scope};
use catalog::ProjectCatalog;
use domain::{
    Rejection, Timestamp,
    id::{OrderId, OrderSerial, PriceId},
    metadata::Metadata,
    terms::Terms,
    text::{CheckoutId, InvoiceId},
    wallet::{
        Currency, Reversal, SubscriptionStatus,
        bill::{Bill, Pays},
        pay::{Billing, Payment},
        place_order::PlaceOrder,
        purchase::Purchase,
        update_subscription::UpdateSubscription,
    },
};
use port::{
    InvoiceName, Money, Owners, PaidInvoice, PaidOrder, Payable, Provider, Report, Subject,
    SubscriptionNow, Unplaceable, Unplaced,
};

use super::{
    Error, failpoint,
    silence::Silence,
    tenures::Tenures,
    turns::{Turn, Turns},
    unfulfilled::List,
};

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Fulfilment {
    handle: Handle,
    tenures: Tenures,
    silence: Silence,
    unfulfilled: List,
    /// Looks at payments, by the provider's name.
    payments: Turns,
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
    pub(crate) fn new(handle: Handle, tenures: Tenures, unfulfilled: List) -> Self {
        Self {
            handle,
            tenures,
            silence: Silence::default(),
            unfulfilled,
            payments: Turns::default(),
        }
    }

    /// Since when providers answer nothing at all.
    pub(crate) const fn silence(&self) -> &Silence {
        &self.silence
    }

    /// Asks how something stands, and does what follows from it. Doing it again changes nothing.
    pub(crate) async fn look(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        subject: &Subject,
    ) -> Result<Progress, Error> {
        let _at_work = self.tenures.begin(project).await?;
        // Of two answers about one payment that were on their way together, nobody knows which is the newer.
        let _turn = match subject {
            Subject::Payment(payment) => Some(self.payments.take(payment.as_str()).await),
            Subject::Checkout(_) | Subject::Subscription(_) | Subject::Invoice(_) => None,
        };
        let telling = self.telling(project, provider, subject);
        let mut progress = Progress::Settled;
        let owners = Placed {
            handle: &self.handle,
            project,
        };
        let reports = provider.look(subject, &owners).await;
        self.silence
            .note(project.project.id, self.handle.now(), &reports);
        for report in reports? {
            match &report {
                Report::Open(_) => progress = Progress::Open,
                Report::Processing(_) => progress = Progress::Processing,
                _ => {}
            }
            telling.apply(report).await?;
        }
        Ok(progress)
    }

    /// Places an order that was paid elsewhere, with its subscription. Doing it again changes nothing.
    pub(crate) async fn place(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        subject: &Subject,
        paid: PaidOrder,
    ) -> Result<(), Error> {
        let _at_work = self.tenures.begin(project).await?;
        let telling = self.telling(project, provider, subject);
        telling.paid(paid).await
    }

    fn telling<'a>(
        &'a self,
        project: &'a ProjectCatalog,
        provider: &'a dyn Provider,
        subject: &'a Subject,
    ) -> Telling<'a> {
        Telling {
            handle: &self.handle,
            unfulfilled: &self.unfulfilled,
            provider,
            project,
            subject,
            at: self.handle.now_in(&project.scope),
        }
    }
}

/// The orders that a subscription's bill makes: of what it is for, and of the switches of the cycle before
/// that it may settle.
pub(crate) fn orders_of(handle: &Handle, scope: &Scope, invoice: &InvoiceName) -> [OrderSerial; 2] {
    let switches = InvoiceId::new(format!("{}/switches", invoice.id.as_str()));
    let switches = switches.unwrap_or_else(|_| invoice.id.clone());
    [&invoice.id, &switches].map(|id| handle.renewal_order(scope, id, invoice.created))
}

/// What the wallets of a project have.
pub(crate) struct Placed<'a> {
    pub(crate) handle: &'a Handle,
    pub(crate) project: &'a ProjectCatalog,
}

impl Owners for Placed<'_> {
    fn order_of(&self, subject: &Subject) -> Result<Option<OrderId>, port::Error> {
        let scope = &self.project.scope;
        let found = match subject {
            Subject::Checkout(id) => self.handle.checkout_order(scope, id),
            Subject::Subscription(id) => self.handle.order_of_subscription(scope, id),
            Subject::Invoice(id) => self.handle.order_of_invoice(scope, id),
            Subject::Payment(id) => self.handle.order_of_payment(scope, id),
        };
        found.map_err(|error| port::Error::Unavailable {
            reason: error.to_string(),
            retry_after_seconds: None,
        })
    }

    fn terms(&self, price: PriceId) -> Option<Terms> {
        self.project.any_price(&price).map(Terms::from)
    }
}

/// One answer on its way to its wallets.
struct Telling<'a> {
    handle: &'a Handle,
    unfulfilled: &'a List,
    provider: &'a dyn Provider,
    project: &'a ProjectCatalog,
    subject: &'a Subject,
    /// When it was asked for, by the project's clock.
    at: Timestamp,
}

impl Telling<'_> {
    /// The page that was asked about, where it was one.
    fn checkout(&self) -> Option<CheckoutId> {
        match self.subject {
            Subject::Checkout(id) => Some(id.clone()),
            Subject::Subscription(_) | Subject::Invoice(_) | Subject::Payment(_) => None,
        }
    }

    async fn apply(&self, report: Report) -> Result<(), Error> {
        match report {
            Report::Open(_) => Ok(()),
            Report::Processing(order) => self.tell(order, Purchase::Process(order.serial)).await,
            Report::Paid(paid) => self.paid(*paid).await,
            Report::Failed(order) => self.tell(order, Purchase::Fail(order.serial)).await,
            Report::Expired(order) => self.tell(order, Purchase::Expire(order.serial)).await,
            Report::Subscription(now) => self.subscription(*now).await,
            Report::Money(money) => {
                failpoint::reached("money.asked");
                self.money(money).await?;
                failpoint::reached("money.told");
                Ok(())
            }
            Report::Unplaced(unplaced) => self.unplaced(*unplaced).await,
        }
    }

    async fn paid(&self, report: PaidOrder) -> Result<(), Error> {
        let PaidOrder {
            order,
            price,
            user,
            quantity,
            amount_cents,
            currency,
            payment,
            billing,
            subscription,
        } = report;
        let known = price.and_then(|price| self.project.any_price(&price));
        // One that somebody added at the provider: its cents are none of the price's.
        let other = currency.zip(known).is_some_and(|(charged, price)| {
            Currency::new(&price.currency).is_some_and(|meant| meant != charged)
        });
        let placed = known.map(|price| PlaceOrder {
            order: order.serial,
            terms: Terms::from(price),
            quantity,
            // The provider was not told.
            metadata: Metadata::default(),
            checkout: self.checkout(),
            email: None,
        });
        let paid = Paid {
            placed,
            payment: Payment {
                amount_cents: amount_cents
                    .or(known.map(|price| quantity.of(price.amount_cents)))
                    .unwrap_or_default(),
                ..payment
            },
            billing: billing.map(|billing| Billing {
                reported_at: self.at,
                ..billing
            }),
        };
        let mut unplaced = Unplaced {
            why: match known {
                Some(_) if other => Unplaceable::OtherCurrency,
                Some(_) => Unplaceable::UnknownWallet,
                None => Unplaceable::UnknownPrice,
            },
            payment: paid.payment.clone(),
            billing: paid.billing.clone(),
        };
        let Some(_turn) = self.turn(&unplaced, order).await? else {
            return Ok(());
        };
        if other {
            return self.unplaced(unplaced).await;
        }
        let scope = &self.project.scope;
        let done = self.handle.pay(scope, order, user, paid).await;
        if matches!(done, Ok(false)) {
            let it = self.handle.order(scope, order).await?.order;
            let billing = unplaced.billing.as_ref();
            let subscription = billing.map(|billing| &billing.subscription);
            if it.is_paid_by_another(unplaced.payment.payment.as_ref(), subscription) {
                unplaced.why = Unplaceable::AlreadyPaid;
                return self.unplaced(unplaced).await;
            }
        }
        self.settle(order, done, unplaced).await?;
        match subscription {
            // It may have changed since its checkout, and that may have been told too early.
            Some(now) => self.subscription(now).await,
            None => Ok(()),
        }
    }

    async fn bill(&self, first: OrderId, paid: PaidInvoice) -> Result<(), Error> {
        let PaidInvoice {
            invoice,
            pays,
            price,
            quantity,
            payment,
            mut billing,
        } = paid;
        // What the provider dates is never ahead of our own clock, by which what is asked for is dated.
        billing.reported_at = billing.reported_at.min(self.at);
        let carried = matches!(pays, Some(Pays::Carried(_)));
        let [whole, switches] = orders_of(self.handle, &self.project.scope, &invoice);
        let order = if carried { switches } else { whole };
        let mut unplaced = Unplaced {
            why: Unplaceable::UnknownOrder,
            payment: payment.clone(),
            billing: Some(billing.clone()),
        };
        let made = OrderId {
            serial: order,
            wallet: first.wallet,
        };
        // The part of a bill that settles switches is of a payment that has an order already.
        let _turn = match carried {
            true => None,
            false => match self.turn(&unplaced, made).await? {
                Some(turn) => turn,
                None => return Ok(()),
            },
        };
        let terms = price.and_then(|price| self.terms(price));
        if terms.is_none() {
            tracing::warn!(order = %first, "A subscription was billed under a price that is not ours");
        }
        // From a tier that is none of ours nothing can be reckoned.
        let Some(pays) = pays else {
            unplaced.why = Unplaceable::UnknownPrice;
            return self.unplaced(unplaced).await;
        };
        let bill = Purchase::Bill(Box::new(Bill {
            order,
            pays,
            terms,
            quantity,
            payment,
            billing,
        }));
        let scope = &self.project.scope;
        let told = self.handle.report(scope, first.wallet, bill).await;
        self.settle(first, told, unplaced).await
    }

    /// Waits until nobody else is at a payment; `None`: it is another order's than this one by now, or a
    /// person decided about it. A payment of nothing is always this order's.
    async fn turn(&self, of: &Unplaced, order: OrderId) -> Result<Option<Option<Turn>>, Error> {
        let Some(payment) = &of.payment.payment else {
            return Ok(Some(None));
        };
        let turn = self
            .unfulfilled
            .turn(self.project.project.id, payment)
            .await;
        let elsewhere = self
            .unfulfilled
            .is_elsewhere(self.project, payment, order)?;
        Ok((!elsewhere).then_some(Some(turn)))
    }

    /// What was paid for has its order, or waits for somebody to decide.
    async fn settle(
        &self,
        order: OrderId,
        done: Result<bool, actors::Error>,
        unplaced: Unplaced,
    ) -> Result<(), Error> {
        match (done, &unplaced.payment.payment) {
            (Ok(_), Some(payment)) => {
                let project = self.project.project.id;
                self.unfulfilled.placed(project, payment).await
            }
            (Ok(_), None) => Ok(()),
            (Err(actors::Error::Rejected(rejection)), _) => {
                tracing::warn!(%order, reason = %rejection, "A payment could not be placed");
                self.unplaced(unplaced).await
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    async fn unplaced(&self, unplaced: Unplaced) -> Result<(), Error> {
        let (list, checkout) = (self.unfulfilled, self.checkout());
        list.keep(self.project, self.provider, unplaced, checkout)
            .await
    }

    /// Its bills first: then what is said of it is about a cycle that is known. A bill that finds no place
    /// keeps the others from nothing.
    async fn subscription(&self, now: SubscriptionNow) -> Result<(), Error> {
        for paid in now.paid {
            failpoint::reached("cycle.asked");
            self.bill(now.first, paid).await?;
            failpoint::reached("cycle.told");
        }
        let Some(status) = now.status else {
            return Ok(());
        };
        let terms = now.price.and_then(|price| self.terms(price));
        let report = UpdateSubscription {
            subscription: now.id,
            first: Some(now.first.serial).filter(|_| status == SubscriptionStatus::PastDue),
            terms: terms.map(|terms| terms.many(now.quantity)),
            status,
            open_invoice: now.open_invoice.map(Box::new),
            collection_paused: now.collection_paused,
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
        let mut placed = None;
        if let Subject::Payment(payment) = self.subject {
            let (project, list) = (self.project.project.id, self.unfulfilled);
            if list.is_listed(project, payment) {
                return list
                    .went_back(project, payment, money.away.refunded_cents, self.at)
                    .await;
            }
            placed = self.handle.order_of_payment(&self.project.scope, payment)?;
            // A copy of another payment's marks takes nothing of what that paid.
            if let (None, Payable::Order(order)) = (placed, &money.of) {
                let known = self.handle.order(&self.project.scope, *order).await;
                if known.is_ok_and(|it| {
                    let same = it.order.subscription.as_ref();
                    it.order.is_paid_by_another(Some(payment), same)
                }) {
                    return Ok(());
                }
            }
        }
        let all = Reversal {
            as_of: self.at,
            ..money.away
        };
        let (first, invoice) = match money.of {
            // Whatever was written on it since.
            Payable::Order(order) => return self.reverse(placed.unwrap_or(order), all).await,
            Payable::Invoice(first, invoice) => (first, invoice),
        };
        let orders = orders_of(self.handle, &self.project.scope, &invoice);
        let [whole, switches] = orders.map(|serial| OrderId { serial, ..first });
        let elsewhere = placed.filter(|placed| *placed != whole && *placed != switches);
        match (elsewhere, money.carried) {
            // A person said whose all of it is.
            (Some(order), _) => self.reverse(order, all).await,
            (None, None) => self.reverse(whole, all).await,
            // Of both orders of the bill, each by its part of the money.
            (None, Some(part)) => {
                let of_switches = Reversal {
                    refunded_cents: part.share(all.refunded_cents),
                    disputed_cents: part.share(all.disputed_cents),
                    ..all
                };
                let rest = |all: i64, part: i64| all.saturating_sub(part);
                let of_cycle = Reversal {
                    refunded_cents: rest(all.refunded_cents, of_switches.refunded_cents),
                    disputed_cents: rest(all.disputed_cents, of_switches.disputed_cents),
                    ..all
                };
                self.reverse(whole, of_cycle).await?;
                self.reverse(switches, of_switches).await
            }
        }
    }

    async fn reverse(&self, order: OrderId, reversal: Reversal) -> Result<(), Error> {
        let is_nothing = reversal.refunded_cents == 0
            && reversal.disputed_cents == 0
            && reversal.dispute.is_none();
        let report = Purchase::Reverse(order.serial, reversal);
        let scope = &self.project.scope;
        match self.handle.report(scope, order.wallet, report).await {
            // Of what was never taken nothing can have gone back.
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) if is_nothing => Ok(()),
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => Err(Error::TooEarly),
            told => self.known(order, told).map(drop),
        }
    }

    fn terms(&self, price: PriceId) -> Option<Terms> {
        self.project.any_price(&price).map(Terms::from)
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
