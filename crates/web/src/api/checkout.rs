//! `POST /checkout`: a price, a wallet or none, and the address to send the buyer to.

use actors::Address;
use axum::{extract::State, response::Response};
use domain::{
    Quantity, Rejection,
    catalog::{Interval, KeyKind, Mode},
};
use edge::{
    body::Body,
    caller::{AnyKeyOr, MayCheckout},
    context::Context,
};
use payments::{self, CheckoutKey, NewCheckout};
use payments_port::Discount;
use scrip_http::limits::Creation;
use serde::Deserialize;
use utoipa::{ToSchema, openapi::ObjectBuilder};
use wire::{
    Error, ErrorCode,
    field::{
        BoundedInteger, CodeText, EmailText, FromText, KeyText, Language, LanguageText,
        MetadataPairs, PriceName, Text, UserText,
    },
    respond,
};

use crate::{
    api::App,
    http::{
        code_path::MissCounter,
        idempotency::KeyHeader,
        redirect::{Redirect, UrlText},
        subject::{NamedWallet, WalletChoice},
    },
};

/// What to buy, and for whom: the user (with a secret key only; a wallet is made if there is none) or
/// the code whose wallet to fill. With neither the payment makes an anonymous wallet, and the order
/// shows its code; with a session it fills the session's own wallet.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Checkout {
    #[schema(ignore)]
    external_user_id: Option<UserText>,
    #[schema(ignore)]
    code: Option<CodeText>,
    /// An active price of an active product.
    price_id: PriceName,
    /// Where the buyer goes after paying; `{CHECKOUT_SESSION_ID}` in it becomes the checkout's
    /// identifier. A page of ours when left out.
    success_url: Option<UrlText>,
    /// Where a buyer goes who does not pay. A page of ours when left out.
    cancel_url: Option<UrlText>,
    /// Filled in at the provider's checkout.
    customer_email: Option<EmailText>,
    /// Whether the buyer may enter one of the provider's promotion codes.
    allow_promotion_codes: Option<bool>,
    /// One of the provider's promotion codes, applied to this checkout; it wins over
    /// `allowPromotionCodes`.
    discount_code: Option<DiscountText>,
    /// How many to buy, of a price that is paid once: credits and amount are multiplied by it. One
    /// when left out.
    quantity: Option<BoundedInteger<1, 1000>>,
    /// Kept on the order.
    metadata: Option<MetadataPairs>,
    /// The language of the provider's page (BCP 47), or the nearest that it has; otherwise, and when
    /// left out, the language of the buyer's browser.
    locale: Option<LanguageText>,
    /// For 24 hours a repeat with this key answers the same checkout. The header `Idempotency-Key` may stand in for
    /// it. Make it unguessable.
    idempotency_key: Option<KeyText>,
}

/// The schema of the request: one of two fields, or none, names the wallet.
type RequestSchema = WalletChoice<Checkout, false>;

/// One of the provider's promotion codes.
#[derive(Debug)]
struct DiscountCode(String);

type DiscountText = Text<DiscountCode>;

impl FromText for DiscountCode {
    const NAME: &'static str = "DiscountCode";
    const WANTED: &'static str = "a text of 1 to 255 characters";

    fn from_text(text: &str) -> Option<Self> {
        let fits = !text.is_empty() && text.chars().count() <= 255;
        fits.then(|| Self(text.to_owned()))
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string.min_length(Some(1)).max_length(Some(255))
    }
}

/// Start a checkout
///
/// Makes an order and a checkout session of the payment provider. Send the buyer to `url`. The order
/// expires after 24 hours; a late payment still counts. A wallet has at most 100 pending orders: the
/// next one is `too_many_pending_orders`.
#[utoipa::path(
    post,
    path = "/api/v1/checkout",
    tag = "Purchases",
    request_body = RequestSchema,
    responses((status = 200, description = "A checkout that waits for its buyer", body = api_types::Checkout)),
    security(("publishable" = []), ("secret" = []), ("session" = [])),
    extensions(("x-errors" = json!([
        "wallet_frozen", "project_archived",
        "conflicting_wallet", "invalid_discount_code", "secret_key_required",
        "redirect_not_allowed", "anonymous_wallets_disabled", "price_not_found",
        "wallet_not_found", "too_many_invalid_codes", "wallet_creation_limit", "already_subscribed",
        "already_owned", "idempotency_key_reused", "currency_mismatch", "too_many_pending_orders", "provider_not_configured", "provider_error"
    ])))
)]
pub(super) async fn checkout(
    State(app): State<App>,
    key: AnyKeyOr<MayCheckout>,
    context: Context,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let guesses = MissCounter::of(&app.edge, key.caller().key(), &context);
    let mut request: Checkout = body.parse()?;
    key.require_not_archived()?;
    // A session's code is compared with its own and not looked up.
    let looks_up_a_code = request.code.is_some() && key.session().is_none();
    if looks_up_a_code || request.discount_code.is_some() {
        guesses.allowed()?;
    }
    let wallet = NamedWallet::of(request.external_user_id.take(), request.code.take())?;
    let named = header.resolve_optional(request.idempotency_key.take())?;
    let (wallet, success_url, cancel_url) = request.redirects(&app, &key, wallet)?;
    let Text(price) = request.price_id;
    let offered = price.0.as_ref().and_then(|price| key.offered(price));
    let (_, price) = offered.ok_or_else(|| price.refused(ErrorCode::PriceNotFound))?;
    let quantity = request
        .quantity
        .and_then(|quantity| Quantity::new(quantity.small()))
        .unwrap_or_default();
    if price.interval != Interval::OneTime && quantity != Quantity::ONE {
        let message = "A subscription is bought once: leave quantity out, or say 1.";
        return Err(Error::invalid("quantity", message));
    }
    if price.is_too_much(quantity) {
        let message = "No payment provider takes so large an amount at once.";
        let several = quantity != Quantity::ONE;
        let param = if several { "quantity" } else { "priceId" };
        return Err(Error::invalid(param, message));
    }
    let wallet = match wallet {
        Some(NamedWallet::Malformed(malformed)) => {
            return Err(guesses.wrong_code(malformed.reveal(), ErrorCode::WalletNotFound));
        }
        other => other.map(NamedWallet::into_address).transpose()?,
    };
    let new = NewCheckout {
        price: price.id,
        wallet,
        success_url,
        cancel_url,
        email: request.customer_email.map(|Text(email)| email),
        discount: match (request.discount_code, request.allow_promotion_codes) {
            (Some(Text(DiscountCode(code))), _) => Discount::Code(code),
            (None, Some(true)) => Discount::BuyerMayEnter,
            (None, _) => Discount::None,
        },
        quantity,
        metadata: request
            .metadata
            .map(|MetadataPairs(pairs)| pairs)
            .unwrap_or_default(),
        locale: request.locale.map(|Text(Language(locale))| locale),
    };
    let code = match &new.wallet {
        Some(Address::Code(code)) => Some(code.clone()),
        _ => None,
    };
    let discount = match &new.discount {
        Discount::Code(code) => code.clone(),
        Discount::BuyerMayEnter | Discount::None => String::new(),
    };
    // The payment will make a wallet, which counts now.
    let counted = new.wallet.is_none() && key.kind() == KeyKind::Publishable;
    if counted {
        let allowed = app.edge.limits.create_wallet(
            &key.project,
            (context.client, Creation::Checkout),
            context.now,
        );
        allowed.map_err(|refusal| Error::limited(ErrorCode::WalletCreationLimit, refusal))?;
    }
    let named = named.map(|named| {
        let whose = match &new.wallet {
            Some(address) if address.user().is_some() => format!("user {}", address.reveal()),
            Some(address) => format!("code {}", address.reveal()),
            // Strangers share a public key: a guessed name must not lead to another's order.
            None if counted => format!("client {}", context.client),
            None => "nobody".to_owned(),
        };
        CheckoutKey::new(&whose, &named)
    });
    let opened = match named {
        Some(named) => {
            app.payments
                .open_checkout_once((*key).clone(), new, named)
                .await
        }
        None => {
            let opened = app.payments.open_checkout((*key).clone(), new).await;
            opened.map(|(order, page)| (order, page, false))
        }
    };
    let is_new = opened.as_ref().is_ok_and(|(_, _, replayed)| !replayed);
    if counted && !is_new {
        app.edge
            .limits
            .wallet_not_created(key.project.id, (context.client, Creation::Checkout));
    }
    let (order, page, replayed) = opened.map_err(|error| match (error, code) {
        (
            payments::Error::Wallet(actors::Error::Rejected(Rejection::WalletNotFound)),
            Some(code),
        ) => guesses.wrong_code(code.reveal(), ErrorCode::WalletNotFound),
        (error @ payments::Error::Provider(payments_port::Error::InvalidDiscountCode(_)), _) => {
            guesses.miss_as(&discount, Error::from_payments(error, &key))
        }
        (other, _) => Error::from_payments(other, &key),
    })?;
    let answer = api_types::Checkout {
        url: page.url,
        checkout_id: page.id.as_str().to_owned(),
        order_id: order.to_string(),
    };
    respond::replayable(&answer, replayed)
}

impl Checkout {
    /// The wallet, and where the buyer goes after paying and on cancelling. Everything malformed is refused before anything that this
    /// kind of key may not do.
    fn redirects(
        &mut self,
        app: &App,
        key: &AnyKeyOr<MayCheckout>,
        wallet: Option<NamedWallet>,
    ) -> Result<(Option<NamedWallet>, String, String), Error> {
        let allowed = |param, typed: Option<UrlText>| {
            let origins = &key.project.allowed_origins;
            typed.map(|Text(typed)| typed.allowed(param, key.kind(), origins))
        };
        let success = allowed("successUrl", self.success_url.take()).transpose();
        let cancel = allowed("cancelUrl", self.cancel_url.take()).transpose();
        for target in [&success, &cancel] {
            if let Err(error) = target
                && error.code() == ErrorCode::InvalidRequest
            {
                return Err(error.clone());
            }
        }
        let wallet = NamedWallet::for_caller(wallet, key.session())?;
        if key.kind() == KeyKind::Publishable
            && matches!(wallet, Some(NamedWallet::At(Address::External(_))))
        {
            return Err(Error::new(ErrorCode::SecretKeyRequired));
        }
        if wallet.is_none() && key.project.mode == Mode::ExternalUsers {
            return Err(Error::new(ErrorCode::AnonymousWalletsDisabled));
        }
        let home = &app.accounts.place().public_url;
        let of_ours = |path: &str| format!("{home}/checkout/{path}");
        let success = success?.map_or_else(
            || of_ours("success?checkout={CHECKOUT_SESSION_ID}"),
            Redirect::into_string,
        );
        let cancel = cancel?.map_or_else(|| of_ours("cancelled"), Redirect::into_string);
        Ok((wallet, success, cancel))
    }
}
