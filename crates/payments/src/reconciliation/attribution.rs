//! Finds what an item of the provider's lists belongs to here, also after its objects were fetched again.

use actors::{Address, Handle};
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    id::{OrderId, OrderSerial},
    text::InvoiceId,
    wallet::{Order, Receipt, pay::Payment},
};
use payments_port::{
    InvoicePart, NoOrderReason, ObjectRef, PaymentTarget, PaymentWithoutOrder, ProviderCharge,
    ProviderListItem, Report,
};

use super::{
    DAY_SECONDS, Reconciliations,
    compare::{Attribution, OrderAmounts},
};
use crate::{
    Error,
    fulfilment::{WalletOwners, order_of_part},
    project_account::ProjectAccount,
};

/// The most orders of a wallet searched for the others of an invoice.
const MAX_SIBLING_ORDERS: usize = 100;

impl Reconciliations {
    /// What is known about a charge without a request. A known customer's charge should be an order's.
    pub(super) async fn attribution(
        &self,
        project: &ProjectCatalog,
        charge: &ProviderCharge,
    ) -> Result<Attribution, Error> {
        let Some(payment) = &charge.payment else {
            return Ok(Attribution::Nothing);
        };
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        if let Some(order) = handle.order_of(scope, payment)? {
            let facts = facts(handle, project, order, charge).await?;
            return Ok(facts.map_or(Attribution::Ours(Some(order)), Attribution::Order));
        }
        if self
            .0
            .context
            .unfulfilled
            .is_listed(project.project.id, payment)
        {
            return Ok(Attribution::Unfulfilled);
        }
        if let Some(order) = charge.order {
            return Ok(Attribution::Ours(Some(order)));
        }
        Ok(match &charge.customer {
            Some(customer) if !handle.orders_of_customer(scope, customer, 1)?.is_empty() => {
                Attribution::Ours(None)
            }
            _ => Attribution::Nothing,
        })
    }

    /// Fetches every object that a charge may belong to, as after an event; returns what is known then.
    pub(super) async fn refetch(
        &self,
        account: ProjectAccount<'_>,
        entry: &ProviderListItem,
    ) -> Result<Attribution, Error> {
        let (project, charge) = (account.project, &entry.charge);
        let Some(payment) = &charge.payment else {
            return Ok(Attribution::Nothing);
        };
        let (context, scope) = (&self.0.context, &project.scope);
        let subject = ObjectRef::Payment(payment.clone());
        let owners = WalletOwners {
            handle: &context.handle,
            project,
        };
        let reports = account.provider.fetch(&subject, &owners).await?;
        let (mut paid_order, mut bill) = (None, None);
        for report in reports {
            let Report::Reversed(reversal) = report else {
                continue;
            };
            let paid_object = match reversal.target {
                PaymentTarget::Order(order) => {
                    paid_order = Some(order);
                    let stored = order_of(&context.handle, project, order).await?;
                    stored.and_then(|stored| stored.checkout.map(ObjectRef::Checkout))
                }
                PaymentTarget::Invoice(first, invoice) => {
                    let mut parts: Vec<InvoicePart> =
                        reversal.parts.into_iter().map(|it| it.part).collect();
                    if parts.is_empty() {
                        parts.push(InvoicePart::default());
                    }
                    let handle = &context.handle;
                    let orders = parts.iter().map(|part| OrderId {
                        serial: order_of_part(handle, scope, &invoice, part),
                        wallet: first.wallet,
                    });
                    let orders: Vec<OrderId> = orders.collect();
                    // An operator may have assigned the bill to another order.
                    let placed = handle.order_of(scope, &invoice.id)?;
                    let assigned = placed.filter(|placed| !orders.contains(placed));
                    paid_order = assigned.or(orders.first().copied());
                    bill = Some(invoice.id.clone());
                    Some(ObjectRef::Invoice(invoice.id))
                }
            };
            if let Some(paid_object) = paid_object {
                self.refresh(account, &paid_object).await?;
            }
        }
        self.refresh(account, &subject).await?;
        let attribution = self.attribution(project, charge).await?;
        let Attribution::Ours(_) = attribution else {
            return Ok(attribution);
        };
        let Some(order) = paid_order.or(charge.order) else {
            // A known customer bought another product of the same account.
            return Ok(Attribution::Nothing);
        };
        // One of several payments of an invoice; its order has another one.
        if let Some(facts) = facts(&context.handle, project, order, charge).await? {
            return Ok(Attribution::Order(facts));
        }
        let unplaced = PaymentWithoutOrder {
            reason: NoOrderReason::UnknownOrder,
            payment: Payment {
                amount_cents: charge.amount_cents,
                payment: Some(payment.clone()),
                invoice: bill,
                customer: charge.customer.clone(),
                email: None,
                receipt: Receipt::default(),
            },
            billing: None,
        };
        context.unfulfilled.add(account, unplaced, None).await?;
        self.attribution(project, charge).await
    }

    /// Fetches an object and applies its state. An error about this object alone is logged and ignored.
    async fn refresh(&self, account: ProjectAccount<'_>, subject: &ObjectRef) -> Result<(), Error> {
        match self.0.context.fulfilment.refresh(account, subject).await {
            Err(error) if error.is_about_the_account() || error.is_unanswered() => Err(error),
            Err(error) => {
                tracing::warn!(%error, ?subject, "An object whose amounts differ cannot be fetched again");
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }
}

/// The amounts of an order that a charge paid, at least in part; `None` if it does not exist.
async fn facts(
    handle: &Handle,
    project: &ProjectCatalog,
    order: OrderId,
    charge: &ProviderCharge,
) -> Result<Option<OrderAmounts>, Error> {
    let Some(stored) = order_of(handle, project, order).await? else {
        return Ok(None);
    };
    let mut facts = OrderAmounts {
        order,
        paid: stored.paid_at.is_some(),
        whole: stored.payment == charge.payment,
        amount_cents: stored.amount_cents,
        currency: stored.terms.currency,
        refunded_cents: stored.reversal.refunded_cents,
        disputed_cents: stored.reversal.disputed_cents,
    };
    let Some(id) = &stored.invoice else {
        return Ok(Some(facts));
    };
    if facts.amount_cents != charge.amount_cents {
        // An invoice with several items or switches makes several orders.
        let others = other_orders(handle, project, order, stored.created_at, id).await?;
        for other in others {
            let add = |sum: &mut i64, cents: i64| *sum = sum.saturating_add(cents);
            add(&mut facts.amount_cents, other.amount_cents);
            add(&mut facts.refunded_cents, other.reversal.refunded_cents);
            add(&mut facts.disputed_cents, other.reversal.disputed_cents);
        }
        // An invoice may be paid by several payments, and from the customer's balance.
        facts.whole &= facts.amount_cents == charge.amount_cents;
    }
    Ok(Some(facts))
}

/// The other orders of an invoice, made right after each other.
async fn other_orders(
    handle: &Handle,
    project: &ProjectCatalog,
    order: OrderId,
    created_at: Timestamp,
    invoice: &InvoiceId,
) -> Result<Vec<Order>, Error> {
    let wallet = Address::Stored(order.wallet);
    let before = (created_at.plus_seconds(DAY_SECONDS), OrderSerial(0));
    let near = handle.wallet_orders(&project.scope, &wallet, Some(before), MAX_SIBLING_ORDERS);
    let orders = near.await?.orders.into_iter();
    let others =
        orders.filter(|other| other.id != order && other.order.invoice.as_ref() == Some(invoice));
    Ok(others.map(|other| other.order).collect())
}

/// An order's present state; `None` if it does not exist. Its wallet is not woken: most orders are long finished.
async fn order_of(
    handle: &Handle,
    project: &ProjectCatalog,
    order: OrderId,
) -> Result<Option<Order>, Error> {
    let found = handle.orders_at(&project.scope, vec![order]).await?.pop();
    Ok(found.map(|answer| answer.order))
}
