//! Prices: make, list, show, change.

use ::catalog::{NewPrice, PriceChange, ProjectCatalog};
use api_types::admin::{Interval, Price, Prices};
use axum::{Json, http::StatusCode, response::Response};
use domain::{catalog, id::ProductId};
use edge::{Read, body::Body};
use operator::{CreatePrice, UpdatePrice};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{
        BoundedInteger, Credits, Currency, CurrencyText, FeatureText, NameText, Object,
        ProductName, Text, line,
    },
    view::admin_price,
};

use super::call::AdminCall;
use crate::http::{
    etag::{IfMatch, tagged},
    limits::{LimitFields, limits},
    patch::Field,
};

/// A price to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewPrice)]
pub(super) struct Create {
    /// The tier's name.
    label: Option<NameText>,
    /// In the currency's minor unit: 0, or an amount that payment providers take (at least 50 in EUR
    /// and USD, eight digits in most currencies, whole units in ISK and UGX, a last digit of 0 in
    /// currencies of three decimals).
    amount_cents: Credits,
    /// ISO 4217, in capitals.
    currency: CurrencyText,
    /// Credits that it grants, for a subscription in each cycle; 0 when left out.
    credits_granted: Option<Credits>,
    /// Slugs of the features that it unlocks.
    #[schema(max_items = 100)]
    features: Option<Vec<FeatureText>>,
    /// `month` or `year` for a subscription, else `one_time`.
    #[schema(value_type = Interval)]
    interval: catalog::Interval,
    /// Days until the credits expire; never when left out.
    credits_expire_after_days: Option<BoundedInteger<1, 36_525>>,
    /// Whether a cycle's unused credits stay; only for subscriptions.
    rollover: Option<bool>,
    /// The product whose balance it fills; its own when left out.
    credits_product_id: Option<ProductName>,
    /// Days for which a subscription is free at first; none when left out.
    trial_days: Option<BoundedInteger<1, 730>>,
    /// Credits for those days; 0 when left out.
    trial_credits: Option<Credits>,
    /// Whether a wallet that has bought all that a price without credits unlocks may buy it again (else
    /// `already_owned`); only for `one_time`.
    repeatable: Option<bool>,
    /// How much may be used of a wallet while its subscription is active; of the credits that it fills where a limit
    /// names no product. Only for subscriptions.
    #[schema(value_type = Option<Vec<LimitFields>>, max_items = 50)]
    limits: Option<Vec<Object<LimitFields>>>,
}

/// What to change of a price. Its terms never change: what was sold stays what it was.
#[derive(Deserialize, ToSchema)]
#[schema(as = PriceChange)]
pub(super) struct Update {
    /// Whether it is offered.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    active: Field<bool>,
    /// The tier's name; null: none.
    #[schema(value_type = Option<NameText>)]
    #[serde(default)]
    label: Field<NameText>,
    /// All limits of the tier, in place of the former ones; they are no term of what was sold.
    #[schema(value_type = Option<Vec<LimitFields>>, nullable = false, max_items = 50)]
    #[serde(default)]
    limits: Field<Vec<Object<LimitFields>>>,
}

pub(super) async fn create(
    call: AdminCall<CreatePrice>,
    body: Body,
) -> Result<(StatusCode, Json<Price>), Error> {
    let project = call.project()?;
    let new = body.parse::<Create>()?.read(&project)?;
    let create = CreatePrice(call.path.product()?, new);
    let price = call.run(project, create).await?;
    Ok((StatusCode::CREATED, Json(admin_price(&price))))
}

pub(super) async fn list(call: AdminCall<Read>) -> Result<Json<Prices>, Error> {
    let catalog = call.project()?;
    let product = catalog
        .product(&call.path.product()?)
        .ok_or(Error::new(ErrorCode::ProductNotFound))?;
    Ok(Json(Prices {
        prices: catalog.prices(&product.id).map(admin_price).collect(),
    }))
}

pub(super) async fn show(call: AdminCall<Read>) -> Result<Response, Error> {
    Ok(tagged(&current(&call)?))
}

fn current<P>(call: &AdminCall<P>) -> Result<Price, Error> {
    let catalog = call.project()?;
    let product = catalog
        .product(&call.path.product()?)
        .ok_or(Error::new(ErrorCode::ProductNotFound))?;
    let price = catalog.price(&product.id, &call.path.price()?);
    let price = price.ok_or(Error::new(ErrorCode::PriceNotFound))?;
    Ok(admin_price(price))
}

pub(super) async fn update(
    call: AdminCall<UpdatePrice>,
    if_match: IfMatch,
    body: Body,
) -> Result<Response, Error> {
    let Update {
        active,
        label,
        limits: all,
    } = body.parse()?;
    let project = call.project()?;
    let change = PriceChange {
        active: active.not_null("active")?,
        label: label.nullable().map(|label| label.map(line)),
        limits: (all.not_null("limits")?)
            .map(|all| limits(all, &project))
            .transpose()?,
    };
    let _saving = call.app.edge.saving.lock().await;
    let before = current(&call)?;
    if_match.check(&before)?;
    let update = UpdatePrice(call.path.product()?, call.path.price()?, change);
    let after = call.run(project, update).await?;
    Ok(tagged(&admin_price(&after)))
}

impl Create {
    fn read(self, project: &ProjectCatalog) -> Result<NewPrice, Error> {
        let slug = |Text(slug): FeatureText| slug.as_str().to_owned();
        let features = self.features.unwrap_or_default();
        let Text(Currency(currency)) = self.currency;
        Ok(NewPrice {
            label: self.label.map(line),
            amount_cents: self.amount_cents.0,
            currency,
            credits_granted: self.credits_granted.map_or(0, |credits| credits.0),
            credits_product: self.credits_product_id.map(product_id).transpose()?,
            credits_expire_after_days: self.credits_expire_after_days.map(BoundedInteger::small),
            rollover: self.rollover.unwrap_or(false),
            features: features.into_iter().map(slug).collect(),
            interval: self.interval,
            trial_days: self.trial_days.map(BoundedInteger::small),
            trial_credits: self.trial_credits.map_or(0, |credits| credits.0),
            repeatable: self.repeatable.unwrap_or(false),
            limits: limits(self.limits.unwrap_or_default(), project)?,
        })
    }
}

fn product_id(Text(named): ProductName) -> Result<ProductId, Error> {
    let message = "creditsProductId names no product of this project that has a creditUnit.";
    named
        .0
        .ok_or_else(|| Error::invalid("creditsProductId", message))
}
