//! Applies the reports of one fetch to the wallets.

use std::sync::atomic::Ordering;

use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    id::OrderId,
    metadata::Metadata,
    terms::Terms,
    text::{CheckoutId, ExternalUserId, PaymentId},
    top_up::{ChargeFailure, DeclineKind, SavedCard},
    wallet::{
        Currency, SubscriptionStatus,
        bill::Bill,
        pay::{PaidCycle, Pay, Payment},
        place_order::PlaceOrder,
        purchase::{OrderReport, Purchase},
        update_subscription::UpdateSubscription,
    },
};
use payments_port::{
    NoOrderReason, ObjectRef, PaidInvoice, PaidOrder, PaidPart, PaymentWithoutOrder, Report,
    SubscriptionState,
};

use super::{Fulfilment, order_of_part, terms_of};
use crate::{Error, failpoint, named_locks::NamedLock, project_account::ProjectAccount};

/// Whether a payment may pay an order.
enum PaymentLock {
    /// It may, while this lock is held. A free order has no payment and needs no lock.
    Free(Option<NamedLock>),
    /// It belongs to another order, or an operator has decided about it: nothing is left to do.
    Taken,
}

pub(super) struct ReportApplier<'a> {
    pub(super) of: &'a Fulfilment,
    pub(super) account: ProjectAccount<'a>,
    pub(super) project: &'a ProjectCatalog,
    pub(super) subject: &'a ObjectRef,
    /// When the fetch began, by the project's clock.
    pub(super) at: Timestamp,
}

impl ReportApplier<'_> {
    fn checkout(&self) -> Option<CheckoutId> {
        match self.subject {
            ObjectRef::Checkout(id) => Some(id.clone()),
            ObjectRef::Subscription(_) | ObjectRef::Invoice(_) | ObjectRef::Payment(_) => None,
        }
    }

    pub(super) async fn apply(&self, report: Report) -> Result<(), Error> {
        let reported =
            |order: OrderId, report| self.report(order, Purchase::Report(order.serial, report));
        match report {
            Report::Open(_) => Ok(()),
            Report::Processing(order) => reported(order, OrderReport::Processing).await,
            Report::Paid(paid) => self.paid_order(*paid).await,
            Report::Failed(order) => reported(order, OrderReport::Failed).await,
            // Who charges the card opens a page for the buyer first.
            Report::Declined(_, decline) if decline.kind == DeclineKind::ActionRequired => Ok(()),
            Report::Declined(order, decline) => {
                let failure = ChargeFailure::Declined(decline);
                reported(order, OrderReport::ChargeFailed(failure)).await
            }
            Report::CardSaved(setup) => self.saved_card(setup.user, setup.card).await,
            Report::Expired(order) => reported(order, OrderReport::Expired).await,
            Report::Subscription(state) => self.subscription(*state).await,
            Report::Reversed(reversal) => {
                failpoint::reached("money.before");
                self.reversal(reversal).await?;
                failpoint::reached("money.after");
                Ok(())
            }
            Report::Unplaced(payment) => self.unplaced(*payment).await,
        }
    }

    /// Fulfils a paid order. A payment that cannot be fulfilled goes to the unfulfilled payments.
    pub(super) async fn paid_order(&self, report: PaidOrder) -> Result<(), Error> {
        let PaidOrder {
            order,
            kind,
            price,
            user,
            quantity,
            payment,
            currency,
            billing,
            subscription,
            saved_card,
        } = report;
        let price = price.and_then(|price| self.project.any_price(&price));
        // A currency was added at the provider, so the charge cannot be compared with our price.
        let in_other_currency = currency.zip(price).is_some_and(|(charged, price)| {
            Currency::new(&price.currency).is_some_and(|expected| expected != charged)
        });
        let missing_order = price.map(|price| PlaceOrder {
            order: order.serial,
            terms: Terms::from(price),
            quantity,
            // The shop's metadata is not sent to the provider.
            metadata: Metadata::default(),
            checkout: self.checkout(),
            email: None,
            locale: None,
            names_code: false,
        });
        let scope = &self.project.scope;
        let pay = Pay {
            order: order.serial,
            kind,
            code: self.of.handle.mint_code(scope),
            missing_order,
            payment,
            billing: billing.map(|billing| PaidCycle {
                reported_at: self.at,
                ..billing
            }),
        };
        // The record for an operator if the order cannot be fulfilled.
        let mut unplaced = PaymentWithoutOrder {
            reason: match price {
                Some(_) if in_other_currency => NoOrderReason::OtherCurrency,
                Some(_) => NoOrderReason::UnknownWallet,
                None => NoOrderReason::UnknownPrice,
            },
            payment: pay.payment.clone(),
            billing: pay.billing.clone(),
        };
        let PaymentLock::Free(_lock) = self
            .lock(unplaced.payment.payment.as_ref(), &[order])
            .await?
        else {
            return Ok(());
        };
        if in_other_currency {
            return self.add_unfulfilled(unplaced).await;
        }
        let owner = user.clone();
        let outcome = self.of.handle.pay(scope, order.wallet, user, pay).await;
        if matches!(outcome, Ok(false)) {
            // The order was paid before: by this payment, or by another one.
            let stored = self.of.handle.order(scope, order).await?.order;
            let billing = unplaced.billing.as_ref();
            let subscription = billing.map(|billing| &billing.subscription);
            if stored.is_paid_by_another(unplaced.payment.payment.as_ref(), subscription) {
                unplaced.reason = NoOrderReason::AlreadyPaid;
                return self.add_unfulfilled(unplaced).await;
            }
        }
        let begins = unplaced.billing.is_some();
        self.record_outcome(order, outcome, unplaced).await?;
        if let Some((user, card)) = owner.zip(saved_card) {
            self.saved_card(user, card).await?;
        }
        if begins {
            self.of.doubled.look(self.project, order.wallet).await?;
        }
        match subscription {
            // It may have changed since the checkout, before the order was known.
            Some(state) => self.subscription(state).await,
            None => Ok(()),
        }
    }

    /// Puts a card on file, and has the provider forget the one that it replaces.
    async fn saved_card(&self, user: ExternalUserId, card: SavedCard) -> Result<(), Error> {
        let (handle, scope) = (&self.of.handle, &self.project.scope);
        let replaced = handle.save_card(scope, user, card).await?;
        let Some(replaced) = replaced else {
            return Ok(());
        };
        if let Err(error) = self.account.provider.forget_card(&replaced.id).await {
            tracing::warn!(%error, "The payment provider still keeps a card that was replaced");
        }
        Ok(())
    }

    /// Makes the orders of a subscription's paid invoice, in the wallet of the subscription's first order.
    async fn paid_invoice(&self, first_order: OrderId, paid: PaidInvoice) -> Result<(), Error> {
        let PaidInvoice {
            invoice,
            payment,
            parts,
        } = paid;
        let scope = &self.project.scope;
        let orders = parts.iter().map(|part| OrderId {
            serial: order_of_part(&self.of.handle, scope, &invoice, &part.part),
            ..first_order
        });
        let orders: Vec<OrderId> = orders.collect();
        let PaymentLock::Free(_lock) = self.lock(payment.payment.as_ref(), &orders).await? else {
            return Ok(());
        };
        for (order, part) in orders.into_iter().zip(parts) {
            let PaidPart {
                pays,
                price,
                amount_cents,
                quantity,
                is_add_on,
                mut billing,
                ..
            } = part;
            // The record for an operator if no order can be made.
            let mut unplaced = PaymentWithoutOrder {
                reason: NoOrderReason::UnknownOrder,
                payment: payment.clone(),
                billing: Some(billing.clone()),
            };
            let terms = price.and_then(|price| terms_of(self.project, price));
            if terms.is_none() {
                tracing::warn!(order = %first_order, "A subscription was billed under a price that is not ours");
            }
            // A switch from a foreign tier has no price to compute a proration from.
            let Some(pays) = pays else {
                unplaced.reason = NoOrderReason::UnknownPrice;
                return self.add_unfulfilled(unplaced).await;
            };
            // The provider's clock may be ahead of ours, which dates everything else.
            billing.reported_at = billing.reported_at.min(self.at);
            let bill = Purchase::Bill(Box::new(Bill {
                order: order.serial,
                pays,
                is_add_on,
                terms,
                quantity,
                payment: Payment {
                    amount_cents,
                    ..payment.clone()
                },
                billing,
            }));
            failpoint::reached("cycle.before");
            let outcome = self.of.handle.report(scope, first_order.wallet, bill).await;
            let is_placed = self.record_outcome(first_order, outcome, unplaced).await?;
            failpoint::reached("cycle.after");
            if !is_placed {
                // An operator decides about the payment; a later part does not remove it.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Waits for the lock of a payment that is to pay these orders.
    async fn lock(
        &self,
        payment: Option<&PaymentId>,
        orders: &[OrderId],
    ) -> Result<PaymentLock, Error> {
        let Some(payment) = payment else {
            return Ok(PaymentLock::Free(None));
        };
        let unfulfilled = &self.of.unfulfilled;
        let lock = unfulfilled.lock(self.project.project.id, payment).await;
        let is_taken = unfulfilled.belongs_to_other_order(self.project, payment, orders)?;
        Ok(match is_taken {
            true => PaymentLock::Taken,
            false => PaymentLock::Free(Some(lock)),
        })
    }

    /// Removes a payment from the unfulfilled ones once its order is paid, or adds it if the wallet rejected the order.
    /// Returns whether the wallet has the order.
    async fn record_outcome(
        &self,
        order: OrderId,
        outcome: Result<bool, actors::Error>,
        unplaced: PaymentWithoutOrder,
    ) -> Result<bool, Error> {
        if matches!(outcome, Ok(true)) {
            self.of.paid.fetch_add(1, Ordering::Relaxed);
        }
        match (outcome, &unplaced.payment.payment) {
            (Ok(_), Some(payment)) => {
                let project = self.project.project.id;
                self.of.unfulfilled.remove(project, payment).await?;
                Ok(true)
            }
            (Ok(_), None) => Ok(true),
            (Err(actors::Error::Rejected(rejection)), _) => {
                tracing::warn!(%order, reason = %rejection, "A wallet rejected the order of a payment");
                self.add_unfulfilled(unplaced).await?;
                Ok(false)
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Adds a payment without an order to the unfulfilled ones, unless an operator assigned it.
    async fn unplaced(&self, unplaced: PaymentWithoutOrder) -> Result<(), Error> {
        let Some(payment) = &unplaced.payment.payment else {
            return self.add_unfulfilled(unplaced).await;
        };
        let project = self.project.project.id;
        let _turn = self.of.unfulfilled.lock(project, payment).await;
        let scope = &self.project.scope;
        let mut placed = self.of.handle.order_of(scope, payment)?;
        if let (None, Some(invoice)) = (placed, &unplaced.payment.invoice) {
            placed = self.of.handle.order_of(scope, invoice)?;
        }
        match placed {
            Some(_) => Ok(()),
            None => self.add_unfulfilled(unplaced).await,
        }
    }

    async fn add_unfulfilled(&self, payment: PaymentWithoutOrder) -> Result<(), Error> {
        let (list, checkout) = (&self.of.unfulfilled, self.checkout());
        list.add(self.account, payment, checkout).await
    }

    /// Applies a subscription's paid invoices, then its state, so that the wallet knows its cycle. A rejected invoice
    /// does not delay the others.
    async fn subscription(&self, state: SubscriptionState) -> Result<(), Error> {
        for paid in state.paid_invoices {
            self.paid_invoice(state.first_order, paid).await?;
        }
        let Some(status) = state.status else {
            return Ok(());
        };
        let terms = state.price.and_then(|price| terms_of(self.project, price));
        let report = UpdateSubscription {
            subscription: state.id,
            first: Some(state.first_order.serial).filter(|_| status == SubscriptionStatus::PastDue),
            terms: terms.map(|terms| terms.many(state.quantity)),
            status,
            open_invoice: state.open_invoice.map(Box::new),
            collection_paused: state.collection_paused,
            // Without an end the period counts as ended until the next report.
            current_period_end: state.current_period_end.unwrap_or(self.at),
            cancel_at_period_end: state.cancel_at_period_end,
            grace_days: self.project.project.subscription_grace_days,
            reported_at: self.at,
        };
        let update = Purchase::Update(Box::new(report));
        self.report(state.first_order, update).await?;
        let wallet = state.first_order.wallet;
        self.of.doubled.look(self.project, wallet).await?;
        Ok(())
    }

    async fn report(&self, order: OrderId, report: Purchase) -> Result<(), Error> {
        let scope = &self.project.scope;
        let outcome = self.of.handle.report(scope, order.wallet, report).await;
        drop_rejected(order, outcome)
    }
}

/// Logs and drops a rejected report: a repeat would not help.
pub(super) fn drop_rejected(
    order: OrderId,
    outcome: Result<bool, actors::Error>,
) -> Result<(), Error> {
    match outcome {
        Ok(_) => Ok(()),
        Err(actors::Error::Rejected(rejection)) => {
            tracing::warn!(%order, reason = %rejection, "A wallet rejected a report of the payment provider");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
