//! The money on a project's overview: what was paid over a period and before it, what went back, and what was sold and
//! not used yet.

use std::collections::BTreeMap;

use domain::money::amount;
use operations::outstanding::ProjectOutstanding;
use persistence::{
    BestSellers, Takings,
    usage::{Money, Sales},
};

use super::{catalog::product_name, period::Period, prelude::*, wallets};

pub(super) type SalesByInterval = BTreeMap<Timestamp, Sales>;

pub(super) fn total(sales: &SalesByInterval, starts: &[Timestamp]) -> Sales {
    let mut total = Sales::default();
    let parts = starts.iter().filter_map(|start| sales.get(start));
    parts.for_each(|part| total.merge(part));
    total
}

const fn net(money: Money) -> i64 {
    money.paid.saturating_sub(money.returned)
}

/// The change from one sum to another, in percent of the first.
fn change(before: i64, now: i64) -> Option<i64> {
    let difference = i128::from(now).saturating_sub(before.into());
    let percent = difference.checked_mul(100)?.checked_div(before.into())?;
    (before > 0).then(|| i64::try_from(percent).ok()).flatten()
}

pub(super) fn part(sales: &SalesByInterval, period: &Period) -> Markup {
    let (now, before) = (total(sales, &period.starts), total(sales, &period.before));
    let paid = now.money();
    let mut currencies: Vec<&str> = paid.keys().copied().collect();
    let earlier = before.money().into_keys();
    currencies.extend(earlier.filter(|it| !paid.contains_key(it)));
    html! {
        @if currencies.is_empty() { p.empty { "Nothing was paid in this period or the one before." } }
        @for currency in currencies { (of_currency(sales, period, currency, (&now, &before))) }
    }
}

fn of_currency(
    sales: &SalesByInterval,
    period: &Period,
    currency: &str,
    (now, before): (&Sales, &Sales),
) -> Markup {
    let money_of = |sales: &Sales| sales.money().get(currency).copied().unwrap_or_default();
    let (now, before) = (money_of(now), money_of(before));
    let labels = period.labels();
    let of = |start: &Timestamp| sales.get(start).map(money_of).unwrap_or_default();
    let values: Vec<i64> = period.starts.iter().map(|start| net(of(start))).collect();
    let earlier: Vec<i64> = period.before.iter().map(|start| net(of(start))).collect();
    let decimals = decimals(currency);
    let chart = serde_json::json!({
        "kind": period.unit(),
        "labels": labels,
        "decimals": decimals,
        "series": [
            {"name": format!("{currency} now"), "values": values},
            {"name": "Period before", "values": earlier, "before": true},
        ],
    });
    let percent = change(net(before), net(now));
    html! {
        div.tiles {
            div.tile {
                p { "Revenue, less refunds" } b { (money(net(now), currency)) }
                p.hint {
                    (money(net(before), currency)) " in the period before"
                    @if let Some(percent) = percent { ": " @if percent > 0 { "+" } (grouped(percent)) " %" }
                }
            }
            div.tile {
                p { "Refunded" } b { (money(now.returned, currency)) }
                p.hint { "of " (money(now.paid, currency)) " that was paid" }
            }
        }
        section.card {
            h2 { "Revenue in " (currency) }
            p.hint { "By when orders were placed, in their present state, in UTC days." }
            (layout::chart(&chart, &table(&format!("Revenue in {}", currency), &["From, UTC", "#Revenue", "#Paid", "#Refunded", "#Period before"], &html! { @for (((label, start), value), earlier) in labels.iter().zip(&period.starts).zip(&values).zip(&earlier).rev() { tr {
                    td.time { (label) }
                    td.number { (amount(*value, currency)) } td.number { (amount(of(start).paid, currency)) }
                    td.number { (amount(of(start).returned, currency)) } td.number { (amount(*earlier, currency)) }
                } } })))
        }
    }
}

/// The cards with the prices and the customers that brought most.
pub(super) fn best(project: &ProjectCatalog, best: &BestSellers, names: &[Markup]) -> Markup {
    let prices = best.prices.iter().map(|(id, takings)| {
        let products = project.products();
        let mut price = products.filter_map(|product| project.price(&product.id, id));
        let price = price.next();
        let label = price.and_then(|price| price.label.clone());
        let product = price.map(|price| product_name(project, price.product));
        let name = label.or(product).unwrap_or_else(|| id.to_string());
        (verbatim(&name), takings)
    });
    let wallets = best
        .wallets
        .iter()
        .zip(names)
        .map(|((key, takings), name)| {
            let link = html! { a href=(wallets::path(project, *key)) { (name) } };
            (link, takings)
        });
    html! {
        @if best.is_partial { p.hint { "The best customers are those of the newest 200,000 orders of the period." } }
        div.columns {
            (best_of("Best prices", prices.collect()))
            (best_of("Best customers", wallets.collect()))
        }
    }
}

fn best_of(title: &str, rows: Vec<(Markup, &Takings)>) -> Markup {
    html! {
        @if !rows.is_empty() {
            section.card {
                h2 { (title) }
                (table(title, &["Name", "#Orders", "#Revenue, less refunds"], &html! { @for (name, takings) in &rows { tr {
                    td { (name) }
                    td.number { (layout::count(takings.count)) }
                    td.number { (money(takings.cents, takings.currency())) }
                } } }))
            }
        }
    }
}

/// The card with what was sold or given and not used yet.
pub(super) fn outstanding(request: &PageRequest, counted: Option<&ProjectOutstanding>) -> Markup {
    html! {
        section.card {
            h2 { "Outstanding credits" }
            p.hint { "Sold or given and not used yet. The money is what was paid for those that are left, each at the price of its own order." }
            @match counted {
                None => p.empty { "Not counted yet: this is done every ten minutes." },
                Some(counted) => {
                    @let total = counted.total();
                    dl {
                        @if total.money.is_empty() { div { dt { "Owed in credits" } dd { "Nothing" } } }
                        @for (currency, cents) in &total.money {
                            div { dt { "Owed in credits" } dd { b { (money(*cents, &currency.to_string())) } } }
                        }
                        @for (product, left) in &counted.products { @if left.bought > 0 || left.given > 0 {
                            div { dt { (product_name(&request.project, *product)) } dd {
                                (grouped(left.bought)) " sold, " (grouped(left.given)) " given"
                            } }
                        } }
                    }
                    p.hint { "As of " (layout::when(counted.as_of)) "." }
                },
            }
            @if request.may(Privilege::Support) { form method="post" action={ (base(&request.project)) "/outstanding" } {
                (form::token(request))
                button.small type="submit" { "Count now" }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn a_change_is_in_percent_of_what_was_before() {
        for (before, now, percent) in [
            (100, 150, Some(50)),
            (100, 0, Some(-100)),
            (300, 200, Some(-33)),
            (0, 10, None),
            (-5, 10, None),
            (1, i64::MAX, None),
        ] {
            assert_eq!(change(before, now), percent, "{before} {now}");
        }
    }
}
