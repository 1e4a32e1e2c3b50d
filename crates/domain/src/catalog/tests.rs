//! The catalog's rules.

use super::{provider::ROTATION_SECONDS, *};
use crate::{
    Amount, Timestamp,
    id::{PriceId, ProductId},
    time::Period,
};

mod mails;
mod prices;

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const SHOP: ProjectId = ProjectId(1);
const IMAGES: ProductId = ProductId(2);
const PRO: ProductId = ProductId(3);

fn project() -> Project {
    let new = NewProject {
        name: "Shop".into(),
        mode: Mode::CreditCodes,
    };
    new.decide(SHOP, NOW).unwrap()
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

fn make(new: NewProduct) -> Result<Product, Refusal> {
    new.decide((SHOP, IMAGES), NOW)
}

fn products() -> Products {
    let images = credits("Images").decide((SHOP, IMAGES), NOW).unwrap();
    let pro = subscription().decide((SHOP, PRO), NOW).unwrap();
    [(IMAGES, images), (PRO, pro)].into()
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
        repeatable: false,
        limits: Vec::new(),
        features: Vec::new(),
        interval,
        trial_days: None,
        trial_credits: 0,
    }
}

/// The price made for this product, checked against all products.
fn priced(new: NewPrice, product: ProductId) -> Result<Price, Refusal> {
    new.decide((SHOP, product, PriceId(4)), NOW)?
        .fits(&products())
}

fn at_fault<T: std::fmt::Debug>(result: Result<T, Refusal>) -> String {
    match result {
        Err(Refusal::Invalid { param, .. }) => param,
        other => panic!("expected an invalid input, got {other:?}"),
    }
}

#[test]
fn a_credit_product_and_a_free_grant_need_a_unit() {
    let unitless = NewProduct {
        credit_unit: None,
        ..credits("Images")
    };
    assert_eq!(at_fault(make(unitless)), "creditUnit");
    let grant = FreeGrant {
        credits: Amount::new(1).unwrap(),
        period: Period::Once,
    };
    let granting = NewProduct {
        free_grant: Some(grant),
        ..subscription()
    };
    assert_eq!(at_fault(make(granting)), "freeGrant");
    assert_eq!(at_fault(make(credits(" "))), "name");
}

#[test]
fn a_unit_can_be_renamed_but_not_removed() {
    let old = make(credits("Images")).unwrap();
    let renamed = ProductChange {
        credit_unit: Some(Some("pictures".into())),
        ..Default::default()
    };
    let unit = renamed.decide(&old, true).unwrap().credit_unit;
    assert_eq!(unit.as_deref(), Some("pictures"));
    let removed = ProductChange {
        credit_unit: Some(None),
        ..Default::default()
    };
    assert_eq!(at_fault(removed.decide(&old, false)), "creditUnit");
}

#[test]
fn what_a_change_leaves_out_stays_and_null_clears() {
    let old = make(NewProduct {
        description: Some("Nice".into()),
        ..credits("Images")
    });
    let old = old.unwrap();
    let stays = ProductChange {
        active: Some(false),
        ..Default::default()
    };
    let stays = stays.decide(&old, false).unwrap();
    assert_eq!(
        (stays.description.as_deref(), stays.active),
        (Some("Nice"), false)
    );
    let cleared = ProductChange {
        description: Some(None),
        ..Default::default()
    };
    assert_eq!(cleared.decide(&old, false).unwrap().description, None);
}

#[test]
fn the_type_is_settled_once_there_are_prices() {
    let old = make(subscription()).unwrap();
    let change = ProductChange {
        kind: Some(ProductType::OneTime),
        ..Default::default()
    };
    assert!(change.clone().decide(&old, false).is_ok());
    assert_eq!(at_fault(change.decide(&old, true)), "type");
    let same = ProductChange {
        kind: Some(ProductType::Subscription),
        ..Default::default()
    };
    assert!(same.decide(&old, true).is_ok());
}

#[test]
fn the_interval_follows_the_type() {
    for (product, interval, fits) in [
        (IMAGES, Interval::OneTime, true),
        (IMAGES, Interval::Month, false),
        (IMAGES, Interval::Year, false),
        (PRO, Interval::OneTime, false),
        (PRO, Interval::Month, true),
        (PRO, Interval::Year, true),
    ] {
        let made = priced(price(interval), product);
        assert_eq!(made.is_ok(), fits, "{interval:?}");
    }
    let rolling = NewPrice {
        rollover: true,
        ..price(Interval::OneTime)
    };
    assert_eq!(at_fault(priced(rolling, IMAGES)), "rollover");
}

#[test]
fn credits_go_only_to_a_product_that_holds_them() {
    let granting = NewPrice {
        credits_granted: 100,
        ..price(Interval::Month)
    };
    assert_eq!(at_fault(priced(granting.clone(), PRO)), "creditsGranted");
    for (target, fits) in [(IMAGES, true), (PRO, false), (ProductId(9), false)] {
        let made = NewPrice {
            credits_product: Some(target),
            ..granting.clone()
        };
        assert_eq!(priced(made, PRO).is_ok(), fits, "{target}");
    }
}

#[test]
fn a_price_outside_its_bounds_names_the_input() {
    type Break = fn(&mut NewPrice);
    let cases: [(Break, &str); 9] = [
        (|new| new.amount_cents = -1, "amountCents"),
        (|new| new.amount_cents = 1 << 53, "amountCents"),
        (|new| new.amount_cents = 49, "amountCents"),
        (|new| new.currency = "eur".into(), "currency"),
        (|new| new.credits_granted = -1, "creditsGranted"),
        (
            |new| new.credits_expire_after_days = Some(0),
            "creditsExpireAfterDays",
        ),
        (
            |new| new.credits_expire_after_days = Some(36_526),
            "creditsExpireAfterDays",
        ),
        (|new| new.label = Some(String::new()), "label"),
        (|new| new.features = vec!["a b".into()], "features[0]"),
    ];
    for (break_it, param) in cases {
        let mut new = price(Interval::OneTime);
        break_it(&mut new);
        // Refused before the missing product is looked up.
        assert_eq!(at_fault(priced(new, ProductId(9))), param);
    }
    let missing = priced(price(Interval::OneTime), ProductId(9));
    assert_eq!(missing, Err(Refusal::ProductNotFound(ProductId(9))));
}

#[test]
fn a_prices_terms_never_change() {
    let old = priced(price(Interval::OneTime), IMAGES).unwrap();
    let change = PriceChange {
        active: Some(false),
        label: Some(Some("Old".into())),
        limits: None,
    };
    let new = change.decide(&old).unwrap();
    assert_eq!((new.label.as_deref(), new.active), (Some("Old"), false));
    let terms = Price {
        label: None,
        active: true,
        ..new
    };
    assert_eq!(terms, old);
    let blank = PriceChange {
        label: Some(Some(" ".into())),
        ..Default::default()
    };
    assert_eq!(at_fault(blank.decide(&old)), "label");
}

#[test]
fn project_settings_have_bounds() {
    type Break = fn(&mut ProjectChange);
    let cases: [(Break, &str); 7] = [
        (|change| change.name = Some(String::new()), "name"),
        (
            |change| change.wallet_creation_limit = limit(0, 1),
            "walletCreationLimit.max",
        ),
        (
            |change| change.wallet_creation_limit_per_ip = limit(1, 0),
            "walletCreationLimitPerIp.windowSeconds",
        ),
        (
            |change| change.approval_above_cents = Some(Some(-1)),
            "approvalAboveCents",
        ),
        (
            |change| change.approval_above_credits = Some(Some(1 << 53)),
            "approvalAboveCredits",
        ),
        (
            |change| change.subscription_grace_days = Some(366),
            "subscriptionGraceDays",
        ),
        (
            |change| change.allowed_origins = Some(vec![origin("https://a"); 101]),
            "allowedOrigins",
        ),
    ];
    for (break_it, param) in cases {
        let mut change = ProjectChange::default();
        break_it(&mut change);
        assert_eq!(at_fault(change.decide(&project())), param);
    }
    let unlimited = ProjectChange {
        wallet_creation_limit: Some(None),
        ..Default::default()
    };
    let unlimited = unlimited.decide(&project()).unwrap();
    assert_eq!(unlimited.wallet_creation_limit, None);
    assert_eq!(
        unlimited.wallet_creation_limit_per_ip,
        project().wallet_creation_limit_per_ip
    );
}

fn limit(max: u32, window_seconds: u32) -> Option<Option<CreationLimit>> {
    Some(Some(CreationLimit {
        max,
        window_seconds,
    }))
}

fn origin(text: &str) -> Origin {
    Origin::new(text).unwrap()
}

#[test]
fn an_origin_is_kept_once_and_where_it_was() {
    let change = ProjectChange {
        allowed_origins: Some(["https://b", "https://a", "https://b"].map(origin).into()),
        ..Default::default()
    };
    let project = change.decide(&project()).unwrap();
    assert_eq!(project.allowed_origins, ["https://b", "https://a"]);
}

fn stripe(secret_key: Option<&str>, webhook_secret: Option<&str>) -> ProviderChange {
    let sealed = |text: &str| Ciphertext(text.as_bytes().into());
    ProviderChange::Stripe {
        secret_key: secret_key.map(sealed),
        webhook_secret: webhook_secret.map(sealed),
    }
}

/// Sets a webhook secret in addition to the known ones.
fn set(
    change: ProviderChange,
    current: Option<&Provider>,
    now: Timestamp,
) -> Result<Provider, Refusal> {
    let set = match &change {
        ProviderChange::Stripe { webhook_secret, .. } => webhook_secret.clone(),
        _ => None,
    };
    let is_other = |existing: &Ciphertext| Some(existing) != set.as_ref();
    change.decide(SHOP, current, AccountCheck::default(), is_other, now)
}

fn accepted(provider: &Provider, at: Timestamp) -> Vec<String> {
    let Account::Stripe(account) = &provider.account else {
        panic!("not Stripe")
    };
    let existing = account.webhook_secrets.iter();
    let valid = existing.filter(|secret| secret.until.is_none_or(|until| until > at));
    valid
        .map(|existing| String::from_utf8(existing.secret.0.to_vec()).unwrap())
        .collect()
}

#[test]
fn a_replaced_webhook_secret_is_accepted_for_a_day() {
    let first = set(stripe(Some("sk_test_1"), Some("a")), None, NOW).unwrap();
    let second = set(stripe(None, Some("b")), Some(&first), NOW).unwrap();
    assert_eq!(accepted(&second, NOW), ["b", "a"]);
    let tomorrow = NOW.plus_seconds(ROTATION_SECONDS);
    assert_eq!(accepted(&second, tomorrow), ["b"]);
    let again = set(stripe(None, Some("b")), Some(&second), NOW).unwrap();
    assert_eq!(accepted(&again, NOW), ["b", "a"]);
    let later = set(stripe(None, Some("c")), Some(&second), tomorrow).unwrap();
    assert_eq!(accepted(&later, tomorrow), ["c", "b"]);
}

#[test]
fn a_key_is_needed_the_first_time_and_a_webhook_secret_never() {
    let refused = |change| at_fault(set(change, None, NOW));
    assert_eq!(refused(stripe(None, Some("a"))), "provider.secretKey");
    let without = set(stripe(Some("a"), None), None, NOW).unwrap();
    assert!(accepted(&without, NOW).is_empty());
    let current = set(stripe(Some("a"), Some("b")), None, NOW).unwrap();
    assert!(set(stripe(None, None), Some(&current), NOW).is_ok());
}

#[test]
fn a_secret_is_visible_and_never_printed() {
    let secret = SecretText::key("sk_test_hush".into()).unwrap();
    assert!(!format!("{secret:?}").contains("hush"));
    for bad in ["", "foo", "sk 1", "sk_é", "pk_test_1", &"s".repeat(256)] {
        assert_eq!(at_fault(SecretText::key(bad.into())), "provider.secretKey");
    }
    let refused = SecretText::webhook("whsec hush".into());
    assert!(!format!("{refused:?}").contains("hush"));
    assert_eq!(at_fault(refused), "provider.webhookSecret");
}

#[test]
fn a_sandboxs_clock_never_goes_back() {
    let sandbox = Sandbox::default().with_clock_ahead(60_000);
    assert_eq!(sandbox.ahead_millis, 60_000);
    assert_eq!(sandbox.with_clock_ahead(0), sandbox);
    assert_eq!(at_fault(Advance::new(0)), "seconds");
    assert_eq!(Advance::new(60).unwrap().seconds(), 60);
    // The sandbox's settings are kept while another provider is set.
    let with = Provider {
        project: SHOP,
        account: Account::Sandbox,
        sandbox,
        epoch: ProviderEpoch {
            account: Some(ProviderAccount::Sandbox),
            ..ProviderEpoch::default()
        },
    };
    let none = set(ProviderChange::None, Some(&with), NOW).unwrap();
    let back = set(ProviderChange::Sandbox, Some(&none), NOW).unwrap();
    assert_eq!((none.ahead_millis(), back), (0, with));
}

#[test]
fn how_a_sandbox_delivers_has_bounds() {
    for (delay, duplicates, param) in [
        (Some(-1), None, "delaySeconds"),
        (Some(604_801), None, "delaySeconds"),
        (None, Some(11), "duplicates"),
    ] {
        let change = SandboxChange {
            delay_seconds: delay,
            duplicates,
            shuffle: None,
        };
        assert_eq!(at_fault(change.check()), param);
    }
}
