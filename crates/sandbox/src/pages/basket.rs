//! The purchase and its price: the left side of the checkout page.

use maud::{Markup, html};

use super::{Notice, alert};
use crate::core::prelude::*;

pub(super) fn basket(session: &Session, db: &Database, notice: &Notice) -> Markup {
    if session.mode == Mode::Setup {
        return html! {
            section class="basket" aria-labelledby="what" {
                h1 id="what" { "Save a card" }
                p { "Nothing is charged now. The shop may charge the card later without you." }
            }
        };
    }
    let amount = |amount: i64| written(amount, &session.currency);
    let interval = session.lines.first().and_then(|line| line.interval);
    let title = match session.lines.as_slice() {
        [line] if interval.is_some() => format!("Subscribe to {}", line.name),
        [line] => line.name.clone(),
        lines => format!("{} items", lines.len()),
    };
    // A coupon may not apply to the next cycle.
    let which = if session.discount > 0 { "first" } else { "per" };
    html! {
        section class="basket" aria-labelledby="what" {
            h1 id="what" { (title) }
            p class="price" {
                (amount(session.total()))
                @if let Some(interval) = interval {
                    span class="per" { (which) br; (interval.word()) }
                }
            }
            dl {
                @for line in &session.lines {
                    div {
                        dt {
                            (line.name)
                            @if line.quantity != 1 {
                                small { (line.quantity) " × " (amount(line.unit_amount)) }
                            }
                        }
                        dd { (amount(line.amount())) }
                    }
                }
                @if session.discount > 0 {
                    div class="thin" { dt { "Subtotal" } dd { (amount(session.subtotal())) } }
                }
                (discount(session, db))
                div class="total" { dt { "Total due today" } dd { (amount(session.total())) } }
            }
            (code_form(session, db, notice))
        }
    }
}

fn discount(session: &Session, db: &Database) -> Markup {
    let code = session
        .code
        .as_deref()
        .and_then(|id| db.get::<PromotionCode>(id));
    let coupon = session.coupon.as_deref();
    let name = coupon
        .and_then(|id| db.get::<Coupon>(id))
        .and_then(|coupon| coupon.name.as_deref());
    html! {
        @if coupon.is_some() {
            div class="off" {
                dt {
                    @if let Some(code) = code {
                        span class="tag" { (code.code) }
                        @if let Some(name) = name { small { (name) } }
                    } @else {
                        (name.unwrap_or("Discount"))
                    }
                }
                dd { (written(session.discount.saturating_neg(), &session.currency)) }
            }
        }
    }
}

fn code_form(session: &Session, db: &Database, notice: &Notice) -> Markup {
    if session.status != SessionStatus::Open || !session.codes_allowed {
        return html! {};
    }
    let refused = notice.code.as_deref();
    let typed = notice.typed.code.as_deref().filter(|_| refused.is_some());
    html! {
        form class="code" method="post" action={ (checkout_url(db, &session.head.id)) "/promotion" } {
            label for="code" { "Promotion code" }
            div {
                input id="code" name="promotionCode" value=(typed.unwrap_or_default()) required
                    maxlength="100" autocomplete="off" autocapitalize="characters" spellcheck="false"
                    placeholder="SANDBOX20" aria-invalid=[refused.map(|_| "true")]
                    aria-describedby=[refused.map(|_| "code-alert")];
                button { "Apply" }
            }
            (alert(refused, "code-alert"))
        }
    }
}
