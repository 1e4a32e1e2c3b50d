//! No payment is lost: one for a project's product without an order waits here until an operator assigns, refunds or
//! dismisses it, or until it leads to an order.

mod erase;
mod list;
mod record;

use std::sync::Arc;

use actors::{Address, OrderAnswer};
use catalog::ProjectCatalog;
use domain::{
    Quantity,
    id::PriceId,
    metadata::Metadata,
    terms::Terms,
    text::{IdempotencyKey, PaymentId},
    wallet::{OrderKind, pay::Pay, place_order::PlaceOrder},
};
use payments_port::{ObjectRef, RefundRequest};

pub use self::list::List;
pub use self::record::{Assignment, State, UnfulfilledPayment};
use crate::{
    Error, Payments, failpoint,
    instructions::{KeyedResult, operation},
    project_account::ProjectAccount,
};

impl Payments {
    /// Makes an order of a payment for this price; its credits go to a wallet, or to a new anonymous one. A repeated
    /// call returns the same order; after another decision it is refused.
    /// # Errors
    /// [`Error::NoSuchPayment`], [`Error::Decided`], [`Error::NoSuchPrice`], [`Error::NoCycle`], `WalletNotFound`
    /// for a code that opens no wallet; else see [`Error`], and the same call goes on where it was.
    pub async fn assign(
        &self,
        project: Arc<ProjectCatalog>,
        payment: PaymentId,
        price: PriceId,
        wallet: Option<Address>,
    ) -> Result<KeyedResult<OrderAnswer>, Error> {
        let (this, id) = (self.clone(), project.project.id);
        let work = async move { this.assigned(&project, &payment, price, wallet).await };
        self.0.instructions.carry_out(id, work).await
    }

    async fn assigned(
        &self,
        project: &Arc<ProjectCatalog>,
        payment: &PaymentId,
        price: PriceId,
        wallet: Option<Address>,
    ) -> Result<KeyedResult<OrderAnswer>, Error> {
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        let (list, id) = (self.unfulfilled(), project.project.id);
        let lock = list.lock(id, payment).await;
        let Some(entry) = list.get(id, payment) else {
            let placed = handle.order_of(scope, payment)?;
            let placed = placed.ok_or(Error::NoSuchPayment)?;
            let after = handle.order(scope, placed).await?;
            let address = wallet.as_ref();
            let assigned = handle.wallet_of_assignment(scope, placed.serial, address);
            return match (after.order.terms.price, placed.wallet) == (price, assigned.await?) {
                true => Ok(KeyedResult {
                    after,
                    replayed: true,
                }),
                false => Err(Error::Decided),
            };
        };
        let order = handle
            .order_of_assignment(scope, payment, entry.paid_at, wallet.as_ref())
            .await?;
        let user = wallet.as_ref().and_then(Address::user);
        let assignment = Assignment {
            order,
            price,
            user: user.map(|user| user.as_str().to_owned()),
        };
        match &entry.state {
            State::Open | State::Dismissed(_) => {
                let price = project
                    .any_price(&assignment.price)
                    .ok_or(Error::NoSuchPrice)?;
                if Terms::from(price).recurs() && entry.billing.is_none() {
                    return Err(Error::NoCycle);
                }
                let state = State::Assigning(assignment.clone());
                list.decided(project, entry.clone(), state).await?;
                failpoint::reached("unfulfilled.assigning");
            }
            State::Assigning(begun) if *begun == assignment => {}
            State::Assigning(_) | State::Refunded => return Err(Error::Decided),
        }
        self.fulfil(project, &entry, &assignment).await?;
        drop(lock);
        if let Ok(provider) = self.0.context.providers.of(project) {
            let subject = ObjectRef::Payment(payment.clone());
            let account = ProjectAccount::new(project, &*provider);
            self.refresh_quietly(account, &subject).await;
        }
        Ok(KeyedResult {
            after: handle.order(scope, order).await?,
            replayed: false,
        })
    }

    /// Fulfils an assignment. Repeating it changes nothing.
    async fn fulfil(
        &self,
        project: &ProjectCatalog,
        entry: &UnfulfilledPayment,
        assignment: &Assignment,
    ) -> Result<(), Error> {
        let price = project
            .any_price(&assignment.price)
            .ok_or(Error::NoSuchPrice)?;
        let mut terms = Terms::from(price);
        // The currency of the payment, which may differ from the price's.
        terms.currency = entry.currency.clone();
        let billing = entry.billing.clone().filter(|_| terms.recurs());
        let order = assignment.order;
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        let pay = Pay {
            order: order.serial,
            kind: OrderKind::Checkout,
            code: handle.mint_code(scope),
            missing_order: Some(PlaceOrder {
                order: order.serial,
                terms,
                quantity: Quantity::ONE,
                metadata: Metadata::default(),
                checkout: None,
                email: None,
                locale: None,
                names_code: false,
            }),
            payment: entry.paid.clone(),
            billing,
        };
        handle
            .pay(scope, order.wallet, assignment.user(), pay)
            .await?;
        self.doubled().look(project, order.wallet).await?;
        failpoint::reached("unfulfilled.assigned");
        let list = self.unfulfilled();
        list.remove(project.project.id, &entry.payment).await
    }

    /// Refunds all that is left of a payment and its bill, once however often it is called; returns the payment with
    /// the decision.
    /// # Errors
    /// [`Error::NoSuchPayment`], [`Error::Decided`], [`Error::RefundRefused`] where a payment gave its part back and
    /// another did not; else see [`Error`]. After [`payments_port::Error::Unavailable`] the same call goes on where it was.
    pub async fn refund_unfulfilled(
        &self,
        project: Arc<ProjectCatalog>,
        payment: PaymentId,
    ) -> Result<UnfulfilledPayment, Error> {
        let (this, id) = (self.clone(), project.project.id);
        let work = async move { this.unfulfilled_refunded(&project, &payment).await };
        self.0.instructions.carry_out(id, work).await
    }

    async fn unfulfilled_refunded(
        &self,
        project: &Arc<ProjectCatalog>,
        payment: &PaymentId,
    ) -> Result<UnfulfilledPayment, Error> {
        let (list, id) = (self.unfulfilled(), project.project.id);
        let _turn = list.lock(id, payment).await;
        let entry = list.get(id, payment).ok_or(Error::NoSuchPayment)?;
        match &entry.state {
            State::Refunded => return Ok(entry),
            State::Assigning(_) => return Err(Error::Decided),
            State::Open | State::Dismissed(_) => {}
        }
        let provider = self.0.context.providers.of(project)?;
        let mut given_cents: i64 = 0;
        for part in entry.parts(&*provider).await? {
            let left = part.kept_cents();
            if left == 0 {
                continue;
            }
            let request = refund_of(project, &entry, &part.payment, left)?;
            let answer = provider.refund(&request).await;
            failpoint::reached("unfulfilled.refunded");
            match answer {
                Ok(()) => given_cents = given_cents.saturating_add(left),
                Err(error) if error.nothing_was_done() => {
                    list.put(id, entry.reopened()).await?;
                    return Err(refused(error, given_cents));
                }
                Err(error) => return Err(error.into()),
            }
        }
        list.decided(project, entry, State::Refunded).await
    }

    /// Dismisses a payment, with a reason: it needs no order and is no longer listed as open.
    /// # Errors
    /// [`Error::NoSuchPayment`], [`Error::Decided`]; else the journal's, when the decision cannot be stored.
    pub async fn dismiss(
        &self,
        project: &ProjectCatalog,
        payment: &PaymentId,
        why: String,
    ) -> Result<UnfulfilledPayment, Error> {
        let (list, id) = (self.unfulfilled(), project.project.id);
        let _turn = list.lock(id, payment).await;
        let entry = list.get(id, payment).ok_or(Error::NoSuchPayment)?;
        match &entry.state {
            State::Dismissed(_) => return Ok(entry),
            State::Assigning(_) | State::Refunded => return Err(Error::Decided),
            State::Open => {}
        }
        list.decided(project, entry, State::Dismissed(why)).await
    }

    /// Finishes interrupted assignments, and checks whether open payments lead to an order by now or were refunded. Its
    /// requests are background work.
    /// # Errors
    /// See [`Error`]; it stops at the first one.
    pub(crate) async fn recheck(&self, project: &ProjectCatalog) -> Result<(), Error> {
        const PAGE_SIZE: usize = 100;
        let (list, id) = (self.unfulfilled(), project.project.id);
        list.forget_decided(project).await?;
        let provider = self.0.context.providers.of(project)?.in_background();
        let account = ProjectAccount::new(project, &*provider);
        let now = self.0.context.handle.now_in(&project.scope);
        let mut open = list.open(id, None, PAGE_SIZE);
        while let Some(last) = open.last().cloned() {
            for entry in &open {
                if let State::Assigning(assignment) = &entry.state {
                    let _turn = list.lock(id, &entry.payment).await;
                    self.fulfil(project, entry, assignment).await?;
                    continue;
                }
                self.refresh_quietly(account, &entry.subject()).await;
                let parts = entry.parts(&*provider).await?;
                if !parts.is_empty() {
                    let refunded = parts.iter().map(|part| part.refunded_cents);
                    let refunded = refunded.fold(0, i64::saturating_add);
                    list.refunded(id, &entry.payment, refunded, now).await?;
                }
            }
            open = list.open(id, Some(last.place()), PAGE_SIZE);
        }
        Ok(())
    }
}

/// The refund of what is left of one payment of an entry. After a returned or refused refund it has a new name, because
/// the amount may be the same.
fn refund_of(
    project: &ProjectCatalog,
    entry: &UnfulfilledPayment,
    payment: &PaymentId,
    amount_cents: i64,
) -> Result<RefundRequest, Error> {
    let name = match entry.round {
        None => format!("unfulfilled/{amount_cents}"),
        Some(round) => format!("unfulfilled/{amount_cents}/{round}"),
    };
    let key = IdempotencyKey::new(name);
    let key = key.map_err(|_| Error::Defect("a refund's key is invalid"))?;
    Ok(RefundRequest {
        order: None,
        payment: payment.clone(),
        amount_cents,
        operation: operation("refund", project, payment.as_str(), &key)?,
    })
}

/// The error for a refused part after others were refunded this much.
fn refused(error: payments_port::Error, given_cents: i64) -> Error {
    match given_cents {
        0 => error.into(),
        _ => Error::RefundRefused {
            reason: error.to_string(),
            given_cents,
            refundable_cents: 0,
        },
    }
}
