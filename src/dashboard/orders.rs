//! A project's orders, newest first; one order with its history, its refund and its subscription.

use actors::{Address, OrderAnswer, SubscriptionDetail};
use axum::{extract::State, response::Response};
use domain::{
    Rejection,
    id::OrderId,
    text::IdempotencyKey,
    wallet::{OrderKind, OrderStatus, cancel::Cancel, resume::Resume},
};
use maud::{Markup, html};
use uuid::Uuid;

use super::{
    actions::{self, CONFIRMED},
    audit::audited,
    fields::Fields,
    form::{self, FieldLabel, Form},
    layout::{self, At, Tab, base},
    money::{amount, decimals, grouped, money},
    order_refresh,
    page_request::{FormPost, PageRequest},
    projects::refused,
    wallets::path,
};
use crate::{
    catalog::ProjectCatalog,
    http::{Error, ErrorCode, cursor::OrderCursor, field::FromText as _},
    payments::SubscriptionInstruction,
    state::App,
};

/// Orders per page.
const SHOWN: usize = 25;

const STATES: [(OrderStatus, &str, &str); 5] = [
    (OrderStatus::Paid, "paid", "Paid"),
    (OrderStatus::Pending, "pending", "Pending"),
    (OrderStatus::Refunded, "refunded", "Refunded"),
    (OrderStatus::Failed, "failed", "Failed"),
    (OrderStatus::Expired, "expired", "Expired"),
];

/// A coloured badge with an order's status.
pub(super) fn badge(status: OrderStatus) -> Markup {
    let known = STATES.iter().find(|(known, _, _)| *known == status);
    let name = known.map_or("", |(_, _, name)| name);
    let class = match status {
        OrderStatus::Paid => "badge good",
        OrderStatus::Pending => "badge wait",
        OrderStatus::Failed => "badge bad",
        OrderStatus::Refunded | OrderStatus::Expired => "badge",
    };
    html! { span class=(class) { (name) } }
}

const fn kind(kind: OrderKind) -> &'static str {
    match kind {
        OrderKind::Checkout => "Checkout",
        OrderKind::Renewal => "Renewal",
        OrderKind::Switch => "Tier switch",
    }
}

/// `GET …/orders`: the orders, newest first.
pub(super) async fn list(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let query = request.query();
    let wanted = query.text("status");
    let wanted = STATES.iter().find(|(_, name, _)| *name == wanted);
    let cursor = query.some("before").map(OrderCursor::from_text);
    let cursor = cursor.map(|read| read.ok_or_else(|| Error::invalid("before", "No such page.")));
    let before = cursor
        .transpose()?
        .map(|OrderCursor(at, order)| (at, order));
    let (handle, scope) = (&app.handle, &project.scope);
    let page = match wanted {
        Some((status, ..)) => {
            handle
                .orders_with_status(scope, *status, before, SHOWN)
                .await
        }
        None => handle.orders(scope, before, SHOWN).await,
    };
    let page = page.map_err(|error| Error::from_wallet(error, &project))?;
    let orders = page.orders;
    let older = page.next.map(|(at, order)| {
        let status = wanted.map_or("", |(_, name, _)| name);
        format!("?status={status}&before={}", OrderCursor(at, order))
    });
    let mut states = vec![("", "All")];
    states.extend(STATES.iter().map(|(_, value, name)| (*value, *name)));
    let form = Form::new(query, None);
    let body = html! {
        h1 { "Orders" }
        @let waiting = app.payments.unfulfilled().count(Some(project.project.id));
        p { a href={ (base(&project)) "/unfulfilled-payments" } { "Unfulfilled payments and daily reconciliation" } @if waiting > 0 { " " span class="badge bad" { (waiting) } } }
        form.row.filter method="get" {
            (form.choice(&FieldLabel("status", "State", ""), &states))
            button type="submit" { "Show" }
        }
        @if orders.is_empty() { p.empty { "No such orders." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Orders" { table {
                thead { tr { th { "Placed" } th { "State" } th { "What" } th.number { "Amount" } th { "Wallet" } th { "Buyer" } } }
                tbody { @for order in &orders { (row(&project, order)) } }
            } }
        }
        @if let Some(older) = older { p { a.button href=(older) { "Older" } } }
    };
    Ok(layout::page(
        &request,
        At::Project(&project, Tab::Orders),
        "Orders",
        &body,
    ))
}

fn row(project: &ProjectCatalog, answer: &OrderAnswer) -> Markup {
    let order = &answer.order;
    html! { tr {
        td.time { a href={ (base(project)) "/orders/" (answer.id) } { (layout::when(order.created_at)) } }
        td { (badge(order.status())) }
        td { (what(project, answer)) br; span.hint { (kind(order.kind)) } }
        td.number {
            (money(order.amount_cents, &order.terms.currency))
            @if order.reversal.refunded_cents > 0 {
                br; span.hint { (money(order.reversal.refunded_cents, &order.terms.currency)) " refunded" }
            }
        }
        td { (owner(project, answer)) }
        td { @match &order.email { Some(email) => (email.as_str()), None => "–" } }
    } }
}

fn what(project: &ProjectCatalog, answer: &OrderAnswer) -> String {
    let terms = &answer.order.terms;
    if let Some(label) = &terms.label {
        return label.to_string();
    }
    let product = project.product(&terms.product);
    product.map_or_else(|| terms.product.to_string(), |product| product.name.clone())
}

fn owner(project: &ProjectCatalog, answer: &OrderAnswer) -> Markup {
    let name = match (&answer.external_user, answer.wallet) {
        (Some(user), _) => user.as_str(),
        (None, Some(_)) => "Anonymous",
        (None, None) => return html! { "–" },
    };
    html! { a href=(path(project, answer.id.wallet)) { (name) } }
}

async fn order(
    app: &App,
    request: &PageRequest,
    project: &ProjectCatalog,
) -> Result<OrderAnswer, Error> {
    let id: OrderId = request.named("order", ErrorCode::OrderNotFound)?;
    let order = app.handle.order(&project.scope, id).await;
    order.map_err(|error| Error::from_wallet(error, project))
}

/// `GET …/orders/{order}`: one order.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let order = order(&app, &request, &project).await?;
    let subscription = subscription_of(&app, &project, &order).await?;
    let refundable = order.order.refundable_cents();
    let currency = &order.order.terms.currency;
    let fields = Fields::default()
        .with("amount", amount(refundable, currency))
        .with("idempotencyKey", Uuid::now_v7());
    let shown = (&order, subscription.as_ref());
    Ok(page(&request, &project, shown, &fields, None))
}

/// The subscription that an order belongs to, if any.
async fn subscription_of(
    app: &App,
    project: &ProjectCatalog,
    order: &OrderAnswer,
) -> Result<Option<SubscriptionDetail>, Error> {
    let Some(id) = order.order.subscription.clone() else {
        return Ok(None);
    };
    let (handle, wallet) = (&app.handle, order.id.wallet);
    match handle
        .look_at_subscription(&project.scope, wallet, id)
        .await
    {
        Ok(found) => Ok(Some(found)),
        // It ended before the order was paid.
        Err(actors::Error::Rejected(Rejection::SubscriptionNotFound)) => Ok(None),
        Err(error) => Err(Error::from_wallet(error, project)),
    }
}

fn page(
    request: &PageRequest,
    project: &ProjectCatalog,
    (answer, subscription): (&OrderAnswer, Option<&SubscriptionDetail>),
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let order = &answer.order;
    let goes_on = subscription.filter(|known| known.ended_at.is_none());
    let body = html! {
        div.head { h1 { (what(project, answer)) } (badge(order.status())) }
        p.hint { code { (answer.id) } }
        section.card { h2 { "Order" } (facts(project, answer)) }
        section.card { h2 { "What happened" } (timeline(answer, subscription)) }
        (refund_form(request, project, answer, Form::new(fields, error)))
        @if let Some(known) = goes_on.filter(|_| address(answer).is_some()) {
            (subscription_form(request, project, answer, known, fields))
        }
        (order_refresh::part(request, project, answer.id))
    };
    layout::page(request, At::Project(project, Tab::Orders), "Order", &body)
}

fn facts(project: &ProjectCatalog, answer: &OrderAnswer) -> Markup {
    let order = &answer.order;
    let names = [
        ("Checkout", order.checkout.as_ref().map(|id| id.as_str())),
        ("Payment", order.payment.as_ref().map(|id| id.as_str())),
        ("Invoice", order.invoice.as_ref().map(|id| id.as_str())),
        (
            "Subscription",
            order.subscription.as_ref().map(|id| id.as_str()),
        ),
        ("Customer", order.customer.as_ref().map(|id| id.as_str())),
    ];
    html! { dl {
        div { dt { "Kind" } dd { (kind(order.kind)) } }
        div { dt { "Amount" } dd { (money(order.amount_cents, &order.terms.currency)) } }
        div { dt { "Credits" } dd { (grouped(order.granted)) " granted" @if order.taken > 0 { ", " (grouped(order.taken)) " taken back" } } }
        div { dt { "Wallet" } dd { (owner(project, answer)) } }
        @if let Some(email) = &order.email { div { dt { "Buyer" } dd { (email.as_str()) } } }
        @for (name, id) in names { @if let Some(id) = id { div { dt { (name) } dd { code { (id) } } } } }
    } }
}

fn timeline(answer: &OrderAnswer, subscription: Option<&SubscriptionDetail>) -> Markup {
    let order = &answer.order;
    let status = order.status();
    html! { dl {
        div { dt { (layout::when(order.created_at)) } dd { "Placed" } }
        @if let Some(at) = order.paid_at {
            div { dt { (layout::when(at)) } dd { "Paid, " (grouped(order.granted)) " credits granted" } }
        }
        @if order.reversal.refunded_cents > 0 || order.reversal.disputed_cents > 0 {
            div { dt { (layout::when(order.reversal.as_of)) } dd {
                (money(order.reversal.refunded_cents, &order.terms.currency)) " refunded"
                @if order.reversal.disputed_cents > 0 {
                    ", " (money(order.reversal.disputed_cents, &order.terms.currency)) " is disputed"
                }
                ", " (grouped(order.taken)) " credits taken"
            } }
        }
        @match status {
            OrderStatus::Pending => div { dt { (layout::when(order.expires_at)) } dd { "Expires unless it is paid" } },
            OrderStatus::Expired => div { dt { (layout::when(order.expires_at)) } dd { "Expired; a late payment still counts" } },
            OrderStatus::Failed => div { dt { "Then" } dd { "The payment failed" } },
            OrderStatus::Paid | OrderStatus::Refunded => {},
        }
        @if let Some(known) = subscription {
            @if let Some(at) = known.ended_at {
                div { dt { (layout::when(at)) } dd { "The subscription ended" } }
            } @else if known.subscription.cancel_at_period_end {
                div { dt { (layout::when(known.subscription.current_period_end)) } dd { "The subscription ends, as it was canceled" } }
            }
        }
    } }
}

fn refund_form(
    request: &PageRequest,
    project: &ProjectCatalog,
    answer: &OrderAnswer,
    form: Form<'_>,
) -> Markup {
    let can = answer.order.refundable_cents() > 0;
    let action = format!("{}/orders/{}/refund", base(project), answer.id);
    let label = format!("Amount in {}", answer.order.terms.currency);
    html! {
        @if can || form.error.is_some() {
            section.card {
                h2 { "Refund" }
                (form.alert(&["amount"]))
                form method="post" action=(action) {
                    (form::token(request))
                    input type="hidden" name="idempotencyKey" value=(form.fields.text("idempotencyKey"));
                    (form.number(&FieldLabel("amount", &label, "The payment provider returns the money; unused credits are taken back in proportion.")))
                    (form.tick(&FieldLabel("confirmed", "Yes, refund this money", "")))
                    button.danger type="submit" { "Refund" }
                }
            }
        }
    }
}

/// `POST …/orders/{order}/refund`: refunds an order in part or in full.
pub(super) async fn refund(State(app): State<App>, posted: FormPost) -> Result<Response, Error> {
    let FormPost { request, fields } = posted;
    let project = request.project(&app)?;
    let order = order(&app, &request, &project).await?;
    let currency = &order.order.terms.currency;
    let here = format!("{}/orders/{}", base(&project), order.id);
    let read = || {
        let cents = fields.money("amount", decimals(currency))?;
        if cents == 0 {
            return Err(Error::invalid("amount", "The amount must be more than 0."));
        }
        if !fields.is_on("confirmed") {
            return Err(Error::invalid("confirmed", "Tick the box to confirm."));
        }
        Ok((cents, key(&fields)?))
    };
    let given = match read() {
        Ok((cents, key)) => {
            let given = app
                .payments
                .refund(project.clone(), order.id, Some(cents), key)
                .await;
            let given = given.map_err(|error| Error::from_instruction(error, &project));
            given.map(|given| (cents, given.replayed))
        }
        Err(error) => Err(error),
    };
    match given {
        Ok((_, true)) => Ok(layout::done(&here, "again")),
        Ok((cents, false)) => {
            let what = format!("Refunded {} of order {}", money(cents, currency), order.id);
            Ok(audited(
                layout::done(&here, "refunded"),
                &request.signed,
                what,
            ))
        }
        Err(error) => {
            let subscription = subscription_of(&app, &project, &order).await?;
            let shown = (&order, subscription.as_ref());
            let page = page(&request, &project, shown, &fields, Some(&error));
            Ok(refused(&error, page))
        }
    }
}

fn key(fields: &Fields) -> Result<IdempotencyKey, Error> {
    let key = format!("dashboard:{}", fields.text("idempotencyKey"));
    IdempotencyKey::new(key).map_err(|error| Error::text("idempotencyKey", error))
}

/// The address of an order's wallet: its user id or its recovery code.
fn address(answer: &OrderAnswer) -> Option<Address> {
    match (&answer.external_user, &answer.code) {
        (Some(user), _) => Some(Address::External(user.clone())),
        (None, Some(code)) => Some(Address::Code(code.clone())),
        (None, None) => None,
    }
}

fn subscription_form(
    request: &PageRequest,
    project: &ProjectCatalog,
    answer: &OrderAnswer,
    known: &SubscriptionDetail,
    fields: &Fields,
) -> Markup {
    let action = format!("{}/orders/{}/subscription", base(project), answer.id);
    let ends = known.subscription.cancel_at_period_end;
    html! {
        section.card {
            h2 { "Subscription" }
            p { "These buttons act on the wallet's subscription to this product, whichever order began it." }
            form.row method="post" action=(action) {
                (form::token(request))
                input type="hidden" name="idempotencyKey" value=(fields.text("idempotencyKey"));
                @if ends {
                    button name="action" value="resume" type="submit" { "Resume" }
                } @else {
                    button name="action" value="end" type="submit" { "Cancel at the end of the period" }
                }
                button.danger name="action" value="now" type="submit" { "Cancel now…" }
            }
        }
    }
}

/// What is lost when a subscription ends at once, for the confirmation page.
fn ending(project: &ProjectCatalog, answer: &OrderAnswer, known: &SubscriptionDetail) -> Markup {
    let credits = known
        .cancellation_effects
        .credits
        .iter()
        .map(|(product, left)| {
            let unit = project.product(product);
            let unit = unit.and_then(|product| product.credit_unit.as_deref());
            format!("{} {}", grouped(*left), unit.unwrap_or("credits"))
        });
    let credits: Vec<_> = credits.collect();
    let features = &known.cancellation_effects.features;
    html! { dl {
        div { dt { "Wallet" } dd { (owner(project, answer)) } }
        div { dt { "Paid until" } dd { (layout::when(known.subscription.current_period_end)) } }
        div { dt { "Credits that end now" } dd { @if credits.is_empty() { "None" } @else { (credits.join(", ")) } } }
        div { dt { "Features that end now" } dd {
            @if features.is_empty() { "None" }
            @for feature in features { span.tag { (feature) } " " }
        } }
        div { dt { "Money" } dd { "Nothing is refunded by this. Refund it on the order's page." } }
    } }
}

/// `POST …/orders/{order}/subscription`: cancels or resumes the wallet's subscription.
pub(super) async fn subscription(
    State(app): State<App>,
    posted: FormPost,
) -> Result<Response, Error> {
    let FormPost { request, fields } = posted;
    let project = request.project(&app)?;
    let order = order(&app, &request, &project).await?;
    let here = format!("{}/orders/{}", base(&project), order.id);
    let address = address(&order).ok_or_else(|| Error::new(ErrorCode::WalletNotFound))?;
    let (product, key) = (order.order.terms.product, key(&fields)?);
    let action = fields.text("action");
    if action == "now" && !fields.is_on(CONFIRMED) {
        let known = subscription_of(&app, &project, &order).await?;
        let known = known.filter(|known| known.ended_at.is_none());
        let known = known.ok_or(Error::new(ErrorCode::SubscriptionNotFound))?;
        let facts = ending(&project, &order, &known);
        let asked = format!("Cancel {} now?", what(&project, &order));
        return Ok(actions::confirm(
            &request,
            At::Project(&project, Tab::Orders),
            &fields,
            (&format!("{here}/subscription"), &here),
            &asked,
            &facts,
        ));
    }
    let (instruction, said, did) = match action {
        "end" | "now" => {
            let cancel = Cancel {
                product,
                at_period_end: action == "end",
                key,
            };
            let did = match action {
                "end" => "Canceled at the end of its period",
                _ => "Canceled at once",
            };
            (SubscriptionInstruction::Cancel(cancel), "canceled", did)
        }
        "resume" => {
            let resume = Resume { product, key };
            let resume = SubscriptionInstruction::Resume(resume);
            (resume, "resumed", "Resumed")
        }
        _ => return Err(Error::missing("action")),
    };
    let payments = &app.payments;
    let done = payments
        .instruct(project.clone(), address, instruction)
        .await;
    let done = done.map_err(|error| Error::from_instruction(error, &project))?;
    if done.replayed {
        return Ok(layout::done(&here, "again"));
    }
    let what = format!("{did}: the subscription of order {}", order.id);
    Ok(audited(layout::done(&here, said), &request.signed, what))
}
