//! Opening a session for a buyer.

use domain::catalog::{Interval, Price, Product};
use port::{CheckoutRequest, Discount, OpenedCheckout};

use super::{Stripe, key};
use crate::{
    Error, Refusal,
    checkout_sessions::{Buyer, Item, NewSession, Promotion, Session},
};

/// What is done differently where Stripe does not know something that it was told before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    /// Without the customer: somebody deleted them.
    AsNew,
    /// With a price of its own: somebody archived or deleted it, or its product.
    Repriced,
}

impl Stripe {
    pub(super) async fn checkout(
        &self,
        request: &CheckoutRequest<'_>,
    ) -> Result<OpenedCheckout, port::Error> {
        let mut made = self.try_session(request, Attempt::First).await;
        if let Err(Refused::ByStripe(refusal)) = &made
            && let Some(other) = other_way(refusal)
        {
            tracing::warn!(error = %refusal, "The payment provider does not know something it was told before; trying anew");
            made = self.try_session(request, other).await;
        }
        let session = made.map_err(|refused| match refused {
            Refused::ByStripe(refusal) if is_about_the_discount(&refusal) => {
                port::Error::InvalidDiscountCode
            }
            Refused::ByStripe(refusal) => (*refusal).into(),
            Refused::Otherwise(error) => error,
        })?;
        let garbage = |what: &str| port::Error::Garbage(what.to_owned());
        Ok(OpenedCheckout {
            checkout: session.id,
            url: session
                .url
                .ok_or_else(|| garbage("a session has no address"))?,
        })
    }

    async fn try_session(
        &self,
        request: &CheckoutRequest<'_>,
        attempt: Attempt,
    ) -> Result<Session, Refused> {
        let customer = request.customer.clone();
        let customer = customer.filter(|_| attempt != Attempt::AsNew);
        let promotion = match request.discount {
            Discount::None => Promotion::None,
            Discount::BuyerMayEnter => Promotion::BuyerMayEnter,
            Discount::Code(code) => {
                let found = self.client.find_promotion_code(code, customer.as_ref());
                let found = found.await.map_err(port::Error::from)?;
                Promotion::Code(found.ok_or(port::Error::InvalidDiscountCode)?.id)
            }
        };
        let (product, price) = (request.product, request.price);
        let item = match (price.interval, attempt) {
            (Interval::OneTime, _) => once(product, price),
            (Interval::Month | Interval::Year, Attempt::Repriced) => {
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
                None => Buyer::New {
                    email: request.email.map(|email| email.as_str().to_owned()),
                },
            },
            promotion,
            success_url: request.success_url.to_owned(),
            cancel_url: request.cancel_url.to_owned(),
            expires_at: request.expires_at.0.div_euclid(1000),
            trial_days: price.trial_days,
            locale: request.locale.map(ToOwned::to_owned),
            asks: request.asks,
        };
        let number = match attempt {
            Attempt::First => 1,
            Attempt::AsNew => 2,
            Attempt::Repriced => 3,
        };
        let key = key(&format!("checkout/{}/{number}", request.reference.order))?;
        let made = self.client.create_session(&session, &key).await;
        made.map_err(|error| match error {
            Error::Refused(refusal) => Refused::ByStripe(refusal),
            other => Refused::Otherwise(other.into()),
        })
    }
}

/// Why there is no session.
enum Refused {
    ByStripe(Box<Refusal>),
    Otherwise(port::Error),
}

impl From<port::Error> for Refused {
    fn from(error: port::Error) -> Self {
        Self::Otherwise(error)
    }
}

/// What may help against a refusal.
fn other_way(refusal: &Refusal) -> Option<Attempt> {
    let param = refusal.param.as_deref().unwrap_or_default();
    if param.starts_with("line_items") {
        Some(Attempt::Repriced)
    } else if refusal.is_missing() && param == "customer" {
        Some(Attempt::AsNew)
    } else if refusal.is_missing() && param.is_empty() {
        // It does not say which. A price that is there is found again.
        Some(Attempt::AsNew)
    } else {
        None
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
