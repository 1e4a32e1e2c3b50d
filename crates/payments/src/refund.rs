//! Refunds at a caller's request. The provider decides what is left of a payment; credits follow from the payment's
//! state afterwards.

use std::sync::Arc;

use actors::OrderAnswer;
use catalog::ProjectCatalog;
use domain::{
    Rejection,
    id::OrderId,
    text::{IdempotencyKey, InvoiceId, PaymentId},
    wallet::{
        Instruction, InstructionRecord, InstructionStage,
        refund::{Refund, Refundable, all_of},
    },
};
use payments_port::{ObjectRef, PartPayment, RefundRequest};

use super::{
    Error, Payments,
    bill_payments::payments_of_bill,
    failpoint,
    instructions::{KeyedResult, operation},
    project_account::ProjectAccount,
};

impl Payments {
    /// Refunds an amount of an order, in the currency's minor unit, once under this key; `None` for all that is left.
    /// # Errors
    /// [`Rejection::OrderNotFound`], [`Rejection::KeyReused`], [`Rejection::AlreadyRefunded`],
    /// [`Error::RefundRefused`]; else see [`Error`]. After [`payments_port::Error::Unavailable`] the same call goes on where it
    /// was.
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
            payments: None,
        };
        let work = async move { payments.refunded(&project, order, refund).await };
        self.0.instructions.carry_out(id, work).await
    }

    async fn refunded(
        &self,
        project: &Arc<ProjectCatalog>,
        order: OrderId,
        mut refund: Refund,
    ) -> Result<KeyedResult<OrderAnswer>, Error> {
        let about = order.to_string();
        let name = operation("refund", project, &about, &refund.key)?;
        let _turn = self.0.named_locks.take(name.as_str()).await;
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        let provider = match self.0.context.providers.of(project) {
            Ok(provider) => provider,
            Err(error) => {
                // A refund that was made is replayed even without a provider.
                let record = handle.ask_refund(scope, order, refund, false).await?;
                return match record.is_done() {
                    true => self.refund_answer(project, order, true).await,
                    false => Err(error),
                };
            }
        };
        let account = ProjectAccount::new(project, &*provider);
        let invoice = handle.order(scope, order).await?.order.invoice;
        if let Some(invoice) = &invoice {
            let answer = handle.ask_refund(scope, order, refund.clone(), false).await;
            match answer {
                Ok(record) if record.is_done() => {}
                Ok(_) | Err(actors::Error::Rejected(Rejection::AlreadyRefunded { .. })) => {
                    refund.payments = refundable_of(account, invoice, &[]).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        // A full refund is retried once if less is left than the wallet knew.
        let mut asks_again = refund.amount_cents.is_none();
        let mut refused = Vec::new();
        loop {
            let record = self.ask_refund(account, order, &refund).await?;
            if record.is_done() {
                self.refresh_pending(account, order).await?;
                return self.refund_answer(project, order, true).await;
            }
            let Instruction::Refund { cents, .. } = record.instruction else {
                return Err(Error::Defect("a refund is recorded as something else"));
            };
            let Some(refusal) = self.give_back(account, order, record).await? else {
                return self.refund_answer(project, order, false).await;
            };
            let left = handle.order(scope, order).await?.order.refundable_cents();
            let Refusal {
                payment,
                error,
                given_cents,
            } = refusal;
            let refundable_cents = match &invoice {
                Some(invoice) if refund.payments.is_some() => {
                    refused.push(payment);
                    let others = refundable_of(account, invoice, &refused).await?;
                    let others = refund.payments.insert(others.unwrap_or_default());
                    let others = all_of(others);
                    // Others may have enough.
                    if refund.amount_cents.is_some() && given_cents == 0 && others >= cents {
                        continue;
                    }
                    others.min(left)
                }
                _ if left >= cents => 0,
                _ if left > 0 && std::mem::take(&mut asks_again) => continue,
                _ => return Err(already_refunded(left)),
            };
            return Err(Error::RefundRefused {
                reason: error.to_string(),
                given_cents,
                refundable_cents,
            });
        }
    }

    /// Refunds each payment's part and logs the outcome. A refunded part is not refunded again. Returns the refusal of
    /// a part, if any; earlier parts stay refunded.
    async fn give_back(
        &self,
        account: ProjectAccount<'_>,
        order: OrderId,
        record: InstructionRecord,
    ) -> Result<Option<Refusal>, Error> {
        let Instruction::Refund { parts, round, .. } = &record.instruction else {
            return Err(Error::Defect("a refund is recorded as something else"));
        };
        failpoint::reached("refund.before");
        let mut given_cents: i64 = 0;
        let mut failed = None;
        for part in parts {
            let about = format!("{order}/{}/{round}", part.payment.as_str());
            let request = RefundRequest {
                payment: part.payment.clone(),
                order: Some(order),
                amount_cents: part.cents,
                operation: operation("refund", account.project, &about, &record.key)?,
            };
            let answer = account.provider.refund(&request).await;
            failpoint::reached("refund.given");
            if let Err(error) = answer {
                failed = Some((part.payment.clone(), error));
                break;
            }
            given_cents = given_cents.saturating_add(part.cents);
        }
        let stage = match &failed {
            None => Some(InstructionStage::Done),
            Some((_, error)) if error.nothing_was_done() => {
                Some(InstructionStage::Refused { given_cents })
            }
            Some(_) => None,
        };
        let subject = parts.first().map(|part| part.payment.clone());
        if let Some(stage) = stage {
            let outcome = InstructionRecord {
                stage,
                ..record.clone()
            };
            let (handle, scope) = (&self.0.context.handle, &account.project.scope);
            handle.close_refund(scope, order, outcome).await?;
            failpoint::reached("refund.noted");
        }
        // The refunded part shows at once, even if the rest is unknown.
        if let Some(payment) = subject.filter(|_| stage.is_some() || given_cents > 0) {
            self.refresh_quietly(account, &ObjectRef::Payment(payment))
                .await;
        }
        match failed {
            None => Ok(None),
            Some((payment, error)) if error.is_refusal() => Ok(Some(Refusal {
                payment,
                error,
                given_cents,
            })),
            Some((_, error)) => Err(error.into()),
        }
    }

    /// Logs the request in the wallet. If nothing is left because of earlier requests with unknown outcome, the payment
    /// is fetched first, which shows whether they happened.
    async fn ask_refund(
        &self,
        account: ProjectAccount<'_>,
        order: OrderId,
        refund: &Refund,
    ) -> Result<InstructionRecord, Error> {
        let (handle, scope) = (&self.0.context.handle, &account.project.scope);
        let decided = handle.ask_refund(scope, order, refund.clone(), true).await;
        let Err(actors::Error::Rejected(Rejection::AlreadyRefunded { .. })) = decided else {
            return Ok(decided?);
        };
        match self.refresh_pending(account, order).await? {
            true => Ok(handle
                .ask_refund(scope, order, refund.clone(), true)
                .await?),
            false => Ok(decided?),
        }
    }

    /// Fetches the payment of an order with unseen requested refunds; returns whether it has any. A crash may have
    /// hidden their outcome.
    async fn refresh_pending(
        &self,
        account: ProjectAccount<'_>,
        order: OrderId,
    ) -> Result<bool, Error> {
        let (handle, scope) = (&self.0.context.handle, &account.project.scope);
        let stored = handle.order(scope, order).await?.order;
        let Some(payment) = stored.payment.filter(|_| stored.pending_refunds.is_some()) else {
            return Ok(false);
        };
        self.refresh_quietly(account, &ObjectRef::Payment(payment))
            .await;
        Ok(true)
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

/// What the payments of a bill can still give back, oldest first, without refusing ones; `None` if the key may not read
/// them.
async fn refundable_of(
    account: ProjectAccount<'_>,
    invoice: &InvoiceId,
    refused: &[PaymentId],
) -> Result<Option<Vec<Refundable>>, Error> {
    let parts = payments_of_bill(account.provider, invoice).await?;
    let refundable = |parts: Vec<PartPayment>| {
        let parts = parts.into_iter().map(|part| Refundable {
            cents: part.left_cents(),
            payment: part.payment,
        });
        parts
            .filter(|part| !refused.contains(&part.payment))
            .collect()
    };
    Ok(parts.map(refundable))
}

/// The provider's refusal of a part of a refund.
struct Refusal {
    payment: PaymentId,
    error: payments_port::Error,
    /// What others refunded before, in the currency's minor unit.
    given_cents: i64,
}
