//! `POST /checkout`: a price, a wallet or none, and the address to send the buyer to.

use actors::Address;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    Quantity, Rejection,
    catalog::{Interval, KeyKind, Mode},
    code::RecoveryCode,
    id::PriceId,
};
use edge::{
    body::Body,
    caller::{AnyKey, MayCheckout},
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

use super::create::CountedWallet;
use crate::{
    api::App,
    http::{
        code_path::MissCounter,
        idempotency::KeyHeader,
        redirect::{Redirect, UrlText},
        subject::NamedWallet,
    },
};

/// What to buy, and for whom: the user (with a secret key only; a wallet is made if there is none) or
/// the code whose wallet to fill. With neither the payment makes an anonymous wallet, and the order
/// shows its code; with a session it fills the session's own wallet.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Checkout {
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
    /// Whether the page saves the card for later payments without the buyer, as an automatic top-up makes them. Only for a
    /// user's wallet.
    save_card: Option<bool>,
    /// For 24 hours a repeat with this key answers the same checkout. The header `Idempotency-Key` may stand in for
    /// it. Make it unguessable.
    idempotency_key: Option<KeyText>,
}

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

pub(super) async fn checkout(
    State(app): State<App>,
    key: AnyKey<MayCheckout>,
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
    let (price, quantity) = request.price(&key)?;
    let wallet = match wallet {
        Some(NamedWallet::Malformed(malformed)) => {
            return Err(guesses.wrong_code(malformed.reveal(), ErrorCode::WalletNotFound));
        }
        other => other.map(NamedWallet::into_address).transpose()?,
    };
    let new = NewCheckout {
        price,
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
        save_card: request.save_card.unwrap_or(false),
    };
    if new.save_card {
        let user = new.wallet.as_ref().and_then(Address::user);
        let recurs = key
            .offered(&new.price)
            .is_none_or(|(_, price)| price.interval != Interval::OneTime);
        if user.is_none() || recurs {
            let message =
                "A card is saved with a one-time price for a user's wallet: send externalUserId.";
            return Err(Error::invalid("saveCard", message));
        }
    }
    // The payment will make a wallet, which counts now.
    let counted = match new.wallet {
        None => CountedWallet::new(&app, &key, &context, Creation::Checkout)?,
        Some(_) => None,
    };
    let named = named.map(|named| {
        let whose = match &new.wallet {
            Some(address) if address.user().is_some() => format!("user {}", address.reveal()),
            Some(address) => format!("code {}", address.reveal()),
            // Strangers share a public key: a guessed name must not lead to another's order.
            None if counted.is_some() => format!("client {}", context.client),
            None => "nobody".to_owned(),
        };
        CheckoutKey::new(&whose, &named)
    });
    let guessed = Guessed::of(&new);
    let opened = match named {
        Some(named) => {
            let opening = app.payments.open_checkout_once((*key).clone(), new, named);
            opening.await
        }
        None => {
            let opened = app.payments.open_checkout((*key).clone(), new).await;
            opened.map(|(order, page)| (order, page, false))
        }
    };
    let is_new = opened.as_ref().is_ok_and(|(_, _, replayed)| !replayed);
    if let Some(counted) = counted.filter(|_| !is_new) {
        counted.not_made();
    }
    let (order, page, replayed) = opened.map_err(|error| guessed.refusal(error, &guesses, &key))?;
    let answer = api_types::Checkout {
        url: page.url,
        checkout_id: page.id.as_str().to_owned(),
        order_id: order.to_string(),
    };
    respond::replayable(&answer, replayed)
}

/// What a checkout names that a caller may have guessed.
struct Guessed {
    code: Option<RecoveryCode>,
    discount: Option<String>,
}

impl Guessed {
    fn of(new: &NewCheckout) -> Self {
        Self {
            code: match &new.wallet {
                Some(Address::Code(code)) => Some(code.clone()),
                _ => None,
            },
            discount: match &new.discount {
                Discount::Code(code) => Some(code.clone()),
                Discount::BuyerMayEnter | Discount::None => None,
            },
        }
    }

    /// The caller's error; what does not exist is counted as a miss.
    fn refusal(
        self,
        error: payments::Error,
        guesses: &MissCounter,
        project: &ProjectCatalog,
    ) -> Error {
        use payments::Error as Failed;
        match (error, self.code, self.discount) {
            (Failed::Wallet(actors::Error::Rejected(Rejection::WalletNotFound)), Some(code), _) => {
                guesses.wrong_code(code.reveal(), ErrorCode::WalletNotFound)
            }
            (
                error @ Failed::Provider(payments_port::Error::InvalidDiscountCode(_)),
                _,
                discount,
            ) => guesses.miss_as(
                &discount.unwrap_or_default(),
                Error::from_payments(error, project),
            ),
            (other, ..) => Error::from_payments(other, project),
        }
    }
}

impl Checkout {
    /// The price, if it is offered, and how many are bought.
    fn price(&self, project: &ProjectCatalog) -> Result<(PriceId, Quantity), Error> {
        let Text(name) = &self.price_id;
        let offered = name.0.as_ref().and_then(|price| project.offered(price));
        let (_, price) = offered.ok_or_else(|| name.refused(ErrorCode::PriceNotFound))?;
        let quantity = self
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
        Ok((price.id, quantity))
    }

    /// The wallet, and where the buyer goes after paying and on cancelling. Everything malformed is refused before anything that this
    /// kind of key may not do.
    fn redirects(
        &mut self,
        app: &App,
        key: &AnyKey<MayCheckout>,
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
