//! What is bought and what it costs: the left side of the checkout page.

use super::{Escaped, Notice, alert};
use crate::core::{
    books::Books,
    money::written,
    records::{Coupon, PromotionCode, Session, Status},
    views::checkout_url,
};

/// The basket with its total.
pub(super) fn basket(session: &Session, books: &Books, notice: &Notice) -> String {
    let currency = session.currency.as_str();
    let interval = session.lines.first().and_then(|line| line.interval);
    // What a coupon takes off may be gone with the next cycle.
    let per = interval.map_or_else(String::new, |interval| {
        let which = if session.discount > 0 { "first" } else { "per" };
        format!("<span class=\"per\">{which}<br>{}</span>", interval.word())
    });
    let what = if interval.is_some() {
        "Subscribe to"
    } else {
        "Pay"
    };
    let title = match session.lines.as_slice() {
        [line] if interval.is_some() => format!("{what} {}", line.name),
        [line] => line.name.clone(),
        lines => format!("{} things", lines.len()),
    };
    let lines: String = session
        .lines
        .iter()
        .map(|line| {
            let note = match line.quantity {
                1 => String::new(),
                many => format!(
                    "<small>{many} × {}</small>",
                    Escaped(written(line.unit_amount, currency))
                ),
            };
            row(
                &format!("{}{note}", Escaped(&line.name)),
                &written(line.amount(), currency),
                "",
            )
        })
        .collect();
    let subtotal = if session.discount > 0 {
        row("Subtotal", &written(session.subtotal(), currency), "thin")
    } else {
        String::new()
    };
    format!(
        "<section class=\"basket\" aria-labelledby=\"what\"><h1 id=\"what\">{}</h1>\
         <p class=\"price\">{}{per}</p><dl>{lines}{subtotal}{}{}</dl>{}</section>",
        Escaped(title),
        Escaped(written(session.total(), currency)),
        discount(session, books),
        row(
            "Total due today",
            &written(session.total(), currency),
            "total"
        ),
        code_form(session, books, notice),
    )
}

/// `name` is HTML already.
fn row(name: &str, amount: &str, class: &str) -> String {
    format!(
        "<div class=\"{class}\"><dt>{name}</dt><dd>{}</dd></div>",
        Escaped(amount)
    )
}

fn discount(session: &Session, books: &Books) -> String {
    let Some(coupon) = &session.coupon else {
        return String::new();
    };
    let code = session
        .code
        .as_deref()
        .and_then(|id| books.get::<PromotionCode>(id));
    let coupon = books.get::<Coupon>(coupon);
    let name = coupon.and_then(|coupon| coupon.name.clone());
    let label = match (code, name) {
        (Some(code), Some(name)) => {
            format!(
                "<span class=\"tag\">{}</span><small>{}</small>",
                Escaped(&code.code),
                Escaped(name)
            )
        }
        (Some(code), None) => format!("<span class=\"tag\">{}</span>", Escaped(&code.code)),
        (None, name) => Escaped(name.unwrap_or_else(|| "Discount".into())).to_string(),
    };
    let amount = written(session.discount.saturating_neg(), &session.currency);
    row(&label, &amount, "off")
}

fn code_form(session: &Session, books: &Books, notice: &Notice) -> String {
    if session.status != Status::Open || !session.codes_allowed {
        return String::new();
    }
    let (describes, typed) = match &notice.code {
        Some(_) => (
            " aria-invalid=\"true\" aria-describedby=\"code-alert\"",
            notice.typed.code.clone().unwrap_or_default(),
        ),
        None => ("", String::new()),
    };
    format!(
        "<form class=\"code\" method=\"post\" action=\"{}/promotion\"><label for=\"code\">Promotion \
         code</label><div><input id=\"code\" name=\"promotionCode\" value=\"{}\" required \
         maxlength=\"100\" autocomplete=\"off\" autocapitalize=\"characters\" spellcheck=\"false\" \
         placeholder=\"SANDBOX20\"{describes}><button>Apply</button></div>{}</form>",
        Escaped(checkout_url(books, &session.head.id)),
        Escaped(typed),
        alert(notice.code.as_deref(), "code-alert"),
    )
}
