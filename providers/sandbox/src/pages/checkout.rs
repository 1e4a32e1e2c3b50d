//! The checkout page: what is bought, and the ways to pay or not.

use super::{Escaped, Notice, Page, alert, basket::basket};
use crate::core::{
    books::Books,
    money::written,
    records::{Customer, Later, Mode, Session, Status},
    views::checkout_url,
};

/// The page of a session as it is now.
pub(crate) fn checkout(session: &Session, books: &Books, shop: &str, notice: &Notice) -> Page {
    let side = match session.status {
        Status::Open if session.challenge.is_some() => challenged(session, books),
        Status::Open => open(session, books, notice),
        Status::Complete => complete(session, books, notice),
        Status::Expired => expired(session),
    };
    let body = format!(
        "<div class=\"checkout\"><header>{}<p class=\"shop\">{}</p></header>\
         <main>{}{side}</main></div>",
        back(session),
        Escaped(shop),
        basket(session, books, notice),
    );
    let leads_to = [
        Some(session.success_url.as_str()),
        session.cancel_url.as_deref(),
    ];
    Page::new(
        &format!("{shop}: checkout"),
        &body,
        leads_to.into_iter().flatten(),
    )
}

fn back(session: &Session) -> String {
    let url = session
        .cancel_url
        .as_ref()
        .filter(|_| session.status == Status::Open);
    url.map_or_else(String::new, |url| {
        format!(
            "<a class=\"back\" href=\"{}\" rel=\"noreferrer\"><span aria-hidden=\"true\">←</span> \
             Back</a>",
            Escaped(url)
        )
    })
}

const CARD: &str = "<div class=\"card\" role=\"img\" aria-label=\"Test card ending in 4242\">\
    <span class=\"chip\"></span><span class=\"brand\">TEST</span>\
    <span class=\"number\">4242 4242 4242 4242</span>\
    <span class=\"small\">12 / 34</span><span class=\"small right\">CVC 123</span></div>";

fn open(session: &Session, books: &Books, notice: &Notice) -> String {
    let url = Escaped(checkout_url(books, &session.head.id)).to_string();
    let total = session.total();
    let label = match session.mode {
        _ if total == 0 => "Complete order".into(),
        Mode::Payment => format!("Pay {}", written(total, &session.currency)),
        Mode::Subscription => format!("Subscribe for {}", written(total, &session.currency)),
    };
    let others = if total == 0 {
        String::new()
    } else {
        format!(
            "<fieldset><legend>Or try another outcome</legend><div class=\"others\">\
             <button formaction=\"{url}/pay_later\">Pay later<small>Money comes later</small></button>\
             <button formaction=\"{url}/challenge\">3-D Secure<small>The bank asks first</small></button>\
             <button formaction=\"{url}/decline\" formnovalidate>Decline<small>Card is refused</small></button>\
             <button formaction=\"{url}/expire\" formnovalidate>Expire<small>Time runs \
             out</small></button></div></fieldset>"
        )
    };
    format!(
        "<section class=\"pay\" aria-labelledby=\"how\"><h2 id=\"how\">Payment</h2>{}\
         <form method=\"post\" action=\"{url}/pay\">{}{CARD}{}\
         <button class=\"primary\">{}</button>{others}</form></section>",
        alert(notice.pay.as_deref(), "pay-alert"),
        email(session, books, notice),
        terms(session),
        Escaped(label),
    )
}

/// The box without which nobody pays, where the shop wants consent.
fn terms(session: &Session) -> &'static str {
    if !session.wishes.terms {
        return "";
    }
    "<p class=\"terms\"><label><input type=\"checkbox\" name=\"terms\" value=\"accepted\" required> I \
     agree to the shop's terms of service</label></p>"
}

/// What a bank would show in the middle of paying.
fn challenged(session: &Session, books: &Books) -> String {
    let url = Escaped(checkout_url(books, &session.head.id)).to_string();
    format!(
        "<section class=\"pay state wait\" aria-labelledby=\"how\"><span class=\"mark\" \
         aria-hidden=\"true\">?</span><h2 id=\"how\">3-D Secure</h2><p>The bank of this test card asks \
         whether it is you who pays {}.</p><form method=\"post\" action=\"{url}/authenticate\"><button \
         class=\"primary\">Yes, complete</button><button class=\"wide\" \
         formaction=\"{url}/fail_authentication\">No, fail</button></form></section>",
        Escaped(written(session.total(), &session.currency)),
    )
}

fn email(session: &Session, books: &Books, notice: &Notice) -> String {
    let customer = session
        .customer
        .as_deref()
        .and_then(|id| books.get::<Customer>(id));
    if let Some(customer) = customer {
        let email = customer.email.as_deref().unwrap_or("A returning customer");
        return format!(
            "<div class=\"field\"><span class=\"label\">Email</span><p class=\"known\">{}</p></div>",
            Escaped(email)
        );
    }
    let typed = notice
        .typed
        .email
        .as_ref()
        .or(session.customer_email.as_ref());
    format!(
        "<div class=\"field\"><label for=\"email\">Email</label><input id=\"email\" name=\"email\" \
         type=\"email\" required maxlength=\"254\" autocomplete=\"email\" \
         placeholder=\"you@example.com\" value=\"{}\"></div>",
        Escaped(typed.map_or("", String::as_str)),
    )
}

fn complete(session: &Session, books: &Books, notice: &Notice) -> String {
    let url = Escaped(checkout_url(books, &session.head.id)).to_string();
    let on = Escaped(
        session
            .success_url
            .replace("{CHECKOUT_SESSION_ID}", &session.head.id),
    )
    .to_string();
    let (class, mark, title, text) = match session.later {
        Some(Later::Outstanding) => (
            "wait",
            "…",
            "Waiting for the payment",
            "The order is placed, and the money is on its way. Here you decide whether it arrives.",
        ),
        Some(Later::Failed) => (
            "bad",
            "!",
            "The payment failed",
            "The money did not come. Nothing was charged.",
        ),
        Some(Later::Settled) | None => (
            "good",
            "✓",
            "Payment complete",
            "Thank you. The shop has been told.",
        ),
    };
    let buttons = if session.later == Some(Later::Outstanding) {
        format!(
            "<form method=\"post\" action=\"{url}/settle\">\
             <button class=\"primary\">Settle payment</button>\
             <button class=\"wide\" formaction=\"{url}/fail\">Fail payment</button></form>"
        )
    } else {
        String::new()
    };
    format!(
        "<section class=\"pay state {class}\" aria-labelledby=\"how\"><span class=\"mark\" \
         aria-hidden=\"true\">{mark}</span><h2 id=\"how\">{title}</h2><p>{text}</p>{}{buttons}\
         <p><a href=\"{on}\" rel=\"noreferrer\">Return to the shop</a></p></section>",
        alert(notice.pay.as_deref(), "pay-alert"),
    )
}

fn expired(session: &Session) -> String {
    let back = session.cancel_url.as_ref().map_or_else(String::new, |url| {
        format!(
            "<p><a href=\"{}\" rel=\"noreferrer\">Return to the shop</a></p>",
            Escaped(url)
        )
    });
    format!(
        "<section class=\"pay state bad\" aria-labelledby=\"how\"><span class=\"mark\" \
         aria-hidden=\"true\">×</span><h2 id=\"how\">This checkout has expired</h2>\
         <p>Nothing was charged. Go back to the shop to start again.</p>{back}</section>"
    )
}
