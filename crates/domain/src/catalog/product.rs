//! A product: what is sold, and what its credits are called.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Refusal,
    rules::{self, MAX_NAME, ensure},
};
use crate::{
    amount::{Amount, MAX_CREDITS},
    id::{ProductId, ProjectId},
    limit::Limit,
    time::{Period, Timestamp},
};

const MAX_DESCRIPTION: usize = 2000;
const MAX_UNIT: usize = 100;

/// What kind of product it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProductType {
    /// Prepaid credits, bought when needed.
    Credits,
    /// Tiers billed each cycle.
    Subscription,
    /// Features bought once.
    OneTime,
}

/// Credits that every wallet gets each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeGrant {
    /// Credits given each period.
    pub credits: Amount,
    /// The period, such as a day.
    pub period: Period,
}

/// Something to sell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Product {
    pub id: ProductId,
    pub project: ProjectId,
    /// Its name, 1 to 200 characters.
    pub name: String,
    /// A sentence about it, at most 2,000 characters.
    pub description: Option<String>,
    pub kind: ProductType,
    /// What its credits are called, at most 100 characters; `None`: it has no credits.
    pub credit_unit: Option<String>,
    /// Free credits each period; only with a credit unit.
    pub free_grant: Option<FreeGrant>,
    /// A balance of this many credits or fewer is low; 0 or more, only with a credit unit.
    pub low_balance: Option<i64>,
    /// The most credits of it that one external wallet may owe, unless the wallet has a limit of its own; 0 or more,
    /// more than that only with a credit unit.
    pub debt_limit: i64,
    /// How much every wallet may use; about its own credits unless they name a product.
    pub limits: Vec<Limit>,
    /// Whether it is offered for sale. Balances of an inactive product stay spendable.
    pub active: bool,
    pub created_at: Timestamp,
}

/// The products of one project.
pub type Products = BTreeMap<ProductId, Product>;

impl Product {
    /// Whether wallets can hold credits of it.
    pub const fn holds_credits(&self) -> bool {
        self.credit_unit.is_some()
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        let Self {
            name,
            description,
            credit_unit,
            ..
        } = self;
        texts(Some(name), description.as_deref(), credit_unit.as_deref())?;
        let of_credits = 0..=MAX_CREDITS;
        let low = self.low_balance.is_none_or(|low| of_credits.contains(&low));
        let message = "A low balance is a whole number of credits from 0 to 2^53 - 1.";
        ensure(low, "lowBalance", message)?;
        let limit = of_credits.contains(&self.debt_limit);
        let message = "A debt limit is a whole number of credits from 0 to 2^53 - 1.";
        ensure(limit, "debtLimit", message)?;
        if self.holds_credits() {
            return Ok(());
        }
        let message = "A product of type credits needs a creditUnit.";
        ensure(self.kind != ProductType::Credits, "creditUnit", message)?;
        let message = "A free grant needs a product with a creditUnit.";
        ensure(self.free_grant.is_none(), "freeGrant", message)?;
        let message = "A low balance needs a product with a creditUnit.";
        ensure(self.low_balance.is_none(), "lowBalance", message)?;
        let message = "A debt limit needs a product with a creditUnit.";
        ensure(self.debt_limit == 0, "debtLimit", message)
    }
}

/// A request to create a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of Product")]
pub struct NewProduct {
    pub name: String,
    pub kind: ProductType,
    pub description: Option<String>,
    pub credit_unit: Option<String>,
    pub free_grant: Option<FreeGrant>,
    pub low_balance: Option<i64>,
    pub debt_limit: i64,
    pub limits: Vec<Limit>,
    pub active: bool,
}

impl NewProduct {
    /// Checks the inputs and makes the product.
    /// # Errors
    /// [`Refusal::Invalid`] for the first input out of its bounds.
    pub fn decide(
        self,
        (project, id): (ProjectId, ProductId),
        now: Timestamp,
    ) -> Result<Product, Refusal> {
        let product = Product {
            id,
            project,
            name: self.name,
            description: self.description,
            kind: self.kind,
            credit_unit: self.credit_unit,
            free_grant: self.free_grant,
            low_balance: self.low_balance,
            debt_limit: self.debt_limit,
            limits: Limit::checked(self.limits)?,
            active: self.active,
            created_at: now,
        };
        product.check()?;
        Ok(product)
    }
}

impl From<Product> for NewProduct {
    fn from(product: Product) -> Self {
        Self {
            name: product.name,
            kind: product.kind,
            description: product.description,
            credit_unit: product.credit_unit,
            free_grant: product.free_grant,
            low_balance: product.low_balance,
            debt_limit: product.debt_limit,
            limits: product.limits,
            active: product.active,
        }
    }
}

impl From<NewProduct> for ProductChange {
    fn from(new: NewProduct) -> Self {
        Self {
            name: Some(new.name),
            kind: Some(new.kind),
            description: Some(new.description),
            credit_unit: Some(new.credit_unit),
            free_grant: Some(new.free_grant),
            low_balance: Some(new.low_balance),
            debt_limit: Some(new.debt_limit),
            limits: Some(new.limits),
            active: Some(new.active),
        }
    }
}

/// A change of a product; `None` leaves a field as it is, `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of Product")]
pub struct ProductChange {
    pub name: Option<String>,
    pub kind: Option<ProductType>,
    pub description: Option<Option<String>>,
    /// What its credits are called. It can be renamed but not removed: wallets may hold them.
    pub credit_unit: Option<Option<String>>,
    pub free_grant: Option<Option<FreeGrant>>,
    pub low_balance: Option<Option<i64>>,
    pub debt_limit: Option<i64>,
    pub limits: Option<Vec<Limit>>,
    pub active: Option<bool>,
}

impl ProductChange {
    /// Checks the change by itself.
    /// # Errors
    /// [`Refusal::Invalid`] for the first text out of its bounds.
    pub fn check(&self) -> Result<(), Refusal> {
        texts(
            self.name.as_deref(),
            self.description.as_ref().and_then(Option::as_deref),
            self.credit_unit.as_ref().and_then(Option::as_deref),
        )
    }

    /// The product after the change. With `has_prices` its type cannot change.
    /// # Errors
    /// [`Refusal::Invalid`] for the first input that is out of its bounds, or that existing prices or credits rule out.
    pub fn decide(self, old: &Product, has_prices: bool) -> Result<Product, Refusal> {
        self.check()?;
        let new = Product {
            name: self.name.unwrap_or_else(|| old.name.clone()),
            kind: self.kind.unwrap_or(old.kind),
            description: self.description.unwrap_or_else(|| old.description.clone()),
            credit_unit: self.credit_unit.unwrap_or_else(|| old.credit_unit.clone()),
            free_grant: self.free_grant.unwrap_or(old.free_grant),
            low_balance: self.low_balance.unwrap_or(old.low_balance),
            debt_limit: self.debt_limit.unwrap_or(old.debt_limit),
            limits: match self.limits {
                Some(limits) => Limit::checked(limits)?,
                None => old.limits.clone(),
            },
            active: self.active.unwrap_or(old.active),
            ..old.clone()
        };
        let message = "The type of a product cannot change once it has prices.";
        ensure(new.kind == old.kind || !has_prices, "type", message)?;
        let keeps_unit = new.holds_credits() || !old.holds_credits();
        let message = "A credit unit can be renamed but not removed: wallets may hold credits.";
        ensure(keeps_unit, "creditUnit", message)?;
        new.check()?;
        Ok(new)
    }
}

fn texts(
    name: Option<&str>,
    description: Option<&str>,
    credit_unit: Option<&str>,
) -> Result<(), Refusal> {
    rules::optional_text("name", name, MAX_NAME)?;
    rules::optional_text("description", description, MAX_DESCRIPTION)?;
    rules::optional_text("creditUnit", credit_unit, MAX_UNIT)
}
