//! The page before a deed that takes something away: it says what goes, and sends the form again.

use axum::response::Response;
use maud::{Markup, html};

use super::{
    fields::{CONFIRMED, Fields},
    form,
    layout::{self, At},
    page_request::{PageRequest, TOKEN},
};

/// The confirmation page of a form; its button sends all fields again.
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
                button.primary type="submit" { "Yes, do it" }
                a.button href=(back) { "No" }
            }
        }
    };
    layout::page(request, at, "Please confirm", &body)
}
