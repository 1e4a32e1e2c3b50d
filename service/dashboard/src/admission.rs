//! What one person may not do alone: it is counted towards what they may give in a day, or waits for another's yes.

use actors::OrderAnswer;
use axum::response::Response;
use catalog::ProjectCatalog;
use edge::refused;
use maud::{Markup, html};
use operations::audit::Proof;
use people::{Approval, Gift, Privilege};
use wire::{Error, ErrorCode};

use super::{layout::base, money::grouped, page_request::PageRequest, prices::price_words};
use crate::state::App;

/// Where a project's requests wait.
pub(super) fn path(project: &ProjectCatalog) -> String {
    format!("{}/approvals", base(project))
}

fn needed(request: &PageRequest, project: &ProjectCatalog, gift: &Gift) -> bool {
    request.authority.user().is_some() && gift.needs_approval(project.project.approval)
}

/// Refuses an operator what brings credits or money around another person's yes, where the project asks for one: secret
/// keys, prices and free credits. Owners, who decide what needs it, and the administrator's token may.
pub(super) fn allow_unlimited(
    request: &PageRequest,
    project: &ProjectCatalog,
) -> Result<(), Error> {
    let rules = project.project.approval;
    let is_asked = rules.above_credits.is_some() || rules.above_cents.is_some();
    match is_asked && !request.may(Privilege::Own) {
        true => Err(Error::new(ErrorCode::RoleForbidden).saying(
            "Grants and refunds need another person's yes here, so only an owner makes secret keys, prices and free credits.",
        )),
        false => Ok(()),
    }
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
    let (id, now) = (project.project.id, app.edge.clock.now());
    let people = &app.edge.people;
    if !needed(request, project, gift) {
        let counted = people.count_gift(&request.authority, gift, key, now).await;
        return counted.map(|()| None).map_err(refused);
    }
    let who = (id, &request.authority);
    let kept = people.ask_for_approval(who, gift.clone(), (reason, key), now);
    let kept = kept.await;
    let kept = kept.map_err(refused)?;
    let what = format!(
        "Asked for another person's yes to {}",
        words(project, &kept)
    );
    Ok(Some(request.done(&path(project), "asked", what)))
}

/// A gift in words for the audit log.
pub(super) fn words(project: &ProjectCatalog, approval: &Approval) -> String {
    let what = match &approval.gift {
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
    };
    match approval.reason.is_empty() {
        true => format!("{what} ({})", approval.id),
        false => format!("{what} ({}): {}", approval.id, approval.reason),
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
