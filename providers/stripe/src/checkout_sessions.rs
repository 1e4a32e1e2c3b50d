//! Checkout sessions: the hosted page on which a buyer pays.

use domain::catalog::CheckoutSettings;
use serde::Deserialize;

use super::{
    form::Form,
    id::{
        CheckoutId, CustomerId, InvoiceId, PaymentId, PromotionCodeId, StripePriceId,
        SubscriptionId,
    },
    metadata::{self, Metadata, Reference},
    object::{Expandable, object, words},
};

/// A session to be made. It closes after 24 hours by Stripe's own clock, whatever ours says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The order that it is for.
    pub reference: Reference,
    /// What is bought.
    pub item: Item,
    /// Who buys.
    pub buyer: Buyer,
    /// What makes it cheaper.
    pub promotion: Promotion,
    /// Where the buyer goes after paying. `{CHECKOUT_SESSION_ID}` in it is filled in by Stripe.
    pub success_url: String,
    /// Where the buyer goes instead.
    pub cancel_url: String,
    /// Days before the first cycle is billed, of a subscription that begins with a trial.
    pub trial_days: Option<u32>,
    /// The language of the page; by the buyer's browser when left out.
    pub locale: Option<&'static str>,
    /// What the page asks for, and makes, beside the money.
    pub asks: CheckoutSettings,
}

/// What is bought, as often as the reference says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// Something that is paid once. Stripe's catalog does not hear of it.
    Once {
        /// What the buyer sees.
        name: String,
        /// ISO 4217, in either case.
        currency: String,
        /// In the currency's minor unit *as Stripe counts it*, which is what our `amountCents` is:
        /// 500 is 5.00 USD and 500 JPY. Nothing is to be converted.
        amount_cents: i64,
    },
    /// A tier that is paid each cycle, by its price in Stripe's catalog.
    Subscription(StripePriceId),
}

/// Who buys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Buyer {
    /// Somebody new, who becomes a customer; the email, if any, is filled in for them.
    New {
        /// Where receipts go.
        email: Option<String>,
    },
    /// A customer. Stripe knows the email already and takes no other one.
    Returning(CustomerId),
}

/// What makes it cheaper. Stripe takes one of the two, never both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Promotion {
    /// Nothing.
    None,
    /// The buyer may type a promotion code.
    BuyerMayEnter,
    /// This one, found by [`Client::find_promotion_code`](crate::Client::find_promotion_code).
    Code(PromotionCodeId),
}

impl NewSession {
    /// What is sent.
    #[must_use]
    pub fn form(&self) -> Form {
        const ITEM: &str = "line_items[0]";
        let mut form = Form::new();
        form = match &self.item {
            Item::Once {
                name,
                currency,
                amount_cents,
            } => form
                .with("mode", "payment")
                .with(
                    format!("{ITEM}[price_data][currency]"),
                    currency.to_ascii_lowercase(),
                )
                .with(format!("{ITEM}[price_data][unit_amount]"), amount_cents)
                .with(format!("{ITEM}[price_data][product_data][name]"), name),
            Item::Subscription(price) => form
                .with("mode", "subscription")
                .with(format!("{ITEM}[price]"), price),
        };
        form = form.with(format!("{ITEM}[quantity]"), self.reference.quantity.get());
        form = match &self.buyer {
            Buyer::Returning(customer) => form.with("customer", customer),
            Buyer::New { email } => match self.item {
                // A customer, so that the next purchase and the portal find them. A subscription
                // always makes one, and refuses to be told so.
                Item::Once { .. } => form.with("customer_creation", "always"),
                Item::Subscription(_) => form,
            }
            .with_some("customer_email", email.as_ref()),
        };
        form = match &self.promotion {
            Promotion::None => form,
            Promotion::BuyerMayEnter => form.with("allow_promotion_codes", true),
            Promotion::Code(code) => form.with("discounts[0][promotion_code]", code),
        };
        form = form
            .with("success_url", &self.success_url)
            .with("cancel_url", &self.cancel_url)
            .with_some("locale", self.locale)
            .with_some("subscription_data[trial_period_days]", self.trial_days)
            .with("client_reference_id", self.reference.order);
        form = self.asking(form);
        // A session's metadata is not copied to what it makes: refunds and renewals name the payment
        // intent or the subscription, so the reference is written there too.
        let inner = match self.item {
            Item::Once { .. } => "payment_intent_data[metadata]",
            Item::Subscription(_) => "subscription_data[metadata]",
        };
        let form = metadata::put(&self.reference, form, "metadata");
        metadata::put(&self.reference, form, inner)
    }
}

impl NewSession {
    /// Adds what is asked for beside the money. What a buyer enters whom Stripe knows already is kept
    /// only where that is said, and tax and tax numbers are refused where it is not.
    fn asking(&self, form: Form) -> Form {
        let CheckoutSettings {
            automatic_tax,
            collect_tax_ids,
            collect_billing_address,
            invoices,
            terms_of_service,
        } = self.asks;
        let known = matches!(self.buyer, Buyer::Returning(_));
        // A subscription's invoices are made anyway, and to ask for them is refused.
        let invoices = invoices && matches!(self.item, Item::Once { .. });
        let address = "billing_address_collection";
        let terms = "consent_collection[terms_of_service]";
        [
            (automatic_tax, "automatic_tax[enabled]", "true"),
            (automatic_tax && known, "customer_update[address]", "auto"),
            (collect_tax_ids, "tax_id_collection[enabled]", "true"),
            (collect_tax_ids && known, "customer_update[name]", "auto"),
            (collect_billing_address, address, "required"),
            (invoices, "invoice_creation[enabled]", "true"),
            (terms_of_service, terms, "required"),
        ]
        .into_iter()
        .filter(|(asked, ..)| *asked)
        .fold(form, |form, (_, name, value)| form.with(name, value))
    }
}

/// A session, as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Session {
    /// Its identifier.
    pub id: CheckoutId,
    /// Where to send the buyer; only while it is open.
    pub url: Option<String>,
    /// How far it is.
    pub status: Option<SessionStatus>,
    /// Whether the money is there.
    pub payment_status: PaymentStatus,
    /// What it is for.
    pub mode: SessionMode,
    /// The payment, of a session in payment mode that had something to charge.
    pub payment_intent: Option<Expandable<PaymentId>>,
    /// The subscription, once there is one.
    pub subscription: Option<Expandable<SubscriptionId>>,
    /// The first invoice of the subscription.
    pub invoice: Option<Expandable<InvoiceId>>,
    /// The customer, once there is one.
    pub customer: Option<CustomerId>,
    /// What the buyer entered.
    customer_details: Option<CustomerDetails>,
    /// The email that was filled in for the buyer.
    customer_email: Option<String>,
    /// What is charged after promotions and taxes, in the minor unit.
    pub amount_total: Option<i64>,
    /// Lower case.
    pub currency: Option<String>,
    /// What we wrote on it.
    #[serde(default)]
    pub metadata: Metadata,
}

object!(
    CheckoutId => Session, "checkout/sessions",
    ["payment_intent.latest_charge", "subscription", "invoice.payments"]
);

impl Session {
    /// The buyer's email, as entered, else as filled in.
    #[must_use]
    pub fn email(&self) -> Option<&str> {
        let entered = self.customer_details.as_ref();
        entered
            .and_then(|details| details.email.as_deref())
            .or(self.customer_email.as_deref())
    }

    /// Whether what was bought is to be handed over. A complete session may still wait for its
    /// money; one that a promotion made free has none to wait for.
    #[must_use]
    pub fn is_paid(&self) -> bool {
        self.status == Some(SessionStatus::Complete)
            && matches!(
                self.payment_status,
                PaymentStatus::Paid | PaymentStatus::NoPaymentRequired
            )
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct CustomerDetails {
    email: Option<String>,
}

words! {
    /// How far a session is.
    SessionStatus {
        /// Waits for the buyer.
        Open,
        /// The buyer is done; the money may still be on its way.
        Complete,
        /// Closed, and nothing was bought.
        Expired,
    }
}

words! {
    /// Whether the money of a session is there.
    PaymentStatus {
        /// It is.
        Paid,
        /// It is not, or not yet.
        Unpaid,
        /// There is none to wait for: the total is zero, or due later.
        NoPaymentRequired,
    }
}

words! {
    /// What a session is for.
    SessionMode {
        /// To be paid once.
        Payment,
        /// To be paid each cycle.
        Subscription,
        /// To save a payment method; never one of ours.
        Setup,
    }
}

#[cfg(test)]
mod tests;
