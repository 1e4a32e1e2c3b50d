//! Receipts and invoices. Their addresses are unguessable, and nothing can be done there.

use axum::{
    extract::{Path, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};

use super::drawn;
use crate::{Sandbox, core::prelude::*, pages::papers};

pub(super) async fn receipt(
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    let draw = move |books: &mut Books, shop: &str| {
        let charge: Charge = books.find(&id)?;
        Ok(papers::receipt(&charge, shop).answer(StatusCode::OK))
    };
    drawn(&sandbox, &project, draw).await
}

pub(super) async fn invoice(
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    let draw = move |books: &mut Books, shop: &str| {
        let invoice = written(books, &id)?;
        Ok(papers::invoice(&invoice, books, shop).answer(StatusCode::OK))
    };
    drawn(&sandbox, &project, draw).await
}

pub(super) async fn pdf(
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    let draw = move |books: &mut Books, shop: &str| {
        let file = papers::pdf(&written(books, &id)?, books, shop);
        Ok(([(header::CONTENT_TYPE, "application/pdf")], file).into_response())
    };
    drawn(&sandbox, &project, draw).await
}

/// A draft is nobody's business yet.
fn written(books: &Books, id: &str) -> Result<Invoice> {
    let invoice: Invoice = books.find(id)?;
    Refusal::no_such("invoice", id).when(invoice.status == InvoiceStatus::Draft)?;
    Ok(invoice)
}
