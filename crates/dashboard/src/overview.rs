//! A project's overview: what has to be done, money, orders, credits, and the current rate of deductions.

use std::collections::BTreeMap;

use actors::OrderState;
use axum::response::{Html, IntoResponse as _};
use domain::{catalog::Product, time::Span, wallet::OrderStatus};
use edge::Support;
use identity::ProjectScope;
use persistence::usage::{Count, DistinctCount, Group, Sales, Usage, Wallets};

use super::{
    attention,
    orders::{STATES, badge},
    period::Period,
    prelude::*,
    revenue::{self, SalesByInterval},
    verbatim::brief,
    wallets,
};

/// Prices and customers that are listed, the best first.
const MAX_BEST: usize = 5;
/// Features, models, rate cards and members that are listed at first, the most used ones.
const MAX_FEATURES: usize = 10;

pub(super) async fn show(request: PageRequest) -> PageResult {
    let query = request.query();
    let now = request.now();
    let period = match Period::of(query, now) {
        Ok(period) => period,
        Err(error) => {
            let body = html! { h1 { "Overview" } p.alert { (error.message()) } p { a href=(base(&request.project)) { "Show the last 30 days" } } };
            let form = Form::new(query, Some(&error));
            return Ok(form.response(request.show("Overview", &body)));
        }
    };
    let product = query.parsed("productId", "a product")?;
    let holding: Vec<&Product> = request
        .project
        .products()
        .filter(|it| it.holds_credits())
        .collect();
    let product = holding
        .iter()
        .find(|it| Some(it.id) == product)
        .or(holding.first())
        .copied();
    let ids = request.project.product_ids();
    let within = (period.first_before(), period.end);
    let read = request
        .app
        .handle
        .usage_of(ids.clone(), period.interval, within);
    let all = request.read(read.await)?;
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
    let path = base(&request.project);
    let span = Span {
        start: period.start(),
        end: period.end,
    };
    let (handle, scope) = (&request.app.handle, &request.project.scope);
    let best = handle.best_sellers(scope, request.project.product_ids(), span, MAX_BEST);
    let best = request.read(best.await)?;
    let mut names = Vec::new();
    for (key, _) in &best.wallets {
        let wallet = handle.peek(scope, &Address::Stored(*key)).await;
        names.push(wallet.map_or_else(|_| html! { (key) }, |it| wallets::name(&it.view)));
    }
    let tasks = attention::card(&request).await;
    let ever = [OrderStatus::Paid, OrderStatus::Refunded].map(OrderState::Is);
    let sold = handle.order_totals_by_state(scope, request.project.product_ids(), ever);
    // A list that cannot be read now is no reason to show the first steps.
    let has_sold = sold
        .await
        .map_or(true, |sold| sold.iter().any(|it| it.count > 0));
    let outstanding = request.app.outstanding.of(request.project.project.id);
    let body = html! {
        div.head {
            h1 { "Overview" }
            (period.choice(&path, query, &["productId"]))
        }
        (attention::first_steps(&request.project, has_sold))
        (tasks)
        (revenue::part(&sales, &period))
        (revenue::best(&request.project, &best, &names))
        div.columns {
            (orders_card(&revenue::total(&sales, &period.starts)))
            (revenue::outstanding(&request, outstanding.as_ref()))
        }
        @if holding.len() > 1 {
            nav.ranges aria-label="Product" { @for one in &holding {
                a href={ (path) "?" (period.query(query)) "productId=" (one.id) }
                    aria-current=[(Some(one.id) == product.map(|it| it.id)).then_some("true")] { (one.name) }
            } }
        }
        @match product {
            Some(product) => (credits(product, &period, &usage, &live(&request, None))),
            None => p.empty { "No product holds credits yet. " a href={ (path) "/catalog/new" } { "Create one" } },
        }
    };
    Ok(request.show("Overview", &body))
}

pub(super) async fn count(request: FormPost<Support>) -> PageResult {
    let done = match request.app.outstanding.hasten().await {
        true => "counted",
        false => "counting",
    };
    Ok(layout::done(&base(&request.project), done))
}

fn credits(
    product: &Product,
    period: &Period,
    usage: &BTreeMap<Timestamp, Usage>,
    live: &Markup,
) -> Markup {
    let mut total = Count::default();
    let mut active = Wallets::default();
    for used in usage.values() {
        total.granted = total.granted.saturating_add(used.count.granted);
        total.deducted = total.deducted.saturating_add(used.count.deducted);
        total.expired = total.expired.saturating_add(used.count.expired);
        total.deductions = total.deductions.saturating_add(used.count.deductions);
        active.merge(&used.wallets);
    }
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
            (layout::chart(&chart, &table("Credits", &["From, UTC", "#Granted", "#Spent", "#Expired", "#Deductions", "#Active wallets"], &html! { @for ((label, count), part) in labels.iter().zip(&counts).zip(&parts).rev() { tr {
                    td.time { (label) }
                    td.number { (grouped(count.granted)) } td.number { (grouped(count.deducted)) }
                    td.number { (grouped(count.expired)) } td.number { (grouped(count.deductions)) }
                    td.number { (distinct(part.wallets.count())) }
                } } })))
        }
        (most_used(usage, Group::Feature, ("Most used", "Feature")))
        div.columns {
            (most_used(usage, Group::Model, ("Used by model", "Model")))
            (most_used(usage, Group::RateCard, ("Used by rate card", "Rate card")))
            (most_used(usage, Group::Member, ("Used by member", "Member")))
        }
    }
}

/// The card with the credits that were used, by the values of a group.
fn most_used(
    usage: &BTreeMap<Timestamp, Usage>,
    group: Group,
    (title, heading): (&str, &str),
) -> Markup {
    let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for (name, used) in usage.values().flat_map(|used| used.by(group)) {
        let sum = sums.entry(name).or_default();
        *sum = (
            sum.0.saturating_add(used.credits),
            sum.1.saturating_add(used.deductions),
        );
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (credits, _))| std::cmp::Reverse(*credits));
    let (first, more) = sums.split_at(sums.len().min(MAX_FEATURES));
    let rows = |title: &str, sums: &[(&str, (i64, i64))]| {
        table(
            title,
            &[heading, "#Credits", "#Deductions"],
            &html! { @for (name, (credits, times)) in sums { tr {
                td.wrap { (brief(name)) } td.number { (grouped(*credits)) } td.number { (grouped(*times)) }
            } } },
        )
    };
    html! {
        @if !sums.is_empty() {
            section.card {
                h2 { (title) }
                (rows(title, first))
                @if !more.is_empty() { details { summary { (layout::count(more.len())) " more" } (rows("More", more)) } }
            }
        }
    }
}

fn tile(name: &str, figure: &str) -> Markup {
    html! { div.tile { p { (name) } b { (figure) } } }
}

fn distinct(DistinctCount { count, is_exact }: DistinctCount) -> String {
    let count = layout::count(count);
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

pub(super) async fn live_part(request: PageRequest<NoProject>) -> PageResult {
    let query = request.query();
    let count: Option<u64> = query.parsed("count", "a number")?;
    let at: Option<i64> = query.parsed("at", "an instant")?;
    let part = live(&request, count.zip(at));
    Ok(Html(part.into_string()).into_response())
}

/// The rate of deductions since the previous fragment; the fragment's own URL carries the count and instant.
/// It counts all projects together, so that only those who see all of them see it.
fn live<S>(request: &PageRequest<S>, before: Option<(u64, i64)>) -> Markup {
    if request.authority.projects != ProjectScope::All {
        return Markup::default();
    }
    let (count, now) = (
        request.app.edge.metrics.deductions(),
        request.app.edge.clock.now().0,
    );
    let rate = before.and_then(|(before, at)| {
        let more = count.checked_sub(before)?.checked_mul(1000)?;
        let millis = u64::try_from(now.checked_sub(at)?).ok()?;
        more.checked_div(millis)
    });
    let next = format!("/dashboard/live?count={count}&at={now}");
    html! {
        div.tile #live hx-get=(next) hx-trigger="load delay:2s" hx-swap="outerHTML" {
            p { @if rate.is_some() { "Deductions a second now" } @else { "Deductions since the start" } }
            b { (layout::count(rate.unwrap_or(count))) }
            p.hint { "in all projects" }
        }
    }
}
