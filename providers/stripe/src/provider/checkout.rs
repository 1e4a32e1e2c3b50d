//! Opening a session for a buyer.

use domain::catalog::{Interval, Price, Product};
use port::{CheckoutRequest, Discount, OpenedCheckout};

use super::{Stripe, key};
use crate::{
    Error, Refusal,
    checkout_sessions::{Buyer, Item, NewSession, Promotion, Session},
    locale,
};

/// What is done differently where Stripe does not know something that it was told before, or refuses what
/// only helps the buyer.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Attempt {
    /// Without the customer: somebody deleted them.
    as_new: bool,
    /// With a price of its own: somebody archived or deleted it, or its product.
    repriced: bool,
    /// Without the address, which only fills in a field.
    without_email: bool,
}

impl Stripe {
    pub(super) async fn checkout(
        &self,
        request: &CheckoutRequest<'_>,
    ) -> Result<OpenedCheckout, Error> {
        let mut attempt = Attempt::default();
        let made = loop {
            let made = self.try_session(request, attempt).await;
            let Err(Error::Refused(refusal)) = &made else {
                break made;
            };
            let other = attempt.after(refusal);
            if other == attempt {
                break made;
            }
            tracing::warn!(error = %refusal, "The payment provider refused part of a checkout; trying without it");
            attempt = other;
        };
        let session = made.map_err(|error| match error {
            Error::Refused(refusal) if is_about_the_discount(&refusal) => {
                port::Error::InvalidDiscountCode.into()
            }
            other => other,
        })?;
        Ok(OpenedCheckout {
            checkout: session.id,
            url: session
                .url
                .ok_or_else(|| Error::garbage("a session has no address"))?,
        })
    }

    async fn try_session(
        &self,
        request: &CheckoutRequest<'_>,
        attempt: Attempt,
    ) -> Result<Session, Error> {
        let customer = request.customer.clone();
        let customer = customer.filter(|_| !attempt.as_new);
        let promotion = match request.discount {
            Discount::None => Promotion::None,
            Discount::BuyerMayEnter => Promotion::BuyerMayEnter,
            Discount::Code(code) => {
                let found = self.client.find_promotion_code(code, customer.as_ref());
                let found = found.await?;
                Promotion::Code(found.ok_or(port::Error::InvalidDiscountCode)?.id)
            }
        };
        let (product, price) = (request.product, request.price);
        let item = match (price.interval, attempt.repriced) {
            (Interval::OneTime, _) => once(product, price),
            (Interval::Month | Interval::Year, true) => {
                self.forget_tier(price);
                Item::Subscription(self.tier_anew(product, price).await?.id)
            }
            (Interval::Month | Interval::Year, _) => {
                Item::Subscription(self.tier(product, price).await?.id)
            }
        };
        let session = NewSession {
            reference: request.reference.clone(),
            item,
            buyer: match customer {
                Some(customer) => Buyer::Returning(customer),
                None => {
                    let email = request.email.filter(|_| !attempt.without_email);
                    Buyer::New {
                        email: email.map(|email| email.as_str().to_owned()),
                    }
                }
            },
            promotion,
            success_url: request.success_url.to_owned(),
            cancel_url: request.cancel_url.to_owned(),
            trial_days: price.trial_days,
            locale: request.locale.and_then(locale::nearest),
            asks: request.asks,
        };
        let number = attempt.number();
        let key = key(&format!("checkout/{}/{number}", request.reference.order))?;
        let path = ["checkout", "sessions"];
        self.client.post(&path, &session.form(), &key).await
    }
}

impl Attempt {
    /// What may help against a refusal; the same again where nothing does.
    fn after(self, refusal: &Refusal) -> Self {
        let param = refusal.param.as_deref().unwrap_or_default();
        if refusal.code.as_deref() == Some("email_invalid") || param == "customer_email" {
            let without_email = true;
            Self {
                without_email,
                ..self
            }
        } else if param.starts_with("line_items") {
            let repriced = true;
            Self { repriced, ..self }
        } else if refusal.is_missing() && (param == "customer" || param.is_empty()) {
            // Where it does not say which: a price that is there is found again.
            Self {
                as_new: true,
                ..self
            }
        } else {
            self
        }
    }

    /// Another form needs another key.
    fn number(self) -> u8 {
        let Self {
            as_new,
            repriced,
            without_email,
        } = self;
        u8::from(as_new) | u8::from(repriced) << 1 | u8::from(without_email) << 2
    }
}

fn once(product: &Product, price: &Price) -> Item {
    let name = match &price.label {
        Some(label) => format!("{}: {label}", product.name),
        None => product.name.clone(),
    };
    Item::Once {
        name,
        currency: price.currency.clone(),
        amount_cents: price.amount_cents,
    }
}

fn is_about_the_discount(refusal: &Refusal) -> bool {
    let param = refusal.param.as_deref().unwrap_or_default();
    param.starts_with("discounts")
}
