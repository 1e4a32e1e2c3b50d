//! One order: what was bought, the state of its payment, what happened, its refund.

use actors::{OrderAnswer, SubscriptionDetail};
use domain::{
    Rejection,
    catalog::Interval,
    id::OrderId,
    money::typed,
    wallet::{Dispute, Order, OrderKind, OrderStatus, ProviderKind},
};
use operator::{RefreshOrder, RefundOrder};
use payments::{CheckoutProgress, OrderRefresh};
use uuid::Uuid;

use super::{
    orders::{kind, order_badge, owner, path, what},
    prelude::*,
    projects::provider,
    subscriptions,
};

/// An order, and the subscription that it belongs to, if any.
type OrderWithSubscription = (OrderAnswer, Option<SubscriptionDetail>);

async fn order(request: &PageRequest) -> Result<OrderWithSubscription, Error> {
    let (handle, scope) = (&request.app.handle, &request.project.scope);
    let id: OrderId = request.named("order", ErrorCode::OrderNotFound)?;
    let order = request.read(handle.order(scope, id).await)?;
    let Some(named) = order.order.subscription.clone() else {
        return Ok((order, None));
    };
    let address = Address::Stored(id.wallet);
    match handle.subscription(scope, &address, named).await {
        Ok(subscription) => Ok((order, Some(subscription))),
        // It ended before the order was paid.
        Err(actors::Error::Rejected(Rejection::SubscriptionNotFound)) => Ok((order, None)),
        Err(error) => request.read(Err(error)),
    }
}

pub(super) async fn show(request: PageRequest) -> PageResult {
    let shown = order(&request).await?;
    let order = &shown.0.order;
    let refundable = typed(order.refundable_cents(), &order.terms.currency);
    let fields = Fields::default()
        .with("amount", refundable)
        .with(KEY, Uuid::now_v7());
    Ok(page(&request, &shown, &fields, None))
}

fn page(
    request: &PageRequest,
    (answer, subscription): &OrderWithSubscription,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let (order, form) = (&answer.order, Form::new(fields, error));
    let subscription = subscription.as_ref();
    let goes_on = subscription.filter(|known| known.ended_at.is_none());
    let body = html! {
        div.head { h1 { (what(&request.project, answer)) } (order_badge(order)) }
        p.hint { code { (answer.id) } }
        @if order.is_processing() {
            p.note { "The buyer is done, and the bank is still moving the money, which may take some days for a bank debit. Nothing has failed. The order is fulfilled once the money arrives." }
        }
        section.card { h2 { "Order" } (facts(&request.project, answer)) }
        section.card { h2 { "What happened" } (timeline(answer, subscription)) }
        @if !order.metadata.is_empty() { (metadata(order)) }
        (refund_form(request, answer, form))
        @if let Some(known) = goes_on.filter(|_| request.may(Privilege::Support)) {
            section.card {
                h2 { "Subscription" }
                (subscriptions::buttons(request, answer.id.wallet, known))
            }
        }
        @if request.may(Privilege::Support) { (refresh_card(request, answer.id)) }
    };
    form.response(request.show("Order", &body))
}

/// The page about an object in Stripe's own dashboard.
fn stripe_page(order: &Order, kind: &str, id: &str) -> Option<String> {
    let is_stripe = order.receipt.provider == Some(ProviderKind::Stripe);
    let mode = if order.receipt.livemode { "" } else { "test/" };
    is_stripe.then(|| format!("https://dashboard.stripe.com/{mode}{kind}/{id}"))
}

fn facts(project: &ProjectCatalog, answer: &OrderAnswer) -> Markup {
    let order = &answer.order;
    let currency = &order.terms.currency;
    let is_paid = order.paid_at.is_some();
    let (full, credits) = order.terms.times(order.quantity).unwrap_or_default();
    let discount = full.saturating_sub(order.amount_cents);
    let unit = project.product(&order.terms.fills);
    let unit = unit.and_then(|product| product.credit_unit.as_deref());
    let unit = unit.unwrap_or("credits");
    let names = [
        (
            "Checkout",
            "",
            order.checkout.as_ref().map(|id| id.as_str()),
        ),
        (
            "Payment",
            "payments",
            order.payment.as_ref().map(|id| id.as_str()),
        ),
        (
            "Invoice",
            "invoices",
            order.invoice.as_ref().map(|id| id.as_str()),
        ),
        (
            "Subscription",
            "subscriptions",
            order.subscription.as_ref().map(|id| id.as_str()),
        ),
        (
            "Customer",
            "customers",
            order.customer.as_ref().map(|id| id.as_str()),
        ),
    ];
    let pages = [
        ("Receipt", &order.receipt.receipt_url),
        ("Invoice document", &order.receipt.invoice_url),
    ];
    html! { dl {
        div { dt { "Kind" } dd { (kind(order.kind)) } }
        @if let Some(code) = &order.decline { div { dt { "Declined" } dd { code { (code) } } } }
        @if order.quantity.get() > 1 { div { dt { "Quantity" } dd { (order.quantity.get()) } } }
        div { dt { @if is_paid { "Charged" } @else { "Price" } } dd { (money(order.amount_cents, currency)) } }
        @if is_paid && discount > 0 && order.terms.interval == Interval::OneTime {
            div { dt { "Discount" } dd { (money(discount, currency)) " of " (money(full, currency)) } }
        }
        div { dt { "Credits" } dd {
            @if is_paid { (grouped(order.granted_credits)) " " (unit) " granted" } @else { (grouped(credits)) " " (unit) ", once it is paid" }
            @if order.reclaimed_credits > 0 { ", " (grouped(order.reclaimed_credits)) " taken back" }
        } }
        @if !order.terms.features.is_empty() {
            div { dt { "Features" } dd { @for feature in &order.terms.features { span.tag { (feature.as_str()) } " " } } }
        }
        div { dt { "Wallet" } dd { (owner(project, answer)) } }
        @if answer.code.is_some() {
            div { dt { "Recovery code" } dd {
                @if answer.is_original_code { "The code that this order showed the buyer still opens the wallet" }
                @else { "Not shown to the buyer: it was replaced since, or the buyer did not name it" }
            } }
        }
        @if let Some(email) = &order.email { div { dt { "Buyer" } dd { (verbatim(email.as_str())) } } }
        @for (name, url) in pages { @if let Some(url) = url {
            div { dt { (name) } dd { a href=(url.as_str()) rel="noreferrer" { "Open" } } }
        } }
        @for (name, kind, id) in names { @if let Some(id) = id {
            div { dt { (name) } dd {
                code { (id) }
                @if let Some(page) = stripe_page(order, kind, id).filter(|_| !kind.is_empty()) {
                    " " a href=(page) rel="noreferrer" { "at Stripe" }
                }
            } }
        } }
    } }
}

fn metadata(order: &Order) -> Markup {
    html! {
        section.card {
            h2 { "Metadata" }
            dl { @for (key, value) in order.metadata.iter() {
                div { dt { (verbatim(key)) } dd { (verbatim(value)) } }
            } }
        }
    }
}

fn timeline(answer: &OrderAnswer, subscription: Option<&SubscriptionDetail>) -> Markup {
    let order = &answer.order;
    let currency = &order.terms.currency;
    let reversal = &order.reversal;
    html! { dl {
        div { dt { (layout::when(order.created_at)) } dd { "Placed" } }
        @if let Some(at) = order.paid_at {
            div { dt { (layout::when(at)) } dd { "Paid, " (grouped(order.granted_credits)) " credits granted" } }
        }
        @if let Some(pending) = order.pending_refunds {
            div { dt { (layout::when(pending.at)) } dd { "Refund requested; " (money(pending.cents, currency)) " in all once it shows" } }
        }
        @if reversal.refunded_cents > 0 || reversal.disputed_cents > 0 {
            div { dt { (layout::when(reversal.as_of)) } dd {
                (money(reversal.refunded_cents, currency)) " refunded"
                @if reversal.disputed_cents > 0 {
                    ", " (money(reversal.disputed_cents, currency)) " is disputed"
                }
                ", " (grouped(order.reclaimed_credits)) " credits taken"
            } }
        }
        @if let Some(dispute) = &reversal.dispute { (disputed(dispute)) }
        @match order.status() {
            OrderStatus::Pending if !order.is_processing() && order.kind != OrderKind::TopUp => div { dt { (layout::when(order.expires_at)) } dd { "Expires unless it is paid" } },
            OrderStatus::Pending => {},
            OrderStatus::Expired if order.is_processing() => div { dt { (layout::when(order.expires_at)) } dd { "Expired; the payment that is under way still counts" } },
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

fn disputed(dispute: &Dispute) -> Markup {
    let currency = dispute.currency.to_string();
    html! {
        div { dt { (layout::when(dispute.opened_at)) } dd {
            @if dispute.inquiry { "The bank asked what it was for" } @else { "Disputed" }
            ", " (money(dispute.amount_cents, &currency)) ", reason: " (dispute.reason.as_str().replace('_', " "))
            @match dispute.won {
                Some(true) => ". It was won",
                Some(false) => ". It was lost",
                None => @if let Some(by) = dispute.respond_by { ". Answer it at the payment provider by " (layout::when(by)) },
            }
        } }
    }
}

fn refund_form(request: &PageRequest, answer: &OrderAnswer, form: Form<'_>) -> Markup {
    let can = answer.order.refundable_cents() > 0 && request.may(Privilege::Support);
    let action = format!("{}/refund", path(&request.project, answer.id));
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
                    button.danger type="submit" { "Refund…" }
                }
            }
        }
    }
}

pub(super) async fn refund(request: FormPost<RefundOrder>) -> PageResult {
    let shown = order(&request).await?;
    let (id, currency) = (shown.0.id, &shown.0.order.terms.currency);
    let done = async {
        let cents = request.fields.money("amount", decimals(currency))?;
        if cents == 0 {
            return Err(Error::invalid("amount", "The amount must be more than 0."));
        }
        let refund = RefundOrder {
            order: id,
            cents,
            key: request.fields.key()?,
        };
        request
            .run(refund, &path(&request.project, id), "refunded")
            .await
    };
    let again = |error| page(&request, &shown, &request.fields, Some(&error));
    Ok(done.await.unwrap_or_else(again))
}

fn refresh_card(request: &PageRequest, order: OrderId) -> Markup {
    let name = provider(&request.project);
    html! {
        @if name != "None" {
            section.card {
                h2 { "Payment provider" }
                p { "Its events are processed automatically. If something seems to be missing, refresh this order." }
                form method="post" action={ (path(&request.project, order)) "/refresh" } {
                    (form::token(request))
                    button type="submit" { "Refresh from " @if name == "Sandbox" { "the sandbox" } @else { (name) } }
                }
            }
        }
    }
}

pub(super) async fn refresh(request: FormPost<RefreshOrder>) -> PageResult {
    let order: OrderId = request.named("order", ErrorCode::OrderNotFound)?;
    let back = path(&request.project, order);
    let page = |refresh: Option<OrderRefresh>, _| {
        let message = match refresh.map(|refresh| (refresh.changed, refresh.progress)) {
            None => "refreshed_nothing",
            Some((true, _)) => "refreshed_changed",
            Some((_, CheckoutProgress::Processing)) => "refreshed_processing",
            Some((_, CheckoutProgress::Open)) => "refreshed_open",
            Some((_, CheckoutProgress::Finished)) => "refreshed_same",
        };
        layout::done(&back, message)
    };
    request.answer(RefreshOrder(order), &back, page).await
}
