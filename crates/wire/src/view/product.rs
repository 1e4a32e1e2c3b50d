//! Products and prices: as a project's keys read them, and as an administrator does.

use ::catalog::ProjectCatalog;
use api_types::{FreeGrant, Price, Product, admin};
use domain::{catalog, id::ProductId};

use super::{instant, limit, word};

/// A product as a key of its project reads it, with its active prices.
pub fn product(product: &catalog::Product, project: &ProjectCatalog) -> Product {
    let grant = |grant: catalog::FreeGrant| FreeGrant {
        credits: grant.credits.get(),
        period: word(grant.period),
    };
    Product {
        id: product.id.to_string(),
        name: product.name.clone(),
        description: product.description.clone(),
        kind: word(product.kind),
        credit_unit: product.credit_unit.clone(),
        free_grant: product.free_grant.map(grant),
        prices: project.active_prices(&product.id).map(price).collect(),
    }
}

/// A price as a key of its project reads it.
pub fn price(price: &catalog::Price) -> Price {
    Price {
        id: price.id.to_string(),
        label: price.label.clone(),
        amount_cents: price.amount_cents,
        currency: price.currency.clone(),
        credits_granted: price.credits_granted,
        features: features(price),
        interval: word(price.interval),
        credits_product_id: price.credits_product.map(|id| id.to_string()),
        credits_expire_after_days: price.credits_expire_after_days,
        rollover: price.rollover,
        trial_days: price.trial_days,
        trial_credits: price.trial_days.map(|_| price.trial_credits),
        repeatable: price.repeatable,
    }
}

/// The active prices that would fill this product's balance by at least the shortfall.
pub fn prices_covering(project: &ProjectCatalog, filled: ProductId, shortfall: i64) -> Vec<Price> {
    let offered = project.products().filter(|product| product.active);
    let prices = offered.flat_map(|product| project.active_prices(&product.id));
    prices
        .filter(|price| price.credits_product.unwrap_or(price.product) == filled)
        .filter(|price| price.credits_granted >= shortfall)
        .map(price)
        .collect()
}

/// A product with all of its prices, as an administrator reads it.
pub fn admin_product(product: &catalog::Product, project: &ProjectCatalog) -> admin::Product {
    let grant = |grant: catalog::FreeGrant| admin::FreeGrant {
        credits: grant.credits.get(),
        period: word(grant.period),
    };
    admin::Product {
        id: product.id.to_string(),
        name: product.name.clone(),
        description: product.description.clone(),
        kind: word(product.kind),
        credit_unit: product.credit_unit.clone(),
        free_grant: product.free_grant.map(grant),
        low_balance: product.low_balance,
        debt_limit: product.debt_limit,
        limits: product.limits.iter().map(limit).collect(),
        active: product.active,
        created_at: instant(product.created_at).to_string(),
        prices: project.prices(&product.id).map(admin_price).collect(),
    }
}

/// A price as an administrator reads it.
pub fn admin_price(price: &catalog::Price) -> admin::Price {
    admin::Price {
        id: price.id.to_string(),
        product_id: price.product.to_string(),
        label: price.label.clone(),
        amount_cents: price.amount_cents,
        currency: price.currency.clone(),
        credits_granted: price.credits_granted,
        credits_product_id: price.credits_product.map(|id| id.to_string()),
        credits_expire_after_days: price.credits_expire_after_days,
        rollover: price.rollover,
        features: features(price),
        interval: word(price.interval),
        trial_days: price.trial_days,
        trial_credits: price.trial_credits,
        repeatable: price.repeatable,
        limits: price.limits.iter().map(limit).collect(),
        active: price.active,
        created_at: instant(price.created_at).to_string(),
    }
}

fn features(price: &catalog::Price) -> Vec<String> {
    let features = price.features.iter();
    features
        .map(|feature| feature.as_str().to_owned())
        .collect()
}
