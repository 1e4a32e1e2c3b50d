//! What a wallet's credits were spent on, and what its ledger sums up to, over some days.

use std::collections::BTreeMap;

use actors::{LedgerSum, LedgerSums};
use domain::{id::ProductId, money::signed};
use jiff::{ToSpan as _, civil::Date};

use super::{
    catalog::product_name,
    ledger::{self, reason_name},
    prelude::*,
    time_zone,
    verbatim::brief,
    wallets::{name, path, wallet},
};

/// Days that are shown unless others are asked for, today included.
const USUAL_DAYS: i64 = 7;
/// Rows of a table, those with most credits first.
const MAX_ROWS: usize = 200;

pub(super) async fn show(request: PageRequest) -> PageResult {
    let key = wallet(&request)?;
    let (scope, address) = (&request.project.scope, Address::Stored(key));
    let view = request.read(request.app.handle.read(scope, &address).await)?;
    let today = time_zone::day(request.now());
    let mut fields = request.query().clone();
    if fields.some("from").is_none()
        && fields.some("to").is_none()
        && let Some(today) = today
    {
        fields = days_until(today, USUAL_DAYS).with_some("productId", fields.some("productId"));
    }
    let query = ledger::query(&fields)?;
    let first_of_day = |at| {
        time_zone::day(at)
            .and_then(time_zone::midnight)
            .unwrap_or(at)
    };
    let sums = request
        .app
        .handle
        .ledger_sums(scope, &address, query, first_of_day);
    let sums = request.read(sums.await)?;
    let page_path = path(&request.project, key);
    let own_path = format!("{page_path}/spending");
    let rated = sums.rated.iter();
    let body = html! {
        h1 { "What was spent" }
        p.hint { a href=(page_path) { (name(&view)) } }
        @if let Some(today) = today {
            nav.ranges aria-label="Days" {
                @for (text, days) in [("Today", 1), ("7 days", 7), ("30 days", 30), ("A year", 365)] {
                    @let range = days_until(today, days);
                    @let same = ["from", "to"].iter().all(|name| range.text(name) == fields.text(name));
                    a href={ (own_path) "?" (range.query(&ledger::FILTERS)) } aria-current=[same.then_some("true")] { (text) }
                }
            }
        }
        form.row.filter method="get" {
            (ledger::filters(&request.project, Form::new(&fields, None), false))
            button type="submit" { "Show" }
        }
        @if let (false, Some(since)) = (sums.is_complete, sums.since) {
            p.note { "There are more entries than are summed up at once: this is what was since " (layout::when(since)) ". Choose fewer days." }
        }
        (by_reason(&request.project, &sums))
        (by(&request.project, ("by feature", "Feature"), sums.spent.iter().map(|((product, _, it), sum)| ((*product, it.as_deref()), *sum))))
        (by(&request.project, ("by rate card", "Rate card"), rated.clone().map(|((product, card, _), sum)| ((*product, Some(card.as_str())), *sum))))
        (by(&request.project, ("by model", "Model"), rated.map(|((product, _, model), sum)| ((*product, model.as_deref()), *sum))))
        (by(&request.project, ("by member", "Member"), sums.members.iter().map(|((product, member), sum)| ((*product, Some(member.as_str())), *sum))))
        (by_day(&request.project, &sums))
        p { a.button href={ (page_path) "?" (fields.query(&ledger::FILTERS)) "#ledger" } { "Show the entries" } }
    };
    Ok(request.show("What was spent", &body))
}

fn days_until(today: Date, days: i64) -> Fields {
    let first = today.saturating_sub(days.saturating_sub(1).days());
    Fields::default().with("from", first).with("to", today)
}

fn by_reason(project: &ProjectCatalog, sums: &LedgerSums) -> Markup {
    html! {
        section.card {
            h2 { "By kind" }
            @if sums.reasons.is_empty() { p.empty { "No entries in these days." } } @else {
                (table("By kind", &["Product", "Kind", "#Credits", "#Entries"], &html! { @for ((product, reason), sum) in &sums.reasons { tr {
                    td { (product_name(project, *product)) }
                    td { (reason_name(*reason)) }
                    td.number.plus[sum.credits > 0] { (signed(sum.credits)) }
                    td.number { (layout::count(sum.entries)) }
                } } }))
            }
        }
    }
}

/// What was spent, by product and another value.
fn by<'a>(
    project: &ProjectCatalog,
    (title, heading): (&str, &str),
    spent: impl Iterator<Item = ((ProductId, Option<&'a str>), LedgerSum)>,
) -> Markup {
    let mut sums: BTreeMap<(ProductId, Option<&str>), LedgerSum> = BTreeMap::new();
    for (key, sum) in spent {
        add(sums.entry(key).or_default(), sum);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, sum)| sum.credits);
    let more = sums.len().saturating_sub(MAX_ROWS);
    html! {
        @if !sums.is_empty() {
            section.card {
                h2 { "Spent, " (title) }
                (table(title, &["Product", heading, "#Credits", "#Deductions"], &html! { @for ((product, value), sum) in sums.iter().take(MAX_ROWS) { tr {
                    td { (product_name(project, *product)) }
                    td.break { @match value { Some(name) => (brief(name)), None => span.hint { "none named" } } }
                    td.number { (grouped(sum.credits.saturating_neg())) }
                    td.number { (layout::count(sum.entries)) }
                } } }))
                @if more > 0 { p.hint { "and " (layout::count(more)) " more" } }
            }
        }
    }
}

fn by_day(project: &ProjectCatalog, sums: &LedgerSums) -> Markup {
    let mut days: BTreeMap<(Timestamp, ProductId), LedgerSum> = BTreeMap::new();
    for ((product, day, _), sum) in &sums.spent {
        add(days.entry((*day, *product)).or_default(), *sum);
    }
    html! {
        @if !days.is_empty() {
            section.card {
                h2 { "Spent, by day" }
                (table("By day", &["Day", "Product", "#Credits", "#Deductions"], &html! { @for ((day, product), sum) in days.iter().rev() { tr {
                    td.time { @if let Some(day) = time_zone::day(*day) { (day) } }
                    td { (product_name(project, *product)) }
                    td.number { (grouped(sum.credits.saturating_neg())) }
                    td.number { (layout::count(sum.entries)) }
                } } }))
            }
        }
    }
}

fn add(total: &mut LedgerSum, sum: LedgerSum) {
    total.credits = total.credits.saturating_add(sum.credits);
    total.entries = total.entries.saturating_add(sum.entries);
}
