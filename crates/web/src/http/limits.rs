//! Limits as requests send them.

use catalog::ProjectCatalog;
use domain::{limit::Limit, limit::LimitUnit};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{
        BoundedInteger, Credits, LimitUnitText, Object, ProductName, ScopeText, Text, TimeZoneText,
        WindowText,
    },
};

use super::{grant::holds_credits, subject::product};

/// How much may be used of a wallet, by whom, for what, in which time.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewLimit)]
pub(crate) struct LimitFields {
    scope: ScopeText,
    /// The most that may be used; 0 for nothing.
    amount: Credits,
    /// In which time; calendar windows of `timeZone`.
    window: WindowText,
    /// What is counted: `credits` when left out. A deduction or a hold is one operation.
    unit: Option<LimitUnitText>,
    /// Where its calendar is; UTC when left out.
    time_zone: Option<TimeZoneText>,
    /// The product whose credits count.
    product_id: Option<ProductName>,
    /// At which percentages of the amount to alert, once a window; at most 5.
    #[schema(max_items = 5)]
    alerts_at: Option<Vec<BoundedInteger<1, 100>>>,
}

/// The limits of a request.
pub(crate) fn limits(
    fields: Vec<Object<LimitFields>>,
    project: &ProjectCatalog,
) -> Result<Vec<Limit>, Error> {
    let all = fields.into_iter().enumerate().map(|(at, Object(fields))| {
        let named = fields.product_id.as_ref();
        let product = named.map(|name| product(name, project)).transpose();
        let product = product.and_then(|product| {
            product.map_or(Ok(()), |it| holds_credits(project, &it))?;
            Ok(product)
        });
        let product = product.map_err(|error| error.within(&format!("limits[{at}]")))?;
        let alerts = fields.alerts_at.unwrap_or_default().into_iter();
        Ok(Limit {
            scope: fields.scope.0,
            amount: fields.amount.0,
            window: fields.window.0,
            unit: fields.unit.map_or(LimitUnit::Credits, |Text(unit)| unit),
            time_zone: fields
                .time_zone
                .map(|Text(zone)| zone)
                .filter(|zone| zone.as_str() != "UTC"),
            product,
            alerts_at: alerts.filter_map(|it| u8::try_from(it.0).ok()).collect(),
        })
    });
    Ok(Limit::checked(all.collect::<Result<_, Error>>()?)?)
}
