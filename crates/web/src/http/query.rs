//! A request's query, read as a type is read from a body.

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::de::DeserializeOwned;
use utoipa::{IntoParams, openapi::path::Parameter};
use wire::{error::Error, invalid_input::invalid_input};

/// The parameters of a query.
#[derive(Debug)]
pub(crate) struct Params<T>(pub(crate) T);

/// The parameters of a route that reads them as two types.
#[derive(Debug)]
pub(crate) struct Both<A, B>(pub(crate) A, pub(crate) B);

impl<S: Sync, T: Parameters> FromRequestParts<S> for Params<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let query = parts.uri.query().unwrap_or_default();
        T::read(query).map(Self)
    }
}

/// What is read from a query.
pub(crate) trait Parameters: Sized {
    /// Reads them; others are left: those that the route does not have are refused before.
    fn read(query: &str) -> Result<Self, Error>;
    fn described() -> Vec<Parameter>;
}

impl<T: DeserializeOwned + IntoParams> Parameters for T {
    fn read(query: &str) -> Result<Self, Error> {
        read(query)
    }

    fn described() -> Vec<Parameter> {
        T::into_params(|| None)
    }
}

impl<A: Parameters, B: Parameters> Parameters for Both<A, B> {
    fn read(query: &str) -> Result<Self, Error> {
        Ok(Self(A::read(query)?, B::read(query)?))
    }

    fn described() -> Vec<Parameter> {
        [A::described(), B::described()].concat()
    }
}

/// What decoding puts in place of bytes that are not UTF-8.
const REPLACEMENT: char = '\u{fffd}';

/// The first parameter that is not UTF-8: decoded, it would be another text than was sent.
fn malformed(text: &str) -> Option<String> {
    let sent = text.split('&').filter(|sent| !sent.is_empty());
    let read = url::form_urlencoded::parse(text.as_bytes());
    let count = |text: &str| text.matches(REPLACEMENT).count();
    let mut odd = sent.zip(read).filter(|(sent, (name, value))| {
        let replaced = count(name).saturating_add(count(value));
        let escaped = || sent.to_ascii_uppercase().matches("%EF%BF%BD").count();
        replaced > 0 && replaced > escaped().saturating_add(count(sent))
    });
    odd.next().map(|(_, (name, _))| name.into_owned())
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    if let Some(param) = malformed(text) {
        return Err(Error::invalid(param, "The query is not UTF-8."));
    }
    parse(text).map_err(|error| {
        // A plus sign means a space; a caller may have meant the sign itself.
        let escaped = text.replace('+', "%2B");
        let is_meant = escaped != text
            && parse::<T>(&escaped).map_or_else(|other| other.param() != error.param(), |_| true);
        match is_meant {
            true => {
                let message = format!("{} In a query, + is written %2B.", error.message());
                error.saying(message)
            }
            false => error,
        }
    })
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let pairs = url::form_urlencoded::parse(text.as_bytes());
    let deserializer = serde_urlencoded::Deserializer::new(pairs);
    serde_path_to_error::deserialize(deserializer).map_err(|failure| {
        let path = failure.path().to_string();
        invalid_input(&path, &failure.into_inner().to_string(), "The query")
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use wire::field::{InstantText, LimitText, Text, UserText};

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct List {
        external_user_id: UserText,
        limit: Option<LimitText>,
        from: Option<InstantText>,
    }

    #[test]
    fn a_plus_sign_is_explained() {
        let refused = |query: &str| read::<List>(query).unwrap_err();
        let instant = refused("externalUserId=a&from=2030-01-01T00:00:00+02:00");
        assert_eq!(instant.param(), Some("from"));
        assert!(instant.message().contains("%2B"), "{instant:?}");
        let read = read::<List>("externalUserId=a&from=2030-01-01T00:00:00%2B02:00").unwrap();
        assert!(read.from.is_some());
        for other in ["externalUserId=a+b&from=soon", "externalUserId=a&limit=+5"] {
            let message = refused(other);
            assert!(!message.message().contains("%2B"), "{other}");
        }
    }

    #[test]
    fn parameters_are_decoded_and_others_ignored() {
        let List {
            external_user_id: Text(user),
            limit,
            from: _,
        } = read("other=x&externalUserId=a%2Fb%20c&other=y&limit=7").unwrap();
        assert_eq!(user.as_str(), "a/b c");
        let replacement = read::<List>("externalUserId=%EF%bf%bd").unwrap();
        assert_eq!(
            replacement.external_user_id.0.as_str(),
            "\u{fffd}",
            "as it was sent"
        );
        assert_eq!(limit.unwrap().0.0, 7);
    }

    #[test]
    fn the_parameter_at_fault_is_named() {
        for (query, param) in [
            ("", "externalUserId"),
            ("externalUserId=", "externalUserId"),
            ("externalUserId=%00", "externalUserId"),
            ("externalUserId=%ff", "externalUserId"),
            ("externalUserId=%EF%bf%bd%C3", "externalUserId"),
            ("externalUserId=a&externalUserId=a", "externalUserId"),
            ("externalUserId=a&limit=", "limit"),
            ("externalUserId=a&limit=%2B5", "limit"),
            ("externalUserId=a&limit=1&limit=2", "limit"),
        ] {
            let error = read::<List>(query).unwrap_err();
            assert_eq!(error.param(), Some(param), "{query}");
        }
    }
}
