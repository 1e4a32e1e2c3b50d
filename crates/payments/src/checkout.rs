//! Opens checkouts in three steps: the wallet drafts the order, the provider opens a page, the order is placed. A
//! failure before the page leaves nothing; a later one leaves a page whose payment is still fulfilled from the page's
//! metadata.

use std::sync::{Arc, atomic::Ordering};

use actors::Address;
use catalog::ProjectCatalog;
use domain::{
    Quantity,
    catalog::MailLocale,
    id::{OrderId, PriceId},
    metadata::Metadata,
    terms::Terms,
    text::{CheckoutId, Email, ExternalUserId},
    wallet::place_order::PlaceOrder,
};
use payments_port::{CheckoutPage, CheckoutRequest, Discount, OrderReference, Provider};

use super::{Error, Payments, failpoint, named_locks::NamedLock};

/// A request for a checkout.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct NewCheckout {
    /// The price to buy; it must be offered.
    pub price: PriceId,
    /// The wallet that gets the credits; `None` for a new anonymous one.
    pub wallet: Option<Address>,
    pub success_url: String,
    pub cancel_url: String,
    pub email: Option<Email>,
    pub discount: Discount,
    /// The quantity; more than one only of a one-time price.
    pub quantity: Quantity,
    /// The shop's own metadata of the order.
    pub metadata: Metadata,
    pub locale: Option<String>,
    /// Whether the page saves the card.
    pub save_card: bool,
}

/// A request for a page on which a user enters a card.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct NewCardSetup {
    pub user: ExternalUserId,
    pub return_url: String,
    pub locale: Option<String>,
}

impl Payments {
    /// Opens a checkout for an offered price: the order, and the page that pays it.
    /// # Errors
    /// [`Error`] when the wallet refuses the order or the provider fails; no order is visible then.
    pub async fn open_checkout(
        &self,
        project: Arc<ProjectCatalog>,
        new: NewCheckout,
    ) -> Result<(OrderId, CheckoutPage), Error> {
        // A caller who disconnects must not leave a page without its order.
        let (payments, id) = (self.clone(), project.project.id);
        let work = async move {
            let context = &payments.0.context;
            // Refused at once while the provider changes: to begin work would wait for that.
            context.providers.of(&project)?;
            let at_work = context.epochs.begin(&project).await?;
            payments.opened(&at_work, &project, &new).await
        };
        self.0.checkouts.carry_out(id, work).await
    }

    /// Opens one within work that has begun.
    pub(super) async fn opened(
        &self,
        _at_work: &NamedLock,
        project: &ProjectCatalog,
        new: &NewCheckout,
    ) -> Result<(OrderId, CheckoutPage), Error> {
        let context = &self.0.context;
        let handle = &context.handle;
        let provider = context.providers.of(project)?;
        let (product, price) = project
            .offered(&new.price)
            .ok_or(Error::Defect("the price is not offered"))?;
        let terms = Terms::from(price);
        let scope = &project.scope;
        let (order, customer) = handle
            .draft_order(scope, new.wallet.as_ref(), &terms, new.quantity)
            .await?;
        let request = CheckoutRequest {
            reference: OrderReference {
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
            save_card: new.save_card,
            asks: project.project.checkout,
        };
        failpoint::reached("checkout.drafted");
        let page = provider.open_checkout(&request).await?;
        failpoint::reached("checkout.session_created");
        let place = PlaceOrder {
            order: order.serial,
            terms,
            quantity: new.quantity,
            metadata: new.metadata.clone(),
            checkout: Some(page.id.clone()),
            email: new.email.clone(),
            locale: new.locale.as_deref().and_then(MailLocale::of_tag),
            names_code: matches!(new.wallet, Some(Address::Code(_))),
        };
        let placed = handle.place_order(scope, order, new.wallet.as_ref(), place);
        if let Err(error) = placed.await {
            close_page(&*provider, &page.id, order).await;
            return Err(error.into());
        }
        failpoint::reached("checkout.placed");
        context.opened.fetch_add(1, Ordering::Relaxed);
        self.expect(project.project.id);
        Ok((order, page))
    }
}

/// Closes the page of a refused order. If that fails, the page expires by itself; if it is paid before, the order is
/// fulfilled.
async fn close_page(provider: &dyn Provider, checkout: &CheckoutId, order: OrderId) {
    if let Err(error) = provider.close_checkout(checkout, order).await {
        tracing::warn!(%error, %order, "The page of a refused checkout could not be closed");
    }
}

fn user(new: &NewCheckout) -> Option<ExternalUserId> {
    new.wallet.as_ref().and_then(Address::user).cloned()
}
