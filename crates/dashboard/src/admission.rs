//! Credits and money for customers: counted towards a daily limit, or kept until a second person approves.

use actors::OrderAnswer;
use axum::response::Response;
use catalog::ProjectCatalog;
use edge::refused;
use identity::{Action, OutgoingValue};
use maud::{Markup, html};
use operations::audit::Proof;
use wire::Error;

use super::{
    approval_request::ask, money::grouped, page_request::PageRequest, prices::price_words,
};
use crate::state::App;

fn needed(request: &PageRequest, project: &ProjectCatalog, value: &OutgoingValue) -> bool {
    request.authority.user().is_some() && value.needs_approval(project.project.approval)
}

/// The hint of a form for what requires approval.
pub(super) fn notice(
    request: &PageRequest,
    project: &ProjectCatalog,
    value: &OutgoingValue,
) -> Markup {
    html! { @if needed(request, project, value) {
        p.hint { "Requires approval by a second person. The request expires after seven days." }
    } }
}

/// Counts it towards the daily limit (`None`: go on), or, where it requires approval, keeps the request and leads to the
/// page that lists it.
pub(super) async fn admit(
    app: &App,
    request: &PageRequest,
    project: &ProjectCatalog,
    value: &OutgoingValue,
    (reason, key): (&str, &str),
) -> Result<Option<Response>, Error> {
    let (people, now) = (&app.edge.people, app.edge.clock.now());
    if !needed(request, project, value) {
        let counted = people
            .count_outgoing(&request.authority, value, key, now)
            .await;
        return counted.map(|()| None).map_err(refused);
    }
    let asked = (Action::Outgoing(value.clone()), words(project, value));
    let pending = ask(app, request, project, asked, (reason, key)).await;
    pending.map(Some)
}

/// The same in words for the audit log.
fn words(project: &ProjectCatalog, value: &OutgoingValue) -> String {
    match value {
        OutgoingValue::Grant {
            wallet,
            product,
            credits,
            ..
        } => {
            format!(
                "grant {} of {product} in wallet {wallet}",
                grouped(*credits)
            )
        }
        OutgoingValue::Refund { order, cents } => format!("refund {cents} cents of order {order}"),
        OutgoingValue::Payment { payment, cents } => {
            format!("refund payment {payment} of {cents} cents")
        }
        OutgoingValue::Reversal { deduction, credits } => {
            format!("reverse {} of deduction {deduction}", grouped(*credits))
        }
        OutgoingValue::Assignment {
            payment,
            price,
            credits,
            cents,
            ..
        } => {
            let (price, credits) = (price_words(project, *price), grouped(*credits));
            format!(
                "assign payment {payment} to {price}, which brings {credits} credits and {cents} cents beyond what was paid"
            )
        }
    }
}

/// What shows later that so much more of an order was refunded.
pub(super) fn refund_proof(answer: &OrderAnswer, cents: i64) -> Proof {
    let order = &answer.order;
    let asked = order.pending_refunds.map_or(0, |pending| pending.cents);
    let before = order.reversal.refunded_cents.max(asked);
    Proof::Refund {
        order: answer.id,
        cents: before.saturating_add(cents),
    }
}
