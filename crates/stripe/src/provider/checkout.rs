//! Opens a session for a buyer.

use domain::{catalog::Interval, text::Email};
use payments_port::{CheckoutPage, CheckoutRequest, Discount};

use super::Stripe;
use crate::{
    Error, ErrorResponse,
    checkout_sessions::{self, Session},
    key,
};

/// What a retry omits or replaces, because Stripe no longer has it or refuses an optional part.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SessionAttempt {
    /// Without the customer, who was deleted.
    pub(super) as_new: bool,
    /// With a new Stripe price, because the old one or its product was archived or deleted.
    repriced: bool,
    /// Without the email, which only prefills a field.
    pub(super) without_email: bool,
}

impl Stripe {
    pub(super) async fn checkout(
        &self,
        request: &CheckoutRequest<'_>,
    ) -> Result<CheckoutPage, Error> {
        let mut attempt = SessionAttempt::default();
        let outcome = loop {
            let outcome = self.try_session(request, attempt).await;
            let outcome = outcome.map_err(|error| anonymous(error, request.email));
            match attempt.after(&outcome) {
                Some(other) => attempt = other,
                None => break outcome,
            }
        };
        let has_code = matches!(request.discount, Discount::Code(_));
        let session = outcome.map_err(|error| match error {
            Error::Refused(refusal) if has_code => about_the_code(refusal).into(),
            other => other,
        })?;
        session.page()
    }

    async fn try_session(
        &self,
        request: &CheckoutRequest<'_>,
        attempt: SessionAttempt,
    ) -> Result<Session, Error> {
        let mut request = request.clone();
        request.customer = request.customer.filter(|_| !attempt.as_new);
        request.email = request.email.filter(|_| !attempt.without_email);
        let code = match request.discount {
            Discount::Code(code) => {
                let customer = request.customer.as_ref();
                let id = self.client.find_promotion_code(code, customer).await?;
                Some(id.ok_or(payments_port::Error::InvalidDiscountCode(None))?)
            }
            Discount::None | Discount::BuyerMayEnter => None,
        };
        let (product, price) = (request.product, request.price);
        let tier = match price.interval {
            Interval::OneTime => None,
            Interval::Month | Interval::Year if attempt.repriced => {
                self.uncache_price(price);
                Some(self.recreate_price(product, price).await?.id)
            }
            Interval::Month | Interval::Year => Some(self.tier(product, price).await?.id),
        };
        let form = checkout_sessions::form(&request, tier.as_ref(), code.as_ref());
        let number = attempt.number();
        let key = key::operation(format_args!(
            "checkout/{}/{number}",
            request.reference.order
        ))?;
        let path = ["checkout", "sessions"];
        self.client.post(&path, &form, &key).await
    }
}

impl SessionAttempt {
    /// The next try after a refusal; `None` if nothing would help.
    pub(super) fn after<T>(self, outcome: &Result<T, Error>) -> Option<Self> {
        let Err(Error::Refused(refusal)) = outcome else {
            return None;
        };
        let other = self.without_refused(refusal);
        if other == self {
            return None;
        }
        let (code, param) = (refusal.code.as_deref(), refusal.param.as_deref());
        tracing::warn!(
            code,
            param,
            "The payment provider refused part of a checkout; trying without it"
        );
        Some(other)
    }

    fn without_refused(mut self, refusal: &ErrorResponse) -> Self {
        let param = refusal.param.as_deref().unwrap_or_default();
        let is_about_email = refusal.code.as_deref() == Some("email_invalid")
            || param == "customer_email"
            || (param.is_empty() && refusal.message.to_lowercase().contains("email address"));
        if is_about_email {
            self.without_email = true;
        } else if param.starts_with("line_items") {
            self.repriced = true;
        } else if refusal.is_missing() && (param == "customer" || param.is_empty()) {
            // Also if no parameter is named: an existing price is found again.
            self.as_new = true;
        }
        self
    }

    fn number(self) -> u8 {
        let Self {
            as_new,
            repriced,
            without_email,
        } = self;
        u8::from(as_new) | u8::from(repriced) << 1 | u8::from(without_email) << 2
    }
}

/// An error without the buyer's address, which Stripe repeats in its message, because errors are logged.
pub(super) fn anonymous(error: Error, email: Option<&Email>) -> Error {
    match (error, email) {
        (Error::Refused(mut refusal), Some(email)) => {
            refusal.message = refusal.message.replace(email.as_str(), "(the address)");
            Error::Refused(refusal)
        }
        (error, _) => error,
    }
}

/// A refusal of a checkout with a discount code. Stripe does not always name the parameter if a code does not fit the
/// buyer or amount, so every refusal not about the account or currency counts as about the code.
fn about_the_code(refusal: Box<ErrorResponse>) -> payments_port::Error {
    let words = refusal.message.clone();
    match payments_port::Error::from(Error::Refused(refusal)) {
        payments_port::Error::Refused(_) | payments_port::Error::Missing(_) => {
            payments_port::Error::InvalidDiscountCode(Some(words).filter(|words| !words.is_empty()))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_address_is_left_out_and_not_repeated() {
        let email = Email::new("\"<b>\"@example.com").unwrap();
        for (code, param) in [
            (Some("email_invalid"), Some("customer_email")),
            (None, Some("customer_email")),
            (None, None),
        ] {
            let refusal = ErrorResponse {
                status: 400,
                kind: "invalid_request_error".into(),
                code: code.map(str::to_owned),
                param: param.map(str::to_owned),
                message: format!("Invalid email address: {}", email.as_str()),
                ..ErrorResponse::default()
            };
            let error = anonymous(Error::Refused(Box::new(refusal)), Some(&email));
            assert!(!error.to_string().contains("example.com"), "{error}");
            let Error::Refused(refusal) = error else {
                panic!("{error}")
            };
            let other = SessionAttempt::default().without_refused(&refusal);
            assert!(other.without_email && !other.as_new);
        }
    }
}
