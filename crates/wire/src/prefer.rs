//! What a caller prefers of the handling of a request, by the header `Prefer` (RFC 7240).

use axum::http::HeaderMap;

use crate::headers::PREFER;

/// Whether a caller prefers a refusal to unknown fields: `Prefer: handling=strict`.
#[must_use]
pub fn is_strict(headers: &HeaderMap) -> bool {
    let sent = headers.get_all(PREFER).iter();
    let mut preferences = sent
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    preferences.any(|preference| {
        let (preference, _) = preference.split_once(';').unwrap_or((preference, ""));
        let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
        let value = value.trim().trim_matches('"');
        name.trim().eq_ignore_ascii_case("handling") && value.eq_ignore_ascii_case("strict")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_preference_of_several_is_found() {
        let strict = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(PREFER, value.parse().unwrap());
            }
            is_strict(&headers)
        };
        for values in [
            &["handling=strict"][..],
            &["Handling = \"strict\"; x=1"],
            &["wait=3, handling=strict"],
            &["respond-async", "handling=strict"],
        ] {
            assert!(strict(values), "{values:?}");
        }
        for values in [
            &[][..],
            &["handling=lenient"],
            &["strict"],
            &["handling; x=strict"],
        ] {
            assert!(!strict(values), "{values:?}");
        }
    }
}
