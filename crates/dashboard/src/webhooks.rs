//! A project's webhook endpoints, the deliveries to each, and sending them again.

use std::borrow::Cow;

use catalog::{MintedEndpoint, NewEndpoint};
use domain::catalog::Endpoint;
use operator::{CreateEndpoint, ReplayDelivery, ReplayEvents};
use outbound::webhooks::{Attempt, Delivery, Status};
use wire::field::{EventType, FromText as _};

use super::{
    keys::copy_now,
    prelude::*,
    webhook_change,
    webhook_health::{attempt_error, badge, health_card, health_line},
};

const PAGE_SIZE: usize = 25;
const SECRET: &str = "Signing secret";
/// The filters of deliveries: the query's value, the label, the status.
const FILTERS: [(&str, &str, Option<Status>); 4] = [
    ("", "All", None),
    ("failed", "Failed", Some(Status::Failed)),
    ("pending", "Pending", Some(Status::Pending)),
    ("succeeded", "Delivered", Some(Status::Succeeded)),
];

pub(super) fn page_path(project: &ProjectCatalog, endpoint: &Endpoint) -> String {
    format!("{}/webhooks/{}", base(project), endpoint.id)
}

pub(super) fn named(request: &PageRequest) -> Result<&Endpoint, Error> {
    let id = request.named("webhook", ErrorCode::WebhookNotFound)?;
    let endpoint = request.project.endpoint(&id);
    endpoint.ok_or_else(|| Error::new(ErrorCode::WebhookNotFound))
}

pub(super) async fn list(request: PageRequest) -> PageResult {
    Ok(page(&request, &Fields::default(), None))
}

pub(super) async fn create(request: FormPost<CreateEndpoint>) -> PageResult {
    let made = async {
        let page = |minted, _| hand_out(&request, minted);
        let back = format!("{}/webhooks", base(&request.project));
        request
            .answer(
                CreateEndpoint(new(&request.app, &request.fields)?),
                &back,
                page,
            )
            .await
    };
    let again = |error| page(&request, &request.fields, Some(&error));
    Ok(made.await.unwrap_or_else(again))
}

/// Leads to the page that shows a new secret once.
pub(super) fn hand_out(request: &PageRequest, minted: MintedEndpoint) -> Response {
    let project = request.project.project.id;
    request.keep(&request.app, project, [(SECRET, minted.plain)]);
    layout::done(&page_path(&request.project, &minted.stored), "created")
}

/// An endpoint's address and events as the form has them.
pub(super) fn new(app: &App, fields: &Fields) -> Result<NewEndpoint, Error> {
    let read = app.webhooks.reach().read(fields.text("url"));
    let url = read.map_err(|forbidden| Error::invalid("url", forbidden.to_string()))?;
    let mut events = fields.list("events");
    events.extend(fields.all("event").map(str::to_owned));
    events.sort();
    events.dedup();
    if let Some(unknown) = events.iter().find(|it| EventType::from_text(it).is_none()) {
        let message = format!("There is no event type {unknown:?}.");
        return Err(Error::invalid("events", message));
    }
    Ok(NewEndpoint {
        url: url.into(),
        events: (!events.is_empty()).then_some(events),
    })
}

fn page(request: &PageRequest, fields: &Fields, error: Option<&Error>) -> Response {
    let form = Form::new(fields, error);
    let endpoints: Vec<_> = request
        .project
        .endpoints()
        .map(|endpoint| (endpoint, request.app.webhooks.health(endpoint.id)))
        .collect();
    let body = html! {
        h1 { "Webhooks" }
        p.lead { "Your servers are notified of changes to orders, subscriptions and wallets. Signed as in Standard Webhooks. " (layout::docs("webhooks", "Verify and handle them")) }
        @if endpoints.is_empty() { p.empty { "There is no endpoint yet." } } @else {
            (table("Endpoints", &["Endpoint", "Events", "State", "Attempts", "Created"], &html! { @for (endpoint, health) in &endpoints { tr {
                td { a href=(page_path(&request.project, endpoint)) { code.wrap { (address(request, endpoint)) } } }
                td { (events(endpoint)) }
                td { (badge(endpoint.status, health)) }
                td.small { (health_line(health)) }
                td.time { (layout::when(endpoint.created_at)) }
            } } }))
        }
        @if request.may(Privilege::Manage) { section.card {
            h2 { "New endpoint" }
            (form.alert(&["url"]))
            form method="post" action={ (base(&request.project)) "/webhooks" } {
                (form::token(request))
                (webhook_change::inputs(&form))
                button.primary type="submit" { "Create endpoint" }
            }
        } }
    };
    form.response(request.show("Webhooks", &body))
}

/// Where an endpoint is: below support without its query, which may be a secret of the receiver's.
pub(super) fn address<'a>(request: &PageRequest, endpoint: &'a Endpoint) -> Cow<'a, str> {
    match endpoint.url.split_once('?') {
        Some((place, _)) if !request.may(Privilege::Support) => format!("{place}?…").into(),
        _ => (&*endpoint.url).into(),
    }
}

fn events(endpoint: &Endpoint) -> Markup {
    html! {
        @match &endpoint.events {
            None => "All events",
            Some(events) => @for event in events { span.tag { (event) } " " },
        }
    }
}

pub(super) async fn show(request: PageRequest) -> PageResult {
    let endpoint = named(&request)?;
    let before = request.query().parsed("before", "a delivery")?;
    let wanted = request.query().text("status");
    let known = FILTERS.iter().find(|(name, ..)| *name == wanted);
    let status = known.and_then(|(_, _, status)| *status);
    let mut deliveries =
        request
            .app
            .webhooks
            .deliveries(endpoint.id, before, PAGE_SIZE.saturating_add(1), status);
    let health = request.app.webhooks.health(endpoint.id);
    let more = deliveries.len() > PAGE_SIZE;
    deliveries.truncate(PAGE_SIZE);
    let sessions = &request.app.edge.people.sessions;
    let new = sessions.take_keys(&request.signed, request.project.project.id);
    let page_path = page_path(&request.project, endpoint);
    let older = deliveries.last().filter(|_| more).map(|last| last.id);
    let body = html! {
        div.head { h1 { (address(&request, endpoint)) } (badge(endpoint.status, &health)) }
        p.hint { code { (endpoint.id) } " · " (events(endpoint)) }
        (copy_now(&new, "The secret is shown only this once."))
        (health_card(&request, &health))
        section.card {
            h2 { "Deliveries" }
            nav.row aria-label="Filter" { @for (name, label, _) in FILTERS {
                a href={ "?status=" (name) } aria-current=[(name == wanted).then_some("true")] { (label) }
            } }
            @if deliveries.is_empty() { p.empty { @if status.is_some() { "No such deliveries." } @else { "Nothing was delivered yet." } } } @else {
                (table("Deliveries", &["Event", "State", "Attempts", "~Send again"], &html! { @for delivery in &deliveries { (row(&request, endpoint, &page_path, delivery)) } }))
            }
            @if let Some(older) = older { p { a.button href={ "?status=" (wanted) "&before=" (older) } { "Older" } } }
        }
        (webhook_change::test_card(&request, &page_path))
        (webhook_change::cards(&request, endpoint, None))
    };
    Ok(request.show("Webhook", &body))
}

fn row(request: &PageRequest, endpoint: &Endpoint, page_path: &str, delivery: &Delivery) -> Markup {
    let next = delivery.next_at.filter(|_| endpoint.is_active());
    html! { tr {
        td { a href={ (page_path) "/deliveries/" (delivery.id) } { (delivery.kind.as_str()) } br; code.small { (delivery.event) } }
        td { (state(delivery.status)) @if let Some(next) = next { br; span.hint { "again at " (layout::when(next)) } } }
        td { (attempts(request, delivery)) }
        td { (send_again(request, page_path, delivery)) }
    } }
}

pub(super) fn state(status: Status) -> Markup {
    html! {
        @match status {
            Status::Pending => span.badge.wait { "Pending" },
            Status::Succeeded => span.badge.good { "Delivered" },
            Status::Failed => span.badge.bad { "Failed" },
        }
    }
}

pub(super) fn attempts(request: &PageRequest, delivery: &Delivery) -> Markup {
    html! {
        @for attempt in &delivery.attempts { (attempt_line(request, attempt)) }
    }
}

pub(super) fn attempt_line(request: &PageRequest, attempt: &Attempt) -> Markup {
    html! {
        div {
            span.time { (layout::when(attempt.at)) } " "
            @match attempt.status_code { Some(code) => (code), None => "no response" }
            " " span.hint { (attempt.millis) " ms" @if let Some(error) = attempt_error(request, attempt) { ", " (error) } }
        }
    }
}

pub(super) fn send_again(request: &PageRequest, page_path: &str, delivery: &Delivery) -> Markup {
    html! { @if request.may(Privilege::Support) {
        form method="post" action={ (page_path) "/replay" } {
            (form::token(request))
            input type="hidden" name="deliveryId" value=(delivery.id);
            button.small type="submit" { "Send again" }
        }
    } }
}

pub(super) async fn replay(request: FormPost<ReplayDelivery>) -> PageResult {
    let endpoint = named(&request)?;
    let back = page_path(&request.project, endpoint);
    match request.fields.parsed("deliveryId", "a delivery")? {
        Some(delivery) => {
            request
                .run(ReplayDelivery(endpoint.id, delivery), &back, "sent")
                .await
        }
        None => {
            let since = request.fields.day("since")?;
            let since = since.ok_or_else(|| Error::invalid("since", "Choose a day."))?;
            request
                .run(ReplayEvents(endpoint.id, since), &back, "sent")
                .await
        }
    }
}
