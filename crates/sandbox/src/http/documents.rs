//! Receipts and invoices. Their URLs are unguessable, and nothing can be done there.

use axum::{
    extract::{Path, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};

use super::drawn;
use crate::{Sandbox, core::prelude::*, pages::documents};

/// Renders a document from the state, its id and the shop's name.
type Draw = fn(&Database, &str, &str) -> Result<Response>;

pub(super) async fn show(
    draw: Draw,
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    let draw = move |db: &mut Database, shop: &str| draw(db, &id, shop);
    drawn(&sandbox, &project, draw).await
}

pub(super) fn receipt(db: &Database, id: &str, shop: &str) -> Result<Response> {
    let charge: Charge = db.find(id)?;
    Ok(documents::receipt(&charge, shop).answer(StatusCode::OK))
}

pub(super) fn invoice(db: &Database, id: &str, shop: &str) -> Result<Response> {
    Ok(documents::invoice(&written(db, id)?, db, shop).answer(StatusCode::OK))
}

pub(super) fn pdf(db: &Database, id: &str, shop: &str) -> Result<Response> {
    let file = documents::pdf(&written(db, id)?, db, shop);
    Ok(([(header::CONTENT_TYPE, "application/pdf")], file).into_response())
}

/// The invoice, unless it is still a draft, which is not shown.
fn written(db: &Database, id: &str) -> Result<Invoice> {
    let invoice: Invoice = db.find(id)?;
    Refusal::no_such("invoice", id).when(invoice.status == InvoiceStatus::Draft)?;
    Ok(invoice)
}
