//! Changes a webhook endpoint: its address and events, its state, its secret; or deletes it.

use axum::{extract::State, response::Response};
use catalog::{EndpointChange, ProjectCatalog};
use domain::catalog::Endpoint;
use edge::Manage;
use identity::Privilege;
use maud::{Markup, html};
use wire::{Error, field::EVENT_TYPES};

use super::{
    confirm::confirm,
    fields::{CONFIRMED, Fields},
    form::{self, FieldLabel, Form},
    layout::{At, Tab, base},
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

/// The question before an action that takes something away, and what that is. `waiting` deliveries are pending.
fn question(action: &str, endpoint: &Endpoint, waiting: u64) -> Option<(&'static str, Markup)> {
    let facts = |what: &Markup| {
        html! { dl {
            div { dt { "Endpoint" } dd { code.wrap { (endpoint.url) } } }
            div { dt { "What happens" } dd { (what) } }
        } }
    };
    match action {
        "off" => Some((
            "Disable this endpoint?",
            facts(
                &html! { "It gets no events until it is enabled again; then it continues where it stopped. Events are kept for 30 days." },
            ),
        )),
        "rotate" => Some((
            "Rotate the secret?",
            facts(
                &html! { "A new secret is shown once. The present one stops working in 24 hours: your server has to know the new one by then." },
            ),
        )),
        "delete" => Some((
            "Delete this endpoint?",
            facts(&html! {
                "It gets no more events, and the record of its deliveries is deleted. "
                @if waiting > 0 { b { (waiting) " pending deliveries are lost." } } @else { "None is pending." }
                " This cannot be undone."
            }),
        )),
        _ => None,
    }
}

/// `POST …/webhooks/{webhook}`: changes an endpoint, enables or disables it, rotates its secret, or deletes it.
pub(super) async fn change(
    State(app): State<App>,
    posted: FormPost<Manage>,
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
    let (id, page_path) = (project.project.id, page_path(&project, endpoint));
    let before = current(endpoint);
    form::refuse_stale(fields, &before)?;
    let action = fields.text("action");
    if (action, endpoint.is_active()) == ("on", true)
        || (action, endpoint.is_active()) == ("off", false)
    {
        return Ok(request.done_before(&page_path));
    }
    let waiting = app.webhooks.health(endpoint.id).waiting;
    if let Some((title, facts)) = question(action, endpoint, waiting)
        && !fields.is_on(CONFIRMED)
    {
        let at = At::Project(&project, Tab::Webhooks);
        let paths = (&*page_path, &*page_path);
        return Ok(confirm(request, at, fields, paths, title, &facts));
    }
    let enabled = |active| EndpointChange {
        active: Some(active),
        ..EndpointChange::default()
    };
    let (message, did, back) = match action {
        "save" => {
            let new = webhooks::new(app, fields)?;
            let change = EndpointChange {
                url: Some(new.url),
                events: Some(new.events),
                active: None,
            };
            let after = app.catalog.update_endpoint(id, endpoint.id, change).await?;
            let changes = form::changes(&before, &current(&after));
            let what = format!(
                "Changed webhook endpoint {} of {id}: {changes}",
                endpoint.id
            );
            let is_done = changes != form::NOTHING;
            return Ok(request.done_if(is_done, &page_path, "saved", what));
        }
        "on" => {
            let change = enabled(true);
            app.catalog.update_endpoint(id, endpoint.id, change).await?;
            ("saved", "Enabled", page_path)
        }
        "off" => {
            let change = enabled(false);
            app.catalog.update_endpoint(id, endpoint.id, change).await?;
            ("saved", "Disabled", page_path)
        }
        "rotate" => {
            let minted = app.catalog.rotate_endpoint(id, endpoint.id).await?;
            let secret = webhooks::secret(id, minted.plain);
            let sessions = &app.edge.people.sessions;
            sessions.keep_keys(&request.signed, vec![secret]);
            ("created", "Rotated the secret of", page_path)
        }
        "delete" => {
            app.catalog.delete_endpoint(id, endpoint.id).await?;
            ("deleted", "Deleted", format!("{}/webhooks", base(&project)))
        }
        _ => return Err(Error::missing("action")),
    };
    let what = format!(
        "{did} webhook endpoint {} of {id}: {}",
        endpoint.id, endpoint.url
    );
    Ok(request.done(&back, message, what))
}
