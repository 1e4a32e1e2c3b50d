//! Sending a buyer to the provider: is the order welcome, a page for it, the order itself. What fails
//! before the page leaves nothing; what fails after it leaves a page whose payment is fulfilled all the
//! same, by what is written on it.

use std::sync::Arc;

use actors::{Address, Draft};
use catalog::ProjectCatalog;
use domain::{
    Quantity,
    id::{OrderId, PriceId},
    metadata::Metadata,
    terms::Terms,
    text::{CheckoutId, Email, ExternalUserId},
    wallet::place_order::PlaceOrder,
};
use port::{CheckoutRequest, Discount, OpenedCheckout, Provider, Reference};

use super::{Error, Payments, failpoint};

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
    /// How many, of a price that is paid once.
    pub quantity: Quantity,
    /// The shop's own words on the order.
    pub metadata: Metadata,
    /// The language of the provider's page.
    pub locale: Option<String>,
}

/// A checkout that waits for its buyer.
#[derive(Debug, Clone)]
pub struct OpenCheckout {
    /// Where to send the buyer.
    pub url: String,
    /// The provider's name for it.
    pub checkout: CheckoutId,
    /// The order.
    pub order: OrderId,
}

impl Payments {
    /// Opens a checkout for a price that is offered.
    ///
    /// # Errors
    ///
    /// See [`Error`]; nothing is visible of what failed.
    pub async fn open_checkout(
        &self,
        project: Arc<ProjectCatalog>,
        new: NewCheckout,
    ) -> Result<OpenCheckout, Error> {
        // A caller who goes away in the middle must not leave a page without its order.
        let (payments, id) = (self.clone(), project.project.id);
        let work = async move { payments.opened(&project, &new).await };
        self.0.checkouts.carry_out(id, work).await
    }

    async fn opened(
        &self,
        project: &ProjectCatalog,
        new: &NewCheckout,
    ) -> Result<OpenCheckout, Error> {
        let context = &self.0.context;
        let handle = &context.handle;
        let provider = context.providers.of(project)?;
        let _at_work = context.tenures.begin(project).await?;
        let (product, price) = project
            .offered(&new.price)
            .ok_or(Error::Defect("the price is not offered"))?;
        let terms = Terms::from(price);
        let scope = &project.scope;
        let draft = handle
            .draft_order(scope, new.wallet.as_ref(), &terms, new.quantity)
            .await?;
        let Draft { order, customer } = draft;
        let request = CheckoutRequest {
            reference: Reference {
                project: project.project.id,
                order,
                price: price.id,
                user: user(new),
                quantity: new.quantity,
            },
            product,
            price,
            customer,
            email: new.email.as_ref(),
            discount: &new.discount,
            success_url: &new.success_url,
            cancel_url: &new.cancel_url,
            locale: new.locale.as_deref(),
            asks: project.project.checkout,
        };
        failpoint::reached("checkout.drafted");
        let OpenedCheckout { checkout, url } = provider.open_checkout(&request).await?;
        failpoint::reached("checkout.session_created");
        let place = PlaceOrder {
            order: order.serial,
            terms,
            quantity: new.quantity,
            metadata: new.metadata.clone(),
            checkout: Some(checkout.clone()),
            email: new.email.clone(),
        };
        let placed = handle.place_order(scope, order, new.wallet.as_ref(), place);
        if let Err(error) = placed.await {
            call_off(&*provider, &checkout, order).await;
            return Err(error.into());
        }
        failpoint::reached("checkout.placed");
        self.expect(project.project.id);
        Ok(OpenCheckout {
            url,
            checkout,
            order,
        })
    }
}

/// Closes a page whose order was refused. If that fails it closes by itself, and if it is paid before
/// that, it is fulfilled.
async fn call_off(provider: &dyn Provider, checkout: &CheckoutId, order: OrderId) {
    if let Err(error) = provider.close_checkout(checkout, order).await {
        tracing::warn!(%error, %order, "A checkout that was refused stays open");
    }
}

fn user(new: &NewCheckout) -> Option<ExternalUserId> {
    match &new.wallet {
        Some(Address::External(user)) => Some(user.clone()),
        Some(Address::Code(_)) | None => None,
    }
}
