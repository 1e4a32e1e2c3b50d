//! Products: make, list, show, change.

use ::catalog::{NewProduct, ProductChange, ProjectCatalog};
use api_types::admin::{FreeGrant, Product, ProductType, Products};
use axum::{Json, http::StatusCode, response::Response};
use domain::{catalog, time::Period};
use edge::{Read, body::Body};
use operator::{CreateProduct, UpdateProduct};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{Credits, DescriptionText, NameText, Object, Positive, UnitText, line},
    view::admin_product,
};

use super::call::AdminCall;
use crate::http::{
    etag::{IfMatch, tagged},
    limits::{LimitFields, limits},
    patch::Field,
};

/// A product to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewProduct)]
pub(super) struct Create {
    name: NameText,
    /// What the product is.
    #[serde(rename = "type")]
    #[schema(value_type = ProductType)]
    kind: catalog::ProductType,
    description: Option<DescriptionText>,
    /// What its credits are called; required for type `credits`.
    credit_unit: Option<UnitText>,
    /// Credits that every wallet gets for free; only with a `creditUnit`.
    #[schema(value_type = Option<FreeGrant>)]
    free_grant: Option<Object<Grant>>,
    /// A balance that falls to this many credits or fewer is reported as low; only with a
    /// `creditUnit`.
    low_balance: Option<Credits>,
    /// The most credits that one external wallet may owe, unless it has a limit of its own; 0 when left out, more only
    /// with a `creditUnit`.
    debt_limit: Option<Credits>,
    /// How much may be used of every wallet; of this product's credits where a limit names no product.
    #[schema(value_type = Option<Vec<LimitFields>>, max_items = 50)]
    limits: Option<Vec<Object<LimitFields>>>,
    /// Whether it is offered; true when left out.
    active: Option<bool>,
}

/// What to change of a product. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductChange)]
pub(super) struct Update {
    #[schema(value_type = Option<NameText>, nullable = false)]
    #[serde(default)]
    name: Field<NameText>,
    /// What the product is; it cannot change once there are prices.
    #[serde(rename = "type", default)]
    #[schema(value_type = Option<ProductType>, nullable = false)]
    kind: Field<catalog::ProductType>,
    /// A sentence about it; null: none.
    #[schema(value_type = Option<DescriptionText>)]
    #[serde(default)]
    description: Field<DescriptionText>,
    /// What its credits are called. It can be renamed but not removed: wallets may hold them.
    #[schema(value_type = Option<UnitText>)]
    #[serde(default)]
    credit_unit: Field<UnitText>,
    /// Credits that every wallet gets for free; null: none.
    #[schema(value_type = Option<FreeGrant>)]
    #[serde(default)]
    free_grant: Field<Object<Grant>>,
    /// A balance that falls to this many credits or fewer is reported as low; null: none is.
    #[schema(value_type = Option<Credits>)]
    #[serde(default)]
    low_balance: Field<Credits>,
    /// The most credits that one external wallet may owe, unless it has a limit of its own.
    #[schema(value_type = Option<Credits>, nullable = false)]
    #[serde(default)]
    debt_limit: Field<Credits>,
    /// All limits of every wallet's use, in place of the former ones.
    #[schema(value_type = Option<Vec<LimitFields>>, nullable = false, max_items = 50)]
    #[serde(default)]
    limits: Field<Vec<Object<LimitFields>>>,
    /// Whether it is offered. Balances of an inactive product stay spendable.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    active: Field<bool>,
}

#[derive(Deserialize)]
struct Grant {
    credits: Positive,
    period: Period,
}

impl Grant {
    fn read(Object(Self { credits, period }): Object<Self>) -> catalog::FreeGrant {
        catalog::FreeGrant {
            credits: credits.0,
            period,
        }
    }
}

pub(super) async fn create(
    call: AdminCall<CreateProduct>,
    body: Body,
) -> Result<(StatusCode, Json<Product>), Error> {
    let body: Create = body.parse()?;
    let project = call.project()?;
    let new = NewProduct {
        name: line(body.name),
        kind: body.kind,
        description: body.description.map(line),
        credit_unit: body.credit_unit.map(line),
        free_grant: body.free_grant.map(Grant::read),
        low_balance: body.low_balance.map(|credits| credits.0),
        debt_limit: body.debt_limit.map_or(0, |credits| credits.0),
        limits: limits(body.limits.unwrap_or_default(), &project)?,
        active: body.active.unwrap_or(true),
    };
    let product = call.run(project, CreateProduct(new)).await?;
    let catalog = call.project()?;
    Ok((StatusCode::CREATED, Json(admin_product(&product, &catalog))))
}

pub(super) async fn list(call: AdminCall<Read>) -> Result<Json<Products>, Error> {
    let catalog = call.project()?;
    let products = catalog
        .products()
        .map(|product| admin_product(product, &catalog))
        .collect();
    Ok(Json(Products { products }))
}

pub(super) async fn show(call: AdminCall<Read>) -> Result<Response, Error> {
    Ok(tagged(&current(&call)?))
}

fn current<P>(call: &AdminCall<P>) -> Result<Product, Error> {
    let catalog = call.project()?;
    let product = catalog.product(&call.path.product()?);
    let product = product.ok_or(Error::new(ErrorCode::ProductNotFound))?;
    Ok(admin_product(product, &catalog))
}

pub(super) async fn update(
    call: AdminCall<UpdateProduct>,
    if_match: IfMatch,
    body: Body,
) -> Result<Response, Error> {
    let project = call.project()?;
    let change = body.parse::<Update>()?.read(&project)?;
    let _saving = call.app.edge.saving.lock().await;
    let before = current(&call)?;
    if_match.check(&before)?;
    call.run(project, UpdateProduct(call.path.product()?, change))
        .await?;
    Ok(tagged(&current(&call)?))
}

impl Update {
    fn read(self, project: &ProjectCatalog) -> Result<ProductChange, Error> {
        let free_grant = self.free_grant.nullable();
        Ok(ProductChange {
            name: self.name.not_null("name")?.map(line),
            kind: self.kind.not_null("type")?,
            description: self.description.nullable().map(|text| text.map(line)),
            credit_unit: self.credit_unit.nullable().map(|unit| unit.map(line)),
            free_grant: free_grant.map(|grant| grant.map(Grant::read)),
            low_balance: self
                .low_balance
                .nullable()
                .map(|low| low.map(|credits| credits.0)),
            debt_limit: self.debt_limit.not_null("debtLimit")?.map(|it| it.0),
            limits: self
                .limits
                .not_null("limits")?
                .map(|all| limits(all, project))
                .transpose()?,
            active: self.active.not_null("active")?,
        })
    }
}
