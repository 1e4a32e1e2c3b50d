//! Making and changing a product.

use domain::{
    Timestamp,
    catalog::{FreeGrant, Product, ProductType},
    id::{ProductId, ProjectId},
};

use super::{Error, ProjectCatalog, new_id, projects::MAX_NAME, rules};

const MAX_DESCRIPTION: usize = 2000;
const MAX_UNIT: usize = 100;

/// A product to make.
#[derive(Debug, Clone)]
pub struct NewProduct {
    /// 1 to 200 characters.
    pub name: String,
    /// What it is.
    pub kind: ProductType,
    /// A sentence about it.
    pub description: Option<String>,
    /// What its credits are called; a product of type `credits` has one.
    pub credit_unit: Option<String>,
    /// Credits for nothing; only with a credit unit.
    pub free_grant: Option<FreeGrant>,
    /// Whether it is offered.
    pub active: bool,
}

impl NewProduct {
    pub(super) fn decide(self, project: ProjectId, now: Timestamp) -> Result<Product, Error> {
        let product = Product {
            id: ProductId(new_id()),
            project,
            name: self.name,
            description: self.description,
            kind: self.kind,
            credit_unit: self.credit_unit,
            free_grant: self.free_grant,
            active: self.active,
            created_at: now,
        };
        check(&product)?;
        Ok(product)
    }
}

/// What to change of a product; `None` leaves it, `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
pub struct ProductChange {
    /// 1 to 200 characters.
    pub name: Option<String>,
    /// What it is; only while it has no prices.
    pub kind: Option<ProductType>,
    /// A sentence about it.
    pub description: Option<Option<String>>,
    /// What its credits are called. It can be renamed but not removed: wallets may hold them.
    pub credit_unit: Option<Option<String>>,
    /// Credits for nothing.
    pub free_grant: Option<Option<FreeGrant>>,
    /// Whether it is offered.
    pub active: Option<bool>,
}

impl ProductChange {
    pub(super) fn decide(self, catalog: &ProjectCatalog, id: ProductId) -> Result<Product, Error> {
        let old = catalog.product(&id).ok_or(Error::ProductNotFound(id))?;
        let new = Product {
            name: self.name.unwrap_or_else(|| old.name.clone()),
            kind: self.kind.unwrap_or(old.kind),
            description: self.description.unwrap_or_else(|| old.description.clone()),
            credit_unit: self.credit_unit.unwrap_or_else(|| old.credit_unit.clone()),
            free_grant: self.free_grant.unwrap_or(old.free_grant),
            active: self.active.unwrap_or(old.active),
            ..old.clone()
        };
        if new.kind != old.kind && catalog.prices(&id).next().is_some() {
            let message = "The type of a product cannot change once it has prices.";
            return Err(Error::invalid("type", message));
        }
        if old.credit_unit.is_some() && new.credit_unit.is_none() {
            let message = "A credit unit can be renamed but not removed: wallets may hold credits.";
            return Err(Error::invalid("creditUnit", message));
        }
        check(&new)?;
        Ok(new)
    }
}

fn check(product: &Product) -> Result<(), Error> {
    rules::text("name", &product.name, MAX_NAME)?;
    rules::optional_text(
        "description",
        product.description.as_deref(),
        MAX_DESCRIPTION,
    )?;
    rules::optional_text("creditUnit", product.credit_unit.as_deref(), MAX_UNIT)?;
    if product.credit_unit.is_none() {
        if product.kind == ProductType::Credits {
            let message = "A product of type credits needs a creditUnit.";
            return Err(Error::invalid("creditUnit", message));
        }
        if product.free_grant.is_some() {
            let message = "A free grant needs a product with a creditUnit.";
            return Err(Error::invalid("freeGrant", message));
        }
    }
    Ok(())
}
