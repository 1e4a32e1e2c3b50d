//! What work costs, as a request says it: an amount of credits, or what was used, which a rate card prices.

use std::collections::BTreeMap;

use actors::{Handle, HoldAccess};
use catalog::{CatalogStore, ProjectCatalog, VersionRates};
use domain::{
    Timestamp,
    id::{HoldId, ProductId},
    rate_card::{
        Attributes, MeteredUse, Quantities, RateCardSlug, Rating, Unrated, WorkCost, read_usage,
        unknown_counts,
    },
    text::Meta,
    wallet::ProductRef,
};
use serde_json::{Value, json};
use wire::{
    Error,
    field::{Credits, ProductName, RateCardName, Text, UsageFormatText},
};

use super::subject::{FieldChoice, Ways, product, product_or_only};

/// Declares a request that may say what was used, by five more fields. `used` takes them. One that `costs` so many of a
/// number of credits instead has an `amount` of that, too, and `cost` takes either.
macro_rules! metered_fields {
    (costs $amount:ty; $(#[$meta:meta])* $vis:vis struct $name:ident $(<$($type:ident = $default:ty),+>)? { $($fields:tt)* }) => {
        metered_fields! {
            $(#[$meta])* $vis struct $name $(<$($type = $default),+>)? { $($fields)* }
        }

        impl $(<$($type),+>)? $name $(<$($type),+>)? {
            /// Takes what the work costs.
            fn cost(
                &mut self,
                handle: &actors::Handle,
                project: &catalog::ProjectCatalog,
            ) -> Result<$crate::http::metered::RequestedCost<$amount>, wire::Error> {
                let amount = self.amount.map(|amount| amount.0);
                self.used().or(amount, project, handle)
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(<$($type:ident = $default:ty),+>)? { $($fields:tt)* }) => {
        $(#[$meta])*
        $vis struct $name $(<$($type = $default),+>)? {
            $($fields)*
            /// The rate card that prices what was used, where the request has an `amount` in place of it.
            rate_card: Option<wire::field::RateCardName>,
            /// What was used, as the card's rates match it; at most 8.
            #[schema(example = json!({"model": "claude-sonnet-4-5"}))]
            attributes: Option<std::collections::BTreeMap<Box<str>, Box<str>>>,
            /// How much of each unit, without overlap; at most 32.
            #[schema(example = json!({"input": 1200, "output": 310}))]
            quantities: Option<std::collections::BTreeMap<Box<str>, wire::field::Credits>>,
            /// In place of `quantities`: the usage object of the model's provider, as it is.
            #[schema(value_type = Option<std::collections::HashMap<String, serde_json::Value>>)]
            usage: Option<serde_json::Value>,
            /// Which provider's `usage` it is.
            usage_format: Option<wire::field::UsageFormatText>,
        }

        impl $(<$($type),+>)? $name $(<$($type),+>)? {
            /// Takes what was used.
            fn used(&mut self) -> $crate::http::metered::UsedFields {
                $crate::http::metered::UsedFields {
                    rate_card: self.rate_card.take(),
                    attributes: self.attributes.take(),
                    quantities: self.quantities.take(),
                    usage: self.usage.take(),
                    usage_format: self.usage_format.take(),
                }
            }
        }
    };
}
pub(crate) use metered_fields;

/// The schema of a request that takes an amount, or what was used.
pub(crate) type CostChoice<T> = FieldChoice<T, AmountOrUse>;
/// The same of one that names the product of an amount.
pub(crate) type ProductCostChoice<T> = FieldChoice<T, ProductOrUse>;
/// The schema of a request that takes what was used.
pub(crate) type UseChoice<T> = FieldChoice<T, UseAlone>;

pub(crate) struct AmountOrUse;
pub(crate) struct ProductOrUse;
pub(crate) struct UseAlone;

impl Ways for AmountOrUse {
    const WAYS: &'static [&'static [&'static str]] = &[&["amount"], &["rateCard"]];
}

impl Ways for ProductOrUse {
    const WAYS: &'static [&'static [&'static str]] = &[&["productId", "amount"], &["rateCard"]];
}

impl Ways for UseAlone {
    const WAYS: &'static [&'static [&'static str]] = &[
        &["rateCard", "quantities"],
        &["rateCard", "usage", "usageFormat"],
    ];
}

/// What was used, as a request says it.
#[derive(Debug, Default)]
pub(crate) struct UsedFields {
    pub(crate) rate_card: Option<RateCardName>,
    pub(crate) attributes: Option<BTreeMap<Box<str>, Box<str>>>,
    pub(crate) quantities: Option<BTreeMap<Box<str>, Credits>>,
    pub(crate) usage: Option<Value>,
    pub(crate) usage_format: Option<UsageFormatText>,
}

/// What was used, read.
#[derive(Debug)]
pub(crate) struct Used {
    pub(crate) card: RateCardSlug,
    pub(crate) attributes: Attributes,
    pub(crate) quantities: Quantities,
    /// Counts in the usage object that are newer than this server.
    unpriced: Vec<String>,
}

/// What a request says that work costs.
#[derive(Debug)]
pub(crate) struct RequestedCost<A> {
    pub(crate) cost: WorkCost<A>,
    /// Counts in the usage object that no price is for.
    pub(crate) unpriced: Vec<String>,
}

impl UsedFields {
    /// What was used; `None` if the request names no rate card.
    fn read(self) -> Result<Option<Used>, Error> {
        let Some(Text(card)) = self.rate_card else {
            let is_said = self.attributes.is_some()
                || self.quantities.is_some()
                || self.usage.is_some()
                || self.usage_format.is_some();
            return match is_said {
                true => Err(Error::missing("rateCard")),
                false => Ok(None),
            };
        };
        let attributes = Attributes::new(self.attributes.unwrap_or_default())?;
        let mut unpriced = Vec::new();
        let quantities = match (self.quantities, self.usage, self.usage_format) {
            (Some(_), Some(_), _) => {
                return Err(Error::invalid("usage", "Send either quantities or usage."));
            }
            (Some(quantities), None, None) => {
                let units = quantities.into_iter();
                let units = units.map(|(unit, credits)| (unit, credits.0.unsigned_abs()));
                Quantities::new(units.collect())?
            }
            (None, Some(usage), Some(Text(format))) => {
                unpriced = unknown_counts(format, &usage);
                read_usage(format, &usage)?
            }
            (None, Some(_), None) => return Err(Error::missing("usageFormat")),
            (_, None, Some(_)) => return Err(Error::missing("usage")),
            (None, None, None) => return Err(Error::missing("quantities")),
        };
        Ok(Some(Used {
            card,
            attributes,
            quantities,
            unpriced,
        }))
    }

    /// The same for a request that has to say it.
    pub(crate) fn required(self) -> Result<Used, Error> {
        self.read()?.ok_or_else(|| Error::missing("rateCard"))
    }

    /// What the work costs, which a request says in one of two ways.
    pub(crate) fn or<A>(
        self,
        amount: Option<A>,
        project: &ProjectCatalog,
        handle: &Handle,
    ) -> Result<RequestedCost<A>, Error> {
        match (amount, self.read()?) {
            (None, None) => Err(Error::missing("amount")),
            (Some(amount), None) => Ok(RequestedCost {
                cost: WorkCost::Credits(amount),
                unpriced: Vec::new(),
            }),
            (Some(_), Some(_)) => Err(Error::invalid("amount", "Send either amount or rateCard.")),
            (None, Some(used)) => {
                let now = handle.now_in(&project.scope);
                let version = version_in_force(project, &used.card, now);
                Ok(RequestedCost {
                    cost: WorkCost::Metered(Box::new(MeteredUse {
                        rating: rating(version.as_ref(), &used.attributes, &used.quantities),
                        card: used.card,
                        attributes: used.attributes,
                        quantities: used.quantities,
                    })),
                    unpriced: used.unpriced,
                })
            }
        }
    }
}

impl<A> RequestedCost<A> {
    /// The product whose credits it takes: the card's, which a request may but need not name.
    pub(crate) fn product(
        &self,
        named: Option<&ProductName>,
        project: &ProjectCatalog,
    ) -> Result<ProductRef, Error> {
        let WorkCost::Metered(used) = &self.cost else {
            return product_or_only(named, project);
        };
        let of_card = used.rating.as_ref().ok().map(|rating| rating.product);
        let Some(name) = named else {
            return Ok(ProductRef::Only(of_card));
        };
        let named = product(name, project)?;
        check_product(named, of_card)?;
        Ok(ProductRef::Named(named))
    }

    /// The caller's note, to which what was not priced is added.
    pub(crate) fn note(&self, meta: Option<Meta>) -> Option<Meta> {
        if self.unpriced.is_empty() {
            return meta;
        }
        let added = json!({ "unpricedUsage": self.unpriced }).to_string();
        let Ok(added) = Meta::new(added) else {
            return meta;
        };
        match meta {
            None => Some(added),
            Some(meta) => Some(meta.clone().over(&added).unwrap_or(meta)),
        }
    }
}

fn check_product(named: ProductId, of_card: Option<ProductId>) -> Result<(), Error> {
    match of_card.is_none_or(|of_card| of_card == named) {
        true => Ok(()),
        false => Err(Error::invalid(
            "productId",
            "productId is not that of the rate card.",
        )),
    }
}

/// The version of a card that prices what is used now.
pub(crate) fn version_in_force(
    project: &ProjectCatalog,
    card: &RateCardSlug,
    now: Timestamp,
) -> Option<VersionRates> {
    project.rate_card(card)?.in_force(now)
}

/// What a use costs by a version of its card.
pub(crate) fn rating(
    version: Option<&VersionRates>,
    attributes: &Attributes,
    quantities: &Quantities,
) -> Result<Rating, Unrated> {
    let VersionRates { version, rates } = version.ok_or(Unrated::NoCard)?;
    let rated = rates.table.cost(attributes, quantities)?;
    Ok(Rating {
        version: version.number,
        product: version.product,
        cost: rated.cost,
        minimum: rated.minimum,
    })
}

/// Prices what is charged for a hold by the version that it was placed with, if a card placed it.
pub(crate) async fn pin<A>(
    (handle, catalog): (&Handle, &CatalogStore),
    project: &ProjectCatalog,
    hold: HoldId,
    cost: &mut WorkCost<A>,
) -> Result<(), Error> {
    let WorkCost::Metered(used) = cost else {
        return Ok(());
    };
    // What is wrong with the hold is said when it is charged.
    let placed = handle.hold(&project.scope, HoldAccess::All, hold).await;
    let number = placed
        .ok()
        .and_then(|placed| placed.hold.pinned_version(&used.card));
    let Some(number) = number else {
        return Ok(());
    };
    if used
        .rating
        .as_ref()
        .is_ok_and(|rating| rating.version == number)
    {
        return Ok(());
    }
    let version = catalog.rate_card_version(project, &used.card, number);
    let version = version.await?;
    used.rating = rating(version.as_ref(), &used.attributes, &used.quantities);
    Ok(())
}
