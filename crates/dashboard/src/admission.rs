//! What one person may not do alone: it is counted towards what they may give in a day, or waits for another's yes.

use actors::OrderAnswer;
use axum::response::Response;
use catalog::ProjectCatalog;
use edge::refused;
use identity::{Action, Gift};
use maud::{Markup, html};
use operations::audit::Proof;
use wire::Error;

use super::{
    approval_request::ask, money::grouped, page_request::PageRequest, prices::price_words,
};
use crate::state::App;

fn needed(request: &PageRequest, project: &ProjectCatalog, gift: &Gift) -> bool {
    request.authority.user().is_some() && gift.needs_approval(project.project.approval)
}

/// What a page says before somebody asks for what needs another person's yes.
pub(super) fn notice(request: &PageRequest, project: &ProjectCatalog, gift: &Gift) -> Markup {
    html! { @if needed(request, project, gift) {
        p.hint { "This is more than one person may do alone here: it waits for another person's yes, for seven days at most." }
    } }
}

/// Before a gift: counts it towards what somebody may give today (`None`: it may be given now), or keeps it where it
/// needs another person's yes, and leads to where it waits.
pub(super) async fn admit(
    app: &App,
    request: &PageRequest,
    project: &ProjectCatalog,
    gift: &Gift,
    (reason, key): (&str, &str),
) -> Result<Option<Response>, Error> {
    let (people, now) = (&app.edge.people, app.edge.clock.now());
    if !needed(request, project, gift) {
        let counted = people.count_gift(&request.authority, gift, key, now).await;
        return counted.map(|()| None).map_err(refused);
    }
    let asked = (Action::Gift(gift.clone()), words(project, gift));
    let waits = ask(app, request, project, asked, (reason, key)).await;
    waits.map(Some)
}

/// A gift in words for the audit log.
fn words(project: &ProjectCatalog, gift: &Gift) -> String {
    match gift {
        Gift::Grant {
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
        Gift::Refund { order, cents } => format!("refund {cents} cents of order {order}"),
        Gift::Payment { payment, cents } => {
            format!("refund payment {payment} of {cents} cents")
        }
        Gift::Reversal { deduction, credits } => {
            format!("give back {} of deduction {deduction}", grouped(*credits))
        }
        Gift::Assignment {
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
