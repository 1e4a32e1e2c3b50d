//! One delivery: what is sent and what came back. Both may hold anybody's text, which stays text.

use axum::{extract::State, response::Response};
use maud::{Markup, html};

use super::{
    shell::{self, At, Tab},
    visit::Visit,
    webhooks::{attempts, here, named, send_again, state},
};
use crate::{
    http::{Code, Error},
    outbound::webhooks::{Exchange, Said},
    state::App,
};

/// `GET …/webhooks/{webhook}/deliveries/{delivery}`
pub(super) async fn show(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = visit.project(&app)?;
    let endpoint = named(&visit, &project)?;
    let id = visit.named("delivery", Code::DeliveryNotFound)?;
    let exchange = app.webhooks.exchange(&project, endpoint, id).await?;
    let here = here(&project, endpoint);
    let Exchange { delivery, .. } = &exchange;
    let next = delivery.next_at.filter(|_| endpoint.is_active());
    let body = html! {
        div.head { h1 { (delivery.kind.as_str()) } (state(delivery.status)) }
        p.hint { code { (delivery.id) } " to " a href=(here) { (endpoint.url) } }
        section.card {
            h2 { "Attempts" }
            @if delivery.attempts.is_empty() { p.empty { "None yet." } } @else { div { (attempts(delivery)) } }
            @if let Some(next) = next { p.hint { "Tried again at " (shell::when(next)) "." } }
            (send_again(&visit, &here, delivery))
        }
        section.card { h2 { "Request" } (request(&exchange)) }
        section.card { h2 { "Answer" } (answer(&exchange)) }
    };
    Ok(shell::page(
        &visit,
        At::Project(&project, Tab::Webhooks),
        "Delivery",
        &body,
    ))
}

fn request(Exchange { request, .. }: &Exchange) -> Markup {
    let Some(request) = request else {
        return html! { p.empty { "The event is not kept any more: they are for 30 days." } };
    };
    // Indented for people; what is sent has no spaces.
    let body: Result<serde_json::Value, _> = serde_json::from_slice(&request.body);
    let body = body.and_then(|body| serde_json::to_string_pretty(&body));
    html! {
        p.hint {
            "Made again from the event: an order in it is as it stands now, the time is the last attempt's, \
             and each attempt has a signature of its own."
        }
        (headers(request.headers.iter().map(|(name, value)| (*name, &**value))))
        pre.scroll tabindex="0" role="region" aria-label="Body of the request" { (body.unwrap_or_default()) }
    }
}

fn answer(Exchange { delivery, said, .. }: &Exchange) -> Markup {
    let Some(said) = said else {
        let tried = !delivery.attempts.is_empty();
        return html! { p.empty { @if tried { "There was none." } @else { "Nothing was sent yet." } } };
    };
    let Said {
        at,
        status_code,
        body,
        is_cut,
        ..
    } = said;
    let last = delivery.attempts.last();
    let is_last = last.is_none_or(|last| last.status_code.is_some());
    html! {
        p { b { (status_code) } " to the attempt of " (shell::when(*at)) "." }
        @if !is_last { p.note { "Later attempts had no answer." } }
        (headers(said.headers.iter().map(|(name, value)| (&**name, &**value))))
        @if body.is_empty() { p.empty { "Without a body." } } @else {
            pre.scroll tabindex="0" role="region" aria-label="Body of the answer" { (body) }
        }
        @if *is_cut { p.hint { "There is more of it; the first 2 KiB are kept." } }
    }
}

fn headers<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Markup {
    html! { dl { @for (name, value) in all { div { dt { (name) } dd { code { (value) } } } } } }
}
