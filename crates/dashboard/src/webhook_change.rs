//! Changes a webhook endpoint: its address and events, its state, its secret; or deletes it.

use axum::{extract::State, response::Response};
use catalog::{EndpointChange, ProjectCatalog};
use domain::catalog::Endpoint;
use identity::Privilege;
use maud::{Markup, html};
use operator::{DeleteEndpoint, RotateSecret, UpdateEndpoint};
use wire::{Error, field::EVENT_TYPES};

use super::{
    confirm::ActionForm,
    fields::Fields,
    form::{self, FieldLabel, Form},
    layout::{self, Tab, base},
    page_request::{FormPost, PageRequest},
    webhooks::{self, named, page_path},
};
use crate::state::App;

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
    project: &ProjectCatalog,
    endpoint: &Endpoint,
    refused: Option<(&Fields, &Error)>,
) -> Markup {
    let (stored, page_path) = (current(endpoint), page_path(project, endpoint));
    let form = Form::new(
        refused.map_or(&stored, |(fields, _)| fields),
        refused.map(|(_, error)| error),
    );
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

/// `POST …/webhooks/{webhook}`: changes an endpoint, enables or disables it, rotates its secret, or deletes it.
pub(super) async fn change(
    State(app): State<App>,
    posted: FormPost<UpdateEndpoint>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let changed = carry_out(&app, &request, &fields).await;
    let error = match changed {
        Ok(changed) => return Ok(changed),
        Err(error) => error,
    };
    // As it is stored now.
    let project = request.project(&app)?;
    let endpoint = named(&request, &project)?;
    let form = Form::new(&fields, Some(&error));
    let body = html! {
        h1 { (endpoint.url) }
        (cards(&request, &project, endpoint, Some((&fields, &error))))
    };
    Ok(form.response(Tab::Webhooks.page(&request, &project, "Webhook", &body)))
}

async fn carry_out(app: &App, request: &PageRequest, fields: &Fields) -> Result<Response, Error> {
    let _saving = app.edge.saving.lock().await;
    let project = request.project(app)?;
    let endpoint = named(request, &project)?;
    let (id, back) = (endpoint.id, page_path(&project, endpoint));
    form::refuse_stale(fields, &current(endpoint))?;
    let form = ActionForm::new(app, request, &project, fields, Tab::Webhooks);
    let enabled = |active| EndpointChange {
        active: Some(active),
        ..EndpointChange::default()
    };
    let shown = |minted, _| webhooks::hand_out(app, request, &project, minted);
    match fields.text("action") {
        "on" if endpoint.is_active() => Ok(request.done_before(&back)),
        "off" if !endpoint.is_active() => Ok(request.done_before(&back)),
        "on" => {
            form.run(UpdateEndpoint(id, enabled(true)), &back, "saved")
                .await
        }
        "off" => {
            form.run(UpdateEndpoint(id, enabled(false)), &back, "saved")
                .await
        }
        "save" => {
            let new = webhooks::new(app, fields)?;
            let change = EndpointChange {
                url: Some(new.url),
                events: Some(new.events),
                active: None,
            };
            form.run(UpdateEndpoint(id, change), &back, "saved").await
        }
        "rotate" => form.answer(RotateSecret(id), &back, shown).await,
        "delete" => {
            // The page that the question leads back to goes with it.
            let list = format!("{}/webhooks", base(&project));
            let deleted = |(), _| layout::done(&list, "deleted");
            form.answer(DeleteEndpoint(id), &back, deleted).await
        }
        _ => Err(Error::missing("action")),
    }
}
