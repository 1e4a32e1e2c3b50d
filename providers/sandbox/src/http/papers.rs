//! Receipts and invoices. Their addresses are unguessable, and nothing can be done there.

use axum::{
    extract::{Path, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};

use crate::{
    Sandbox,
    core::{
        books::Desk,
        records::{Charge, Invoice, InvoiceStatus},
        refusal::Refusal,
    },
    pages::{self, papers},
    till::Failure,
};

pub(super) async fn receipt(
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    let Some((project, settings)) = sandbox.project(&project) else {
        return pages::nothing();
    };
    let work = move |desk: &mut Desk<'_>| {
        let charge: Charge = desk.books.find(&id)?;
        Ok(papers::receipt(&charge, &settings.name))
    };
    match sandbox.0.at(project, work).await {
        Ok(page) => page.answer(StatusCode::OK),
        Err(failure) => failed(&failure),
    }
}

/// A draft is nobody's business yet.
fn written(desk: &Desk<'_>, id: &str) -> Result<Invoice, Refusal> {
    let invoice: Invoice = desk.books.find(id)?;
    if invoice.status == InvoiceStatus::Draft {
        return Err(Refusal::no_such("invoice", id));
    }
    Ok(invoice)
}

pub(super) async fn invoice(
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    let Some((project, settings)) = sandbox.project(&project) else {
        return pages::nothing();
    };
    let work = move |desk: &mut Desk<'_>| {
        let invoice = written(desk, &id)?;
        Ok(papers::invoice(&invoice, desk.books, &settings.name))
    };
    match sandbox.0.at(project, work).await {
        Ok(page) => page.answer(StatusCode::OK),
        Err(failure) => failed(&failure),
    }
}

pub(super) async fn pdf(
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    let Some((project, settings)) = sandbox.project(&project) else {
        return pages::nothing();
    };
    let work = move |desk: &mut Desk<'_>| {
        let invoice = written(desk, &id)?;
        Ok(papers::pdf(&invoice, &settings.name))
    };
    match sandbox.0.at(project, work).await {
        Ok(file) => ([(header::CONTENT_TYPE, "application/pdf")], file).into_response(),
        Err(failure) => failed(&failure),
    }
}

fn failed(failure: &Failure) -> Response {
    match failure {
        Failure::Refused(_) => pages::nothing(),
        Failure::Broken(_) => pages::unavailable(),
    }
}
