//! The hosted pages: plain HTML with its style inside, no script, nothing loaded from anywhere.
//! Whatever comes from outside is escaped on its way in.

use std::fmt::{self, Display};

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use url::Url;

mod basket;
mod checkout;
pub(super) mod papers;
mod payments;
mod portal;

pub(super) use checkout::checkout;
pub(super) use portal::portal;

use super::core::{
    checkout::{Action, Buyer},
    refusal::Refusal,
};

const STYLE: &str = include_str!("pages/style.css");

/// A page, and where its forms may lead.
pub(super) struct Page {
    html: String,
    leads_to: Vec<String>,
}

/// What went wrong with what was done on the checkout page, and what was typed there.
#[derive(Default)]
pub(super) struct Notice {
    /// Beside the buttons.
    pay: Option<String>,
    /// Beside the promotion code.
    code: Option<String>,
    typed: Buyer,
}

impl Notice {
    pub(super) fn refused(action: Action, refusal: &Refusal, typed: Buyer) -> Self {
        let message = Some(refusal.message.clone());
        if action == Action::Promotion {
            Self {
                code: message,
                typed,
                ..Self::default()
            }
        } else {
            Self {
                pay: message,
                typed,
                ..Self::default()
            }
        }
    }

    pub(super) fn declined(typed: Buyer) -> Self {
        let message = "Your card was declined. Nothing was charged: try again or pay another way.";
        Self {
            pay: Some(message.into()),
            typed,
            ..Self::default()
        }
    }
}

impl Page {
    /// `leads_to`: addresses that a form's answer may send the browser to.
    fn new<'a>(title: &str, body: &str, leads_to: impl IntoIterator<Item = &'a str>) -> Self {
        let html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"robots\" content=\"noindex\">\n\
             <title>{}</title>\n<style>\n{STYLE}</style>\n\
             <p class=\"sandbox\"><b>Sandbox</b> <span>No real money moves here.</span></p>\n{body}",
            Escaped(title),
        );
        let leads_to = leads_to.into_iter().filter_map(origin).collect();
        Self { html, leads_to }
    }

    pub(super) fn answer(self, status: StatusCode) -> Response {
        // A browser holds redirects after a form to the same list: the shop's addresses are on it.
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

/// `https://shop.example` of an address, if a policy can name it.
fn origin(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    // A policy has no way to write an IPv6 address, and nothing else may slip into it.
    let plain = host
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    (plain && matches!(url.scheme(), "http" | "https")).then(|| url.origin().ascii_serialization())
}

/// There is no such page, or no longer.
pub(super) fn nothing() -> Response {
    let body = "<main class=\"alone\"><h1>This page is not there</h1>\
        <p>The link may be old or incomplete. Go back to the shop and start again.</p></main>";
    Page::new("Not found", body, []).answer(StatusCode::NOT_FOUND)
}

/// Something is broken on this side.
pub(super) fn unavailable() -> Response {
    let body = "<main class=\"alone\"><h1>That did not work</h1>\
        <p>The sandbox cannot answer just now. Try again in a moment.</p></main>";
    Page::new("Not available", body, []).answer(StatusCode::SERVICE_UNAVAILABLE)
}

/// A text as it may stand in HTML, quoted attributes included.
struct Escaped<T>(T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for c in self.0.to_string().chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A message of something that went wrong, where there is one.
fn alert(message: Option<&str>, id: &str) -> String {
    message.map_or_else(String::new, |message| {
        format!(
            "<p class=\"alert\" role=\"alert\" id=\"{id}\">{}</p>",
            Escaped(message)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_through_unescaped() {
        let text = "<script>\"'&";
        assert_eq!(Escaped(text).to_string(), "&lt;script&gt;&quot;&#39;&amp;");
    }

    #[test]
    fn forms_may_lead_to_the_shop_and_nowhere_else() {
        assert_eq!(
            origin("https://shop.example:8443/a?b"),
            Some("https://shop.example:8443".into())
        );
        assert_eq!(origin("http://[::1]:3000/"), None);
        assert_eq!(origin("javascript:alert(1)"), None);
        let page = Page::new(
            "x",
            "",
            ["https://shop.example/done", "https://a.b; script-src *"],
        );
        let answer = page.answer(StatusCode::OK);
        let policy = answer.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(
            policy.ends_with("form-action 'self' https://shop.example"),
            "{policy}"
        );
    }
}
