//! The catalog's rules, and what requests find in it.

use std::sync::Arc;

use domain::{
    Amount, Timestamp,
    catalog::{Document, FreeGrant, Interval, KeyKind, Mode, Product, ProductType, Project},
    id::{PriceId, ProductId, ProjectId},
    time::Period,
};

use super::*;

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn project() -> Project {
    NewProject {
        name: "Shop".into(),
        mode: Mode::CreditCodes,
    }
    .decide(NOW)
    .unwrap()
}

fn credits(name: &str) -> NewProduct {
    NewProduct {
        name: name.into(),
        kind: ProductType::Credits,
        description: None,
        credit_unit: Some("images".into()),
        free_grant: None,
        active: true,
    }
}

fn subscription() -> NewProduct {
    NewProduct {
        kind: ProductType::Subscription,
        credit_unit: None,
        ..credits("Pro")
    }
}

fn price(interval: Interval) -> NewPrice {
    NewPrice {
        label: None,
        amount_cents: 500,
        currency: "EUR".into(),
        credits_granted: 0,
        credits_product: None,
        credits_expire_after_days: None,
        rollover: false,
        features: Vec::new(),
        interval,
    }
}

/// A catalog of one project with these products.
fn catalog(products: Vec<NewProduct>) -> (Catalog, Arc<ProjectCatalog>) {
    let project = project();
    let id = project.id;
    let mut documents = vec![Document::Project(project)];
    for product in products {
        documents.push(Document::Product(product.decide(id, NOW).unwrap()));
    }
    let catalog = Catalog::default().with(documents).unwrap();
    let project = Arc::clone(catalog.project(&id).unwrap());
    (catalog, project)
}

fn product_named<'c>(project: &'c ProjectCatalog, name: &str) -> &'c Product {
    project
        .products()
        .find(|product| product.name == name)
        .unwrap()
}

fn at_fault<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::Invalid { param, .. }) => param,
        other => panic!("expected an invalid input, got {other:?}"),
    }
}

#[test]
fn a_key_opens_its_project_until_it_is_revoked() {
    let (catalog, project) = catalog(Vec::new());
    let minted = MintedKey::draw(project.project.id, KeyKind::Secret, NOW).unwrap();
    let hash = sha256(minted.plain.as_bytes());
    assert!(catalog.authenticate(&hash).is_none());

    let catalog = catalog
        .with(vec![Document::Key(minted.key.clone())])
        .unwrap();
    let found = catalog.authenticate(&hash).unwrap();
    assert_eq!((found.key, found.kind), (minted.key.id, KeyKind::Secret));
    assert_eq!(found.project.project.id, project.project.id);

    let mut revoked = minted.key;
    revoked.revoked_at = Some(NOW);
    let catalog = catalog.with(vec![Document::Key(revoked.clone())]).unwrap();
    assert!(catalog.authenticate(&hash).is_none());
    assert!(
        catalog
            .project(&project.project.id)
            .unwrap()
            .key(&revoked.id)
            .is_some()
    );
}

#[test]
fn a_key_sees_what_was_changed_after_it_was_made() {
    let (catalog, project) = catalog(Vec::new());
    let id = project.project.id;
    let minted = MintedKey::draw(id, KeyKind::Publishable, NOW).unwrap();
    let catalog = catalog
        .with(vec![Document::Key(minted.key.clone())])
        .unwrap();
    let product = credits("Images").decide(id, NOW).unwrap();
    let catalog = catalog
        .with(vec![Document::Product(product.clone())])
        .unwrap();
    let found = catalog.authenticate(&minted.key.hash).unwrap();
    assert_eq!(found.project.product(&product.id), Some(&product));
}

#[test]
fn the_stored_catalog_is_indexed_in_whatever_order_it_comes() {
    let project = project();
    let product = credits("Images").decide(project.id, NOW).unwrap();
    let minted = MintedKey::draw(project.id, KeyKind::Secret, NOW).unwrap();
    let documents = vec![
        Document::Product(product.clone()),
        Document::Key(minted.key.clone()),
        Document::Project(project),
    ];
    let catalog = Catalog::default().with(documents).unwrap();
    let found = catalog.authenticate(&minted.key.hash).unwrap();
    assert_eq!(found.project.only_credit_product(), Some(product.id));
}

#[test]
fn a_document_of_nothing_is_damage() {
    let orphan = Document::Product(credits("Images").decide(ProjectId(7), NOW).unwrap());
    assert!(matches!(
        Catalog::default().with(vec![orphan]),
        Err(Error::Damaged(_))
    ));
    let (catalog, project) = catalog(vec![credits("Images")]);
    let id = product_named(&project, "Images").id;
    let mut price = price(Interval::OneTime).decide(&project, id, NOW).unwrap();
    price.product = ProductId(9);
    assert!(matches!(
        catalog.with(vec![Document::Price(price)]),
        Err(Error::Damaged(_))
    ));
}

#[test]
fn a_product_may_be_left_out_only_while_one_alone_holds_credits() {
    let (_, project) = catalog(vec![subscription(), credits("Images")]);
    assert_eq!(
        project.only_credit_product(),
        Some(product_named(&project, "Images").id)
    );
    let inactive = NewProduct {
        active: false,
        ..credits("Old")
    };
    assert_eq!(
        catalog(vec![credits("Images"), inactive])
            .1
            .only_credit_product(),
        None
    );
    assert_eq!(catalog(vec![subscription()]).1.only_credit_product(), None);
}

#[test]
fn wallets_are_told_the_free_grants_of_active_products() {
    let grant = FreeGrant {
        credits: Amount::new(10).unwrap(),
        period: Period::Monthly,
    };
    let free = NewProduct {
        free_grant: Some(grant),
        ..credits("Free")
    };
    let gone = NewProduct {
        active: false,
        ..NewProduct {
            name: "Gone".into(),
            ..free.clone()
        }
    };
    let (_, project) = catalog(vec![free, gone, credits("Paid")]);
    let rules: Vec<_> = project
        .scope
        .free_grants
        .iter()
        .map(|rule| rule.product)
        .collect();
    assert_eq!(rules, [product_named(&project, "Free").id]);
    assert!(project.scope.free_grants_for_code_wallets);
}

#[test]
fn a_credit_product_and_a_free_grant_need_a_unit() {
    let id = ProjectId(1);
    let unitless = NewProduct {
        credit_unit: None,
        ..credits("Images")
    };
    assert_eq!(at_fault(unitless.decide(id, NOW)), "creditUnit");
    let grant = FreeGrant {
        credits: Amount::new(1).unwrap(),
        period: Period::Once,
    };
    let granting = NewProduct {
        free_grant: Some(grant),
        ..subscription()
    };
    assert_eq!(at_fault(granting.decide(id, NOW)), "freeGrant");
    let nameless = NewProduct {
        name: " ".into(),
        ..credits("x")
    };
    assert_eq!(at_fault(nameless.decide(id, NOW)), "name");
}

#[test]
fn a_unit_can_be_renamed_but_not_removed() {
    let (_, project) = catalog(vec![credits("Images")]);
    let id = product_named(&project, "Images").id;
    let renamed = ProductChange {
        credit_unit: Some(Some("pictures".into())),
        ..Default::default()
    };
    let unit = renamed.decide(&project, id).unwrap().credit_unit;
    assert_eq!(unit.as_deref(), Some("pictures"));
    let removed = ProductChange {
        credit_unit: Some(None),
        ..Default::default()
    };
    assert_eq!(at_fault(removed.decide(&project, id)), "creditUnit");
}

#[test]
fn what_a_change_leaves_out_stays_and_null_clears() {
    let (_, project) = catalog(vec![NewProduct {
        description: Some("Nice".into()),
        ..credits("Images")
    }]);
    let id = product_named(&project, "Images").id;
    let stays = ProductChange {
        active: Some(false),
        ..Default::default()
    };
    let stays = stays.decide(&project, id).unwrap();
    assert_eq!(
        (stays.description.as_deref(), stays.active),
        (Some("Nice"), false)
    );
    let cleared = ProductChange {
        description: Some(None),
        ..Default::default()
    };
    assert_eq!(cleared.decide(&project, id).unwrap().description, None);
}

#[test]
fn the_type_is_settled_once_there_are_prices() {
    let (catalog, project) = catalog(vec![subscription()]);
    let id = product_named(&project, "Pro").id;
    let change = ProductChange {
        kind: Some(ProductType::OneTime),
        ..Default::default()
    };
    assert!(change.clone().decide(&project, id).is_ok());
    let price = price(Interval::Month).decide(&project, id, NOW).unwrap();
    let catalog = catalog.with(vec![Document::Price(price)]).unwrap();
    let project = catalog.project(&project.project.id).unwrap();
    assert_eq!(at_fault(change.decide(project, id)), "type");
}

#[test]
fn the_interval_follows_the_type() {
    let (_, project) = catalog(vec![credits("Images"), subscription()]);
    let (images, pro) = (
        product_named(&project, "Images").id,
        product_named(&project, "Pro").id,
    );
    for (product, interval, fits) in [
        (images, Interval::OneTime, true),
        (images, Interval::Month, false),
        (images, Interval::Year, false),
        (pro, Interval::OneTime, false),
        (pro, Interval::Month, true),
        (pro, Interval::Year, true),
    ] {
        let decided = price(interval).decide(&project, product, NOW);
        assert_eq!(decided.is_ok(), fits, "{interval:?}");
    }
    let rolling = NewPrice {
        rollover: true,
        ..price(Interval::OneTime)
    };
    assert_eq!(at_fault(rolling.decide(&project, images, NOW)), "rollover");
}

#[test]
fn credits_go_only_to_a_product_that_holds_them() {
    let (_, project) = catalog(vec![credits("Images"), subscription()]);
    let (images, pro) = (
        product_named(&project, "Images").id,
        product_named(&project, "Pro").id,
    );
    let granting = NewPrice {
        credits_granted: 100,
        ..price(Interval::Month)
    };
    assert_eq!(
        at_fault(granting.clone().decide(&project, pro, NOW)),
        "creditsGranted"
    );
    for (target, fits) in [(images, true), (pro, false), (ProductId(1), false)] {
        let decided = NewPrice {
            credits_product: Some(target),
            ..granting.clone()
        };
        assert_eq!(decided.decide(&project, pro, NOW).is_ok(), fits, "{target}");
    }
}

#[test]
fn a_price_outside_its_bounds_names_the_input() {
    let (_, project) = catalog(vec![credits("Images")]);
    let id = product_named(&project, "Images").id;
    let base = price(Interval::OneTime);
    let cases = [
        (
            NewPrice {
                amount_cents: -1,
                ..base.clone()
            },
            "amountCents",
        ),
        (
            NewPrice {
                amount_cents: 1 << 53,
                ..base.clone()
            },
            "amountCents",
        ),
        (
            NewPrice {
                currency: "eur".into(),
                ..base.clone()
            },
            "currency",
        ),
        (
            NewPrice {
                credits_granted: -1,
                ..base.clone()
            },
            "creditsGranted",
        ),
        (
            NewPrice {
                credits_expire_after_days: Some(0),
                ..base.clone()
            },
            "creditsExpireAfterDays",
        ),
        (
            NewPrice {
                label: Some(String::new()),
                ..base.clone()
            },
            "label",
        ),
        (
            NewPrice {
                features: vec!["a b".into()],
                ..base
            },
            "features[0]",
        ),
    ];
    for (new, param) in cases {
        assert_eq!(at_fault(new.decide(&project, id, NOW)), param);
    }
    let unknown = ProductId(1);
    let missing = price(Interval::OneTime).decide(&project, unknown, NOW);
    assert!(matches!(missing, Err(Error::ProductNotFound(id)) if id == unknown));
}

#[test]
fn only_active_prices_are_offered_and_oldest_first() {
    let (catalog, project) = catalog(vec![credits("Images"), credits("Other")]);
    let id = product_named(&project, "Images").id;
    let mut prices: Vec<_> = (0..3)
        .map(|_| price(Interval::OneTime).decide(&project, id, NOW).unwrap())
        .collect();
    let documents = prices.iter().cloned().map(Document::Price).collect();
    let catalog = catalog.with(documents).unwrap();
    let project = catalog.project(&project.project.id).unwrap();
    let off = PriceChange {
        active: Some(false),
        label: Some(Some("Old".into())),
    };
    let off = off.decide(project, id, prices[1].id).unwrap();
    assert_eq!(off.label.as_deref(), Some("Old"));
    let catalog = catalog.with(vec![Document::Price(off)]).unwrap();
    let project = catalog.project(&project.project.id).unwrap();
    prices.remove(1);
    let offered: Vec<PriceId> = project.active_prices(&id).map(|price| price.id).collect();
    assert_eq!(offered, [prices[0].id, prices[1].id]);
    assert_eq!(project.prices(&id).count(), 3);
    assert_eq!(
        project.prices(&product_named(project, "Other").id).count(),
        0
    );
}

#[test]
fn project_settings_have_bounds() {
    let limit = |max, window_seconds| {
        Some(Some(domain::catalog::CreationLimit {
            max,
            window_seconds,
        }))
    };
    let cases = [
        (
            ProjectChange {
                name: Some(String::new()),
                ..Default::default()
            },
            "name",
        ),
        (
            ProjectChange {
                wallet_creation_limit: limit(0, 1),
                ..Default::default()
            },
            "walletCreationLimit.max",
        ),
        (
            ProjectChange {
                wallet_creation_limit_per_ip: limit(1, 0),
                ..Default::default()
            },
            "walletCreationLimitPerIp.windowSeconds",
        ),
        (
            ProjectChange {
                subscription_grace_days: Some(366),
                ..Default::default()
            },
            "subscriptionGraceDays",
        ),
        (
            ProjectChange {
                allowed_origins: Some(vec!["x".into()]),
                ..Default::default()
            },
            "allowedOrigins[0]",
        ),
    ];
    for (change, param) in cases {
        assert_eq!(at_fault(change.decide(project())), param);
    }
    let unlimited = ProjectChange {
        wallet_creation_limit: Some(None),
        ..Default::default()
    };
    assert_eq!(
        unlimited.decide(project()).unwrap().wallet_creation_limit,
        None
    );
}
