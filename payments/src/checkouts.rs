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

use tracing::Instrument as _;

use super::{Error, Feed, Ground, failpoint, places::Places};

/// Checkouts that may be being opened at once, over all projects.
const AT_ONCE: usize = 256;

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

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Checkouts {
    ground: Ground,
    feed: Arc<Feed>,
    places: Places,
}

impl Checkouts {
    pub(crate) fn new(ground: Ground, feed: Arc<Feed>) -> Self {
        Self {
            ground,
            feed,
            places: Places::new(AT_ONCE),
        }
    }

    /// Opens a checkout for a price that is offered.
    ///
    /// # Errors
    ///
    /// See [`Error`]; nothing is visible of what failed.
    pub async fn open(
        &self,
        project: Arc<ProjectCatalog>,
        new: NewCheckout,
    ) -> Result<OpenCheckout, Error> {
        // It goes on when its caller went away: so many and no more.
        let place = self.places.take(project.project.id);
        let place = place.ok_or(actors::Error::Overloaded)?;
        let checkouts = self.clone();
        // In a task of its own: a caller who goes away in the middle must not leave a page without its
        // order.
        let work = async move {
            let _place = place;
            checkouts.opened(&project, &new).await
        };
        let task = tokio::spawn(work.in_current_span());
        task.await
            .unwrap_or(Err(Error::Wallet(actors::Error::Unavailable)))
    }

    async fn opened(
        &self,
        project: &ProjectCatalog,
        new: &NewCheckout,
    ) -> Result<OpenCheckout, Error> {
        let handle = &self.ground.handle;
        let provider = self.ground.providers.of(project)?;
        let _at_work = self.ground.tenures.begin(project).await?;
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
        self.feed.source().expect(project.project.id);
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
