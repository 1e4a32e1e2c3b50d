//! What of the API is on its way out. It is announced in the dashboard, on `/docs` and in
//! `docs/deprecations.md` before anybody has to use what replaces it.

use maud::{Markup, html};

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deprecation {
    /// What it is: an endpoint, a field, an error code.
    pub(crate) what: &'static str,
    /// What takes its place.
    pub(crate) instead: &'static str,
    /// The release that announced it.
    pub(crate) since: &'static str,
    /// The version of the API that does not have it any more.
    pub(crate) gone_with: &'static str,
}

/// All of them, the newest first. `docs/deprecations.md` says the same: a test of this file prints it.
pub(crate) const ALL: &[Deprecation] = &[];

/// For a page; nothing where there is none.
pub(crate) fn section(all: &[Deprecation]) -> Markup {
    html! {
        @if !all.is_empty() {
            section.card {
                h2 { "Deprecated in the API" }
                p { "These go on working in this version. What uses them should move on." }
                dl { @for one in all { div {
                    dt { code { (one.what) } }
                    dd { "Use " code { (one.instead) } ". Deprecated since " (one.since) ", gone with " (one.gone_with) "." }
                } } }
            }
        }
    }
}

/// The document's text.
#[cfg(test)]
fn document(all: &[Deprecation]) -> String {
    let mut text = "# Deprecations\n\n".to_owned();
    if all.is_empty() {
        text.push_str("Nothing of `/api/v1` is deprecated.\n");
        return text;
    }
    text.push_str(
        "What goes on working in this version of the API and has no place in the next one.\n\n",
    );
    text.push_str("| what | use instead | deprecated since | gone with |\n|---|---|---|---|\n");
    for one in all {
        let Deprecation {
            what,
            instead,
            since,
            gone_with,
        } = one;
        text.push_str(&format!(
            "| `{what}` | `{instead}` | {since} | {gone_with} |\n"
        ));
    }
    text
}

/// One that is none, for tests of what shows them.
#[cfg(test)]
pub(crate) const EXAMPLE: Deprecation = Deprecation {
    what: "GET /api/v1/<old>",
    instead: "GET /api/v1/new",
    since: "9.1",
    gone_with: "v2",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_deprecated_is_announced_and_nothing_else() {
        assert_eq!(section(&[]).into_string(), "");
        let shown = section(&[EXAMPLE]).into_string();
        for text in [
            "<code>GET /api/v1/&lt;old&gt;</code>",
            "Use <code>GET /api/v1/new</code>",
            "since 9.1, gone with v2",
        ] {
            assert!(shown.contains(text), "no {text} in {shown}");
        }
        let told = document(&[EXAMPLE]);
        let line = "| `GET /api/v1/<old>` | `GET /api/v1/new` | 9.1 | v2 |\n";
        assert!(told.ends_with(line), "{told}");
    }

    #[test]
    fn the_documentation_says_what_the_code_does() {
        assert_eq!(include_str!("../docs/deprecations.md"), document(ALL));
    }
}
