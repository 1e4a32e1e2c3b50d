//! Where a buyer is sent after a checkout or out of the portal: an address that a caller chose, and
//! that a browser with somebody's money at stake will open. It is parsed once, here; what goes to
//! the payment provider is what was parsed and checked, written out again, never the caller's text.
//!
//! With a publishable key the address must be `https`, or `http` on loopback, without user
//! information, and its origin must be on the project's allowlist if there is one: otherwise it is
//! a `redirect_not_allowed`, with any scheme (`javascript:` is a well-formed address of a
//! scheme that is not allowed). With a secret key any `http(s)` address will do, and another scheme
//! is an `invalid_request`. With either key an address is an `invalid_request` if it is not
//! absolute, or if parsers disagree about it: with a backslash, a wrong number of slashes, spaces
//! or control characters.

use std::cell::Cell;

use catalog::is_loopback;
use domain::catalog::KeyKind;
use url::{Position, SyntaxViolation, Url};
use utoipa::openapi::{ObjectBuilder, SchemaFormat};
use wire::{
    code::ErrorCode,
    error::Error,
    field::{FromText, Text},
};

/// What the provider replaces by the checkout's id when it sends the buyer back.
const PLACEHOLDER: &str = "{CHECKOUT_SESSION_ID}";

/// Maximum length of an address, in characters as sent.
const MAX_LENGTH: usize = 2048;
/// Maximum length of an address, in bytes as handed on: a slash may be added, and what is not ASCII is encoded.
const MAX_WRITTEN: usize = MAX_LENGTH + 1;

/// An address that was checked, in its normal form except for [`PLACEHOLDER`], which is as it was
/// sent. The provider puts letters, digits and `_` in its place, which all parsers read alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect(String);

impl Redirect {
    /// The address for the provider.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// An address that was parsed. Whether a buyer may be sent there depends on the caller's key.
#[derive(Debug, Clone)]
pub(crate) struct RedirectUrl {
    url: Url,
    stand_in: String,
    placeholders: usize,
}

/// A field with an address to return to.
pub(crate) type UrlText = Text<RedirectUrl>;

impl FromText for RedirectUrl {
    const NAME: &'static str = "RedirectUrl";
    const WANTED: &'static str =
        "an absolute address such as https://shop.example/thanks, of at most 2048 characters";

    fn from_text(text: &str) -> Option<Self> {
        let (url, stand_in) = parse(text)?;
        let placeholders = text.matches(PLACEHOLDER).count();
        Some(Self {
            url,
            stand_in,
            placeholders,
        })
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string
            .description(Some(
                "An absolute address. With a publishable key `https`, or `http` on loopback, and of an \
                 origin that the project allows where it lists any; with a secret key `https` or `http`.",
            ))
            .format(Some(SchemaFormat::Custom("uri".into())))
            .max_length(Some(MAX_LENGTH))
            .examples(["https://shop.example/thanks"])
    }
}

impl RedirectUrl {
    /// The address, if a key of this kind may have it. The allowed origins are those of the project,
    /// in their normal form; none means no allowlist.
    /// # Errors
    /// `redirect_not_allowed` and `invalid_request`, as the module says.
    pub(crate) fn allowed(
        self,
        param: &'static str,
        kind: KeyKind,
        allowed_origins: &[String],
    ) -> Result<Redirect, Error> {
        let Self {
            url,
            stand_in,
            placeholders,
        } = self;
        match kind {
            KeyKind::Publishable if !is_allowed(&url, allowed_origins) => {
                return Err(Error::about(param, ErrorCode::RedirectNotAllowed));
            }
            KeyKind::Secret | KeyKind::Restricted if !matches!(url.scheme(), "http" | "https") => {
                return Err(Error::invalid(
                    param,
                    format!("{param} has to begin with https:// or http://."),
                ));
            }
            _ => {}
        }
        // Every stand-in has to be left, and after the origin: the provider must not choose the host,
        // and the caller would miss a placeholder that a `..` removed.
        let (origin, rest) = url.as_str().split_at(origin_length(&url));
        if origin.contains(&stand_in) || rest.matches(&stand_in).count() != placeholders {
            return Err(Error::invalid(
                param,
                format!("{param} may have {PLACEHOLDER} only in its path, query or fragment."),
            ));
        }
        Ok(Redirect(url.as_str().replace(&stand_in, PLACEHOLDER)))
    }
}

/// The address with a stand-in for each placeholder: letters and digits, which no part of an address
/// encodes or drops. `None`: it is not absolute, or parsers disagree about it.
fn parse(text: &str) -> Option<(Url, String)> {
    if text.chars().count() > MAX_LENGTH
        || text.contains(|c: char| c == '\\' || c.is_control() || c.is_whitespace())
    {
        return None;
    }
    let stand_in = stand_in(text);
    let disputed = Cell::new(false);
    let note = |violation: SyntaxViolation| {
        // Parsers agree about these: `{`, `[` and `%` in a query are everyday, and what comes
        // before an `@` is never the host.
        if !matches!(
            violation,
            SyntaxViolation::NonUrlCodePoint
                | SyntaxViolation::PercentDecode
                | SyntaxViolation::EmbeddedCredentials
        ) {
            disputed.set(true);
        }
    };
    let url = Url::options()
        .syntax_violation_callback(Some(&note))
        .parse(&text.replace(PLACEHOLDER, &stand_in))
        .ok()?;
    let fits = url.as_str().len() <= MAX_WRITTEN && !disputed.get();
    fits.then_some((url, stand_in))
}

/// A word that the text does not contain, in lower case, as hosts are.
fn stand_in(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut stand_in = String::from("scripcheckout");
    while lower.contains(&stand_in) {
        stand_in.push('x');
    }
    stand_in
}

/// Bytes before the path. Schemes without a host have been refused before.
fn origin_length(url: &Url) -> usize {
    url[..Position::BeforePath].len()
}

fn is_allowed(url: &Url, allowed_origins: &[String]) -> bool {
    let safe = match url.scheme() {
        "https" => true,
        "http" => is_loopback(url),
        _ => false,
    };
    // No return address needs user information on the way back, and people take it for the host.
    let bare = url.username().is_empty() && url.password().is_none();
    safe && bare
        && (allowed_origins.is_empty()
            || allowed_origins.contains(&url.origin().ascii_serialization()))
}

#[cfg(test)]
mod tests;
