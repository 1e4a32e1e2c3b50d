//! What requests find in the catalog.

use std::sync::Arc;

use domain::{
    Amount, Timestamp,
    catalog::{Document, FreeGrant, Interval, KeyKind, Mode, Price, Product, ProductType, Project},
    id::{PriceId, ProductId, ProjectId},
    time::Period,
};

use super::{rates::RatesCache, *};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn project() -> Project {
    NewProject {
        name: "Shop".into(),
        mode: Mode::CreditCodes,
    }
    .decide(ProjectId(new_id()), NOW)
    .unwrap()
}

fn credits(name: &str) -> NewProduct {
    NewProduct {
        name: name.into(),
        kind: ProductType::Credits,
        description: None,
        credit_unit: Some("images".into()),
        free_grant: None,
        low_balance: None,
        debt_limit: 0,
        limits: Vec::new(),
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

fn made(new: NewProduct, project: ProjectId) -> Product {
    new.decide((project, ProductId(new_id())), NOW).unwrap()
}

fn price(project: &ProjectCatalog, product: ProductId) -> Price {
    let new = NewPrice {
        label: None,
        amount_cents: 500,
        currency: "EUR".into(),
        credits_granted: 0,
        credits_product: None,
        credits_expire_after_days: None,
        rollover: false,
        repeatable: false,
        limits: Vec::new(),
        trial_days: None,
        trial_credits: 0,
        features: Vec::new(),
        interval: Interval::OneTime,
    };
    let of = (project.project.id, product, PriceId(new_id()));
    new.decide(of, NOW).unwrap()
}

fn catalog(products: Vec<NewProduct>) -> (Catalog, Arc<ProjectCatalog>) {
    let project = project();
    let id = project.id;
    let mut documents = vec![Document::Project(project)];
    for product in products {
        documents.push(Document::Product(made(product, id)));
    }
    let catalog = Catalog::default()
        .with(documents, &RatesCache::default())
        .unwrap();
    let project = Arc::clone(catalog.project(&id).unwrap());
    (catalog, project)
}

fn product_named<'c>(project: &'c ProjectCatalog, name: &str) -> &'c Product {
    project
        .products()
        .find(|product| product.name == name)
        .unwrap()
}

#[test]
fn a_key_opens_its_project_until_it_is_revoked() {
    let (catalog, project) = catalog(Vec::new());
    let minted = MintedKey::draw(project.project.id, KeyKind::Secret, NOW).unwrap();
    let hash = sha256(minted.plain.as_bytes());
    assert!(catalog.authenticate(&hash, NOW).is_none());

    let catalog = catalog
        .with(
            vec![Document::Key(minted.stored.clone())],
            &RatesCache::default(),
        )
        .unwrap();
    let found = catalog.authenticate(&hash, NOW).unwrap();
    assert_eq!((found.key, found.kind), (minted.stored.id, KeyKind::Secret));
    assert_eq!(found.project.project.id, project.project.id);

    let mut revoked = minted.stored;
    revoked.revoked_at = Some(NOW);
    let catalog = catalog
        .with(vec![Document::Key(revoked.clone())], &RatesCache::default())
        .unwrap();
    assert!(catalog.authenticate(&hash, NOW).is_none());
    assert!(
        catalog
            .project(&project.project.id)
            .unwrap()
            .key(&revoked.id)
            .is_some()
    );
}

#[test]
fn a_key_stops_at_its_end() {
    let (catalog, project) = catalog(Vec::new());
    let end = Timestamp(NOW.0 + 1);
    let new = NewKey {
        expires_at: Some(end),
        ..KeyKind::Secret.into()
    };
    let minted = MintedKey::draw(project.project.id, new, NOW).unwrap();
    let catalog = catalog
        .with(
            vec![Document::Key(minted.stored.clone())],
            &RatesCache::default(),
        )
        .unwrap();
    assert!(catalog.authenticate(&minted.stored.hash, NOW).is_some());
    assert!(catalog.authenticate(&minted.stored.hash, end).is_none());
}

#[test]
fn a_key_sees_what_was_changed_after_it_was_made() {
    let (catalog, project) = catalog(Vec::new());
    let id = project.project.id;
    let minted = MintedKey::draw(id, KeyKind::Publishable, NOW).unwrap();
    let catalog = catalog
        .with(
            vec![Document::Key(minted.stored.clone())],
            &RatesCache::default(),
        )
        .unwrap();
    let product = made(credits("Images"), id);
    let catalog = catalog
        .with(
            vec![Document::Product(product.clone())],
            &RatesCache::default(),
        )
        .unwrap();
    let found = catalog.authenticate(&minted.stored.hash, NOW).unwrap();
    assert_eq!(found.project.product(&product.id), Some(&product));
}

#[test]
fn the_stored_catalog_is_indexed_in_any_order() {
    let project = project();
    let product = made(credits("Images"), project.id);
    let minted = MintedKey::draw(project.id, KeyKind::Secret, NOW).unwrap();
    let documents = vec![
        Document::Product(product.clone()),
        Document::Key(minted.stored.clone()),
        Document::Project(project),
    ];
    let catalog = Catalog::default()
        .with(documents, &RatesCache::default())
        .unwrap();
    let found = catalog.authenticate(&minted.stored.hash, NOW).unwrap();
    assert_eq!(found.project.only_credit_product(), Some(product.id));
}

#[test]
fn a_document_of_nothing_is_damage() {
    let orphan = Document::Product(made(credits("Images"), ProjectId(7)));
    assert!(matches!(
        Catalog::default().with(vec![orphan], &RatesCache::default()),
        Err(Error::Damaged(_))
    ));
    let (catalog, project) = catalog(vec![credits("Images")]);
    let id = product_named(&project, "Images").id;
    let mut price = price(&project, id);
    price.product = ProductId(9);
    assert!(matches!(
        catalog.with(vec![Document::Price(price)], &RatesCache::default()),
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
fn wallets_get_the_free_grants_of_active_products() {
    let grant = FreeGrant {
        credits: Amount::new(10).unwrap(),
        period: Period::Monthly,
    };
    let free = NewProduct {
        free_grant: Some(grant),
        low_balance: None,
        debt_limit: 0,
        limits: Vec::new(),
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
fn only_active_prices_are_offered_and_oldest_first() {
    let (catalog, project) = catalog(vec![credits("Images"), credits("Other")]);
    let id = product_named(&project, "Images").id;
    let mut prices: Vec<_> = (0..3).map(|_| price(&project, id)).collect();
    let documents = prices.iter().cloned().map(Document::Price).collect();
    let catalog = catalog.with(documents, &RatesCache::default()).unwrap();
    let project = catalog.project(&project.project.id).unwrap();
    let off = PriceChange {
        active: Some(false),
        label: Some(Some("Old".into())),
        limits: None,
    };
    let off = off.decide(&prices[1]).unwrap();
    assert_eq!(off.label.as_deref(), Some("Old"));
    let catalog = catalog
        .with(vec![Document::Price(off)], &RatesCache::default())
        .unwrap();
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
