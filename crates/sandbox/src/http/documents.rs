//! Receipts and invoices. Their URLs are unguessable, and nothing can be done there.

use axum::{
    extract::{Path, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};

use super::drawn;
use crate::{Sandbox, core::prelude::*, pages::documents};

/// Renders a document from the state, its id and the shop's name.
type Draw = fn(&Books, &str, &str) -> Result<Response>;

pub(super) async fn show(
    draw: Draw,
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    let draw = move |books: &mut Books, shop: &str| draw(books, &id, shop);
    drawn(&sandbox, &project, draw).await
}

pub(super) fn receipt(books: &Books, id: &str, shop: &str) -> Result<Response> {
    let charge: Charge = books.find(id)?;
    Ok(documents::receipt(&charge, shop).answer(StatusCode::OK))
}

pub(super) fn invoice(books: &Books, id: &str, shop: &str) -> Result<Response> {
    Ok(documents::invoice(&written(books, id)?, books, shop).answer(StatusCode::OK))
}

pub(super) fn pdf(books: &Books, id: &str, shop: &str) -> Result<Response> {
    let file = documents::pdf(&written(books, id)?, books, shop);
    Ok(([(header::CONTENT_TYPE, "application/pdf")], file).into_response())
}

/// The invoice, unless it is still a draft, which is not shown.
fn written(books: &Books, id: &str) -> Result<Invoice> {
    let invoice: Invoice = books.find(id)?;
    Refusal::no_such("invoice", id).when(invoice.status == InvoiceStatus::Draft)?;
    Ok(invoice)
}
