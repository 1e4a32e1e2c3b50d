//! A project's overview: credits and orders of a day, a month or a year, and the current rate of deductions.

use std::collections::BTreeMap;

use axum::{
    extract::State,
    response::{Html, IntoResponse, Response},
};
use domain::{Timestamp, catalog::Product, wallet::OrderStatus};
use maud::{Markup, html};
use persistence::usage::{Count, DistinctCount, Interval, Sales, Usage, Wallets};
use wire::{Error, ErrorCode, view::Instant};

use super::{
    layout::{Tab, base},
    money::{grouped, money},
    orders::badge,
    page_request::PageRequest,
};
use crate::state::App;

/// Features that are listed, the most used first.
const FEATURES: usize = 10;

/// A time range that the page can show.
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

/// `GET …/{project}`: the overview.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let query = request.query();
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
    let ids: Vec<_> = project.products().map(|product| product.id).collect();
    let within = (since, Timestamp(i64::MAX));
    let read = app.handle.usage_of(ids.clone(), range.interval, within);
    let read = read.await;
    let all = read.map_err(|error| Error::from_wallet(error, &project))?;
    let mut sales = Sales::default();
    let mut usage = BTreeMap::new();
    for (id, found) in ids.into_iter().zip(all) {
        found.iter().for_each(|(_, used)| sales.merge(&used.sales));
        if Some(id) == product.map(|it| it.id) {
            usage = found.into_iter().collect();
        }
    }
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
            None => p.empty { "No product holds credits yet. " a href={ (base(&project)) "/catalog/new" } { "Create one" } },
        }
        (orders_card(&sales))
    };
    Ok(Tab::Overview.page(&request, &project, "Overview", &body))
}

/// The first instants of a range's buckets, oldest first; the last bucket is the current one.
fn starts(range: &Range, now: Timestamp) -> Result<Vec<Timestamp>, Error> {
    let mut starts = Vec::with_capacity(range.buckets);
    let mut at = now;
    while starts.len() < range.buckets {
        let span = range
            .interval
            .span(at)
            .ok_or(Error::new(ErrorCode::InternalError))?;
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
    let mut active = Wallets::default();
    let mut features: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for used in usage.values() {
        total.granted = total.granted.saturating_add(used.count.granted);
        total.deducted = total.deducted.saturating_add(used.count.deducted);
        total.expired = total.expired.saturating_add(used.count.expired);
        total.deductions = total.deductions.saturating_add(used.count.deductions);
        active.merge(&used.wallets);
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
    let parts: Vec<&Usage> = starts
        .iter()
        .map(|start| usage.get(start).unwrap_or(&none))
        .collect();
    let counts: Vec<Count> = parts.iter().map(|part| part.count).collect();
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
            (tile("Active wallets", &distinct(active.count())))
        }
        section.card {
            h2 { (product.name) }
            p.hint { "A wallet is active when its credits are used or bought." @if !active.count().is_exact { " Beyond 128 the number is an estimate: two times in three within 2.3 %." } }
            div.chart data-chart=(chart) { p.empty { "The chart needs JavaScript; the same figures are below." } }
            details {
                summary { "As a table" }
                div.scroll tabindex="0" role="region" aria-label="Credits" { table {
                    thead { tr { th { "From, UTC" } th.number { "Granted" } th.number { "Spent" } th.number { "Expired" } th.number { "Deductions" } th.number { "Active wallets" } } }
                    tbody { @for ((label, count), part) in labels.iter().zip(&counts).zip(&parts).rev() { tr {
                        td.time { (label) }
                        td.number { (grouped(count.granted)) } td.number { (grouped(count.deducted)) }
                        td.number { (grouped(count.expired)) } td.number { (grouped(count.deductions)) }
                        td.number { (distinct(part.wallets.count())) }
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

fn distinct(DistinctCount { count, is_exact }: DistinctCount) -> String {
    let count = grouped(i64::try_from(count).unwrap_or(i64::MAX));
    if is_exact {
        return count;
    }
    format!("about {count}")
}

fn orders_card(sales: &Sales) -> Markup {
    let states = [
        (OrderStatus::Paid, sales.paid),
        (OrderStatus::Pending, sales.pending()),
        (OrderStatus::Refunded, sales.refunded),
        (OrderStatus::Failed, sales.failed),
        (OrderStatus::Expired, sales.expired),
    ];
    html! {
        section.card {
            h2 { "Orders" }
            @if sales.placed == 0 { p.empty { "None in this period." } } @else {
                p.hint { "Placed in this period, with their current status: " (grouped(sales.placed)) " in all." }
                dl {
                    @for (status, count) in states { @if count != 0 { div { dt { (badge(status)) } dd { (grouped(count)) } } } }
                    @for (currency, sum) in &sales.money { div {
                        dt { "Revenue, less refunds" }
                        dd {
                            (money(sum.paid.saturating_sub(sum.returned), currency))
                            @if sum.returned > 0 { span.hint { " after " (money(sum.returned, currency)) " returned" } }
                        }
                    } }
                }
            }
        }
    }
}

/// `GET /dashboard/live`: a fragment that refreshes itself every two seconds.
pub(super) async fn live_part(
    request: PageRequest,
    State(app): State<App>,
) -> Result<Response, Error> {
    let query = request.query();
    let count: Option<u64> = query.parsed("count", "a number")?;
    let at: Option<i64> = query.parsed("at", "an instant")?;
    let part = live(&app, count.zip(at));
    Ok(Html(part.into_string()).into_response())
}

/// The rate of deductions since the previous fragment; the fragment's own URL carries the count and instant.
fn live(app: &App, before: Option<(u64, i64)>) -> Markup {
    let (count, now) = (app.edge.metrics.deductions(), app.edge.clock.now().0);
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
