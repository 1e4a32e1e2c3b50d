//! The checkout page: what is bought, and the ways to pay or not.

use maud::{Markup, html};

use super::{Notice, Page, alert, back, basket::basket};
use crate::core::{cards::CARDS, prelude::*};

pub(crate) fn checkout(session: &Session, db: &Database, shop: &str, notice: &Notice) -> Page {
    let cancel_url = session.cancel_url.as_deref();
    let body = html! {
        div class="checkout" {
            header {
                (back(cancel_url.filter(|_| session.status == SessionStatus::Open), "Back"))
                p class="shop" { (shop) }
            }
            main {
                (basket(session, db, notice))
                @match session.status {
                    SessionStatus::Open if session.challenge.is_some() => (challenged(session, db)),
                    SessionStatus::Open => (open(session, db, notice)),
                    SessionStatus::Complete => (complete(session, db, notice)),
                    SessionStatus::Expired => (expired(session)),
                }
            }
        }
    };
    let leads_to = [Some(session.success_url.as_str()), cancel_url];
    let title = format!("{shop}: checkout");
    Page::new(&title, &body, leads_to.into_iter().flatten())
}

fn test_card() -> Markup {
    html! {
        div class="card" role="img" aria-label="Test card ending in 4242" {
            span class="chip" {}
            span class="brand" { "TEST" }
            span class="number" { "4242 4242 4242 4242" }
            span class="small" { "12 / 34" }
            span class="small right" { "CVC 123" }
        }
    }
}

fn open(session: &Session, db: &Database, notice: &Notice) -> Markup {
    let url = checkout_url(db, &session.head.id);
    let total = session.total();
    let label = match session.mode {
        Mode::Setup => "Save card".into(),
        _ if total == 0 => "Complete order".into(),
        Mode::Payment => format!("Pay {}", written(total, &session.currency)),
        Mode::Subscription => format!("Subscribe for {}", written(total, &session.currency)),
    };
    let heading = match session.mode {
        Mode::Setup => "Card",
        Mode::Payment | Mode::Subscription => "Payment",
    };
    html! {
        section class="pay" aria-labelledby="how" {
            h2 id="how" { (heading) }
            (alert(notice.pay.as_deref(), "pay-alert"))
            form method="post" action={ (url) "/pay" } {
                (email(session, db, notice))
                @if session.saves_card() {
                    (card_field(session, notice))
                } @else {
                    (test_card())
                }
                @if session.options.terms {
                    (terms())
                }
                button class="primary" { (label) }
                @if total != 0 {
                    (other_outcomes(&url))
                }
            }
        }
    }
}

/// The choice of a test card, where the card is kept.
fn card_field(session: &Session, notice: &Notice) -> Markup {
    let chosen = notice.typed.card.as_deref();
    html! {
        div class="field" {
            label for="card" { "Test card" }
            select id="card" name="card" {
                @for (number, bank) in CARDS {
                    option value=(number) selected[chosen == Some(number)] { (number) ": " (bank.label()) }
                }
            }
            @if session.mode == Mode::Setup {
                p class="hint" { "What its bank does shows once it is charged." }
            }
        }
    }
}

fn other_outcomes(url: &str) -> Markup {
    html! {
        fieldset {
            legend { "Or try another outcome" }
            div class="others" {
                button formaction={ (url) "/pay_later" } {
                    "Pay later" small { "Money comes later" }
                }
                button formaction={ (url) "/challenge" } {
                    "3-D Secure" small { "The bank asks first" }
                }
                button formaction={ (url) "/decline" } formnovalidate {
                    "Decline" small { "Card is refused" }
                }
                button formaction={ (url) "/expire" } formnovalidate {
                    "Expire" small { "Time runs out" }
                }
            }
        }
    }
}

/// The checkbox required for paying, if the shop asks for consent to its terms.
fn terms() -> Markup {
    html! {
        p class="terms" {
            label {
                input type="checkbox" name="terms" value="accepted" required;
                " I agree to the shop's terms of service"
            }
        }
    }
}

/// The state of a session that has no fields to fill in.
fn state((class, mark, title, text): (&str, &str, &str, &str), rest: &Markup) -> Markup {
    html! {
        section class={ "pay state " (class) } aria-labelledby="how" {
            span class="mark" aria-hidden="true" { (mark) }
            h2 id="how" { (title) }
            p { (text) }
            (rest)
        }
    }
}

/// Two buttons, the first for the usual choice.
fn two_buttons(
    url: &str,
    (action, label): (&str, &str),
    (other, other_label): (&str, &str),
) -> Markup {
    html! {
        form method="post" action={ (url) "/" (action) } {
            button class="primary" { (label) }
            button class="wide" formaction={ (url) "/" (other) } { (other_label) }
        }
    }
}

/// A bank's page for 3-D Secure.
fn challenged(session: &Session, db: &Database) -> Markup {
    let url = checkout_url(db, &session.head.id);
    let what = match session.mode {
        Mode::Setup => "that this is your card".into(),
        Mode::Payment | Mode::Subscription => {
            format!(
                "that you pay {}",
                written(session.total(), &session.currency)
            )
        }
    };
    let text = format!("The bank of this test card asks you to confirm {what}.");
    let (yes, no) = (
        ("authenticate", "Yes, complete"),
        ("fail_authentication", "No, fail"),
    );
    state(
        ("wait", "?", "3-D Secure", &text),
        &two_buttons(&url, yes, no),
    )
}

fn email(session: &Session, db: &Database, notice: &Notice) -> Markup {
    let customer = session.customer.as_deref();
    let customer = customer.and_then(|id| db.get::<Customer>(id));
    let typed = notice.typed.email.as_deref();
    let typed = typed.or(session.customer_email.as_deref());
    html! {
        div class="field" {
            @if let Some(customer) = customer {
                span class="label" { "Email" }
                p class="known" { (customer.email.as_deref().unwrap_or("A returning customer")) }
            } @else {
                label for="email" { "Email" }
                input id="email" name="email" type="email" required maxlength="254"
                    autocomplete="email" placeholder="you@example.com"
                    value=(typed.unwrap_or_default());
            }
        }
    }
}

fn complete(session: &Session, db: &Database, notice: &Notice) -> Markup {
    let url = checkout_url(db, &session.head.id);
    let outstanding = session.later == Some(LaterPayment::Outstanding);
    let said = match session.later {
        Some(LaterPayment::Outstanding) => (
            "wait",
            "…",
            "Waiting for the payment",
            "The order is placed, and the money is on its way. Here you decide whether it arrives.",
        ),
        Some(LaterPayment::Failed) => (
            "bad",
            "!",
            "The payment failed",
            "The money did not come. Nothing was charged.",
        ),
        None if session.mode == Mode::Setup => (
            "good",
            "✓",
            "Card saved",
            "Thank you. The shop has been notified.",
        ),
        Some(LaterPayment::Settled) | None => (
            "good",
            "✓",
            "Payment complete",
            "Thank you. The shop has been notified.",
        ),
    };
    let (settle, fail) = (("settle", "Settle payment"), ("fail", "Fail payment"));
    let rest = html! {
        (alert(notice.pay.as_deref(), "pay-alert"))
        @if outstanding { (two_buttons(&url, settle, fail)) }
        (to_the_shop(&session.success_page()))
    };
    state(said, &rest)
}

fn expired(session: &Session) -> Markup {
    let text = "Nothing was charged. Go back to the shop to start again.";
    let rest = html! { @if let Some(url) = &session.cancel_url { (to_the_shop(url)) } };
    state(("bad", "×", "This checkout has expired", text), &rest)
}

fn to_the_shop(url: &str) -> Markup {
    html! { p { a href=(url) rel="noreferrer" { "Return to the shop" } } }
}
