//! A product and a price, for tests of the forms that are sent.

use domain::{
    catalog::{Interval, Price, Product, ProductType},
    id::{PriceId, ProductId, ProjectId},
    time::Timestamp,
};

pub(crate) fn product(name: &str) -> Product {
    Product {
        id: ProductId(2),
        project: ProjectId(1),
        name: name.into(),
        description: None,
        kind: ProductType::Subscription,
        credit_unit: None,
        free_grant: None,
        low_balance: None,
        debt_limit: 0,
        limits: Vec::new(),
        active: true,
        created_at: Timestamp(0),
    }
}

pub(crate) fn price() -> Price {
    Price {
        id: PriceId(3),
        project: ProjectId(1),
        product: ProductId(2),
        label: None,
        amount_cents: 500,
        currency: "EUR".into(),
        credits_granted: 0,
        credits_product: None,
        credits_expire_after_days: None,
        rollover: false,
        features: [].into(),
        interval: Interval::OneTime,
        trial_days: None,
        trial_credits: 0,
        repeatable: false,
        limits: Vec::new(),
        active: true,
        created_at: Timestamp(0),
    }
}
