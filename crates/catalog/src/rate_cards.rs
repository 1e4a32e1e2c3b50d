//! Changes of rate cards, and their former versions.

use std::sync::Arc;

use domain::{
    catalog::{Document, Refusal},
    id::{ProjectId, RateCardId},
    rate_card::{MAX_RATE_CARDS, PutRateCard, RateCardSlug},
};

use super::{
    CatalogStore, Error, ProjectCatalog, new_id,
    rates::{VersionRates, parts, stored},
    store::find,
};

/// The most former versions in memory.
const MAX_FORMER: usize = 64;

impl CatalogStore {
    /// Makes a rate card or its next version, which is returned; one that changes nothing is not made.
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::ProjectNotFound`], [`Refusal::ProductNotFound`], [`Error::Wallets`] when it
    /// cannot be logged.
    pub async fn put_rate_card(
        &self,
        project: ProjectId,
        put: PutRateCard,
    ) -> Result<VersionRates, Error> {
        let shared = Arc::clone(&self.shared);
        self.change_after(move |catalog, _| {
            let catalog = find(catalog, project)?;
            let former = catalog.any_rate_card(&put.slug);
            if former.is_none_or(|former| former.card.closed_at.is_some()) {
                let open = catalog.rate_cards().count();
                if open >= MAX_RATE_CARDS {
                    let message = format!("A project has at most {MAX_RATE_CARDS} rate cards.");
                    return Err(Refusal::invalid("slug", message).into());
                }
            }
            let now = shared.handle.now_in(&catalog.scope);
            let rates_of = |number| former?.rates(number);
            let card = former.map(|former| &former.card);
            let card = card.ok_or_else(|| (RateCardId(new_id()), project));
            let (card, version) = put.decide(card, rates_of, catalog.by_id(), now)?;
            let made = VersionRates {
                version,
                rates: Arc::clone(&put.rates),
            };
            if former.is_some_and(|former| former.card == card) {
                return Ok((Vec::new(), Vec::new(), made));
            }
            shared.rates.put(card.id, made.clone(), MAX_FORMER);
            let parts = parts(card.id, version, &put.rates.rates);
            Ok((parts, vec![Document::RateCard(card)], made))
        })
        .await
    }

    /// Closes a rate card: it prices nothing from now on, except for holds that it placed.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Refusal::RateCardNotFound`], [`Error::Wallets`].
    pub async fn close_rate_card(
        &self,
        project: ProjectId,
        slug: RateCardSlug,
    ) -> Result<(), Error> {
        let handle = self.shared.handle.clone();
        self.change(move |catalog, _| {
            let catalog = find(catalog, project)?;
            let found = catalog.rate_card(&slug).ok_or(Refusal::RateCardNotFound)?;
            let now = handle.now_in(&catalog.scope);
            Ok((vec![Document::RateCard(found.card.closed(now))], ()))
        })
        .await
    }

    /// A version of a card, former ones and those of a closed card too; `None`: there is none with this number.
    /// # Errors
    /// [`Error::Damaged`] or [`Error::Notes`] when its rates cannot be read, [`Error::Wallets`].
    pub async fn rate_card_version(
        &self,
        project: &ProjectCatalog,
        slug: &RateCardSlug,
        number: u32,
    ) -> Result<Option<VersionRates>, Error> {
        let Some(found) = project.any_rate_card(slug) else {
            return Ok(None);
        };
        let card = found.card.id;
        // The cache may have a version that could not be logged.
        if !(1..=found.card.last_version).contains(&number) {
            return Ok(None);
        }
        let known = found.version(number);
        if let Some(known) = known.or_else(|| self.shared.rates.get(card, number)) {
            return Ok(Some(known));
        }
        // Notes are found once they are folded.
        let handle = &self.shared.handle;
        let rates = match stored(handle, card, number)? {
            Some(rates) => rates,
            None => {
                handle.fold_all().await?;
                let missing = || Error::Damaged(format!("{card:?} has no version {number}"));
                stored(handle, card, number)?.ok_or_else(missing)?
            }
        };
        self.shared.rates.put(card, rates.clone(), MAX_FORMER);
        Ok(Some(rates))
    }
}
