//! Products and their prices. Free credits and prices require approval where grants or refunds do.

use catalog::{NewPrice, NewProduct, PriceChange, ProductChange, ProjectCatalog};
use domain::{
    catalog::{Interval, Price, Product},
    id::{PriceId, ProductId},
    money::{grouped, money},
};
use edge::audit::AuditEvent;
use identity::CatalogChange;
use serde_json::json;
use wire::{Error, ErrorCode};

use crate::{
    Action, ChangeResult, Confirmation, ConfirmationResult, Execution, Fact, Operator,
    changes::{changes, fields},
};

needs!(Manage: CreateProduct, CreatePrice, UpdateProduct, UpdatePrice);

/// Creates a product.
#[derive(Debug)]
pub struct CreateProduct(pub NewProduct);

/// Changes a product. The caller holds the lock for saving.
#[derive(Debug)]
pub struct UpdateProduct(pub ProductId, pub ProductChange);

/// Creates a price of a product.
#[derive(Debug)]
pub struct CreatePrice(pub ProductId, pub NewPrice);

/// Offers, withdraws or renames a price of a product. The caller holds the lock for saving.
#[derive(Debug, Clone)]
pub struct UpdatePrice(pub ProductId, pub PriceId, pub PriceChange);

impl Action for CreateProduct {
    type Answer = Product;

    async fn guarded(&self, by: &Operator<'_>) -> ChangeResult {
        let Self(new) = self;
        if new.free_grant.is_none() {
            return Ok(None);
        }
        by.app
            .catalog
            .draft()
            .create_product(by.id(), new.clone())
            .await?;
        let settings = changes(&json!({}), &fields(new)).unwrap_or_default();
        let what = format!("create a product: {settings}");
        Ok(Some((CatalogChange::NewProduct(new.clone()), what)))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<Product> {
        let product = by.catalog().create_product(by.id(), self.0).await?;
        let what = format!(
            "Created product {} “{}” of {}",
            product.id,
            product.name,
            by.id()
        );
        Ok((product, AuditEvent::Did(what)))
    }
}

impl UpdateProduct {
    fn stored<'a>(&self, by: &'a Operator<'_>) -> Result<&'a Product, Error> {
        let product = by.project.product(&self.0);
        product.ok_or_else(|| Error::new(ErrorCode::ProductNotFound))
    }
}

impl Action for UpdateProduct {
    type Answer = Product;

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let before = self.stored(by)?;
        if !before.active || self.1.active != Some(false) {
            return Ok(None);
        }
        let draft = by.app.catalog.draft();
        let after = draft
            .update_product(by.id(), self.0, self.1.clone())
            .await?;
        let still_active = |product: Product| {
            fields(&NewProduct {
                active: true,
                ..product.into()
            })
        };
        let mut facts: Vec<(_, Fact)> = vec![
            ("What stops", "Nobody can buy any of its prices. It can be offered again.".into()),
            ("Who keeps what", "Everybody keeps the credits and features that they have. Free credits that are due are still given, subscriptions are renewed as before, and a checkout that is open can still be paid.".into()),
        ];
        let others = changes(&still_active(before.clone()), &still_active(after));
        facts.extend(others.map(|others| ("Changed as well", Fact::Verbatim(others))));
        Confirmation::ask(format!("Stop offering {}?", before.name), facts)
    }

    async fn guarded(&self, by: &Operator<'_>) -> ChangeResult {
        let (before, draft) = (self.stored(by)?.clone(), by.app.catalog.draft());
        let after = draft
            .update_product(by.id(), self.0, self.1.clone())
            .await?;
        let is_free = after.free_grant.is_some() && after.free_grant != before.free_grant;
        if !is_free && (before.active || !after.active) {
            return Ok(None);
        }
        let after = NewProduct::from(after);
        let changed = changes(&fields(&NewProduct::from(before.clone())), &fields(&after));
        let what = format!("change product {}: {}", self.0, changed.unwrap_or_default());
        Ok(Some((CatalogChange::Product { before, after }, what)))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<Product> {
        let before = fields(&NewProduct::from(self.stored(by)?.clone()));
        let Self(id, change) = self;
        let after = by.catalog().update_product(by.id(), id, change).await?;
        let changed = changes(&before, &fields(&NewProduct::from(after.clone())));
        let event = AuditEvent::changed(&format!("product {id}"), changed);
        Ok((after, event))
    }
}

impl Action for CreatePrice {
    type Answer = Price;

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let mut others = by.project.prices(&self.0).filter(|price| price.active);
        let same = others.find(|price| NewPrice::from((*price).clone()) == self.1);
        Ok(same.map(|same| Confirmation {
            title: "Create an identical price?".into(),
            facts: vec![
                ("Offered now", Fact::Id(same.id.to_string())),
                ("What happens", "Buyers would see both.".into()),
            ],
        }))
    }

    async fn guarded(&self, by: &Operator<'_>) -> ChangeResult {
        let (product, price) = (self.0, self.1.clone());
        by.app
            .catalog
            .draft()
            .create_price(by.id(), product, price.clone())
            .await?;
        let cost = money(price.amount_cents, &price.currency);
        let credits = grouped(price.credits_granted);
        let terms = changes(&json!({}), &fields(&price)).unwrap_or_default();
        let what = format!("create a price of {product}: {cost} for {credits} credits; {terms}");
        Ok(Some((CatalogChange::NewPrice { product, price }, what)))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<Price> {
        let price = by.catalog().create_price(by.id(), self.0, self.1).await?;
        let cost = money(price.amount_cents, &price.currency);
        let what = format!("Created price {} of {}: {cost}", price.id, price.product);
        Ok((price, AuditEvent::Did(what)))
    }
}

impl UpdatePrice {
    fn stored<'a>(&self, by: &'a Operator<'_>) -> Result<&'a Price, Error> {
        let price = by.project.price(&self.0, &self.1);
        price.ok_or_else(|| Error::new(ErrorCode::PriceNotFound))
    }
}

impl Action for UpdatePrice {
    type Answer = Price;

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let price = self.stored(by)?;
        if self.2.active != Some(false) || !price.active {
            return Ok(None);
        }
        let label = price.label.clone();
        let name = label.unwrap_or_else(|| by.product_name(price.product));
        let (cost, renewed) = (
            money(price.amount_cents, &price.currency),
            match price.interval {
                Interval::OneTime => "",
                Interval::Month | Interval::Year => {
                    " Subscriptions at it are renewed as before, until they are canceled."
                }
            },
        );
        let kept =
            "Everybody keeps what they bought with it. A checkout that is open can still be paid.";
        let facts = vec![
            ("Price", format!("{name}, {cost}").into()),
            (
                "What stops",
                "Nobody can buy it any more. It can be offered again.".into(),
            ),
            ("Who keeps what", format!("{kept}{renewed}").into()),
        ];
        Confirmation::ask("Stop offering this price?", facts)
    }

    async fn guarded(&self, by: &Operator<'_>) -> ChangeResult {
        let Self(product, price, change) = self.clone();
        if change.active != Some(true) {
            return Ok(None);
        }
        by.app
            .catalog
            .draft()
            .update_price(by.id(), product, price, change)
            .await?;
        let what = format!("offer price {} again", price_words(&by.project, price));
        Ok(Some((CatalogChange::OfferPrice { product, price }, what)))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<Price> {
        let changeable = |price: &Price| json!({"active": price.active, "label": price.label});
        let before = changeable(self.stored(by)?);
        let Self(product, id, change) = self;
        let after = by
            .catalog()
            .update_price(by.id(), product, id, change)
            .await?;
        let changed = changes(&before, &changeable(&after));
        Ok((after, AuditEvent::changed(&format!("price {id}"), changed)))
    }
}

/// A price in words: its identifier, what it costs, and whether it is off sale.
#[must_use]
pub fn price_words(project: &ProjectCatalog, price: PriceId) -> String {
    let Some(known) = project.any_price(&price) else {
        return price.to_string();
    };
    let cost = money(known.amount_cents, &known.currency);
    match is_on_sale(project, known) {
        true => format!("{price} ({cost})"),
        false => format!("{price} ({cost}, not on sale)"),
    }
}

/// Whether it can be bought: its product is offered, too.
#[must_use]
pub fn is_on_sale(project: &ProjectCatalog, price: &Price) -> bool {
    let product = project.product(&price.product);
    price.active && product.is_some_and(|product| product.active)
}
