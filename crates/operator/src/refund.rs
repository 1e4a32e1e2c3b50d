//! Refunds orders, and payments that led to no order.

use actors::OrderAnswer;
use catalog::ProjectCatalog;
use domain::{
    id::OrderId,
    money::{grouped, money},
    text::{IdempotencyKey, PaymentId},
    wallet::loss::Loss,
};
use edge::audit::AuditEvent;
use identity::OutgoingValue;
use operations::audit::Proof;
use payments::UnfulfilledPayment;
use wire::{Error, ErrorCode};

use crate::{
    Action, Confirmation, ConfirmationResult, Execution, Fact, Operator, Outgoing, OutgoingResult,
};

needs!(Support: RefundOrder, RefundPayment);

/// Refunds an amount of an order.
#[derive(Debug)]
pub struct RefundOrder {
    /// Which order it is.
    pub order: OrderId,
    /// How much, in the currency's minor unit.
    pub cents: i64,
    /// The key under which it is done once.
    pub key: IdempotencyKey,
}

/// Refunds all that is left of a payment that led to no order, and of the other payments of its bill.
#[derive(Debug)]
pub struct RefundPayment(pub PaymentId);

impl Action for RefundOrder {
    type Answer = OrderAnswer;

    async fn outgoing(&self, by: &Operator<'_>) -> OutgoingResult {
        let known = by.order(self.order).await?;
        let amount = money(self.cents, &known.order.terms.currency);
        Ok(Some(Outgoing {
            what: format!("refund {amount} of order {}", self.order),
            value: OutgoingValue::Refund {
                order: self.order,
                cents: self.cents,
            },
            reason: String::new(),
            key: self.key.as_str().to_owned(),
        }))
    }

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let answer = by.order(self.order).await?;
        let (order, currency) = (&answer.order, &answer.order.terms.currency);
        let left = order.refundable_cents();
        if self.cents > left {
            let message = format!("At most {} is left to refund.", money(left, currency));
            return Err(Error::about("amount", ErrorCode::AlreadyRefunded).saying(message));
        }
        let loss = by.read(
            by.app
                .handle
                .loss_by_refund(&by.project.scope, self.order, self.cents)
                .await,
        )?;
        let label = order.terms.label.as_ref().map(ToString::to_string);
        let sold = label.unwrap_or_else(|| by.product_name(order.terms.product));
        let user = answer
            .external_user
            .as_ref()
            .map(|user| user.as_str().to_owned());
        let mut facts: Vec<(_, Fact)> = vec![
            ("Order", sold.into()),
            ("Wallet", user.map_or("Anonymous".into(), Fact::Verbatim)),
        ];
        facts.extend(
            order
                .email
                .as_ref()
                .map(|email| ("Buyer", Fact::verbatim(email.as_str()))),
        );
        facts.push(("Left to refund", money(left, currency).into()));
        facts.extend(lost(&by.project, &loss, "Credits taken back"));
        if order.subscription.is_some() {
            let still =
                "It is not canceled by this: it is billed again unless it is canceled, too.";
            facts.push(("Subscription", still.into()));
        }
        Confirmation::ask(format!("Refund {}?", money(self.cents, currency)), facts)
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<OrderAnswer> {
        let Self { order, cents, key } = self;
        let known = by.order(order).await?;
        let currency = &known.order.terms.currency;
        let of = format!("{} of order {order}", money(cents, currency));
        let proof = refund_proof(&known, cents);
        by.announce(&format!("Refund {of}"), Some(proof), None)
            .await?;
        let refund = by
            .app
            .payments
            .refund(by.project.clone(), order, Some(cents), key);
        match refund.await {
            Ok(refund) => {
                let event = AuditEvent::once(refund.replayed, format!("Refunded {of}"));
                Ok((refund.after, event))
            }
            Err(error) => {
                Err(by.refund_refused(&format!("order {order}"), (cents, currency), error))
            }
        }
    }
}

impl Action for RefundPayment {
    type Answer = UnfulfilledPayment;

    async fn outgoing(&self, by: &Operator<'_>) -> OutgoingResult {
        // The payments of a bill are listed as one.
        let known = by.unfulfilled(&self.0)?;
        let (payment, cents) = (known.payment, known.paid.amount_cents);
        let amount = money(cents, &known.currency);
        Ok(Some(Outgoing {
            what: format!("refund payment {payment} of {amount}"),
            key: payment.as_str().to_owned(),
            value: OutgoingValue::Payment { payment, cents },
            reason: String::new(),
        }))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<UnfulfilledPayment> {
        let Self(payment) = self;
        let before = by.unfulfilled(&payment)?;
        let (of, cents) = (
            format!("unfulfilled payment {}", before.payment),
            before.paid.amount_cents,
        );
        let amount = money(cents, &before.currency);
        let proof = Proof::Payment {
            payment: payment.clone(),
        };
        let attempt = format!("Refund {of} of {amount}");
        by.announce(&attempt, Some(proof), None).await?;
        let refund = by
            .app
            .payments
            .refund_unfulfilled(by.project.clone(), payment);
        match refund.await {
            Ok(kept) => {
                let is_same = before.state == kept.state;
                let event = AuditEvent::once(is_same, format!("Refunded {of} of {amount}"));
                Ok((kept, event))
            }
            Err(error) => Err(by.refund_refused(&of, (cents, &before.currency), error)),
        }
    }
}

impl Operator<'_> {
    async fn order(&self, order: OrderId) -> Result<OrderAnswer, Error> {
        self.read(self.app.handle.order(&self.project.scope, order).await)
    }

    /// A payment that led to no order.
    /// # Errors
    /// `payment_not_found`.
    pub fn unfulfilled(&self, payment: &PaymentId) -> Result<UnfulfilledPayment, Error> {
        let known = self
            .app
            .payments
            .unfulfilled()
            .get(self.project.project.id, payment);
        known.ok_or_else(|| Error::new(ErrorCode::PaymentNotFound))
    }

    /// The refusal of a refund. If a part was refunded before the provider refused the rest, it names both, and so does
    /// the audit log.
    fn refund_refused(
        &self,
        of: &str,
        (cents, currency): (i64, &str),
        error: payments::Error,
    ) -> Error {
        let given = match &error {
            payments::Error::RefundRefused {
                reason,
                given_cents: given @ 1..,
                ..
            } => Some((money(*given, currency), reason.clone())),
            _ => None,
        };
        let refusal = Error::from_instruction(error, &self.project);
        let Some((given, reason)) = given else {
            return refusal;
        };
        let all = money(cents, currency);
        let what = format!("Refunded {given} of {of}; the provider refused the rest of {all}");
        self.record(AuditEvent::DidInPart(what));
        refusal.saying(format!(
            "{given} was refunded, and the rest was not: {reason}."
        ))
    }
}

/// What shows later that so much more of an order was refunded.
fn refund_proof(answer: &OrderAnswer, cents: i64) -> Proof {
    let order = &answer.order;
    let asked = order.pending_refunds.map_or(0, |pending| pending.cents);
    let before = order.reversal.refunded_cents.max(asked);
    Proof::Refund {
        order: answer.id,
        cents: before.saturating_add(cents),
    }
}

/// What a wallet loses; `name` says what becomes of credits.
pub(crate) fn lost(
    project: &ProjectCatalog,
    loss: &Loss,
    name: &'static str,
) -> [(&'static str, Fact); 2] {
    let credits = loss.credits.iter().map(|(product, left)| {
        let unit = project.product(product);
        let unit = unit.and_then(|product| product.credit_unit.as_deref());
        format!("{} {}", grouped(*left), unit.unwrap_or("credits"))
    });
    let credits: Vec<_> = credits.collect();
    let all = |texts: &[String]| match texts.is_empty() {
        true => Fact::from("None"),
        false => texts.join(", ").into(),
    };
    [
        (name, all(&credits)),
        ("Features that end", all(&loss.features)),
    ]
}
