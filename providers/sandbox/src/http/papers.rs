//! Receipts and invoices. Their addresses are unguessable, and nothing can be done there.

use axum::{
    extract::{Path, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};

use crate::core::prelude::*;
use crate::{
    Sandbox,
    pages::{self, papers},
    till::Failure,
};

pub(super) async fn receipt(
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    let page = move |books: &Books, shop: &str| {
        let charge: Charge = books.find(&id)?;
        Ok(papers::receipt(&charge, shop))
    };
    paper(&sandbox, &project, page, |page| page.answer(StatusCode::OK)).await
}

pub(super) async fn invoice(
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    let page = move |books: &Books, shop: &str| {
        let invoice = written(books, &id)?;
        Ok(papers::invoice(&invoice, books, shop))
    };
    paper(&sandbox, &project, page, |page| page.answer(StatusCode::OK)).await
}

pub(super) async fn pdf(
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    let file = move |books: &Books, shop: &str| {
        let invoice = written(books, &id)?;
        Ok(papers::pdf(&invoice, books, shop))
    };
    let answer = |file| ([(header::CONTENT_TYPE, "application/pdf")], file).into_response();
    paper::<Vec<u8>>(&sandbox, &project, file, answer).await
}

/// A draft is nobody's business yet.
fn written(books: &Books, id: &str) -> Result<Invoice> {
    let invoice: Invoice = books.find(id)?;
    if invoice.status == InvoiceStatus::Draft {
        return Err(Refusal::no_such("invoice", id));
    }
    Ok(invoice)
}

async fn paper<T: Send + 'static>(
    sandbox: &Sandbox,
    project: &str,
    draw: impl FnOnce(&Books, &str) -> Result<T> + Send + 'static,
    answer: impl FnOnce(T) -> Response,
) -> Response {
    let Some((project, settings)) = sandbox.project(project) else {
        return pages::nothing();
    };
    let work = move |books: &mut Books| draw(books, &settings.name);
    match sandbox.0.at(project, work).await {
        Ok(paper) => answer(paper),
        Err(Failure::Refused(_)) => pages::nothing(),
        Err(Failure::Broken(_)) => pages::unavailable(),
    }
}
