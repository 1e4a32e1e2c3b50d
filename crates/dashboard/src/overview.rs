//! A project's overview: what has to be done, money, orders, credits, and the current rate of deductions.

use std::collections::BTreeMap;

use actors::{Address, OrderState};
use axum::{
    extract::State,
    response::{Html, IntoResponse, Response},
};
use domain::{Timestamp, catalog::Product, time::Span, wallet::OrderStatus};
use edge::Support;
use identity::ProjectScope;
use maud::{Markup, html};
use persistence::usage::{Count, DistinctCount, Sales, Usage, Wallets};
use wire::Error;

use super::{
    attention,
    form::Form,
    layout::{self, Tab, base},
    money::grouped,
    orders::{STATES, badge},
    page_request::{FormPost, PageRequest},
    period::Period,
    revenue::{self, SalesByInterval},
    wallets,
};
use crate::state::App;

/// Prices and customers that are listed, the best first.
const MAX_BEST: usize = 5;
/// Features that are listed, the most used first.
const MAX_FEATURES: usize = 10;

/// `GET …/{project}`: the overview.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let query = request.query();
    let now = app.handle.now_in(&project.scope);
    let period = match Period::of(query, now) {
        Ok(period) => period,
        Err(error) => {
            let body = html! { h1 { "Overview" } p.alert { (error.message()) } p { a href=(base(&project)) { "Show the last 30 days" } } };
            let form = Form::new(query, Some(&error));
            return Ok(form.response(Tab::Overview.page(&request, &project, "Overview", &body)));
        }
    };
    let product = query.parsed("productId", "a product")?;
    let holding: Vec<&Product> = project.products().filter(|it| it.holds_credits()).collect();
    let product = holding
        .iter()
        .find(|it| Some(it.id) == product)
        .or(holding.first())
        .copied();
    let ids = project.product_ids();
    let within = (period.first_before(), period.end);
    let read = app.handle.usage_of(ids.clone(), period.interval, within);
    let read = read.await;
    let all = read.map_err(|error| Error::from_wallet(error, &project))?;
    let mut sales = SalesByInterval::new();
    let mut usage = BTreeMap::new();
    for (id, found) in ids.into_iter().zip(all) {
        for (start, used) in &found {
            sales.entry(*start).or_default().merge(&used.sales);
        }
        if Some(id) == product.map(|it| it.id) {
            let shown = found.into_iter().filter(|(at, _)| *at >= period.start());
            usage = shown.collect();
        }
    }
    let path = base(&project);
    let span = Span {
        start: period.start(),
        end: period.end,
    };
    let (handle, scope) = (&app.handle, &project.scope);
    let best = handle.best_sellers(scope, project.product_ids(), span, MAX_BEST);
    let best = best
        .await
        .map_err(|error| Error::from_wallet(error, &project))?;
    let mut names = Vec::new();
    for (key, _) in &best.wallets {
        let wallet = handle.peek(scope, &Address::Stored(*key)).await;
        names.push(wallet.map_or_else(|_| html! { (key) }, |it| wallets::name(&it.view)));
    }
    let tasks = attention::card(&request, &app, &project).await;
    let ever = [OrderStatus::Paid, OrderStatus::Refunded].map(OrderState::Is);
    let sold = handle.order_totals_by_state(scope, project.product_ids(), ever);
    // A list that cannot be read now is no reason to show the first steps.
    let has_sold = sold
        .await
        .map_or(true, |sold| sold.iter().any(|it| it.count > 0));
    let outstanding = app.outstanding.of(project.project.id);
    let body = html! {
        div.head {
            h1 { "Overview" }
            (period.choice(&path, query, &["productId"]))
        }
        (attention::first_steps(&project, has_sold))
        (tasks)
        (revenue::part(&sales, &period))
        (revenue::best(&project, &best, &names))
        div.columns {
            (orders_card(&revenue::total(&sales, &period.starts)))
            (revenue::outstanding(&request, &project, outstanding.as_ref()))
        }
        @if holding.len() > 1 {
            nav.ranges aria-label="Product" { @for one in &holding {
                a href={ (path) "?" (period.query(query)) "productId=" (one.id) }
                    aria-current=[(Some(one.id) == product.map(|it| it.id)).then_some("true")] { (one.name) }
            } }
        }
        @match product {
            Some(product) => (credits(product, &period, &usage, &live(&app, &request, None))),
            None => p.empty { "No product holds credits yet. " a href={ (path) "/catalog/new" } { "Create one" } },
        }
    };
    Ok(Tab::Overview.page(&request, &project, "Overview", &body))
}

/// `POST …/{project}/outstanding`: counts outstanding credits now.
pub(super) async fn count(
    State(app): State<App>,
    posted: FormPost<Support>,
) -> Result<Response, Error> {
    let project = posted.request.project(&app)?;
    let done = match app.outstanding.hasten().await {
        true => "counted",
        false => "counting",
    };
    Ok(layout::done(&base(&project), done))
}

fn credits(
    product: &Product,
    period: &Period,
    usage: &BTreeMap<Timestamp, Usage>,
    live: &Markup,
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
    features.truncate(MAX_FEATURES);
    let labels = period.labels();
    let none = Usage::default();
    let parts: Vec<&Usage> = period
        .starts
        .iter()
        .map(|start| usage.get(start).unwrap_or(&none))
        .collect();
    let counts: Vec<Count> = parts.iter().map(|part| part.count).collect();
    let chart = serde_json::json!({
        "kind": period.unit(),
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
            (live)
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

fn distinct(DistinctCount { count, is_exact }: DistinctCount) -> String {
    let count = grouped(i64::try_from(count).unwrap_or(i64::MAX));
    if is_exact {
        return count;
    }
    format!("about {count}")
}

fn orders_card(sales: &Sales) -> Markup {
    let states = STATES.map(|(status, ..)| (status, sales.in_status(status)));
    html! {
        section.card {
            h2 { "Orders" }
            @let placed = sales.placed();
            @if placed == 0 { p.empty { "None in this period." } } @else {
                p.hint { "Placed in this period, with their current status: " (grouped(placed)) " in all." }
                dl {
                    @for (status, count) in states { @if count != 0 { div { dt { (badge(status)) } dd { (grouped(count)) } } } }
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
    let part = live(&app, &request, count.zip(at));
    Ok(Html(part.into_string()).into_response())
}

/// The rate of deductions since the previous fragment; the fragment's own URL carries the count and instant.
/// It counts all projects together, so that only those who see all of them see it.
fn live(app: &App, request: &PageRequest, before: Option<(u64, i64)>) -> Markup {
    if request.authority.projects != ProjectScope::All {
        return Markup::default();
    }
    let (count, now) = (app.edge.metrics.deductions(), app.edge.clock.now().0);
    let rate = before.and_then(|(before, at)| {
        let more = count.checked_sub(before)?.checked_mul(1000)?;
        let millis = u64::try_from(now.checked_sub(at)?).ok()?;
        more.checked_div(millis)
    });
    let next = format!("/dashboard/live?count={count}&at={now}");
    html! {
        div.tile #live hx-get=(next) hx-trigger="load delay:2s" hx-swap="outerHTML" {
            p { @if rate.is_some() { "Deductions a second now" } @else { "Deductions since the start" } }
            b { (grouped(i64::try_from(rate.unwrap_or(count)).unwrap_or(i64::MAX))) }
            p.hint { "in all projects" }
        }
    }
}
