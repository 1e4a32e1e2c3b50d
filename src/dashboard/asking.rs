//! Asking the payment provider about one order again.

use axum::{extract::State, response::Response};
use domain::{catalog::Account, id::OrderId};
use maud::{Markup, html};

use super::{
    audit::deed,
    form,
    shell::{self, base},
    visit::{Posted, Visit},
};
use crate::{
    catalog::ProjectCatalog,
    http::{Code, Error},
    payments::RefreshOutcome,
    state::App,
};

/// What an order's page has of it.
pub(super) fn part(visit: &Visit, project: &ProjectCatalog, order: OrderId) -> Markup {
    let provider = project.provider();
    html! {
        @if provider.is_some_and(|known| known.account != Account::None) {
            section.card {
                h2 { "Payment provider" }
                p { "What it tells is taken up by itself. Where something seems to be missing, ask it how this order stands now." }
                form method="post" action={ (base(project)) "/orders/" (order) "/ask" } {
                    (form::token(visit))
                    button type="submit" { "Ask again" }
                }
            }
        }
    }
}

/// `POST …/orders/{order}/ask`
pub(super) async fn ask(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, .. } = posted;
    let project = visit.project(&app)?;
    let order: OrderId = visit.named("order", Code::OrderNotFound)?;
    let told = app.payments.refresh_order(&project, order).await;
    let told = told.map_err(|error| {
        let refusal = Error::from_payments(error, &project);
        match refusal.code() {
            Code::ProviderError => refusal.saying(
                "The payment provider did not answer, or does not know this order. Nothing was changed.",
            ),
            _ => refusal,
        }
    })?;
    let (said, found) = match told.map(|told| told.outcome) {
        None => ("asked_nothing", "there is nothing to ask about"),
        Some(RefreshOutcome::Changed) => ("asked_changed", "it changed"),
        Some(RefreshOutcome::Processing) => ("asked_processing", "the money is on its way"),
        Some(RefreshOutcome::Open) => ("asked_open", "it is not paid"),
        Some(RefreshOutcome::Same) => ("asked_same", "it is as it was"),
    };
    let what = format!("Asked the payment provider about order {order}: {found}");
    let here = format!("{}/orders/{order}", base(&project));
    Ok(deed(shell::done(&here, said), &visit.signed, what))
}
