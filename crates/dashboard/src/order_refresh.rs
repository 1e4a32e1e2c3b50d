//! Asks the payment provider again how an order stands.

use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{catalog::Account, id::OrderId};
use edge::Support;
use maud::{Markup, html};
use payments::CheckoutProgress;
use wire::{Error, ErrorCode};

use super::{
    form,
    orders::path,
    page_request::{FormPost, PageRequest},
};
use crate::state::App;

/// The card on an order's page with the button that asks.
pub(super) fn part(request: &PageRequest, project: &ProjectCatalog, order: OrderId) -> Markup {
    let provider = project.provider();
    html! {
        @if provider.is_some_and(|known| known.account != Account::None) {
            section.card {
                h2 { "Payment provider" }
                p { "Its events are processed automatically. If something seems to be missing, ask for this order's current state." }
                form method="post" action={ (path(project, order)) "/ask" } {
                    (form::token(request))
                    button type="submit" { "Ask again" }
                }
            }
        }
    }
}

/// `POST …/orders/{order}/ask`: asks the payment provider about an order.
pub(super) async fn ask(
    State(app): State<App>,
    posted: FormPost<Support>,
) -> Result<Response, Error> {
    let FormPost { request, .. } = posted;
    let project = request.project(&app)?;
    let order: OrderId = request.named("order", ErrorCode::OrderNotFound)?;
    let refreshed = app.payments.refresh_order(&project, order).await;
    let refresh = refreshed.map_err(|error| {
        let refusal = Error::from_payments(error, &project);
        match refusal.code() {
            ErrorCode::ProviderError => refusal.saying(
                "The payment provider did not answer, or does not know this order. Nothing was changed.",
            ),
            _ => refusal,
        }
    })?;
    let (message, outcome) = match refresh.map(|refresh| (refresh.changed, refresh.progress)) {
        None => ("asked_nothing", "there is nothing to ask about"),
        Some((true, _)) => ("asked_changed", "it changed"),
        Some((_, CheckoutProgress::Processing)) => ("asked_processing", "the money is on its way"),
        Some((_, CheckoutProgress::Open)) => ("asked_open", "it is not paid"),
        Some((_, CheckoutProgress::Settled)) => ("asked_same", "it is as it was"),
    };
    let what = format!("Asked the payment provider about order {order}: {outcome}");
    Ok(request.done(&path(&project, order), message, what))
}
