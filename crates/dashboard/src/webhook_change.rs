//! Changes a webhook endpoint: its address and events, its state, its secret; or deletes it.

use catalog::EndpointChange;
use domain::catalog::Endpoint;
use operator::{DeleteEndpoint, RotateSecret, TestEndpoint, UpdateEndpoint};
use outbound::webhooks::{TEST_EVENT, TestOutcome};
use wire::field::{EVENT_TYPES, EventType, FromText as _};

use super::{
    prelude::*,
    webhooks::{self, attempt_line, named, page_path},
};

fn current(endpoint: &Endpoint) -> Fields {
    let events = endpoint.events.iter().flatten();
    let fields = Fields::default()
        .with("url", &endpoint.url)
        .ticked("active", endpoint.is_active());
    events.fold(fields, |fields, event| fields.with("event", event))
}

pub(super) fn inputs(form: &Form<'_>) -> Markup {
    let events = EVENT_TYPES.map(|kind| (kind, kind));
    let hint = "Leave empty to receive all event types, including future ones.";
    html! {
        (form.text(&FieldLabel("url", "Address", "Such as https://shop.example/hooks.")))
        (form.ticks(&FieldLabel("event", "Events", hint), &events))
    }
}

pub(super) fn cards(
    request: &PageRequest,
    endpoint: &Endpoint,
    refused: RejectedForm<'_>,
) -> Markup {
    let (stored, page_path) = (current(endpoint), page_path(&request.project, endpoint));
    let form = Form::of(refused, &stored);
    let replay = Fields::default();
    let replay = Form::new(&replay, None);
    html! {
        @if request.may(Privilege::Support) { section.card {
            h2 { "Send again" }
            form method="post" action={ (page_path) "/replay" } {
                (form::token(request))
                (replay.day(&FieldLabel("since", "All since", "From the start of that day. Events are kept for 30 days.")))
                button type="submit" { "Send again" }
            }
        } }
        @if request.may(Privilege::Manage) {
            section.card {
                h2 { "Endpoint" }
                (form.alert(&["url"]))
                (form::conflict_of(form, &stored))
                form method="post" action=(page_path) {
                    (form::token(request))
                    (form::version(&stored))
                    (inputs(&form))
                    button.primary name="action" value="save" type="submit" { "Save" }
                }
            }
            section.card {
                h2 { "State and secret" }
                form.row method="post" action=(page_path) {
                    (form::token(request))
                    (form::version(&stored))
                    @if endpoint.is_active() {
                        button.danger name="action" value="off" type="submit" { "Disable…" }
                    } @else {
                        button name="action" value="on" type="submit" { "Enable" }
                    }
                    button.danger name="action" value="rotate" type="submit" { "Rotate secret…" }
                    button.danger name="action" value="delete" type="submit" { "Delete…" }
                }
                p.hint { "The old secret stays valid beside the new one for 24 hours." }
            }
        }
    }
}

pub(super) async fn change(mut request: FormPost<UpdateEndpoint>) -> PageResult {
    let app = Arc::clone(&request.app);
    let _saving = app.edge.saving.lock().await;
    request.reload()?;
    let endpoint = named(&request)?;
    let error = match carry_out(&request, endpoint).await {
        Ok(changed) => return Ok(changed),
        Err(error) => error,
    };
    let body = html! {
        h1 { (endpoint.url) }
        (cards(&request, endpoint, Some((&request.fields, &error))))
    };
    let form = Form::new(&request.fields, Some(&error));
    Ok(form.response(request.show("Webhook", &body)))
}

async fn carry_out(request: &FormPost<UpdateEndpoint>, endpoint: &Endpoint) -> PageResult {
    let (id, back) = (endpoint.id, page_path(&request.project, endpoint));
    form::refuse_stale(&request.fields, &current(endpoint))?;
    let shown = |minted, _| webhooks::hand_out(request, minted);
    let mut change = EndpointChange::default();
    match request.fields.text("action") {
        "rotate" => return request.answer(RotateSecret(id), &back, shown).await,
        "delete" => {
            // The page that the question leads back to goes with it.
            let list = format!("{}/webhooks", base(&request.project));
            let deleted = |(), _| layout::done(&list, "deleted");
            return request.answer(DeleteEndpoint(id), &back, deleted).await;
        }
        "on" if endpoint.is_active() => return Ok(request.done_before(&back)),
        "off" if !endpoint.is_active() => return Ok(request.done_before(&back)),
        "on" => change.active = Some(true),
        "off" => change.active = Some(false),
        "save" => {
            let new = webhooks::new(&request.app, &request.fields)?;
            (change.url, change.events) = (Some(new.url), Some(new.events));
        }
        _ => return Err(Error::missing("action")),
    }
    request
        .run(UpdateEndpoint(id, change), &back, "saved")
        .await
}

pub(super) fn test_card(request: &PageRequest, page_path: &str) -> Markup {
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

pub(super) async fn send_test(request: FormPost<TestEndpoint>) -> PageResult {
    let endpoint = named(&request)?;
    let kind = match request.fields.some("type") {
        None => TEST_EVENT,
        Some(kind) => EventType::from_text(kind)
            .ok_or_else(|| Error::invalid("type", "There is no such event type."))?
            .as_str(),
    };
    let page_path = page_path(&request.project, endpoint);
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
        request.show("Test event", &body)
    };
    request
        .answer(TestEndpoint(endpoint.id, kind), &page_path, shown)
        .await
}
