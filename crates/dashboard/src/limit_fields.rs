//! The rows of a form for limits: one for each, and blank ones for more.

use domain::{
    limit::{Limit, MAX_LIMITS, TimeZoneName},
    text::TextError,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use wire::view;

use super::prelude::*;

/// The field of a form that has such rows, and the beginning of their fields' names.
pub(super) const LIMITS: &str = "limits";
/// Rows for further limits.
const BLANK_ROWS: usize = 3;
const COLUMNS: [(&str, &str); 7] = [
    ("scope", "Scope"),
    ("amount", "Amount"),
    ("window", "Per"),
    ("unit", "Unit"),
    ("timeZone", "Time zone"),
    ("productId", "Product"),
    ("alertsAt", "Alerts at, %"),
];
const WINDOWS: [(&str, &str); 7] = [
    ("", "–"),
    ("hour", "hour"),
    ("day", "day"),
    ("week", "week"),
    ("month", "month"),
    ("year", "year"),
    ("lifetime", "lifetime"),
];
const UNITS: [(&str, &str); 2] = [("", "credits"), ("operations", "operations")];

fn name(row: usize, column: &str) -> String {
    format!("{LIMITS}[{row}].{column}")
}

/// Adds the fields of limits.
pub(super) fn with_limits(fields: Fields, limits: &[Limit]) -> Fields {
    let stored = serde_json::to_value(limits.iter().map(view::limit).collect::<Vec<_>>());
    let stored = stored.unwrap_or_default();
    let rows = stored.as_array().into_iter().flatten().enumerate();
    let columns = rows.flat_map(|(row, limit)| {
        let columns = limit.as_object().into_iter().flatten();
        columns.map(move |(column, value)| (name(row, column), entered(value)))
    });
    columns.fold(fields.with(LIMITS, "on"), |fields, (name, value)| {
        fields.with(&name, value)
    })
}

/// A value as it is entered: what is meant by an empty field is left out.
fn entered(value: &Value) -> String {
    match value {
        Value::String(text) if ["credits", "UTC"].contains(&&**text) => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(entered).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// The rows in which something is entered.
fn rows(fields: &Fields) -> impl Iterator<Item = usize> {
    let all = 0..MAX_LIMITS.saturating_add(BLANK_ROWS);
    all.filter(|row| {
        let mut columns = COLUMNS.iter();
        columns.any(|(column, _)| fields.some(&name(*row, column)).is_some())
    })
}

/// The limits of a form; `None`: it has no rows for them.
pub(super) fn limits(
    fields: &Fields,
    project: &ProjectCatalog,
) -> Result<Option<Vec<Limit>>, Error> {
    if !fields.is_on(LIMITS) {
        return Ok(None);
    }
    // Errors name the place among those that are entered, as the form has them when it is shown again.
    let limits = rows(fields).enumerate().map(|(at, row)| {
        let entered = |column| fields.text(&name(row, column));
        let about = |column, message: &str| Error::invalid(name(at, column), message.to_owned());
        let named = entered("productId");
        let product = project
            .products()
            .find(|product| product.id.to_string() == named);
        if !named.is_empty() && product.is_none_or(|product| !product.holds_credits()) {
            return Err(about("productId", "This product holds no credits."));
        }
        // Space is part of a name.
        let scope = fields.raw(&name(row, "scope")).parse();
        let scope = scope.or_else(|_: TextError| entered("scope").parse());
        let zone = fields.some(&name(row, "timeZone"));
        let zone = zone.filter(|zone| *zone != "UTC");
        let zone = zone.map(TimeZoneName::new).transpose();
        let amount = fields.whole(&name(row, "amount")).ok().flatten();
        let alerts = fields.list(&name(row, "alertsAt")).into_iter();
        let alerts: Result<Vec<u8>, _> = alerts.map(|text| text.parse()).collect();
        Ok(Limit {
            scope: scope.map_err(|error: TextError| about("scope", error.0))?,
            amount: amount
                .ok_or_else(|| about("amount", "Enter a whole number; 0 for nothing."))?,
            window: choice(entered("window"))
                .ok_or_else(|| about("window", "Choose in which time."))?,
            unit: choice(entered("unit")).unwrap_or_default(),
            time_zone: zone.map_err(|error| about("timeZone", error.0))?,
            product: product.map(|product| product.id),
            alerts_at: alerts
                .map_err(|_| about("alertsAt", "Enter percentages, such as 50 80."))?,
        })
    });
    Ok(Some(Limit::checked(limits.collect::<Result<_, _>>()?)?))
}

fn choice<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(text.into()).ok()
}

/// The rows. `none` is what a limit without a product is about.
pub(super) fn inputs(form: Form<'_>, project: &ProjectCatalog, none: &str) -> Markup {
    let entered: Vec<_> = rows(form.fields).map(Some).collect();
    let blank = MAX_LIMITS.saturating_sub(entered.len()).min(BLANK_ROWS);
    let rows = entered.into_iter().chain(vec![None; blank]).enumerate();
    let mut products = vec![(String::new(), none.to_owned())];
    let holding = project.products().filter(|product| product.holds_credits());
    products.extend(holding.map(|product| (product.id.to_string(), product.name.clone())));
    let error = |about: &str| {
        let error = form
            .error
            .filter(|error| error.param().is_some_and(|it| it.starts_with(about)));
        error.map(Error::message)
    };
    html! { fieldset.limits {
        legend { "Limits" }
        p.hint { "Scope: wallet, member:*, member:ann, feature:image, key:key_…; * is each. An emptied row is removed. " (layout::docs("budgets", "Budgets and allowances")) }
        input type="hidden" name=(LIMITS) value="on";
        @if form.error.is_some_and(|error| error.param() == Some(LIMITS)) { p.wrong { (error(LIMITS).unwrap_or_default()) } }
        (table("Limits", &COLUMNS.map(|(_, heading)| heading), &html! { @for (at, row) in rows {
            tr { @for (column, heading) in COLUMNS {
                @let value = row.map_or("", |row| form.fields.raw(&name(row, column)));
                td { @match column {
                    "window" => (select(&name(at, column), heading, &WINDOWS, value)),
                    "unit" => (select(&name(at, column), heading, &UNITS, value)),
                    "productId" => (select(&name(at, column), heading, &products, value)),
                    _ => input name=(name(at, column)) value=(value) aria-label=(heading) autocomplete="off"
                        aria-invalid=[error(&name(at, column)).map(|_| "true")];,
                } }
            } }
            @if let Some(message) = error(&format!("{LIMITS}[{at}]")) { tr { td colspan="7" { p.wrong { (message) } } } }
        } }))
    } }
}

fn select<V: AsRef<str>, T: AsRef<str>>(
    name: &str,
    heading: &str,
    options: &[(V, T)],
    chosen: &str,
) -> Markup {
    html! { select name=(name) aria-label=(heading) {
        @for (value, text) in options {
            option value=(value.as_ref()) selected[value.as_ref() == chosen] { (text.as_ref()) }
        }
    } }
}
