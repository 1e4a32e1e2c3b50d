//! Checkout sessions: the hosted page on which a buyer pays.

use domain::{catalog::CheckoutSettings, text::Email};
use payments_port::{CardSetupRequest, CheckoutPage, CheckoutRequest, Discount};
use serde::Deserialize;

use super::{
    error::Error,
    form::Form,
    id::{
        CheckoutId, CustomerId, InvoiceId, PaymentId, PromotionCodeId, SetupIntentId,
        StripePriceId, SubscriptionId,
    },
    locale,
    metadata::{self, Metadata},
    object::{Expandable, object, words},
};

/// The form that creates a session: a subscription for `tier`, a price of Stripe's catalog; or else a single payment
/// for a price that Stripe's catalog does not list. `code` is the promotion code to apply. The session expires after 24
/// hours by Stripe's clock.
pub fn form(
    request: &CheckoutRequest<'_>,
    tier: Option<&StripePriceId>,
    code: Option<&PromotionCodeId>,
) -> Form {
    const ITEM: &str = "line_items[0]";
    let (product, price) = (request.product, request.price);
    let mut form = Form::new();
    form = match tier {
        Some(tier) => form
            .with("mode", "subscription")
            .with(format!("{ITEM}[price]"), tier),
        None => {
            let name = match &price.label {
                Some(label) if *label != product.name => format!("{}: {label}", product.name),
                _ => product.name.clone(),
            };
            let currency = price.currency.to_ascii_lowercase();
            // In the minor unit as Stripe counts it, which is ours.
            form.with("mode", "payment")
                .with(format!("{ITEM}[price_data][currency]"), currency)
                .with(
                    format!("{ITEM}[price_data][unit_amount]"),
                    price.amount_cents,
                )
                .with(format!("{ITEM}[price_data][product_data][name]"), name)
        }
    };
    form = form.with(
        format!("{ITEM}[quantity]"),
        request.reference.quantity.get(),
    );
    // Stripe takes no other email for an existing customer. A new buyer becomes a customer, so that the next purchase
    // and the portal find them; a subscription always creates one, and refuses the parameter.
    form = match &request.customer {
        Some(customer) => form.with("customer", customer),
        None => form
            .with_some("customer_creation", tier.is_none().then_some("always"))
            .with_some("customer_email", request.email.map(Email::as_str)),
    };
    let may_enter = *request.discount == Discount::BuyerMayEnter;
    form = form
        .with_some("allow_promotion_codes", may_enter.then_some(true))
        .with_some("discounts[0][promotion_code]", code)
        .with("success_url", request.success_url)
        .with("cancel_url", request.cancel_url)
        .with_some("locale", request.locale.and_then(locale::nearest))
        .with_some("subscription_data[trial_period_days]", price.trial_days)
        .with("client_reference_id", request.reference.order);
    form = asking(form, request, tier.is_none());
    if request.save_card && tier.is_none() {
        // Other ways to pay could not be charged later.
        form = form
            .with("allowed_payment_method_types[0]", "card")
            .with("payment_intent_data[setup_future_usage]", "off_session");
    }
    // A session's metadata is not copied to what it creates, so the reference is also written to the payment intent or
    // subscription, which refunds and renewals name.
    let inner = match tier {
        None => "payment_intent_data[metadata]",
        Some(_) => "subscription_data[metadata]",
    };
    let form = metadata::put(&request.reference, form, "metadata");
    metadata::put(&request.reference, form, inner)
}

/// The form of a session on which a user enters a card, without paying.
pub(super) fn setup_form(request: &CardSetupRequest<'_>) -> Form {
    let form = Form::new()
        .with("mode", "setup")
        .with("allowed_payment_method_types[0]", "card");
    // A card is only kept for a customer.
    let form = match &request.customer {
        Some(customer) => form.with("customer", customer),
        None => form
            .with("customer_creation", "always")
            .with_some("customer_email", request.email.map(Email::as_str)),
    };
    form.with("success_url", request.return_url)
        .with("cancel_url", request.return_url)
        .with_some("locale", request.locale.and_then(locale::nearest))
        .with(format!("metadata[{}]", metadata::PROJECT), request.project)
        .with(
            format!("metadata[{}]", metadata::USER),
            request.user.as_str(),
        )
}

/// Adds what the page asks for besides the payment. For an existing customer Stripe keeps it only with
/// `customer_update`, and refuses tax and tax ids without it.
fn asking(form: Form, request: &CheckoutRequest<'_>, is_once: bool) -> Form {
    let CheckoutSettings {
        automatic_tax,
        collect_tax_ids,
        collect_billing_address,
        invoices,
        terms_of_service,
    } = request.asks;
    let has_customer = request.customer.is_some();
    // A subscription has invoices anyway, and refuses the parameter.
    let invoices = invoices && is_once;
    let address = "billing_address_collection";
    let terms = "consent_collection[terms_of_service]";
    [
        (automatic_tax, "automatic_tax[enabled]", "true"),
        (
            automatic_tax && has_customer,
            "customer_update[address]",
            "auto",
        ),
        (collect_tax_ids, "tax_id_collection[enabled]", "true"),
        (
            collect_tax_ids && has_customer,
            "customer_update[name]",
            "auto",
        ),
        (collect_billing_address, address, "required"),
        (invoices, "invoice_creation[enabled]", "true"),
        (terms_of_service, terms, "required"),
    ]
    .into_iter()
    .filter(|(is_on, ..)| *is_on)
    .fold(form, |form, (_, name, value)| form.with(name, value))
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Session {
    pub id: CheckoutId,
    /// The page's URL, only while it is open.
    pub url: Option<String>,
    pub status: Option<SessionStatus>,
    /// `paid`, `unpaid`, or `no_payment_required` if the total is zero or due later.
    payment_status: String,
    /// `payment`, `subscription`, or `setup` if it only saves a card.
    mode: Option<String>,
    /// The payment, in payment mode with a charge.
    pub payment_intent: Option<Expandable<PaymentId>>,
    /// The entry of a card, in setup mode.
    pub setup_intent: Option<Expandable<SetupIntentId>>,
    pub subscription: Option<Expandable<SubscriptionId>>,
    pub invoice: Option<Expandable<InvoiceId>>,
    pub customer: Option<CustomerId>,
    customer_details: Option<CustomerDetails>,
    customer_email: Option<String>,
    /// The charge after promotions and taxes, in the minor unit.
    pub amount_total: Option<i64>,
    pub currency: Option<String>,
    #[serde(default)]
    pub metadata: Metadata,
}

object!(
    CheckoutId => Session, "checkout/sessions",
    ["payment_intent.latest_charge", "subscription", "invoice.payments"]
);

impl Session {
    pub(super) fn page(self) -> Result<CheckoutPage, Error> {
        let url = self.url;
        Ok(CheckoutPage {
            id: self.id,
            url: url.ok_or_else(|| Error::garbage("a checkout session has no URL"))?,
        })
    }

    /// Whether it only saves a card.
    pub(super) fn is_setup(&self) -> bool {
        self.mode.as_deref() == Some("setup")
    }

    /// The buyer's email, as entered or prefilled.
    pub fn email(&self) -> Option<&str> {
        let entered = self.customer_details.as_ref();
        entered
            .and_then(|details| details.email.as_deref())
            .or(self.customer_email.as_deref())
    }

    /// Whether the purchase is to be delivered. A complete session may still wait for its money, unless a promotion
    /// made it free.
    pub fn is_paid(&self) -> bool {
        self.status == Some(SessionStatus::Complete)
            && matches!(&*self.payment_status, "paid" | "no_payment_required")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct CustomerDetails {
    email: Option<String>,
}

words! {
    SessionStatus {
        /// It waits for the buyer.
        Open,
        /// The buyer is done; the payment may be processing.
        Complete,
        /// Closed, and nothing was bought.
        Expired,
    }
}

#[cfg(test)]
mod tests;
