//! A project's orders, newest first; one order with its history, its refund and its subscription.

use actors::{Address, OrderAnswer, SubscriptionDetail};
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    Rejection,
    id::OrderId,
    wallet::{OrderKind, OrderStatus, cancel::Cancel, resume::Resume},
};
use maud::{Markup, html};
use payments::SubscriptionInstruction;
use uuid::Uuid;
use wire::{Error, ErrorCode, cursor::OrderCursor};

use super::{
    actions::confirm,
    catalog::product_name,
    fields::{CONFIRMED, Fields, KEY},
    form::{self, FieldLabel, Form},
    layout::{self, At, Tab, base},
    money::{amount, decimals, grouped, money},
    order_refresh,
    page_request::{FormPost, PageRequest},
    wallets,
};
use crate::state::App;

/// Orders per page.
const SHOWN: usize = 25;

/// An order's statuses, with the names of each: in the query, for people, and of its badge's class.
const STATES: [(OrderStatus, &str, &str, &str); 5] = [
    (OrderStatus::Paid, "paid", "Paid", "badge good"),
    (OrderStatus::Pending, "pending", "Pending", "badge wait"),
    (OrderStatus::Refunded, "refunded", "Refunded", "badge"),
    (OrderStatus::Failed, "failed", "Failed", "badge bad"),
    (OrderStatus::Expired, "expired", "Expired", "badge"),
];

/// A coloured badge with an order's status.
pub(super) fn badge(status: OrderStatus) -> Markup {
    let known = STATES.iter().find(|(known, ..)| *known == status);
    html! { @if let Some((.., name, class)) = known { span class=(class) { (name) } } }
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
    let wanted = STATES.iter().find(|(_, name, ..)| *name == wanted);
    let before = query.cursor()?.map(|OrderCursor(at, order)| (at, order));
    let (handle, scope) = (&app.handle, &project.scope);
    let status = wanted.map(|(status, ..)| *status);
    let page = handle.orders(scope, status, before, SHOWN).await;
    let page = page.map_err(|error| Error::from_wallet(error, &project))?;
    let older = page.next.map(|(at, order)| {
        let status = wanted.map_or("", |(_, name, ..)| name);
        format!("?status={status}&before={}", OrderCursor(at, order))
    });
    let mut states = vec![("", "All")];
    states.extend(STATES.iter().map(|(_, value, name, _)| (*value, *name)));
    let form = Form::new(query, None);
    let body = html! {
        h1 { "Orders" }
        @let waiting = app.payments.unfulfilled().count(Some(project.project.id));
        p { a href={ (base(&project)) "/unfulfilled-payments" } { "Unfulfilled payments and daily reconciliation" } @if waiting > 0 { " " span class="badge bad" { (waiting) } } }
        form.row.filter method="get" {
            (form.choice(&FieldLabel("status", "State", ""), &states))
            button type="submit" { "Show" }
        }
        @if page.orders.is_empty() { p.empty { "No such orders." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Orders" { table {
                thead { tr { th { "Placed" } th { "State" } th { "What" } th.number { "Amount" } th { "Wallet" } th { "Buyer" } } }
                tbody { @for order in &page.orders { (row(&project, order)) } }
            } }
        }
        @if let Some(older) = older { p { a.button href=(older) { "Older" } } }
    };
    Ok(Tab::Orders.page(&request, &project, "Orders", &body))
}

fn row(project: &ProjectCatalog, answer: &OrderAnswer) -> Markup {
    let order = &answer.order;
    html! { tr {
        td.time { a href=(path(project, answer.id)) { (layout::when(order.created_at)) } }
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
    let label = terms.label.as_ref().map(ToString::to_string);
    label.unwrap_or_else(|| product_name(project, terms.product))
}

fn owner(project: &ProjectCatalog, answer: &OrderAnswer) -> Markup {
    let name = match (&answer.external_user, answer.wallet) {
        (Some(user), _) => user.as_str(),
        (None, Some(_)) => "Anonymous",
        (None, None) => return html! { "–" },
    };
    html! { a href=(wallets::path(project, answer.id.wallet)) { (name) } }
}

/// An order, and the subscription that it belongs to, if any.
type OrderWithSubscription = (OrderAnswer, Option<SubscriptionDetail>);

/// The order that the path names.
async fn order(
    app: &App,
    request: &PageRequest,
    project: &ProjectCatalog,
) -> Result<OrderWithSubscription, Error> {
    let (handle, scope) = (&app.handle, &project.scope);
    let refused = |error| Error::from_wallet(error, project);
    let id: OrderId = request.named("order", ErrorCode::OrderNotFound)?;
    let order = handle.order(scope, id).await.map_err(refused)?;
    let Some(named) = order.order.subscription.clone() else {
        return Ok((order, None));
    };
    let address = Address::Stored(id.wallet);
    match handle.subscription(scope, &address, named).await {
        Ok(subscription) => Ok((order, Some(subscription))),
        // It ended before the order was paid.
        Err(actors::Error::Rejected(Rejection::SubscriptionNotFound)) => Ok((order, None)),
        Err(error) => Err(refused(error)),
    }
}

/// `GET …/orders/{order}`: one order.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let shown = order(&app, &request, &project).await?;
    let order = &shown.0.order;
    let refundable = amount(order.refundable_cents(), &order.terms.currency);
    let fields = Fields::default()
        .with("amount", refundable)
        .with(KEY, Uuid::now_v7());
    Ok(page(&request, &project, &shown, &fields, None))
}

fn page(
    request: &PageRequest,
    project: &ProjectCatalog,
    (answer, subscription): &OrderWithSubscription,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let (order, form) = (&answer.order, Form::new(fields, error));
    let subscription = subscription.as_ref();
    let goes_on = subscription.filter(|known| known.ended_at.is_none());
    let body = html! {
        div.head { h1 { (what(project, answer)) } (badge(order.status())) }
        p.hint { code { (answer.id) } }
        section.card { h2 { "Order" } (facts(project, answer)) }
        section.card { h2 { "What happened" } (timeline(answer, subscription)) }
        (refund_form(request, project, answer, form))
        @if let Some(known) = goes_on {
            (subscription_form(request, project, answer, known, fields))
        }
        (order_refresh::part(request, project, answer.id))
    };
    form.response(Tab::Orders.page(request, project, "Order", &body))
}

/// The path of an order's page.
pub(super) fn path(project: &ProjectCatalog, order: OrderId) -> String {
    format!("{}/orders/{order}", base(project))
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
        div { dt { "Credits" } dd { (grouped(order.granted_credits)) " granted" @if order.reclaimed_credits > 0 { ", " (grouped(order.reclaimed_credits)) " taken back" } } }
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
            div { dt { (layout::when(at)) } dd { "Paid, " (grouped(order.granted_credits)) " credits granted" } }
        }
        @if order.reversal.refunded_cents > 0 || order.reversal.disputed_cents > 0 {
            div { dt { (layout::when(order.reversal.as_of)) } dd {
                (money(order.reversal.refunded_cents, &order.terms.currency)) " refunded"
                @if order.reversal.disputed_cents > 0 {
                    ", " (money(order.reversal.disputed_cents, &order.terms.currency)) " is disputed"
                }
                ", " (grouped(order.reclaimed_credits)) " credits taken"
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
    let action = format!("{}/refund", path(project, answer.id));
    let label = format!("Amount in {}", answer.order.terms.currency);
    html! {
        @if can || form.error.is_some() {
            section.card {
                h2 { "Refund" }
                (form.alert(&["amount"]))
                form method="post" action=(action) {
                    (form::token(request))
                    input type="hidden" name=(KEY) value=(form.fields.text(KEY));
                    (form.number(&FieldLabel("amount", &label, "The payment provider returns the money; unused credits are taken back in proportion.")))
                    (form.tick(&FieldLabel(CONFIRMED, "Yes, refund this money", "")))
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
    let shown = order(&app, &request, &project).await?;
    let (id, currency) = (shown.0.id, &shown.0.order.terms.currency);
    let page_path = path(&project, id);
    let done: Result<Response, Error> = async {
        let cents = fields.money("amount", decimals(currency))?;
        if cents == 0 {
            return Err(Error::invalid("amount", "The amount must be more than 0."));
        }
        fields.confirmed()?;
        let (payments, key) = (&app.payments, fields.key()?);
        let refund = payments.refund(project.clone(), id, Some(cents), key);
        let refund = refund.await;
        let refund = refund.map_err(|error| Error::from_instruction(error, &project))?;
        if refund.replayed {
            return Ok(layout::done(&page_path, "again"));
        }
        let what = format!("Refunded {} of order {id}", money(cents, currency));
        Ok(request.done(&page_path, "refunded", what))
    }
    .await;
    let again = |error| page(&request, &project, &shown, &fields, Some(&error));
    Ok(done.unwrap_or_else(again))
}

fn subscription_form(
    request: &PageRequest,
    project: &ProjectCatalog,
    answer: &OrderAnswer,
    known: &SubscriptionDetail,
    fields: &Fields,
) -> Markup {
    let action = format!("{}/subscription", path(project, answer.id));
    let ends = known.subscription.cancel_at_period_end;
    html! {
        section.card {
            h2 { "Subscription" }
            p { "These buttons act on the wallet's subscription to this product, whichever order began it." }
            form.row method="post" action=(action) {
                (form::token(request))
                input type="hidden" name=(KEY) value=(fields.text(KEY));
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
    let effects = &known.cancellation_effects;
    let credits = effects.credits.iter().map(|(product, left)| {
        let unit = project.product(product);
        let unit = unit.and_then(|product| product.credit_unit.as_deref());
        format!("{} {}", grouped(*left), unit.unwrap_or("credits"))
    });
    let credits: Vec<_> = credits.collect();
    let features = &effects.features;
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
    let (order, known) = order(&app, &request, &project).await?;
    let page_path = path(&project, order.id);
    let address = Address::Stored(order.id.wallet);
    let (product, key) = (order.order.terms.product, fields.key()?);
    let action = fields.text("action");
    if action == "now" && !fields.is_on(CONFIRMED) {
        let known = known.filter(|known| known.ended_at.is_none());
        let known = known.ok_or(Error::new(ErrorCode::SubscriptionNotFound))?;
        let at = At::Project(&project, Tab::Orders);
        let facts = ending(&project, &order, &known);
        let title = format!("Cancel {} now?", what(&project, &order));
        let paths = (&*format!("{page_path}/subscription"), &*page_path);
        return Ok(confirm(&request, at, &fields, paths, &title, &facts));
    }
    let (instruction, message, did) = match action {
        "end" | "now" => {
            let (at_period_end, did) = match action {
                "end" => (true, "Canceled at the end of its period"),
                _ => (false, "Canceled at once"),
            };
            let cancel = Cancel {
                product,
                at_period_end,
                key,
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
    let done = app.payments.instruct(project.clone(), address, instruction);
    let done = done
        .await
        .map_err(|error| Error::from_instruction(error, &project))?;
    if done.replayed {
        return Ok(layout::done(&page_path, "again"));
    }
    let what = format!("{did}: the subscription of order {}", order.id);
    Ok(request.done(&page_path, message, what))
}
