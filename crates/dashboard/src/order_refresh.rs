//! Refreshes an order from the payment provider.

use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::id::OrderId;
use edge::Support;
use maud::{Markup, html};
use payments::CheckoutProgress;
use wire::{Error, ErrorCode};

use super::{
    form,
    orders::path,
    page_request::{FormPost, PageRequest},
    projects::provider,
};
use crate::state::App;

pub(super) fn part(request: &PageRequest, project: &ProjectCatalog, order: OrderId) -> Markup {
    let name = provider(project);
    html! {
        @if name != "None" {
            section.card {
                h2 { "Payment provider" }
                p { "Its events are processed automatically. If something seems to be missing, refresh this order." }
                form method="post" action={ (path(project, order)) "/refresh" } {
                    (form::token(request))
                    button type="submit" { "Refresh from " @if name == "Sandbox" { "the sandbox" } @else { (name) } }
                }
            }
        }
    }
}

/// `POST …/orders/{order}/refresh`: refreshes an order from the payment provider.
pub(super) async fn refresh(
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
        None => ("refreshed_nothing", "the provider does not have it"),
        Some((true, _)) => ("refreshed_changed", "it changed"),
        Some((_, CheckoutProgress::Processing)) => {
            ("refreshed_processing", "the payment is processing")
        }
        Some((_, CheckoutProgress::Open)) => ("refreshed_open", "it is not paid"),
        Some((_, CheckoutProgress::Finished)) => ("refreshed_same", "nothing changed"),
    };
    let what = format!("Refreshed order {order} from the payment provider: {outcome}");
    Ok(request.done(&path(&project, order), message, what))
}
