//! A delivery's page: its request and the response. Both may hold foreign text, which is always escaped. Below support it
//! shows no recovery code and nothing that the receiver wrote.

use outbound::webhooks::{Exchange, ResponseSummary};
use serde_json::Value;

use super::{
    prelude::*,
    webhooks::{address, attempts, named, page_path, send_again, state},
};

pub(super) async fn show(request: PageRequest) -> PageResult {
    let endpoint = named(&request)?;
    let id = request.named("delivery", ErrorCode::DeliveryNotFound)?;
    let exchange = request
        .app
        .webhooks
        .exchange(&request.project, endpoint, id)
        .await?;
    let page_path = page_path(&request.project, endpoint);
    let Exchange { delivery, .. } = &exchange;
    let next = delivery.next_at.filter(|_| endpoint.is_active());
    let sees_secrets = request.may(Privilege::Support);
    let body = html! {
        div.head { h1 { (delivery.kind.as_str()) } (state(delivery.status)) }
        p.hint { code { (delivery.id) } " to " a href=(page_path) { (address(&request, endpoint)) } }
        p { (subjects(&request.project, &exchange)) }
        section.card {
            h2 { "Attempts" }
            @if delivery.attempts.is_empty() { p.empty { "None yet." } } @else { div { (attempts(&request, delivery)) } }
            @if let Some(next) = next { p.hint { "Next attempt at " (layout::when(next)) "." } }
            (send_again(&request, &page_path, delivery))
        }
        section.card { h2 { "Request" } (request_of(&exchange, sees_secrets)) }
        section.card { h2 { "Response" } (answer(&exchange, sees_secrets)) }
    };
    Ok(request.show("Delivery", &body))
}

/// The pages of what the event is about.
fn subjects(
    project: &ProjectCatalog,
    Exchange {
        delivery, request, ..
    }: &Exchange,
) -> Markup {
    let body: Option<Value> = request
        .as_ref()
        .and_then(|it| serde_json::from_str(&it.body).ok());
    let order = body.as_ref().and_then(|body| {
        let whole = body.pointer("/data/order/id");
        whole.or_else(|| body.pointer("/data/orderId"))?.as_str()
    });
    html! {
        a href={ (base(project)) "/wallets/" (delivery.wallet) } { "The wallet" }
        @if let Some(order) = order { " · " a href={ (base(project)) "/orders/" (order) } { "The order" } }
    }
}

fn request_of(Exchange { request, .. }: &Exchange, sees_secrets: bool) -> Markup {
    let Some(request) = request else {
        return html! { p.empty { "The event is no longer kept: events are kept for 30 days." } };
    };
    html! {
        p.hint {
            "Rebuilt from the event, with the time of the last attempt; \
             each attempt has a signature of its own."
        }
        (headers(request.headers.iter().map(|(name, value)| (*name, &**value))))
        pre.scroll tabindex="0" role="region" aria-label="Body of the request" { @if sees_secrets { (request.body) } @else { (without_code(&request.body)) } }
    }
}

/// The body of a request without the recovery code of its order.
fn without_code(body: &str) -> String {
    let event: Option<Value> = serde_json::from_str(body).ok();
    let code = event
        .as_ref()
        .and_then(|event| event.pointer("/data/order/code")?.as_str());
    match (&event, code) {
        (None, _) => String::new(),
        (Some(_), None) => body.to_owned(),
        (Some(_), Some(code)) => body.replace(code, "…"),
    }
}

fn answer(
    Exchange {
        delivery, summary, ..
    }: &Exchange,
    sees_secrets: bool,
) -> Markup {
    let Some(summary) = summary else {
        let tried = !delivery.attempts.is_empty();
        return html! { p.empty { @if tried { "There was no response." } @else { "Nothing was sent yet." } } };
    };
    let ResponseSummary {
        at,
        status_code,
        body,
        is_cut,
        ..
    } = summary;
    let last = delivery.attempts.last();
    let is_last = last.is_none_or(|last| last.status_code.is_some());
    html! {
        p { b { (status_code) } " to the attempt of " (layout::when(*at)) "." }
        @if !is_last { p.note { "Later attempts got no response." } }
        @if !sees_secrets { p.hint { "What the receiver wrote is shown to support and above." } } @else {
        (headers(summary.headers.iter().map(|(name, value)| (&**name, &**value))))
        @if body.is_empty() { p.empty { "No body." } } @else {
            pre.scroll tabindex="0" role="region" aria-label="Body of the response" { (body) }
        }
        @if *is_cut { p.hint { "Only the first 2 KiB are kept." } }
        }
    }
}

fn headers<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Markup {
    html! { dl { @for (name, value) in all { div { dt { (name) } dd { code { (value) } } } } } }
}
