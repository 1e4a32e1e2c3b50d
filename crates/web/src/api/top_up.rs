//! `/wallets/external/payment-method` and `/wallets/external/auto-top-up`: a card on file, and when it is charged; and the
//! address for mails about that.

use actors::Address;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use domain::{
    Quantity,
    terms::Terms,
    top_up::{ATTEMPTS_A_DAY, MAX_CONSENT_CHARACTERS, TopUpConsent, TopUpRule, TopUpSize},
    wallet::top_up::{SetEmail, SetTopUp},
};
use edge::{
    body::Body,
    caller::{MayCheckout, MayCreate, MayRead, SecretKey},
};
use payments::NewCardSetup;
use serde::{Deserialize, Serialize};
use utoipa::{ToSchema, openapi::ObjectBuilder};
use wire::{
    Error, ErrorCode,
    field::{
        BoundedInteger, Credits, EmailText, FromText, Language, LanguageText, PriceName, Text,
        UserText,
    },
    respond, view,
};

use super::{App, read::UserQuery};
use crate::http::{patch::Field, query::Params, redirect::UrlText, subject::users_wallet};

/// Whose card to put on file.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetUpPaymentMethod {
    /// The user, unless it is the session's own.
    external_user_id: Option<UserText>,
    /// Where the page leads back to.
    return_url: UrlText,
    /// The language of the page (BCP 47), or the nearest that it has.
    locale: Option<LanguageText>,
}

/// A page of the payment provider on which its owner enters a card.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CardPage {
    /// Where to send the buyer, soon.
    url: String,
}

/// What a buyer agreed to.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewConsent)]
pub(super) struct ConsentText {
    /// The text that the buyer saw, kept as a proof.
    text: ConsentTyped,
}

type ConsentTyped = Text<ConsentWords>;

/// The words of a consent.
#[derive(Debug)]
struct ConsentWords(Box<str>);

impl FromText for ConsentWords {
    const NAME: &'static str = "ConsentWords";
    const WANTED: &'static str = "the text that the buyer agreed to, of 1 to 2,000 characters";

    fn from_text(text: &str) -> Option<Self> {
        let fits = (1..=MAX_CONSENT_CHARACTERS).contains(&text.chars().count());
        fits.then(|| Self(text.into()))
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        let string = string.min_length(Some(1));
        string.max_length(Some(MAX_CONSENT_CHARACTERS))
    }
}

/// When the card on file is charged, and how much at most.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetAutoTopUp {
    /// The user, unless it is the session's own.
    external_user_id: Option<UserText>,
    /// Whether it is on. False needs nothing else.
    #[schema(example = false)]
    enabled: bool,
    /// An active one-time price that brings credits.
    price_id: Option<PriceName>,
    /// The card is charged when fewer credits than these can be spent.
    threshold: Option<Credits>,
    /// As many of the price are bought, in one charge, as bring what can be spent to this.
    target: Option<Credits>,
    /// How many of the price are bought, instead of `target`; one when both are left out.
    quantity: Option<BoundedInteger<1, 1000>>,
    /// The most that is charged in a month (UTC), in the currency's minor unit.
    monthly_limit_cents: Option<BoundedInteger<1, 9_007_199_254_740_991>>,
    /// The most attempts in a day (UTC); 3 when left out.
    max_per_day: Option<BoundedInteger<1, 24>>,
    /// What the buyer agreed to.
    consent: Option<ConsentText>,
    /// Whether to charge at once where less than `threshold` can be spent already, and not only after the next use.
    charge_now: Option<bool>,
}

/// What to change about a user's wallet.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateWallet {
    external_user_id: UserText,
    /// Where mails about the wallet go; null: to its last buyer.
    #[schema(value_type = Option<EmailText>, required)]
    #[serde(default)]
    email: Field<EmailText>,
}

pub(super) async fn set_up_payment_method(
    State(app): State<App>,
    key: SecretKey<MayCheckout>,
    body: Body,
) -> Result<Response, Error> {
    let request: SetUpPaymentMethod = body.parse()?;
    key.require_not_archived()?;
    let Text(typed) = request.return_url;
    let target = typed.allowed("returnUrl", key.kind(), &key.project.allowed_origins)?;
    let address = users_wallet(request.external_user_id, key.session())?;
    let user = address
        .user()
        .ok_or_else(|| Error::missing("externalUserId"))?;
    let new = NewCardSetup {
        user: user.clone(),
        return_url: target.into_string(),
        locale: request.locale.map(|Text(Language(locale))| locale),
    };
    let opened = app.payments.open_card_setup(&key, new).await;
    let url = opened.map_err(|error| Error::from_payments(error, &key))?;
    respond::json(&CardPage { url })
}

pub(super) async fn remove_payment_method(
    State(app): State<App>,
    key: SecretKey<MayCheckout>,
    Params(UserQuery { external_user_id }): Params<UserQuery>,
) -> Result<Response, Error> {
    let address = users_wallet(external_user_id, key.session())?;
    let removed = app.payments.remove_card(&key, &address).await;
    removed.map_err(|error| Error::from_payments(error, &key))?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(super) async fn set_auto_top_up(
    State(app): State<App>,
    key: SecretKey<MayCheckout>,
    body: Body,
) -> Result<Response, Error> {
    let mut request: SetAutoTopUp = body.parse()?;
    let address = users_wallet(request.external_user_id.take(), key.session())?;
    let command = SetTopUp {
        charge_now: request.charge_now.unwrap_or(false),
        needs_fresh_card: key.session().is_some(),
        rule: match request.enabled {
            true => {
                key.require_not_archived()?;
                Some(request.rule(&key)?)
            }
            false => None,
        },
    };
    let set = app.handle.set_top_up(&key.scope, &address, command).await;
    let detail = set.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&view::auto_top_up(&detail))
}

pub(super) async fn read_auto_top_up(
    State(app): State<App>,
    key: SecretKey<MayRead>,
    Params(UserQuery { external_user_id }): Params<UserQuery>,
) -> Result<Response, Error> {
    let address = users_wallet(external_user_id, key.session())?;
    let detail = app.handle.top_up(&key.scope, &address).await;
    let detail = detail.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&view::auto_top_up(&detail))
}

pub(super) async fn update_wallet(
    State(app): State<App>,
    key: SecretKey<MayCreate>,
    body: Body,
) -> Result<Response, Error> {
    let UpdateWallet {
        external_user_id: Text(user),
        email,
    } = body.parse()?;
    let address = Address::External(user);
    let refused = |error| Error::from_wallet(error, &key);
    let email = email.nullable().ok_or_else(|| Error::missing("email"))?;
    let command = SetEmail(email.map(|Text(email)| email));
    let set = app.handle.set_email(&key.scope, &address, command).await;
    set.map_err(refused)?;
    let view = app.handle.read(&key.scope, &address).await;
    let view = view.map_err(refused)?;
    respond::json(&view::external_wallet(
        &view,
        &address.reveal(),
        &key,
        key.kind(),
    ))
}

impl SetAutoTopUp {
    fn rule(self, project: &catalog::ProjectCatalog) -> Result<TopUpRule, Error> {
        let Text(name) = self.price_id.ok_or_else(|| Error::missing("priceId"))?;
        let offered = name.0.as_ref().and_then(|price| project.offered(price));
        let (_, price) = offered.ok_or_else(|| name.refused(ErrorCode::PriceNotFound))?;
        let threshold = self.threshold.ok_or_else(|| Error::missing("threshold"))?;
        let limit = self.monthly_limit_cents;
        let limit = limit.ok_or_else(|| Error::missing("monthlyLimitCents"))?;
        let consent = self.consent.ok_or_else(|| Error::missing("consent"))?;
        let quantity = self
            .quantity
            .and_then(|quantity| Quantity::new(quantity.small()));
        Ok(TopUpRule {
            terms: Terms::from(price),
            threshold: threshold.0,
            size: match (self.target, quantity) {
                (Some(_), Some(_)) => {
                    return Err(Error::invalid("target", "Send either target or quantity."));
                }
                (Some(target), None) => TopUpSize::Target(target.0),
                (None, quantity) => TopUpSize::Quantity(quantity.unwrap_or_default()),
            },
            monthly_limit_cents: limit.0,
            max_per_day: self.max_per_day.map_or(ATTEMPTS_A_DAY, |most| most.small()),
            consent: TopUpConsent {
                text: consent.text.0.0,
                at: domain::Timestamp::default(),
            },
        })
    }
}
