//! Sending a buyer to the provider: is the order welcome, a session for it, the order itself. What
//! fails before the session leaves nothing; what fails after it leaves a session whose payment is
//! fulfilled all the same, by what is written on it.

use std::sync::Arc;

use actors::{Address, Draft};
use domain::{
    catalog::{Interval, Price, Product},
    id::{OrderId, PriceId},
    terms::Terms,
    text::{CheckoutId, CustomerId, Email, ExternalUserId},
    wallet::place_order::PlaceOrder,
};

use super::{Error, Payments, tiers::operation};
use crate::{
    catalog::ProjectCatalog,
    failpoint,
    provider::stripe::{
        self, Client, Refusal,
        checkout_sessions::{Buyer, Item, NewSession, OPEN_SECONDS, Promotion, Session},
        id,
        metadata::Reference,
    },
};

/// What a buyer wants.
#[derive(Debug, Clone)]
pub struct NewCheckout {
    /// What to buy; it must be offered.
    pub price: PriceId,
    /// Which wallet to fill; `None`: one of its own.
    pub wallet: Option<Address>,
    /// Where the buyer goes after paying.
    pub success_url: String,
    /// Where the buyer goes instead.
    pub cancel_url: String,
    /// The buyer's address, if it is known.
    pub email: Option<Email>,
    /// What makes it cheaper.
    pub discount: Discount,
}

/// What makes it cheaper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discount {
    /// Nothing.
    None,
    /// The buyer may enter a code.
    BuyerMayEnter,
    /// This code of the provider's.
    Code(String),
}

/// A checkout that waits for its buyer.
#[derive(Debug, Clone)]
pub struct OpenCheckout {
    /// Where to send the buyer.
    pub url: String,
    /// The provider's session.
    pub checkout: CheckoutId,
    /// The order.
    pub order: OrderId,
}

/// All that a session is made of.
struct Plan<'a> {
    new: &'a NewCheckout,
    product: &'a Product,
    price: &'a Price,
    order: OrderId,
    expires_at: i64,
}

impl Payments {
    /// Opens a checkout for a price that is offered.
    pub async fn checkout(
        &self,
        project: Arc<ProjectCatalog>,
        new: NewCheckout,
    ) -> Result<OpenCheckout, Error> {
        // It goes on when its caller went away: so many and no more.
        let place = Arc::clone(&self.0.checkouts).try_acquire_owned();
        let place = place.map_err(|_| actors::Error::Overloaded)?;
        let payments = self.clone();
        // In a task of its own: a caller who goes away in the middle must not leave a session
        // without its order.
        let task = tokio::spawn(async move {
            let _place = place;
            payments.open(&project, &new).await
        });
        task.await
            .unwrap_or(Err(Error::Wallet(actors::Error::Unavailable)))
    }

    async fn open(
        &self,
        project: &ProjectCatalog,
        new: &NewCheckout,
    ) -> Result<OpenCheckout, Error> {
        let handle = &self.0.handle;
        let (product, price) = project
            .offered(&new.price)
            .ok_or(Error::Defect("the price is not offered"))?;
        let terms = Terms::from(price);
        let scope = &project.scope;
        let draft = handle
            .draft_order(scope, new.wallet.as_ref(), &terms)
            .await?;
        let Draft { order, customer } = draft;
        let client = self.0.accounts.client(project)?;
        let plan = Plan {
            new,
            product,
            price,
            order,
            expires_at: handle
                .now_in(scope)
                .0
                .div_euclid(1000)
                .saturating_add(OPEN_SECONDS),
        };
        failpoint::reached("checkout.drafted");
        let session = self.session(&client, &plan, customer.as_ref()).await?;
        failpoint::reached("checkout.session_created");
        let checkout = CheckoutId::new(session.id.as_str())
            .map_err(|_| Error::Defect("a session's name is none"))?;
        let url = session
            .url
            .clone()
            .ok_or(Error::Defect("a session has no address"))?;
        let place = PlaceOrder {
            order: order.serial,
            terms,
            checkout: Some(checkout.clone()),
            email: new.email.clone(),
        };
        let placed = handle.place_order(scope, order, new.wallet.as_ref(), place);
        let placed = placed.await;
        if let Err(error) = placed {
            self.call_off(&client, &session, order).await;
            return Err(error.into());
        }
        failpoint::reached("checkout.placed");
        Ok(OpenCheckout {
            url,
            checkout,
            order,
        })
    }

    /// Asks for a session. What the provider forgot (a customer, a price) is made anew, once.
    async fn session(
        &self,
        client: &Client,
        plan: &Plan<'_>,
        customer: Option<&CustomerId>,
    ) -> Result<Session, Error> {
        let customer = customer.and_then(|customer| id::CustomerId::new(customer.as_str()));
        match self.try_session(client, plan, customer, 1).await {
            Err(Error::Provider(stripe::Error::Refused(refusal))) if refusal.is_missing() => {
                tracing::warn!(
                    error = %refusal,
                    "The payment provider does not know something it was told before; trying anew"
                );
                self.forget_tier(plan.price);
                self.try_session(client, plan, None, 2).await
            }
            other => other,
        }
    }

    async fn try_session(
        &self,
        client: &Client,
        plan: &Plan<'_>,
        customer: Option<id::CustomerId>,
        attempt: u32,
    ) -> Result<Session, Error> {
        let NewCheckout {
            success_url,
            cancel_url,
            email,
            discount,
            ..
        } = plan.new;
        let promotion = match discount {
            Discount::None => Promotion::None,
            Discount::BuyerMayEnter => Promotion::BuyerMayEnter,
            Discount::Code(code) => {
                let found = client.find_promotion_code(code, customer.as_ref()).await?;
                Promotion::Code(found.ok_or(Error::InvalidDiscountCode)?.id)
            }
        };
        let session = NewSession {
            reference: Reference {
                project: plan.price.project,
                order: plan.order,
                price: plan.price.id,
                user: plan.user(),
            },
            item: match plan.price.interval {
                Interval::OneTime => plan.once(),
                Interval::Month | Interval::Year => {
                    let tier = self.tier(client, plan.product, plan.price).await?;
                    Item::Subscription(tier.id)
                }
            },
            buyer: match customer {
                Some(customer) => Buyer::Returning(customer),
                None => Buyer::New {
                    email: email.as_ref().map(|email| email.as_str().to_owned()),
                },
            },
            promotion,
            success_url: success_url.clone(),
            cancel_url: cancel_url.clone(),
            expires_at: plan.expires_at,
        };
        let key = operation(&format!("checkout/{}/{attempt}", plan.order))?;
        let made = client.create_session(&session, &key).await;
        made.map_err(|error| match error {
            stripe::Error::Refused(refusal) if is_about_the_discount(&refusal) => {
                Error::InvalidDiscountCode
            }
            other => other.into(),
        })
    }

    /// Closes a session whose order was refused. If that fails it closes by itself, and if it is paid
    /// before that, it is fulfilled.
    async fn call_off(&self, client: &Client, session: &Session, order: OrderId) {
        let Ok(key) = operation(&format!("expire/{order}")) else {
            return;
        };
        if let Err(error) = client.expire_session(&session.id, &key).await {
            tracing::warn!(%error, %order, "A checkout that was refused stays open");
        }
    }
}

impl Plan<'_> {
    fn user(&self) -> Option<ExternalUserId> {
        match &self.new.wallet {
            Some(Address::External(user)) => Some(user.clone()),
            Some(Address::Code(_)) | None => None,
        }
    }

    fn once(&self) -> Item {
        let name = match &self.price.label {
            Some(label) => format!("{}: {label}", self.product.name),
            None => self.product.name.clone(),
        };
        Item::Once {
            name,
            currency: self.price.currency.clone(),
            amount_cents: self.price.amount_cents,
        }
    }
}

fn is_about_the_discount(refusal: &Refusal) -> bool {
    let param = refusal.param.as_deref().unwrap_or_default();
    param.starts_with("discounts")
}
