//! A rate card as the catalog keeps it: which versions are in force or begin later. The rates of a version are kept
//! beside it, since they may be large.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Rate, RateCardSlug, RateTable};
use crate::{
    catalog::{Products, Refusal},
    id::{ProductId, ProjectId, RateCardId},
    time::Timestamp,
};

/// The most open rate cards of a project.
pub const MAX_RATE_CARDS: usize = 100;
/// The most versions of a card that begin later.
const MAX_PLANNED: usize = 8;

/// A rate card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateCard {
    /// Its address in the catalog, which callers do not see.
    pub id: RateCardId,
    /// The project that it belongs to.
    pub project: ProjectId,
    /// Its name in the project.
    pub slug: RateCardSlug,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
    /// The number of the last version.
    pub last_version: u32,
    /// The version in force and those that begin later, by when they begin, then by number.
    pub versions: Vec<RateCardVersion>,
}

/// One version of a rate card, which never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateCardVersion {
    /// Its number, from 1.
    pub number: u32,
    /// The product whose credits its prices are in.
    pub product: ProductId,
    /// When it begins to count.
    pub effective_from: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
}

/// The rates of a version, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateList {
    /// As they were written.
    pub rates: Vec<Rate>,
    /// Ready to be looked up.
    pub table: RateTable,
}

impl RateList {
    /// Checks the rates.
    /// # Errors
    /// [`Refusal::Invalid`].
    pub fn new(rates: Vec<Rate>) -> Result<Self, Refusal> {
        let table = RateTable::new(&rates)?;
        Ok(Self { rates, table })
    }
}

/// A request to make a rate card, or its next version.
#[derive(Debug, Clone)]
pub struct PutRateCard {
    /// The card's name.
    pub slug: RateCardSlug,
    /// The product whose credits the prices are in.
    pub product: ProductId,
    /// Its rates, checked.
    pub rates: Arc<RateList>,
    /// When the version begins to count; `None`: now.
    pub effective_from: Option<Timestamp>,
}

/// Where a card is kept that the project never had.
pub type NewCard = (RateCardId, ProjectId);

impl PutRateCard {
    /// Decides the card's next version, the one that is returned. A card that was closed opens again. A request that
    /// changes nothing makes no version. `card` is the card so far, `rates_of` finds the rates of its versions.
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::ProductNotFound`].
    pub fn decide(
        &self,
        card: Result<&RateCard, NewCard>,
        rates_of: impl Fn(u32) -> Option<Arc<RateList>>,
        products: &Products,
        now: Timestamp,
    ) -> Result<(RateCard, RateCardVersion), Refusal> {
        if self.effective_from.is_some_and(|from| from < now) {
            let message = "effectiveFrom is not in the past: what was charged keeps its price.";
            return Err(Refusal::invalid("effectiveFrom", message));
        }
        let product = self.product;
        let named = products.get(&product);
        let named = named.ok_or(Refusal::ProductNotFound(product))?;
        if !named.holds_credits() {
            let message = "productId names a product that holds credits.";
            return Err(Refusal::invalid("productId", message));
        }
        let from = self.effective_from.unwrap_or(now);
        let mut card = match card {
            Ok(card) => card.clone(),
            Err((id, project)) => RateCard {
                id,
                project,
                slug: self.slug.clone(),
                closed_at: None,
                last_version: 0,
                versions: Vec::new(),
            },
        };
        let is_same = |version: &&RateCardVersion| {
            let rates = rates_of(version.number);
            version.product == product && rates.is_some_and(|it| it.rates == self.rates.rates)
        };
        if let Some(same) = card.in_force(from).filter(is_same).copied() {
            return Ok((card, same));
        }
        let planned = card.versions.iter().filter(|it| it.effective_from > now);
        if from > now && planned.count() >= MAX_PLANNED {
            let message = format!("At most {MAX_PLANNED} versions of a card begin later.");
            return Err(Refusal::invalid("effectiveFrom", message));
        }
        let number = card.last_version.checked_add(1);
        let number =
            number.ok_or_else(|| Refusal::invalid("rates", "The versions are used up."))?;
        let version = RateCardVersion {
            number,
            product,
            effective_from: from,
            created_at: now,
        };
        card.last_version = number;
        if card.closed_at.take().is_some() {
            // What was planned before it was closed does not come into force.
            card.versions.retain(|it| it.effective_from <= now);
        }
        card.versions.push(version);
        card.versions
            .sort_by_key(|it| (it.effective_from, it.number));
        let begun = card.versions.iter().filter(|it| it.effective_from <= now);
        let former = begun.count().saturating_sub(1);
        card.versions.drain(..former);
        Ok((card, version))
    }
}

impl RateCard {
    /// The version that prices what is used at an instant; none of a closed card, or before the first one begins.
    pub fn in_force(&self, at: Timestamp) -> Option<&RateCardVersion> {
        let is_open = self.closed_at.is_none();
        let mut versions = self.versions.iter();
        versions.rfind(|version| is_open && version.effective_from <= at)
    }

    /// The card without any version in force from now on.
    #[must_use]
    pub fn closed(&self, now: Timestamp) -> Self {
        Self {
            closed_at: self.closed_at.or(Some(now)),
            ..self.clone()
        }
    }
}
