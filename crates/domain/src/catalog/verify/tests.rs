//! The problems that are reported of an inconsistent stored catalog.

use super::*;
use crate::{
    Timestamp,
    catalog::{
        Account, Ciphertext, Endpoint, Interval, KeyKind, NewEndpoint, NewKey, NewPrice,
        NewProduct, NewProject, Product, ProductType, Project, Provider, ProviderAccount,
        ProviderEpoch, Sandbox,
    },
    id::{EndpointId, PriceId},
};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn project(id: u128) -> Project {
    let new = NewProject {
        name: "Shop".into(),
        ..NewProject::default()
    };
    new.decide(ProjectId(id), NOW).unwrap()
}

fn product(project: u128, id: u128) -> Product {
    let new = NewProduct {
        name: "Images".into(),
        kind: ProductType::Credits,
        description: None,
        credit_unit: Some("images".into()),
        free_grant: None,
        low_balance: None,
        debt_limit: 0,
        limits: Vec::new(),
        active: true,
    };
    new.decide((ProjectId(project), ProductId(id)), NOW)
        .unwrap()
}

fn price(project: u128, product: u128, id: u128) -> Price {
    let new = NewPrice {
        label: None,
        amount_cents: 500,
        currency: "EUR".into(),
        credits_granted: 100,
        credits_product: None,
        credits_expire_after_days: None,
        rollover: false,
        repeatable: false,
        limits: Vec::new(),
        features: Vec::new(),
        interval: Interval::OneTime,
        trial_days: None,
        trial_credits: 0,
    };
    let of = (ProjectId(project), ProductId(product), PriceId(id));
    new.decide(of, NOW).unwrap()
}

fn key(project: u128, id: u128, hash: u8) -> ApiKey {
    let of = (ProjectId(project), KeyId(id));
    NewKey::from(KeyKind::Secret)
        .decide(of, ("pay_sk_x", [hash; 32]), NOW)
        .unwrap()
}

fn endpoint(project: u128, id: u128) -> Endpoint {
    let new = NewEndpoint {
        url: "https://shop.example".into(),
        events: None,
    };
    let of = (ProjectId(project), EndpointId(id));
    new.decide(of, Ciphertext(Box::new([1])), 0, Timestamp(0))
        .unwrap()
}

fn provider(project: u128) -> Provider {
    Provider {
        project: ProjectId(project),
        account: Account::Sandbox,
        epoch: ProviderEpoch {
            account: Some(ProviderAccount::Sandbox),
            ..ProviderEpoch::default()
        },
        sandbox: Sandbox::default(),
    }
}

/// Two projects that have everything, as they may be stored.
fn sound() -> Vec<Document> {
    let with = |whose, id, hash| {
        vec![
            Document::Price(price(whose, id, id)),
            Document::Product(product(whose, id)),
            Document::Key(key(whose, id, hash)),
            Document::Provider(provider(whose)),
            Document::Endpoint(endpoint(whose, id)),
            Document::Project(project(whose)),
        ]
    };
    [with(1, 10, 1), with(2, 20, 2)].concat()
}

fn one_problem(added: Document, names: &[&dyn Display]) {
    let documents = [sound(), vec![added]].concat();
    let problems = verify(&documents);
    let [problem] = &problems[..] else {
        panic!("{problems:?}")
    };
    for name in names {
        assert!(problem.contains(&name.to_string()), "{problem}");
    }
}

#[test]
fn a_sound_catalog_has_no_problem_in_any_order() {
    assert_eq!(verify(&sound()), Vec::<String>::new());
    let mut backwards = sound();
    backwards.reverse();
    assert_eq!(verify(&backwards), Vec::<String>::new());
    assert_eq!(verify(&[]), Vec::<String>::new());
}

#[test]
fn documents_of_a_missing_project_are_named() {
    let nobody = ProjectId(9);
    one_problem(Document::Key(key(9, 1, 9)), &[&KeyId(1), &nobody]);
    one_problem(Document::Product(product(9, 1)), &[&ProductId(1), &nobody]);
    one_problem(Document::Provider(provider(9)), &[&nobody, &"provider"]);
    let lost = Document::Endpoint(endpoint(9, 1));
    one_problem(lost, &[&EndpointId(1), &nobody]);
}

#[test]
fn two_keys_with_one_hash_are_named() {
    one_problem(Document::Key(key(2, 7, 1)), &[&KeyId(7), &KeyId(10)]);
}

#[test]
fn a_secret_key_that_is_kept_in_the_clear_is_named() {
    let leaked = ApiKey {
        public: Some("pay_sk_x".into()),
        ..key(1, 7, 7)
    };
    one_problem(Document::Key(leaked), &[&KeyId(7)]);
}

#[test]
fn a_price_of_a_missing_or_foreign_product_is_named() {
    let missing = Document::Price(price(1, 77, 7));
    one_problem(missing, &[&PriceId(7), &ProductId(77), &"missing"]);
    let foreign = Document::Price(price(1, 20, 7));
    one_problem(foreign, &[&PriceId(7), &ProductId(20), &ProjectId(2)]);
}

#[test]
fn a_price_that_credits_a_foreign_product_is_named() {
    let price = Price {
        credits_product: Some(ProductId(20)),
        ..price(1, 10, 7)
    };
    one_problem(
        Document::Price(price),
        &[&PriceId(7), &"credits", &ProductId(20), &ProjectId(2)],
    );
}

#[test]
fn a_price_that_its_product_does_not_allow_is_named() {
    let monthly = Price {
        interval: Interval::Month,
        ..price(1, 10, 7)
    };
    one_problem(Document::Price(monthly), &[&PriceId(7), &"interval"]);
}

#[test]
fn a_field_that_breaks_a_rule_is_named() {
    let nameless = Project {
        name: String::new(),
        ..project(7)
    };
    one_problem(Document::Project(nameless), &[&ProjectId(7), &"name"]);
    let elsewhere = Project {
        allowed_origins: vec!["https://a".into(), "http://shop.example".into()],
        ..project(7)
    };
    let at = "allowedOrigins[1]";
    one_problem(Document::Project(elsewhere), &[&ProjectId(7), &at]);
    let unsigned = Endpoint {
        secrets: Vec::new(),
        ..endpoint(1, 7)
    };
    one_problem(Document::Endpoint(unsigned), &[&EndpointId(7), &"secrets"]);
    let unitless = Product {
        credit_unit: None,
        ..product(1, 7)
    };
    one_problem(Document::Product(unitless), &[&ProductId(7), &"creditUnit"]);
    let negative = Price {
        amount_cents: -1,
        ..price(1, 10, 7)
    };
    one_problem(Document::Price(negative), &[&PriceId(7), &"amountCents"]);
    let sandbox = Sandbox {
        ahead_millis: -1,
        ..Sandbox::default()
    };
    let back = Provider {
        sandbox,
        ..provider(7)
    };
    let documents = [Document::Project(project(7)), Document::Provider(back)];
    let problems = verify(&documents);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("aheadMillis"), "{problems:?}");
}

#[test]
fn a_price_below_what_providers_take_today_is_no_damage() {
    let small = Price {
        amount_cents: 1,
        ..price(1, 10, 7)
    };
    let documents = [sound(), vec![Document::Price(small)]].concat();
    assert_eq!(verify(&documents), Vec::<String>::new());
}
