//! The page before an action that cannot be undone: it says what changes, and sends the form again.

use axum::response::Response;
use maud::{Markup, html};

use super::{
    fields::{CONFIRMED, Fields},
    form,
    layout::{self, At},
    page_request::{PageRequest, TOKEN},
};

/// The confirmation page of a form: its title is a question, its button sends all fields again.
pub(super) fn confirm(
    request: &PageRequest,
    at: At<'_>,
    fields: &Fields,
    (action, back): (&str, &str),
    title: &str,
    facts: &Markup,
) -> Response {
    let body = html! {
        h1 { (title) }
        section.card {
            (facts)
            form.row method="post" action=(action) {
                (form::token(request))
                @for (name, value) in fields.without(TOKEN) {
                    input type="hidden" name=(name) value=(value);
                }
                input type="hidden" name=(CONFIRMED) value="on";
                button.primary type="submit" { (title.trim_end_matches('?')) }
                a.button href=(back) { "Back" }
            }
        }
    };
    layout::page(request, at, "Please confirm", &body)
}
