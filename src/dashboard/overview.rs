//! What became of a project's credits and orders within a day, a month or a year, and what happens now.

use std::collections::BTreeMap;

use actors::OrderAnswer;
use axum::{
    extract::State,
    response::{Html, IntoResponse, Response},
};
use domain::{Timestamp, catalog::Product, wallet::OrderStatus};
use maud::{Markup, html};
use persistence::usage::{Count, Interval, Usage};

use super::{
    money::{grouped, money},
    orders::badge,
    shell::{self, At, Tab, base},
    visit::Visit,
};
use crate::{
    catalog::ProjectCatalog,
    http::{Code, Error, view::Instant},
    state::App,
};

/// Orders looked at, the newest; more would have everybody wait.
const ORDERS: usize = 500;
/// Features that are listed, the most used ones.
const FEATURES: usize = 10;

/// What a page looks back on.
struct Range {
    name: &'static str,
    text: &'static str,
    interval: Interval,
    buckets: usize,
}

const RANGES: [Range; 3] = [
    Range {
        name: "day",
        text: "Day",
        interval: Interval::Hour,
        buckets: 24,
    },
    Range {
        name: "month",
        text: "Month",
        interval: Interval::Day,
        buckets: 30,
    },
    Range {
        name: "year",
        text: "Year",
        interval: Interval::Month,
        buckets: 12,
    },
];

/// `GET …/{project}`
pub(super) async fn show(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = visit.project(&app)?;
    let query = visit.query();
    let [_, month, _] = &RANGES;
    let named = RANGES
        .iter()
        .find(|range| range.name == query.text("range"));
    let range = named.unwrap_or(month);
    let product = query.parsed("productId", "a product")?;
    let holding: Vec<&Product> = project.products().filter(|it| it.holds_credits()).collect();
    let product = holding
        .iter()
        .find(|it| Some(it.id) == product)
        .or(holding.first())
        .copied();
    let starts = starts(range, app.handle.now_in(&project.scope))?;
    let since = starts.first().copied().unwrap_or(Timestamp(0));
    let usage = match product {
        Some(product) => {
            let end = Timestamp(i64::MAX);
            let read = app
                .handle
                .usage(product.id, range.interval, (since, end))
                .await;
            read.map_err(|error| Error::from_wallet(error, &project))?
        }
        None => Vec::new(),
    };
    let usage: BTreeMap<Timestamp, Usage> = usage.into_iter().collect();
    let (orders, all) = orders(&app, &project, since).await?;
    let body = html! {
        div.head {
            h1 { "Overview" }
            nav.ranges aria-label="Time" { @for one in &RANGES {
                a href={ (base(&project)) "?range=" (one.name) @if let Some(product) = product { "&productId=" (product.id) } }
                    aria-current=[(one.name == range.name).then_some("true")] { (one.text) }
            } }
        }
        (live(&app, None))
        @if holding.len() > 1 {
            nav.ranges aria-label="Product" { @for one in &holding {
                a href={ (base(&project)) "?range=" (range.name) "&productId=" (one.id) }
                    aria-current=[(Some(one.id) == product.map(|it| it.id)).then_some("true")] { (one.name) }
            } }
        }
        @match product {
            Some(product) => (credits(product, &starts, &usage, range)),
            None => p.empty { "No product holds credits yet. " a href={ (base(&project)) "/catalog/new" } { "Make one" } },
        }
        (money_part(&orders, all))
    };
    Ok(shell::page(
        &visit,
        At::Project(&project, Tab::Overview),
        "Overview",
        &body,
    ))
}

/// The first instants of a range's stretches, oldest first, the one under way last.
fn starts(range: &Range, now: Timestamp) -> Result<Vec<Timestamp>, Error> {
    let mut starts = Vec::with_capacity(range.buckets);
    let mut at = now;
    while starts.len() < range.buckets {
        let span = range
            .interval
            .span(at)
            .ok_or(Error::new(Code::InternalError))?;
        starts.push(span.start);
        at = Timestamp(span.start.0.saturating_sub(1));
    }
    starts.reverse();
    Ok(starts)
}

fn credits(
    product: &Product,
    starts: &[Timestamp],
    usage: &BTreeMap<Timestamp, Usage>,
    range: &Range,
) -> Markup {
    let mut total = Count::default();
    let mut features: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for used in usage.values() {
        total.granted = total.granted.saturating_add(used.count.granted);
        total.deducted = total.deducted.saturating_add(used.count.deducted);
        total.expired = total.expired.saturating_add(used.count.expired);
        total.deductions = total.deductions.saturating_add(used.count.deductions);
        for (name, used) in &used.features {
            let sum = features.entry(name).or_default();
            *sum = (
                sum.0.saturating_add(used.credits),
                sum.1.saturating_add(used.deductions),
            );
        }
    }
    let mut features: Vec<_> = features.into_iter().collect();
    features.sort_by_key(|(_, (credits, _))| std::cmp::Reverse(*credits));
    features.truncate(FEATURES);
    let labels: Vec<String> = starts.iter().map(|start| label(*start, range)).collect();
    let none = Usage::default();
    let counts: Vec<Count> = starts
        .iter()
        .map(|start| usage.get(start).unwrap_or(&none).count)
        .collect();
    let chart = serde_json::json!({
        "kind": range.text,
        "labels": labels,
        "series": [
            {"name": "Spent", "values": counts.iter().map(|count| count.deducted).collect::<Vec<_>>()},
            {"name": "Granted", "values": counts.iter().map(|count| count.granted).collect::<Vec<_>>()},
        ],
    });
    html! {
        div.tiles {
            (tile("Credits granted", &grouped(total.granted)))
            (tile("Credits spent", &grouped(total.deducted)))
            (tile("Credits expired", &grouped(total.expired)))
            (tile("Deductions", &grouped(total.deductions)))
        }
        section.card {
            h2 { (product.name) }
            div.chart data-chart=(chart) { p.empty { "The chart needs JavaScript; the same figures are below." } }
            details {
                summary { "As a table" }
                div.scroll tabindex="0" role="region" aria-label="Credits" { table {
                    thead { tr { th { "From, UTC" } th.number { "Granted" } th.number { "Spent" } th.number { "Expired" } th.number { "Deductions" } } }
                    tbody { @for (label, count) in labels.iter().zip(&counts).rev() { tr {
                        td.time { (label) }
                        td.number { (grouped(count.granted)) } td.number { (grouped(count.deducted)) }
                        td.number { (grouped(count.expired)) } td.number { (grouped(count.deductions)) }
                    } } }
                } }
            }
        }
        @if !features.is_empty() {
            section.card {
                h2 { "Most used" }
                div.scroll tabindex="0" role="region" aria-label="Features" { table {
                    thead { tr { th { "Feature" } th.number { "Credits" } th.number { "Deductions" } } }
                    tbody { @for (name, (credits, times)) in &features { tr {
                        td { (name) } td.number { (grouped(*credits)) } td.number { (grouped(*times)) }
                    } } }
                } }
            }
        }
    }
}

fn tile(name: &str, figure: &str) -> Markup {
    html! { div.tile { p { (name) } b { (figure) } } }
}

fn label(start: Timestamp, range: &Range) -> String {
    let text = Instant(start).to_string();
    let (from, to) = match range.interval {
        Interval::Hour => (11, 16),
        Interval::Day => (5, 10),
        Interval::Month => (0, 7),
    };
    text.get(from..to).unwrap_or_default().to_owned()
}

/// The newest orders since an instant, and whether they are all.
async fn orders(
    app: &App,
    project: &ProjectCatalog,
    since: Timestamp,
) -> Result<(Vec<OrderAnswer>, bool), Error> {
    let page = app.handle.orders(&project.scope, None, ORDERS).await;
    let page = page.map_err(|error| Error::from_wallet(error, project))?;
    let mut orders = page.orders;
    let before = orders.len();
    orders.retain(|order| order.order.created_at >= since);
    let all = page.next.is_none() || orders.len() < before;
    Ok((orders, all))
}

fn money_part(orders: &[OrderAnswer], all: bool) -> Markup {
    let mut by_state: BTreeMap<&str, (OrderStatus, usize)> = BTreeMap::new();
    let mut revenue: BTreeMap<&str, i64> = BTreeMap::new();
    for OrderAnswer { order, .. } in orders {
        let status = order.status();
        let name = match status {
            OrderStatus::Paid => "paid",
            OrderStatus::Pending => "pending",
            OrderStatus::Refunded => "refunded",
            OrderStatus::Failed => "failed",
            OrderStatus::Expired => "expired",
        };
        let count = &mut by_state.entry(name).or_insert((status, 0)).1;
        *count = count.saturating_add(1);
        if order.paid_at.is_some() {
            let kept = order
                .amount_cents
                .saturating_sub(order.reversal.refunded_cents);
            let sum = revenue.entry(&order.terms.currency).or_default();
            *sum = sum.saturating_add(kept);
        }
    }
    html! {
        section.card {
            h2 { "Orders" }
            @if orders.is_empty() { p.empty { "None in this time." } } @else {
                @if !all { p.note { "Of the newest " (ORDERS) " orders only." } }
                dl {
                    @for (status, count) in by_state.values() { div { dt { (badge(*status)) } dd { (count) } } }
                    @for (currency, cents) in &revenue { div { dt { "Revenue, less refunds" } dd { (money(*cents, currency)) } } }
                }
            }
        }
    }
}

/// `GET /dashboard/live`: a part of a page, which renews itself every two seconds.
pub(super) async fn live_part(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let query = visit.query();
    let count: Option<u64> = query.parsed("count", "a number")?;
    let at: Option<i64> = query.parsed("at", "an instant")?;
    let part = live(&app, count.zip(at));
    Ok(Html(part.into_string()).into_response())
}

/// The rate since what was shown before; its own address carries that along.
fn live(app: &App, before: Option<(u64, i64)>) -> Markup {
    let (count, now) = (app.metrics.deductions(), app.clock.now().0);
    let rate = before.and_then(|(before, at)| {
        let more = count.checked_sub(before)?.checked_mul(1000)?;
        let millis = u64::try_from(now.checked_sub(at)?).ok()?;
        more.checked_div(millis)
    });
    let next = format!("/dashboard/live?count={count}&at={now}");
    html! {
        p.live #live hx-get=(next) hx-trigger="load delay:2s" hx-swap="outerHTML" {
            @match rate {
                Some(rate) => { b { (grouped(i64::try_from(rate).unwrap_or(i64::MAX))) } " deductions a second now" },
                None => { b { (grouped(i64::try_from(count).unwrap_or(i64::MAX))) } " deductions since the start" },
            }
            ", in all projects"
        }
    }
}
