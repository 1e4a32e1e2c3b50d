//! A customer's payments, with refunds by the shop and disputes by the bank.

use maud::{Markup, html};

use super::button;
use crate::core::prelude::*;

const PAGE_SIZE: usize = 50;

pub(super) fn payments(visit: &PortalSession, db: &Database, url: &str) -> Markup {
    let found = db.newest::<Charge>(|charge| {
        charge.is_paid() && charge.customer.as_ref() == Some(&visit.customer)
    });
    html! {
        section aria-labelledby="paid" {
            h2 id="paid" { "Payments" }
            @for charge in found.iter().take(PAGE_SIZE) {
                (payment(charge, db, url))
            }
            @if found.is_empty() {
                p class="none" { "Nothing was paid yet." }
            }
        }
    }
}

fn payment(charge: &Charge, db: &Database, url: &str) -> Markup {
    let disputes = disputes::of(db, &charge.head.id);
    let newest = disputes.first().map(|dispute| dispute.status);
    let (class, status) = match newest {
        Some(status) if status.is_open() && status.is_inquiry() => ("wait", "Inquiry"),
        Some(status) if status.is_open() => ("wait", "Disputed"),
        Some(DisputeStatus::Lost) => ("bad", "Dispute lost"),
        _ if charge.left() == 0 => ("off", "Refunded"),
        _ if charge.amount_refunded > 0 => ("wait", "Partly refunded"),
        Some(DisputeStatus::Won) => ("good", "Dispute won"),
        _ => ("good", "Paid"),
    };
    let amount = |amount: i64| written(amount, &charge.currency);
    html! {
        article class="box" {
            div class="head" {
                h3 { (amount(charge.amount)) }
                span class={ "badge " (class) } { (status) }
            }
            p class="when" {
                (date(charge.head.created))
                @if charge.amount_refunded > 0 {
                    " · " (amount(charge.amount_refunded)) " refunded"
                }
            }
            (pending(charge, db, url))
            (open(&disputes, url))
            (controls(charge, db, url))
        }
    }
}

/// Pending refunds, with buttons to decide whether they arrive.
fn pending(charge: &Charge, db: &Database, url: &str) -> Markup {
    let waits =
        |refund: &Refund| refund.charge == charge.head.id && refund.status == RefundStatus::Pending;
    html! {
        @for refund in db.newest::<Refund>(waits) {
            @let named = ("refund", refund.head.id.as_str());
            p class="when" { "Refund of " (written(refund.amount, &refund.currency)) " is on its way" }
            div class="row" {
                (button(url, "refund_succeeds", named, "quiet", "It arrives"))
                (button(url, "refund_fails", named, "quiet", "It fails"))
            }
        }
    }
}

/// Disputes that a bank has not decided.
fn open(disputes: &[&Dispute], url: &str) -> Markup {
    html! {
        @for dispute in disputes.iter().filter(|dispute| dispute.status.is_open()) {
            @let named = ("dispute", dispute.head.id.as_str());
            p class="when" { (written(dispute.amount, &dispute.currency)) " disputed" }
            div class="row" {
                @if dispute.status.is_inquiry() {
                    (button(url, "dispute_escalated", named, "quiet", "Escalate to a dispute"))
                    (button(url, "dispute_won", named, "quiet", "Close the inquiry"))
                } @else {
                    (button(url, "dispute_won", named, "quiet", "Shop wins the dispute"))
                    (button(url, "dispute_lost", named, "quiet", "Shop loses the dispute"))
                }
            }
        }
    }
}

fn controls(charge: &Charge, db: &Database, url: &str) -> Markup {
    let left = disputes::left(db, charge);
    if left <= 0 {
        return html! {};
    }
    let all = written(left, &charge.currency);
    let digits = all.trim_matches(|c: char| !c.is_ascii_digit());
    let field = format!("amount-{}", charge.head.id);
    html! {
        details {
            summary { "Refund or dispute" }
            form class="refund" method="post" action={ (url) "/refund" } {
                input type="hidden" name="charge" value=(charge.head.id);
                label for=(field) { "Amount, or empty for all of " (all) }
                div {
                    input id=(field) name="amount" inputmode="decimal" autocomplete="off"
                        pattern="[0-9]+([.][0-9]+)?" placeholder=(digits);
                    button { "Refund" }
                }
                div class="row" {
                    button class="quiet" name="status" value="pending" { "Refund slowly" }
                    button class="quiet" formaction={ (url) "/dispute" } { "Open a dispute" }
                    button class="quiet" formaction={ (url) "/dispute" } name="inquiry" value="true" {
                        "Open an inquiry"
                    }
                }
            }
        }
    }
}
