//! `GET /products`: what the project offers.

use axum::response::Response;
use edge::caller::{AnyKey, MayRead};
use serde::Serialize;
use utoipa::ToSchema;
use wire::{
    Error, respond,
    view::{self, Product},
};

/// What the project offers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Products {
    /// Active products, in the order in which they were made.
    products: Vec<Product>,
}

pub(super) async fn products(key: AnyKey<MayRead>) -> Result<Response, Error> {
    let active = key.products().filter(|product| product.active);
    let products = active.map(|product| view::product(product, &key)).collect();
    respond::json(&Products { products })
}
