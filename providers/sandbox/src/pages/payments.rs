//! What a customer paid, and the ways in which it can go back: a refund by the shop, a dispute by
//! the bank.

use super::Escaped;
use crate::core::{
    books::Books,
    calendar::date,
    money::written,
    records::{Charge, Dispute, DisputeStatus, PortalSession},
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
    let dispute = charge
        .dispute
        .as_deref()
        .and_then(|id| books.get::<Dispute>(id));
    let dispute = dispute.map(|dispute| dispute.status);
    let (class, status) = match dispute {
        Some(DisputeStatus::NeedsResponse) => ("wait", "Disputed"),
        Some(DisputeStatus::Lost) => ("bad", "Dispute lost"),
        _ if charge.left() == 0 => ("off", "Refunded"),
        _ if charge.amount_refunded > 0 => ("wait", "Partly refunded"),
        Some(DisputeStatus::Won) => ("good", "Dispute won"),
        None => ("good", "Paid"),
    };
    let refunded = if charge.amount_refunded > 0 {
        let back = written(charge.amount_refunded, &charge.currency);
        format!(" · {} refunded", Escaped(back))
    } else {
        String::new()
    };
    format!(
        "<article class=\"box\"><div class=\"head\"><h3>{}</h3><span class=\"badge {class}\">{status}\
         </span></div><p class=\"when\">{}{refunded}</p>{}</article>",
        Escaped(written(charge.amount, &charge.currency)),
        Escaped(date(charge.head.created)),
        controls(charge, dispute, url),
    )
}

fn controls(charge: &Charge, dispute: Option<DisputeStatus>, url: &str) -> String {
    let id = Escaped(&charge.head.id).to_string();
    let hidden = format!("<input type=\"hidden\" name=\"charge\" value=\"{id}\">");
    let button = |action: &str, label: &str| {
        format!(
            "<form method=\"post\" action=\"{url}/{action}\">{hidden}<button \
             class=\"quiet\">{label}</button></form>"
        )
    };
    if dispute == Some(DisputeStatus::NeedsResponse) {
        return format!(
            "<div class=\"row\">{}{}</div>",
            button("dispute_won", "Shop wins the dispute"),
            button("dispute_lost", "Shop loses the dispute"),
        );
    }
    if charge.left() == 0 || dispute == Some(DisputeStatus::Lost) {
        return String::new();
    }
    let all = written(charge.left(), &charge.currency);
    let open = if dispute.is_none() {
        button("dispute", "Open a dispute")
    } else {
        String::new()
    };
    format!(
        "<details><summary>Refund or dispute</summary><form class=\"refund\" method=\"post\" \
         action=\"{url}/refund\">{hidden}<label for=\"amount-{id}\">Amount, or empty for all of \
         {}</label><div><input id=\"amount-{id}\" name=\"amount\" inputmode=\"decimal\" \
         autocomplete=\"off\" pattern=\"[0-9]+([.][0-9]+)?\" placeholder=\"{}\"><button>Refund\
         </button></div></form>{open}</details>",
        Escaped(&all),
        Escaped(all.trim_matches(|c: char| !c.is_ascii_digit())),
    )
}
