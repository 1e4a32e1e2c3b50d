//! Prices: make, list, show, change.

use axum::{Json, extract::State, http::StatusCode};
use domain::id::ProductId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    path::Segments,
    view::{Interval, Price, Prices},
};
use crate::{
    catalog::{NewPrice, PriceChange},
    http::patch::Field,
    http::{Administrator, Body, Code, Error},
    state::App,
};

/// A price to make.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewPrice)]
struct Create {
    /// The tier's name, 1 to 200 characters.
    label: Option<String>,
    /// In the currency's minor unit: 0, or an amount that payment providers take (at least 50 in EUR
    /// and USD, whole units in ISK and UGX, a last digit of 0 in currencies of three decimals).
    #[schema(value_type = i64, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    amount_cents: Option<i64>,
    /// ISO 4217, in capitals.
    #[schema(value_type = String, pattern = "^[A-Z]{3}$", example = "EUR")]
    currency: Option<String>,
    /// Credits for it, for a subscription in each cycle; 0 when left out.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    credits_granted: Option<i64>,
    /// Slugs of what it unlocks.
    features: Option<Vec<String>>,
    /// `month` or `year` for a subscription, else `one_time`.
    #[schema(value_type = Interval)]
    interval: Option<Interval>,
    /// Days until the credits expire; never when left out.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 36_525)]
    credits_expire_after_days: Option<u32>,
    /// Whether a cycle's unused credits stay; only for subscriptions.
    rollover: Option<bool>,
    /// The product whose balance it fills; its own when left out.
    credits_product_id: Option<String>,
}

/// What to change of a price. Its terms never change: what was sold stays what it was.
#[derive(Deserialize, ToSchema)]
#[schema(as = PriceChange)]
struct Update {
    /// Whether it is offered.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    active: Field<bool>,
    /// The tier's name; null: none.
    #[schema(value_type = Option<String>)]
    #[serde(default)]
    label: Field<String>,
}

/// Make a price.
#[utoipa::path(
    post,
    path = "/projects/{projectId}/products/{productId}/prices",
    operation_id = "createPrice",
    tag = "Prices",
    params(
        ("projectId" = String, Path, description = "The project."),
        ("productId" = String, Path, description = "The product.")
    ),
    request_body = Create,
    responses((status = 201, description = "Made.", body = Price)),
    extensions(("x-errors" = json!(["project_not_found", "product_not_found"])))
)]
pub(super) async fn create(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
    body: Body,
) -> Result<(StatusCode, Json<Price>), Error> {
    let new = body.parse::<Create>()?.read()?;
    let price = app
        .catalog
        .create_price(path.project()?, path.product()?, new)
        .await?;
    Ok((StatusCode::CREATED, Json(Price::from(&price))))
}

/// List a product's prices, inactive ones too.
#[utoipa::path(
    get,
    path = "/projects/{projectId}/products/{productId}/prices",
    operation_id = "listPrices",
    tag = "Prices",
    params(
        ("projectId" = String, Path, description = "The project."),
        ("productId" = String, Path, description = "The product.")
    ),
    responses((status = 200, description = "All of them.", body = Prices)),
    extensions(("x-errors" = json!(["project_not_found", "product_not_found"])))
)]
pub(super) async fn list(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
) -> Result<Json<Prices>, Error> {
    let catalog = app.catalog.project(path.project()?)?;
    let product = catalog
        .product(&path.product()?)
        .ok_or(Error::new(Code::ProductNotFound))?;
    Ok(Json(Prices {
        prices: catalog.prices(&product.id).map(Price::from).collect(),
    }))
}

/// Show a price.
#[utoipa::path(
    get,
    path = "/projects/{projectId}/products/{productId}/prices/{priceId}",
    operation_id = "getPrice",
    tag = "Prices",
    params(
        ("projectId" = String, Path, description = "The project."),
        ("productId" = String, Path, description = "The product."),
        ("priceId" = String, Path, description = "The price.")
    ),
    responses((status = 200, description = "The price.", body = Price)),
    extensions(("x-errors" = json!(["project_not_found", "product_not_found", "price_not_found"])))
)]
pub(super) async fn show(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
) -> Result<Json<Price>, Error> {
    let catalog = app.catalog.project(path.project()?)?;
    let product = catalog
        .product(&path.product()?)
        .ok_or(Error::new(Code::ProductNotFound))?;
    let price = catalog.price(&product.id, &path.price()?);
    Ok(Json(Price::from(
        price.ok_or(Error::new(Code::PriceNotFound))?,
    )))
}

/// Change a price's label, or whether it is offered.
#[utoipa::path(
    patch,
    path = "/projects/{projectId}/products/{productId}/prices/{priceId}",
    operation_id = "updatePrice",
    tag = "Prices",
    params(
        ("projectId" = String, Path, description = "The project."),
        ("productId" = String, Path, description = "The product."),
        ("priceId" = String, Path, description = "The price.")
    ),
    request_body = Update,
    responses(
        (status = 200, description = "As it is now.", body = Price)),
    extensions(("x-errors" = json!(["project_not_found", "product_not_found", "price_not_found"])))
)]
pub(super) async fn update(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
    body: Body,
) -> Result<Json<Price>, Error> {
    let Update { active, label } = body.parse()?;
    let change = PriceChange {
        active: active.not_null("active")?,
        label: label.nullable(),
    };
    let (project, product, price) = (path.project()?, path.product()?, path.price()?);
    let price = app
        .catalog
        .update_price(project, product, price, change)
        .await?;
    Ok(Json(Price::from(&price)))
}

impl Create {
    fn read(self) -> Result<NewPrice, Error> {
        Ok(NewPrice {
            label: self.label,
            amount_cents: self
                .amount_cents
                .ok_or_else(|| Error::missing("amountCents"))?,
            currency: self.currency.ok_or_else(|| Error::missing("currency"))?,
            credits_granted: self.credits_granted.unwrap_or(0),
            credits_product: self
                .credits_product_id
                .as_deref()
                .map(product_id)
                .transpose()?,
            credits_expire_after_days: self.credits_expire_after_days,
            rollover: self.rollover.unwrap_or(false),
            features: self.features.unwrap_or_default(),
            interval: self
                .interval
                .ok_or_else(|| Error::missing("interval"))?
                .into(),
        })
    }
}

fn product_id(text: &str) -> Result<ProductId, Error> {
    let message = "creditsProductId names no product of this project that has a creditUnit.";
    text.parse()
        .map_err(|_| Error::invalid("creditsProductId", message))
}
