//! What the provider's checkout of a project asks of buyers and creates, besides the payment.

use serde::{Deserialize, Serialize};
/// A project's checkout settings, each off until it is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CheckoutSettings {
    /// The provider adds the tax due at the buyer's place.
    pub automatic_tax: bool,
    /// Buyers who are businesses may enter their tax number.
    pub collect_tax_ids: bool,
    /// Buyers have to enter their billing address.
    pub collect_billing_address: bool,
    /// One-time purchases get an invoice too. Each cycle of a subscription has one anyway.
    pub invoices: bool,
    /// Buyers have to agree to the terms of service.
    pub terms_of_service: bool,
}

impl CheckoutSettings {
    /// All settings off: the checkout only takes the payment.
    pub const NONE: Self = Self {
        automatic_tax: false,
        collect_tax_ids: false,
        collect_billing_address: false,
        invoices: false,
        terms_of_service: false,
    };
}

/// A change of the settings; `None` leaves one as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the fields are those of CheckoutSettings")]
pub struct CheckoutChange {
    pub automatic_tax: Option<bool>,
    pub collect_tax_ids: Option<bool>,
    pub collect_billing_address: Option<bool>,
    pub invoices: Option<bool>,
    pub terms_of_service: Option<bool>,
}

impl CheckoutChange {
    /// The settings after the change.
    #[must_use]
    pub fn decide(self, old: CheckoutSettings) -> CheckoutSettings {
        CheckoutSettings {
            automatic_tax: self.automatic_tax.unwrap_or(old.automatic_tax),
            collect_tax_ids: self.collect_tax_ids.unwrap_or(old.collect_tax_ids),
            collect_billing_address: self
                .collect_billing_address
                .unwrap_or(old.collect_billing_address),
            invoices: self.invoices.unwrap_or(old.invoices),
            terms_of_service: self.terms_of_service.unwrap_or(old.terms_of_service),
        }
    }
}
