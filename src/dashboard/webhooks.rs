//! Where a project's own servers are told what happens: endpoints, what was delivered to each, and
//! sending it again.

use axum::{
    extract::State,
    response::{IntoResponse, Redirect, Response},
};
use domain::{
    catalog::{Endpoint, EndpointStatus},
    id::DeliveryId,
};
use maud::{Markup, html};

use super::{
    audit::deed,
    fields::Fields,
    form::{self, Form, Label},
    projects::refused,
    shell::{self, At, Tab, base},
    visit::{Posted, Visit},
};
use crate::{
    catalog::{EndpointChange, NewEndpoint, ProjectCatalog},
    http::{
        Code, Error,
        field::{EventType, FromText as _},
    },
    outbound::webhooks::{Delivery, Status},
    state::App,
};

/// Deliveries on a page.
const SHOWN: usize = 25;
const SECRET: &str = "Signing secret";

pub(super) fn here(project: &ProjectCatalog, endpoint: &Endpoint) -> String {
    format!("{}/webhooks/{}", base(project), endpoint.id)
}

/// The endpoint that the path names.
pub(super) fn named<'a>(visit: &Visit, project: &'a ProjectCatalog) -> Result<&'a Endpoint, Error> {
    let id = visit.named("webhook", Code::WebhookNotFound)?;
    let endpoint = project.endpoint(&id);
    endpoint.ok_or_else(|| Error::new(Code::WebhookNotFound))
}

fn badge(status: EndpointStatus) -> Markup {
    html! {
        @match status {
            EndpointStatus::Active => span.badge.good { "Active" },
            EndpointStatus::Off | EndpointStatus::Deleted => span.badge { "Off" },
            EndpointStatus::Gone => span.badge.bad { "Off: it answered 410" },
            EndpointStatus::Failing => span.badge.bad { "Off: it failed for days" },
        }
    }
}

/// `GET …/webhooks`
pub(super) async fn list(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = visit.project(&app)?;
    Ok(page(&visit, &project, &Fields::default(), None))
}

/// `POST …/webhooks`
pub(super) async fn create(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let id = project.project.id;
    let made = match new(&app, &fields) {
        Ok(new) => {
            let made = app.catalog.create_endpoint(id, new).await;
            made.map_err(Error::from)
        }
        Err(error) => Err(error),
    };
    match made {
        Ok(minted) => {
            let endpoint = &minted.endpoint;
            let path = format!("{}?done=made", here(&project, endpoint));
            let what = format!("Made webhook endpoint {} of {id}", endpoint.id);
            app.dashboard
                .keep_keys(&visit.signed, vec![(SECRET, minted.plain)]);
            let response = Redirect::to(&path).into_response();
            Ok(deed(response, &visit.signed, what))
        }
        Err(error) => {
            let page = page(&visit, &project, &fields, Some(&error));
            Ok(refused(&error, page))
        }
    }
}

fn new(app: &App, fields: &Fields) -> Result<NewEndpoint, Error> {
    let read = app.webhooks.reach().read(fields.text("url"));
    let url = read.map_err(|forbidden| Error::invalid("url", forbidden.to_string()))?;
    let mut events = fields.list("events");
    events.sort();
    events.dedup();
    if let Some(unknown) = events.iter().find(|it| EventType::from_text(it).is_none()) {
        let message = format!("There is no event of the kind {unknown:?}.");
        return Err(Error::invalid("events", message));
    }
    Ok(NewEndpoint {
        url: url.into(),
        events: (!events.is_empty()).then_some(events),
    })
}

fn page(
    visit: &Visit,
    project: &ProjectCatalog,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let form = Form::new(fields, error);
    let body = html! {
        h1 { "Webhooks" }
        p.lead { "Your servers are told what happens to orders, subscriptions and wallets, signed after Standard Webhooks." }
        @if project.endpoints().next().is_none() { p.empty { "Nobody is told yet." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Endpoints" { table {
                thead { tr { th { "Endpoint" } th { "Events" } th { "State" } th { "Made" } } }
                tbody { @for endpoint in project.endpoints() { tr {
                    td { a href=(here(project, endpoint)) { code.wrap { (endpoint.url) } } }
                    td { (events(endpoint)) }
                    td { (badge(endpoint.status)) }
                    td.time { (shell::when(endpoint.created_at)) }
                } } }
            } }
        }
        section.card {
            h2 { "New endpoint" }
            (form.alert(&["url", "events"]))
            form method="post" action={ (base(project)) "/webhooks" } {
                (form::token(visit))
                (form.text(&Label("url", "Address", "Such as https://shop.example/hooks.")))
                (form.text(&Label("events", "Events", "Such as order.paid wallet.depleted. Empty: all.")))
                button.primary type="submit" { "Make endpoint" }
            }
        }
    };
    shell::page(
        visit,
        At::Project(project, Tab::Webhooks),
        "Webhooks",
        &body,
    )
}

fn events(endpoint: &Endpoint) -> Markup {
    html! {
        @match &endpoint.events {
            None => "All",
            Some(events) => @for event in events { span.tag { (event) } " " },
        }
    }
}

/// `GET …/webhooks/{webhook}`
pub(super) async fn show(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = visit.project(&app)?;
    let endpoint = named(&visit, &project)?;
    let before = visit.query().parsed("before", "a delivery")?;
    let mut deliveries = app
        .webhooks
        .deliveries(endpoint.id, before, SHOWN.saturating_add(1));
    let more = deliveries.len() > SHOWN;
    deliveries.truncate(SHOWN);
    let new = app.dashboard.take_keys(&visit.signed);
    let here = here(&project, endpoint);
    let older = deliveries.last().filter(|_| more).map(|last| last.id);
    let body = html! {
        div.head { h1 { (endpoint.url) } (badge(endpoint.status)) }
        p.hint { code { (endpoint.id) } " · " (events(endpoint)) }
        @if !new.is_empty() {
            section.card.shown {
                h2 { "Copy now" }
                p { "The secret is shown only this once." }
                dl { @for (name, key) in &new { div { dt { (name) } dd { code.key { (key) } } } } }
            }
        }
        section.card {
            h2 { "Deliveries" }
            @if deliveries.is_empty() { p.empty { "Nothing was delivered yet." } } @else {
                div.scroll tabindex="0" role="region" aria-label="Deliveries" { table {
                    thead { tr { th { "Event" } th { "State" } th { "Attempts" } th { span.hidden { "Send again" } } } }
                    tbody { @for delivery in &deliveries { (row(&visit, endpoint, &here, delivery)) } }
                } }
            }
            @if let Some(older) = older { p { a.button href={ "?before=" (older) } { "Older" } } }
        }
        (steps(&visit, endpoint, &here, None))
    };
    Ok(shell::page(
        &visit,
        At::Project(&project, Tab::Webhooks),
        "Webhook",
        &body,
    ))
}

fn row(visit: &Visit, endpoint: &Endpoint, here: &str, delivery: &Delivery) -> Markup {
    let next = delivery.next_at.filter(|_| endpoint.is_active());
    html! { tr {
        td { a href={ (here) "/deliveries/" (delivery.id) } { (delivery.kind.as_str()) } br; code.small { (delivery.event) } }
        td { (state(delivery.status)) @if let Some(next) = next { br; span.hint { "again at " (shell::when(next)) } } }
        td { (attempts(delivery)) }
        td { (send_again(visit, here, delivery)) }
    } }
}

pub(super) fn state(status: Status) -> Markup {
    html! {
        @match status {
            Status::Pending => span.badge.wait { "Pending" },
            Status::Succeeded => span.badge.good { "Delivered" },
            Status::Failed => span.badge.bad { "Given up" },
        }
    }
}

pub(super) fn attempts(delivery: &Delivery) -> Markup {
    html! {
        @for attempt in &delivery.attempts { div {
            span.time { (shell::when(attempt.at)) } " "
            @match attempt.status_code { Some(code) => (code), None => "no answer" }
            " " span.hint { (attempt.millis) " ms" @if let Some(error) = &attempt.error { ", " (error) } }
        } }
    }
}

pub(super) fn send_again(visit: &Visit, here: &str, delivery: &Delivery) -> Markup {
    html! {
        form method="post" action={ (here) "/replay" } {
            (form::token(visit))
            input type="hidden" name="deliveryId" value=(delivery.id);
            button.small type="submit" { "Send again" }
        }
    }
}

fn steps(visit: &Visit, endpoint: &Endpoint, here: &str, error: Option<&Error>) -> Markup {
    let fields = Fields::default();
    let form = Form::new(&fields, error);
    html! {
        section.card {
            h2 { "Send again" }
            (form.alert(&["since"]))
            form method="post" action={ (here) "/replay" } {
                (form::token(visit))
                (form.day(&Label("since", "All since", "That day, UTC, as far as events are kept: 30 days.")))
                button type="submit" { "Send again" }
            }
        }
        section.card {
            h2 { "Endpoint" }
            form.row method="post" action=(here) {
                (form::token(visit))
                @if endpoint.is_active() {
                    button name="action" value="off" type="submit" { "Switch off" }
                } @else {
                    button name="action" value="on" type="submit" { "Switch on" }
                }
                button name="action" value="rotate" type="submit" { "Give it a new secret" }
            }
            p.hint { "The old secret signs beside the new one for 24 hours." }
            details {
                summary { "Delete…" }
                form method="post" action=(here) {
                    (form::token(visit))
                    p { "It is told nothing any more, and what was delivered is forgotten." }
                    button.danger name="action" value="delete" type="submit" { "Delete this endpoint" }
                }
            }
        }
    }
}

/// `POST …/webhooks/{webhook}`
pub(super) async fn change(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let endpoint = named(&visit, &project)?;
    let (id, here) = (project.project.id, here(&project, endpoint));
    let (said, did, back) = match fields.text("action") {
        action @ ("on" | "off") => {
            let change = EndpointChange {
                active: Some(action == "on"),
                ..EndpointChange::default()
            };
            app.catalog.update_endpoint(id, endpoint.id, change).await?;
            let did = if action == "on" {
                "Switched on"
            } else {
                "Switched off"
            };
            ("saved", did, here)
        }
        "rotate" => {
            let minted = app.catalog.rotate_endpoint(id, endpoint.id).await?;
            app.dashboard
                .keep_keys(&visit.signed, vec![(SECRET, minted.plain)]);
            ("made", "Gave a new secret to", here)
        }
        "delete" => {
            app.catalog.delete_endpoint(id, endpoint.id).await?;
            ("deleted", "Deleted", format!("{}/webhooks", base(&project)))
        }
        _ => return Err(Error::missing("action")),
    };
    let what = format!("{did} webhook endpoint {} of {id}", endpoint.id);
    Ok(deed(shell::done(&back, said), &visit.signed, what))
}

/// `POST …/webhooks/{webhook}/replay`
pub(super) async fn replay(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let endpoint = named(&visit, &project)?;
    let here = here(&project, endpoint);
    let delivery: Option<DeliveryId> = fields.parsed("deliveryId", "a delivery")?;
    let what = match delivery {
        Some(delivery) => {
            app.webhooks.again(endpoint.id, delivery).await?;
            format!("Sent delivery {delivery} again")
        }
        None => {
            let since = fields.day("since")?;
            let since = since.ok_or_else(|| Error::invalid("since", "Choose a day."))?;
            let again = app
                .webhooks
                .again_since(&project, endpoint.id, since)
                .await?;
            format!("Sent {again} events again to {}", endpoint.id)
        }
    };
    Ok(deed(shell::done(&here, "sent"), &visit.signed, what))
}
