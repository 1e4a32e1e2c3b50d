//! What a customer paid, and the ways in which it can go back: a refund by the shop, a dispute by
//! the bank.

use super::Escaped;
use crate::core::{
    books::Books,
    calendar::date,
    disputes,
    money::written,
    records::{Charge, Dispute, DisputeStatus, PortalSession, Refund, RefundStatus},
};

/// So many are shown.
const MOST: usize = 50;

/// The section with all payments, the newest first.
pub(super) fn payments(visit: &PortalSession, books: &Books, url: &str) -> String {
    let found = books.newest::<Charge>(|charge| charge.customer.as_ref() == Some(&visit.customer));
    let shown: String = found
        .iter()
        .take(MOST)
        .map(|charge| payment(charge, books, url))
        .collect();
    let shown = if shown.is_empty() {
        "<p class=\"none\">Nothing was paid yet.</p>".into()
    } else {
        shown
    };
    format!("<section aria-labelledby=\"paid\"><h2 id=\"paid\">Payments</h2>{shown}</section>")
}

fn payment(charge: &Charge, books: &Books, url: &str) -> String {
    let disputes = disputes::of(books, &charge.head.id);
    let newest = disputes.first().map(|dispute| dispute.status);
    let (class, status) = match newest {
        Some(status) if status.is_open() && status.is_inquiry() => ("wait", "Bank asks"),
        Some(status) if status.is_open() => ("wait", "Disputed"),
        Some(DisputeStatus::Lost) => ("bad", "Dispute lost"),
        _ if charge.left() == 0 => ("off", "Refunded"),
        _ if charge.amount_refunded > 0 => ("wait", "Partly refunded"),
        Some(DisputeStatus::Won) => ("good", "Dispute won"),
        _ => ("good", "Paid"),
    };
    let refunded = if charge.amount_refunded > 0 {
        let back = written(charge.amount_refunded, &charge.currency);
        format!(" · {} refunded", Escaped(back))
    } else {
        String::new()
    };
    format!(
        "<article class=\"box\"><div class=\"head\"><h3>{}</h3><span class=\"badge {class}\">{status}\
         </span></div><p class=\"when\">{}{refunded}</p>{}{}{}</article>",
        Escaped(written(charge.amount, &charge.currency)),
        Escaped(date(charge.head.created)),
        pending(charge, books, url),
        open(&disputes, url),
        controls(charge, &disputes, url),
    )
}

fn button(url: &str, action: &str, (name, id): (&str, &str), label: &str) -> String {
    format!(
        "<form method=\"post\" action=\"{url}/{action}\"><input type=\"hidden\" name=\"{name}\" \
         value=\"{}\"><button class=\"quiet\">{label}</button></form>",
        Escaped(id)
    )
}

/// Refunds on their way: here it is decided whether they arrive.
fn pending(charge: &Charge, books: &Books, url: &str) -> String {
    let waits =
        |refund: &Refund| refund.charge == charge.head.id && refund.status == RefundStatus::Pending;
    let found = books.newest::<Refund>(waits);
    let rows = found.iter().map(|refund| {
        let named = ("refund", refund.head.id.as_str());
        format!(
            "<p class=\"when\">Refund of {} is on its way</p><div class=\"row\">{}{}</div>",
            Escaped(written(refund.amount, &refund.currency)),
            button(url, "refund_succeeds", named, "It arrives"),
            button(url, "refund_fails", named, "It fails"),
        )
    });
    rows.collect()
}

/// Disputes that a bank has not decided.
fn open(disputes: &[&Dispute], url: &str) -> String {
    let waiting = disputes.iter().filter(|dispute| dispute.status.is_open());
    let rows = waiting.map(|dispute| {
        let named = ("dispute", dispute.head.id.as_str());
        let buttons = if dispute.status.is_inquiry() {
            format!(
                "{}{}",
                button(url, "dispute_escalated", named, "It becomes a dispute"),
                button(url, "dispute_won", named, "The bank is content"),
            )
        } else {
            format!(
                "{}{}",
                button(url, "dispute_won", named, "Shop wins the dispute"),
                button(url, "dispute_lost", named, "Shop loses the dispute"),
            )
        };
        format!(
            "<p class=\"when\">{} disputed</p><div class=\"row\">{buttons}</div>",
            Escaped(written(dispute.amount, &dispute.currency)),
        )
    });
    rows.collect()
}

fn controls(charge: &Charge, disputes: &[&Dispute], url: &str) -> String {
    let id = Escaped(&charge.head.id).to_string();
    let held = disputes.iter().filter(|dispute| dispute.status.holds());
    let left = held.fold(charge.left(), |left, dispute| {
        left.saturating_sub(dispute.amount)
    });
    if left <= 0 {
        return String::new();
    }
    let all = written(left, &charge.currency);
    format!(
        "<details><summary>Refund or dispute</summary><form class=\"refund\" method=\"post\" \
         action=\"{url}/refund\"><input type=\"hidden\" name=\"charge\" value=\"{id}\"><label \
         for=\"amount-{id}\">Amount, or empty for all of {}</label><div><input id=\"amount-{id}\" \
         name=\"amount\" inputmode=\"decimal\" autocomplete=\"off\" pattern=\"[0-9]+([.][0-9]+)?\" \
         placeholder=\"{}\"><button>Refund</button></div><div class=\"row\"><button class=\"quiet\" \
         name=\"status\" value=\"pending\">Refund slowly</button><button class=\"quiet\" \
         formaction=\"{url}/dispute\">Open a dispute</button><button class=\"quiet\" \
         formaction=\"{url}/dispute\" name=\"inquiry\" value=\"true\">Bank asks first</button></div>\
         </form></details>",
        Escaped(&all),
        Escaped(all.trim_matches(|c: char| !c.is_ascii_digit())),
    )
}
