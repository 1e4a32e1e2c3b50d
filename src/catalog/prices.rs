//! Making and changing a price. Its terms never change: what was sold stays what it was.

use domain::{
    Timestamp,
    catalog::{Interval, Price, ProductType},
    id::{PriceId, ProductId},
};

use super::{Error, ProjectCatalog, new_id, projects::MAX_NAME, rules};

/// A hundred years.
const MAX_EXPIRY_DAYS: i64 = 36_525;

/// A price to make.
#[derive(Debug, Clone)]
pub struct NewPrice {
    /// The tier's name.
    pub label: Option<String>,
    /// In the currency's minor unit, 0 to 2^53 - 1.
    pub amount_cents: i64,
    /// ISO 4217, in capitals.
    pub currency: String,
    /// Credits for it, 0 to 2^53 - 1.
    pub credits_granted: i64,
    /// The product whose balance it fills, if not its own.
    pub credits_product: Option<ProductId>,
    /// Days until the credits expire; `None`: never.
    pub credits_expire_after_days: Option<u32>,
    /// Whether a cycle's unused credits stay; only for subscriptions.
    pub rollover: bool,
    /// Slugs of what it unlocks.
    pub features: Vec<String>,
    /// `month` or `year` for a subscription, else `one_time`.
    pub interval: Interval,
}

impl NewPrice {
    pub(super) fn decide(
        self,
        catalog: &ProjectCatalog,
        id: ProductId,
        now: Timestamp,
    ) -> Result<Price, Error> {
        let product = catalog.product(&id).ok_or(Error::ProductNotFound(id))?;
        rules::optional_text("label", self.label.as_deref(), MAX_NAME)?;
        rules::whole("amountCents", self.amount_cents)?;
        rules::currency(&self.currency)?;
        rules::whole("creditsGranted", self.credits_granted)?;
        if let Some(days) = self.credits_expire_after_days {
            rules::within("creditsExpireAfterDays", days.into(), 1, MAX_EXPIRY_DAYS)?;
        }
        check_interval(product.kind, self.interval, self.rollover)?;
        self.check_target(catalog, id)?;
        Ok(Price {
            id: PriceId(new_id()),
            project: catalog.project.id,
            product: id,
            label: self.label,
            amount_cents: self.amount_cents,
            currency: self.currency,
            credits_granted: self.credits_granted,
            credits_product: self.credits_product,
            credits_expire_after_days: self.credits_expire_after_days,
            rollover: self.rollover,
            features: rules::features(self.features)?,
            interval: self.interval,
            active: true,
            created_at: now,
        })
    }

    /// Credits need a product of this project that can hold them.
    fn check_target(&self, catalog: &ProjectCatalog, own: ProductId) -> Result<(), Error> {
        let holds = |id| {
            catalog
                .product(id)
                .is_some_and(|product| product.credit_unit.is_some())
        };
        match &self.credits_product {
            Some(target) if !holds(target) => Err(Error::invalid(
                "creditsProductId",
                "creditsProductId names no product of this project that has a creditUnit.",
            )),
            None if self.credits_granted > 0 && !holds(&own) => Err(Error::invalid(
                "creditsGranted",
                "This product has no creditUnit: name one that has with creditsProductId.",
            )),
            _ => Ok(()),
        }
    }
}

fn check_interval(kind: ProductType, interval: Interval, rollover: bool) -> Result<(), Error> {
    let subscription = kind == ProductType::Subscription;
    if subscription == (interval == Interval::OneTime) {
        let message = "A subscription is priced by month or year, any other product one_time.";
        return Err(Error::invalid("interval", message));
    }
    if rollover && !subscription {
        let message = "Only the credits of a subscription can roll over.";
        return Err(Error::invalid("rollover", message));
    }
    Ok(())
}

/// What to change of a price; `None` leaves it, `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
pub struct PriceChange {
    /// Whether it is offered.
    pub active: Option<bool>,
    /// The tier's name.
    pub label: Option<Option<String>>,
}

impl PriceChange {
    pub(super) fn decide(
        self,
        catalog: &ProjectCatalog,
        product: ProductId,
        id: PriceId,
    ) -> Result<Price, Error> {
        catalog
            .product(&product)
            .ok_or(Error::ProductNotFound(product))?;
        let mut price = catalog
            .price(&product, &id)
            .ok_or(Error::PriceNotFound(id))?
            .clone();
        if let Some(label) = self.label {
            rules::optional_text("label", label.as_deref(), MAX_NAME)?;
            price.label = label;
        }
        price.active = self.active.unwrap_or(price.active);
        Ok(price)
    }
}
