//! Sends a webhook endpoint an event that did not happen.

use axum::{extract::State, response::Response};
use identity::Privilege;
use maud::{Markup, html};
use operator::TestEndpoint;
use outbound::webhooks::{TEST_EVENT, TestOutcome};
use wire::{
    Error,
    field::{EVENT_TYPES, EventType, FromText as _},
};

use super::{
    confirm::ActionForm,
    form,
    layout::Tab,
    page_request::{FormPost, PageRequest},
    webhooks::{attempt_line, named, page_path},
};
use crate::state::App;

pub(super) fn card(request: &PageRequest, page_path: &str) -> Markup {
    html! { @if request.may(Privilege::Manage) {
        section.card {
            h2 { "Try it" }
            form.row method="post" action={ (page_path) "/test" } {
                (form::token(request))
                label {
                    "Type " select name="type" {
                        option value="" { (TEST_EVENT) }
                        @for kind in EVENT_TYPES { option value=(kind) { (kind) } }
                    }
                }
                button type="submit" { "Send a test event" }
            }
            p.hint { "Signed like any delivery, sent once, not stored. Its body has " code { "\"test\": true" } "." }
        }
    } }
}

/// `POST …/webhooks/{webhook}/test`: sends an event that did not happen, and shows how it was taken.
pub(super) async fn send(
    State(app): State<App>,
    posted: FormPost<TestEndpoint>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let endpoint = named(&request, &project)?;
    let kind = match fields.some("type") {
        None => TEST_EVENT,
        Some(kind) => EventType::from_text(kind)
            .ok_or_else(|| Error::invalid("type", "There is no such event type."))?
            .as_str(),
    };
    let page_path = page_path(&project, endpoint);
    let shown = |outcome: TestOutcome, _| {
        let is_taken = outcome.attempt.error.is_none();
        let body = html! {
            div.head {
                h1 { (kind) }
                @if is_taken { span.badge.good { "Accepted" } } @else { span.badge.bad { "Not accepted" } }
            }
            p.hint { "A test, sent to " a href=(&page_path) { (endpoint.url) } " as " code { (outcome.event) } }
            section.card {
                h2 { "Response" }
                (attempt_line(&request, &outcome.attempt))
                @if let Some(body) = outcome.body.filter(|body| !body.is_empty()) {
                    pre.scroll tabindex="0" role="region" aria-label="Body of the response" { (body) }
                }
            }
        };
        Tab::Webhooks.page(&request, &project, "Test event", &body)
    };
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Webhooks);
    form.answer(TestEndpoint(endpoint.id, kind), &page_path, shown)
        .await
}
