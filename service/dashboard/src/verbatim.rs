//! What strangers chose: user ids, names, e-mail addresses, notes. Within a page it keeps its direction to itself, and
//! what would not be seen is written out.

use maud::{Markup, html};
use wire::visible::visible;

/// A stranger's text.
pub(super) fn verbatim(text: &str) -> Markup {
    html! { bdi { (visible(text)) } }
}
