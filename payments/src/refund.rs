//! Refunds at a caller's request. The provider judges what is left of a payment; what happens to credits follows
//! from the payment's state afterwards, as with every report.

use std::sync::Arc;

use actors::OrderAnswer;
use catalog::ProjectCatalog;
use domain::{
    Rejection,
    id::OrderId,
    text::{IdempotencyKey, PaymentId},
    wallet::{Instruction, InstructionRecord, refund::Refund},
};
use port::{ObjectRef, RefundRequest};

use super::{
    Error, Payments,
    context::ProjectAccount,
    failpoint,
    instructions::{KeyedResult, operation, stage},
};

impl Payments {
    /// Refunds an amount of an order, in the currency's minor unit, once under this key; without an amount, all
    /// that is left.
    ///
    /// # Errors
    ///
    /// [`Rejection::OrderNotFound`], [`Rejection::KeyReused`], [`Rejection::AlreadyRefunded`]; else see
    /// [`Error`]. After [`port::Error::Unavailable`] the same call goes on where it was.
    pub async fn refund(
        &self,
        project: Arc<ProjectCatalog>,
        order: OrderId,
        amount_cents: Option<i64>,
        key: IdempotencyKey,
    ) -> Result<KeyedResult<OrderAnswer>, Error> {
        let payments = self.clone();
        let id = project.project.id;
        let refund = Refund {
            order: order.serial,
            amount_cents,
            key,
        };
        let work = async move { payments.refunded(&project, order, refund).await };
        self.0.instructions.carry_out(id, work).await
    }

    async fn refunded(
        &self,
        project: &Arc<ProjectCatalog>,
        order: OrderId,
        refund: Refund,
    ) -> Result<KeyedResult<OrderAnswer>, Error> {
        let about = order.to_string();
        let name = operation("refund", project, &about, &refund.key)?;
        let _turn = self.0.named_locks.take(name.as_str()).await;
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        let provider = match self.0.context.providers.of(project) {
            Ok(provider) => provider,
            Err(error) => {
                // A refund that was already made is answered even without a provider.
                let (record, _) = handle.ask_refund(scope, order, refund, false).await?;
                return match record.is_done() {
                    true => self.refund_answer(project, order, true).await,
                    false => Err(error),
                };
            }
        };
        let account = ProjectAccount::new(project, &*provider);
        // A full refund is tried once more where less is left than the wallet knew.
        let mut asks_again = refund.amount_cents.is_none();
        loop {
            let (record, payment) = self.ask_refund(account, order, &refund).await?;
            if record.is_done() {
                return self.refund_answer(project, order, true).await;
            }
            let Instruction::Refund { cents, .. } = record.instruction else {
                return Err(Error::Defect("a refund is recorded as something else"));
            };
            failpoint::reached("refund.asked");
            let request = RefundRequest {
                payment: payment.clone(),
                amount_cents: cents,
                operation: name.clone(),
            };
            let answer = account.provider.refund(&request).await;
            failpoint::reached("refund.given");
            if let Some(stage) = stage(&answer) {
                let outcome = InstructionRecord { stage, ..record };
                handle.close_refund(scope, order, outcome).await?;
                failpoint::reached("refund.noted");
                self.refresh_quietly(account, &ObjectRef::Payment(payment))
                    .await;
            }
            let Err(error) = answer else {
                return self.refund_answer(project, order, false).await;
            };
            if !error.nothing_was_done() {
                return Err(error.into());
            }
            let left = handle.order(scope, order).await?.order.refundable_cents();
            if left >= cents {
                return Err(error.into());
            }
            if left == 0 || !std::mem::take(&mut asks_again) {
                return Err(already_refunded(left));
            }
        }
    }

    /// Has the wallet log the request to the provider. Where the wallet has nothing left to refund because of
    /// earlier requests with unknown outcome, the payment is fetched first: it shows whether they happened.
    async fn ask_refund(
        &self,
        account: ProjectAccount<'_>,
        order: OrderId,
        refund: &Refund,
    ) -> Result<(InstructionRecord, PaymentId), Error> {
        let (handle, scope) = (&self.0.context.handle, &account.project.scope);
        let decided = handle.ask_refund(scope, order, refund.clone(), true).await;
        let Err(actors::Error::Rejected(Rejection::AlreadyRefunded { .. })) = decided else {
            return Ok(decided?);
        };
        let stored = handle.order(scope, order).await?.order;
        match stored.payment.filter(|_| stored.pending_refunds.is_some()) {
            Some(payment) => {
                self.refresh_quietly(account, &ObjectRef::Payment(payment))
                    .await;
                Ok(handle
                    .ask_refund(scope, order, refund.clone(), true)
                    .await?)
            }
            None => Ok(decided?),
        }
    }

    async fn refund_answer(
        &self,
        project: &ProjectCatalog,
        order: OrderId,
        replayed: bool,
    ) -> Result<KeyedResult<OrderAnswer>, Error> {
        let order = self.0.context.handle.order(&project.scope, order).await?;
        Ok(KeyedResult {
            after: order,
            replayed,
        })
    }
}

fn already_refunded(refundable_cents: i64) -> Error {
    let rejection = Rejection::AlreadyRefunded { refundable_cents };
    Error::Wallet(rejection.into())
}
