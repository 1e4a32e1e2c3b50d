//! Payments that led to no order: assigns them to a price, or dismisses them.

use actors::{Address, OrderAnswer};
use domain::{
    catalog::{Interval, Price},
    id::PriceId,
    money::{grouped, money},
    terms::Terms,
    text::PaymentId,
};
use edge::audit::AuditEvent;
use identity::{OutgoingValue, Recipient};
use operations::audit::Proof;
use payments::UnfulfilledPayment;
use wire::{Error, ErrorCode};

use crate::{
    Action, Confirmation, ConfirmationResult, Execution, Fact, Operator, Outgoing, OutgoingResult,
    is_on_sale, price_words,
};

needs!(Support: AssignPayment, DismissPayment);

/// Creates an order of a price for a payment. What the price brings beyond the payment counts as a grant.
#[derive(Debug)]
pub struct AssignPayment {
    /// The payment at the provider.
    pub payment: PaymentId,
    /// What it paid for.
    pub price: PriceId,
    /// Who gets what the price brings; `None`: a new wallet.
    pub wallet: Option<Address>,
}

/// Leaves a payment as it is, and removes it from the list.
#[derive(Debug)]
pub struct DismissPayment {
    /// The payment at the provider.
    pub payment: PaymentId,
    /// Why, in a line.
    pub note: String,
}

impl AssignPayment {
    fn price<'a>(&self, by: &'a Operator<'_>) -> Result<&'a Price, Error> {
        let price = by.project.any_price(&self.price);
        price.ok_or_else(|| Error::about("priceId", ErrorCode::PriceNotFound))
    }

    async fn recipient(&self, by: &Operator<'_>) -> Result<Recipient, Error> {
        Ok(match &self.wallet {
            None => Recipient::New,
            Some(Address::External(user)) => Recipient::User(user.clone()),
            Some(address) => Recipient::Wallet(by.wallet_at(address).await?.key),
        })
    }
}

impl Action for AssignPayment {
    type Answer = OrderAnswer;

    async fn outgoing(&self, by: &Operator<'_>) -> OutgoingResult {
        let (known, price) = (by.unfulfilled(&self.payment)?, self.price(by)?);
        let beyond = Terms::from(price).beyond(known.paid.amount_cents, &known.currency);
        let to = self.recipient(by).await?;
        let recipient = match &to {
            Recipient::New => "a new wallet".to_owned(),
            Recipient::User(user) => format!("user {:?}", user.as_str()),
            Recipient::Wallet(key) => format!("wallet {key}"),
        };
        let (words, credits) = (
            price_words(&by.project, self.price),
            grouped(beyond.credits),
        );
        let worth = money(beyond.cents, &price.currency);
        let payment = &self.payment;
        Ok(Some(Outgoing {
            what: format!(
                "assign payment {payment} to {words}, for {recipient}, which brings {credits} credits and {worth} beyond what was paid"
            ),
            value: OutgoingValue::Assignment {
                payment: self.payment.clone(),
                price: self.price,
                to,
                credits: beyond.credits,
                cents: beyond.cents,
            },
            reason: String::new(),
            key: self.payment.as_str().to_owned(),
        }))
    }

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let (known, price) = (by.unfulfilled(&self.payment)?, self.price(by)?);
        let beyond = Terms::from(price).beyond(known.paid.amount_cents, &known.currency);
        let off = if is_on_sale(&by.project, price) {
            ""
        } else {
            ", not on sale"
        };
        let cost = money(price.amount_cents, &price.currency);
        let cycle = if price.interval == Interval::OneTime {
            ""
        } else {
            " in each cycle"
        };
        let mut facts: Vec<(_, Fact)> = vec![
            (
                "Paid",
                money(known.paid.amount_cents, &known.currency).into(),
            ),
            (
                "Price",
                format!("{}, {cost}{off}", by.product_name(price.product)).into(),
            ),
        ];
        if *known.currency != *price.currency {
            let other = "The payment was in another one: amounts cannot be compared.";
            facts.push(("Currency", other.into()));
        }
        let brings = format!("{} credits{cycle}", grouped(price.credits_granted));
        facts.push(("Brings", brings.into()));
        if beyond.credits > 0 || beyond.cents > 0 {
            let more = format!(
                "{} credits, at {}. This counts as a grant, for daily limits and approvals.",
                grouped(beyond.credits),
                money(beyond.cents, &price.currency)
            );
            facts.push(("Beyond what was paid", more.into()));
        }
        facts.push(match self.recipient(by).await? {
            Recipient::New => ("Wallet", "A new one".into()),
            Recipient::User(user) => ("User", Fact::verbatim(user.as_str())),
            Recipient::Wallet(_) => ("Wallet", "The one of this recovery code".into()),
        });
        Confirmation::ask("Assign this payment?", facts)
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<OrderAnswer> {
        let Self {
            payment,
            price,
            wallet,
        } = self;
        let to = price_words(&by.project, price);
        let proof = Proof::Assignment {
            payment: payment.clone(),
        };
        let attempt = format!("Assign payment {payment} to {to}");
        by.announce(&attempt, Some(proof), None).await?;
        let (project, id) = (by.project.clone(), payment.clone());
        let order = by.app.payments.assign(project, id, price, wallet).await;
        let order = by.instructed(order)?;
        let paid = &order.after.order;
        let amount = money(paid.amount_cents, &paid.terms.currency);
        let id = order.after.id;
        let what = format!("Assigned payment {payment} of {amount} to {to} as order {id}");
        Ok((order.after, AuditEvent::once(order.replayed, what)))
    }
}

impl Action for DismissPayment {
    type Answer = UnfulfilledPayment;

    async fn execute(self, by: &Operator<'_>) -> Execution<UnfulfilledPayment> {
        let Self { payment, note } = self;
        let before = by.unfulfilled(&payment)?;
        let what = format!("Dismissed unfulfilled payment {payment}: {note}");
        let kept = by.app.payments.dismiss(&by.project, &payment, note).await;
        let kept = by.instructed(kept)?;
        let event = AuditEvent::once(before.state == kept.state, what);
        Ok((kept, event))
    }
}
