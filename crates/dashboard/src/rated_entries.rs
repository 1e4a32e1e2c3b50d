//! What rate cards say about the entries of a ledger.

use std::collections::BTreeMap;

use actors::LedgerLine;
use domain::rate_card::{Cost, CostLine, RatedUse};

use super::{
    prelude::*,
    rate_calculator::cells,
    rate_versions::{path, pattern, version},
};

/// How the entries that rate cards priced came about, by their numbers.
pub(super) async fn explained(
    request: &PageRequest,
    lines: &[LedgerLine],
) -> BTreeMap<u64, Markup> {
    let mut explained = BTreeMap::new();
    for line in lines {
        if let Some(rate) = &line.entry.rate {
            let taken = line.entry.delta.saturating_neg();
            let found = explanation(request, rate, taken).await;
            explained.insert(line.id.number(), found);
        }
    }
    explained
}

async fn explanation(request: &PageRequest, rate: &RatedUse, taken: i64) -> Markup {
    let (mut lines, mut is_least) = (Vec::new(), false);
    // A version never changes, so that it prices the same again. One that cannot be read hides no ledger.
    if let Ok(by) = version(request, &rate.card, rate.version).await {
        let line = |it: CostLine<'_>| lines.push(cells(&it));
        let table = &by.rates.table;
        let rated = table.explain(&rate.attributes, &rate.quantities, line);
        is_least = rated.is_ok_and(|rated| rated.cost < rate.cost);
    }
    // What is carried is less than a credit.
    let is_part = Cost::of_credits(taken.saturating_add(1)) <= rate.cost;
    html! { details {
        summary { (rate.cost) " by " (rate.card.as_str()) }
        p.small { a href={ (path(&request.project, &rate.card)) "?version=" (rate.version) } { (rate.card.as_str()) " version " (rate.version) } " " (pattern(rate.attributes.iter())) }
        ul.small { @for [unit, quantity, price, cost] in &lines { li { (quantity) " " (unit) " × " (price) " = " (cost) } } }
        p.small { "Cost " b { (rate.cost) } @if is_least { ", the least" } "; charged " b { (grouped(taken)) } "; carried on " b { (rate.carried) } "." }
        @if is_part { p.small { "The rest was drawn before, or was not covered." } }
    } }
}
