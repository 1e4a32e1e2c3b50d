//! The hosted pages: plain HTML with inline style, no script, nothing loaded from elsewhere.

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use url::Url;

mod basket;
mod checkout;
pub(super) mod documents;
mod payments;
mod portal;

pub(super) use checkout::checkout;
pub(super) use portal::portal;

use super::core::checkout::{Action, Buyer};

const STYLE: &str = include_str!("pages/style.css");

/// A page, and the origins that its forms may lead to.
pub(super) struct Page {
    html: String,
    leads_to: Vec<String>,
}

/// An error message for the checkout page, and what the buyer typed.
#[derive(Default)]
pub(super) struct Notice {
    /// Message beside the buttons.
    pay: Option<String>,
    /// Message beside the promotion code.
    code: Option<String>,
    typed: Buyer,
}

impl Notice {
    pub(super) fn new(action: Action, message: String, typed: Buyer) -> Self {
        let (pay, code) = match action {
            Action::Promotion => (None, Some(message)),
            _ => (Some(message), None),
        };
        Self { pay, code, typed }
    }
}

impl Page {
    /// `leads_to` has the URLs that a form's response may redirect to.
    fn new<'a>(title: &str, body: &Markup, leads_to: impl IntoIterator<Item = &'a str>) -> Self {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="robots" content="noindex";
                    title { (title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    p class="sandbox" { b { "Sandbox" } " " span { "No real money moves here." } }
                    (body)
                }
            }
        };
        let leads_to = leads_to.into_iter().filter_map(origin).collect();
        Self {
            html: page.into_string(),
            leads_to,
        }
    }

    pub(super) fn answer(self, status: StatusCode) -> Response {
        // Browsers apply `form-action` to redirects after a form, so the shop's origins are listed.
        let mut policy = String::from(
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
             frame-ancestors 'none'; form-action 'self'",
        );
        for origin in &self.leads_to {
            policy.push(' ');
            policy.push_str(origin);
        }
        let mut response = (status, self.html).into_response();
        let headers = response.headers_mut();
        if let Ok(policy) = HeaderValue::try_from(policy) {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        for (name, value) in [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, "no-store"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (HeaderName::from_static("x-robots-tag"), "noindex"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

/// The origin of a URL, for example `https://shop.example`, if a policy can name it.
fn origin(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    // A policy cannot name an IPv6 address, and nothing else may be injected into it.
    let plain = host
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    (plain && matches!(url.scheme(), "http" | "https")).then(|| url.origin().ascii_serialization())
}

pub(super) fn nothing() -> Response {
    let text = "The link may be old or incomplete. Go back to the shop and start again.";
    let page = message_page("Not found", "This page does not exist", text);
    page.answer(StatusCode::NOT_FOUND)
}

pub(super) fn unavailable() -> Response {
    let text = "The sandbox cannot answer just now. Try again in a moment.";
    let page = message_page("Not available", "That did not work", text);
    page.answer(StatusCode::SERVICE_UNAVAILABLE)
}

fn message_page(title: &str, heading: &str, text: &str) -> Page {
    let body = html! { main class="alone" { h1 { (heading) } p { (text) } } };
    Page::new(title, &body, [])
}

/// The link back to the shop, if it named one.
fn back(to: Option<&str>, label: &str) -> Markup {
    html! {
        @if let Some(to) = to {
            a class="back" href=(to) rel="noreferrer" { span aria-hidden="true" { "←" } " " (label) }
        }
    }
}

fn alert(message: Option<&str>, id: &str) -> Markup {
    html! {
        @if let Some(message) = message {
            p class="alert" role="alert" id=(id) { (message) }
        }
    }
}

fn button(url: &str, action: &str, (name, id): (&str, &str), class: &str, label: &str) -> Markup {
    html! {
        form method="post" action={ (url) "/" (action) } {
            input type="hidden" name=(name) value=(id);
            button class=(class) { (label) }
        }
    }
}

#[cfg(test)]
mod tests;
