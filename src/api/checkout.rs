//! `POST /checkout`: a price, a wallet or none, and the address to send the buyer to.

use actors::Address;
use axum::{extract::State, response::Response};
use domain::{
    Rejection,
    catalog::{KeyKind, Mode},
    id::PriceId,
    text::Email,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    http::{
        Code, Error,
        auth::AnyKey,
        body::Body,
        code_path::Guesses,
        context::Context,
        field::Text,
        redirect::{Redirect, redirect},
        respond,
        subject::{self, Named, required},
    },
    payments::{self, Discount, NewCheckout},
    state::App,
};

/// Longest code of the provider's that is looked up.
const MAX_DISCOUNT_CODE: usize = 255;

/// What to buy, and for whom. With neither `code` nor `externalUserId` the payment makes an anonymous
/// wallet, and the order shows its code.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Checkout)]
pub(super) struct Request<'a> {
    /// An active price of an active product.
    #[serde(borrow)]
    #[schema(value_type = String, required, nullable = false)]
    price_id: Option<Text<'a>>,
    /// The anonymous wallet to fill.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    code: Option<Text<'a>>,
    /// The user whose wallet to fill, which is made if there is none. With a secret key only.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255)]
    external_user_id: Option<Text<'a>>,
    /// Where the buyer goes after paying; `{CHECKOUT_SESSION_ID}` in it becomes the checkout's
    /// identifier. A page of ours when left out.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    success_url: Option<Text<'a>>,
    /// Where the buyer goes instead. A page of ours when left out.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    cancel_url: Option<Text<'a>>,
    /// Filled in at the provider's checkout.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, format = Email)]
    customer_email: Option<Text<'a>>,
    /// Whether the buyer may enter a code of the provider's.
    allow_promotion_codes: Option<bool>,
    /// A code of the provider's, applied to this checkout; it wins over `allowPromotionCodes`.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, max_length = 255)]
    discount_code: Option<Text<'a>>,
}

/// A checkout that waits for its buyer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CheckoutResult {
    /// Where to send the buyer.
    url: String,
    /// `cs_…`
    checkout_id: String,
    /// `ord_…`
    order_id: String,
}

/// Start a checkout
///
/// Makes an order and a checkout session of the payment provider. Send the buyer to `url`. The order
/// expires after 24 hours; a late payment still counts. A wallet has at most 100 pending orders: the
/// next one is `rate_limited`.
#[utoipa::path(
    post,
    path = "/api/v1/checkout",
    tag = "Purchases",
    request_body = Request,
    responses((status = 200, description = "A checkout that waits for its buyer", body = CheckoutResult)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!([
        "conflicting_wallet", "invalid_discount_code", "secret_key_required",
        "redirect_not_allowed", "anonymous_wallets_disabled", "price_not_found",
        "wallet_not_found", "too_many_invalid_codes", "already_subscribed",
        "provider_not_configured", "provider_error"
    ]))),
)]
pub(super) async fn checkout(
    State(app): State<App>,
    key: AnyKey,
    context: Context,
    body: Body,
) -> Result<Response, Error> {
    let guesses = Guesses::of(app.clone(), key.caller(), &context);
    let request: Request<'_> = body.parse()?;
    if request.code.is_some() {
        guesses.allowed()?;
    }
    let asked = request.read(&app, &key)?;
    let (price, wallet) = (asked.price, asked.wallet);
    let price = price
        .filter(|price| key.offered(price).is_some())
        .ok_or_else(|| Error::new(Code::PriceNotFound))?;
    let wallet = match wallet {
        Some(Named::Code(None)) => return Err(guesses.in_vain()),
        other => other.map(Named::address).transpose()?,
    };
    let new = NewCheckout {
        price,
        wallet,
        success_url: asked.success_url,
        cancel_url: asked.cancel_url,
        email: asked.email,
        discount: asked.discount,
    };
    let by_code = matches!(new.wallet, Some(Address::Code(_)));
    let opened = app.payments.checkout((*key).clone(), new).await;
    let opened = opened.map_err(|error| match error {
        payments::Error::Wallet(actors::Error::Rejected(Rejection::WalletNotFound)) if by_code => {
            guesses.in_vain()
        }
        other => Error::from_payments(other, &key),
    })?;
    respond::json(&CheckoutResult {
        url: opened.url,
        checkout_id: opened.checkout.as_str().to_owned(),
        order_id: opened.order.to_string(),
    })
}

/// A request that is well-formed, and allowed to a key of its kind.
struct Asked {
    /// `None`: no identifier of a price.
    price: Option<PriceId>,
    wallet: Option<Named>,
    success_url: String,
    cancel_url: String,
    email: Option<Email>,
    discount: Discount,
}

impl Request<'_> {
    /// All that is malformed precedes all that is not allowed.
    fn read(&self, app: &App, key: &AnyKey) -> Result<Asked, Error> {
        let price = required(self.price_id.as_ref(), "priceId")?;
        let wallet = subject::wallet(self.external_user_id.as_ref(), self.code.as_ref())?;
        let email = self.customer_email.as_ref().map(|email| {
            Email::new(email.as_str()).map_err(|error| Error::text("customerEmail", error))
        });
        let email = email.transpose()?;
        let discount = self.discount()?;
        let success = self.target(key, "successUrl", self.success_url.as_ref());
        let cancel = self.target(key, "cancelUrl", self.cancel_url.as_ref());
        for target in [&success, &cancel] {
            if let Err(error) = target
                && error.code() == Code::InvalidRequest
            {
                return Err(error.clone());
            }
        }
        if key.kind() == KeyKind::Publishable && matches!(wallet, Some(Named::User(_))) {
            return Err(Error::new(Code::SecretKeyRequired));
        }
        if wallet.is_none() && key.project.mode == Mode::ExternalUsers {
            return Err(Error::new(Code::AnonymousWalletsDisabled));
        }
        let home = &app.payments.accounts().place().public_url;
        let success = success?
            .unwrap_or_else(|| format!("{home}/checkout/success?checkout={{CHECKOUT_SESSION_ID}}"));
        let cancel = cancel?.unwrap_or_else(|| format!("{home}/checkout/cancelled"));
        Ok(Asked {
            price: price.as_str().parse().ok(),
            wallet,
            success_url: success,
            cancel_url: cancel,
            email,
            discount,
        })
    }

    fn target(
        &self,
        key: &AnyKey,
        param: &'static str,
        text: Option<&Text<'_>>,
    ) -> Result<Option<String>, Error> {
        let origins = &key.project.allowed_origins;
        let checked = text.map(|text| redirect(param, text.as_str(), key.kind(), origins));
        Ok(checked.transpose()?.map(Redirect::into_string))
    }

    fn discount(&self) -> Result<Discount, Error> {
        const NAME: &str = "discountCode";
        match &self.discount_code {
            Some(code) if (1..=MAX_DISCOUNT_CODE).contains(&code.as_str().len()) => {
                Ok(Discount::Code(code.as_str().to_owned()))
            }
            Some(_) => Err(Error::invalid(
                NAME,
                "discountCode has 1 to 255 characters.",
            )),
            None if self.allow_promotion_codes == Some(true) => Ok(Discount::BuyerMayEnter),
            None => Ok(Discount::None),
        }
    }
}
