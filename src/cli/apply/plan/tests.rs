//! Tests of the plan for a file, against a server's catalog.

use super::*;

const FILE: &str = r#"
[project]
name = "Shop"
allowedOrigins = ["https://shop.example"]

[[products]]
name = "Images"
type = "credits"
creditUnit = "images"
freeGrant = { credits = 10, period = "monthly" }

[[products.prices]]
label = "Small"
amountCents = 500
currency = "EUR"
creditsGranted = 100
interval = "one_time"

[[products]]
name = "Pro"
type = "subscription"

[[products.prices]]
amountCents = 1500
currency = "EUR"
creditsGranted = 400
creditsProduct = "Images"
features = ["export", "api"]
interval = "month"
"#;

fn file() -> file::File {
    file::File::parse(FILE).unwrap()
}

fn project_called(name: &str) -> admin::Project {
    serde_json::from_value(json!({
        "id": format!("proj_{name}"), "name": name, "mode": "credit_codes",
        "allowedOrigins": ["https://shop.example"], "walletCreationLimit": null,
        "walletCreationLimitPerIp": null, "freeGrantsForCodeWallets": true,
        "subscriptionGraceDays": 7, "automaticTax": false, "collectTaxIds": false,
        "collectBillingAddress": false, "invoices": false, "termsOfService": false, "archived": false,
        "mails": {"lowBalance": false, "topUpFailed": false, "limitReached": false, "receipt": true, "locale": "en",
            "templates": []},
        "createdAt": "",
    }))
    .unwrap()
}

/// The server's catalog after the file was applied.
fn applied() -> Vec<admin::Product> {
    serde_json::from_value(json!([
        {
            "id": "prod_1", "name": "Images", "description": null, "type": "credits",
            "creditUnit": "images", "freeGrant": {"credits": 10, "period": "monthly"}, "debtLimit": 0,
            "active": true, "createdAt": "", "prices": [price("price_1", "prod_1", "Small")],
        },
        {
            "id": "prod_2", "name": "Pro", "description": null, "type": "subscription",
            "creditUnit": null, "freeGrant": null, "debtLimit": 0, "active": true, "createdAt": "",
            "prices": [{
                "id": "price_2", "productId": "prod_2", "label": null, "amountCents": 1500,
                "currency": "EUR", "creditsGranted": 400, "creditsProductId": "prod_1",
                "creditsExpireAfterDays": null, "rollover": false, "features": ["api", "export"],
                "interval": "month", "trialDays": null, "trialCredits": 0, "repeatable": false,
                "active": true, "createdAt": "",
            }],
        },
    ]))
    .unwrap()
}

fn price(id: &str, product: &str, label: &str) -> Value {
    json!({
        "id": id, "productId": product, "label": label, "amountCents": 500, "currency": "EUR",
        "creditsGranted": 100, "creditsProductId": null, "creditsExpireAfterDays": null,
        "rollover": false, "features": [], "interval": "one_time", "trialDays": null,
        "trialCredits": 0, "repeatable": false, "active": true, "createdAt": "",
    })
}

fn ids() -> Vec<Option<String>> {
    vec![Some("prod_1".into()), Some("prod_2".into())]
}

#[test]
fn applying_again_changes_nothing() {
    let (file, found) = (file(), applied());
    let projects = [project_called("Shop")];
    let Project::Found { change, .. } = project(&file, None, &projects).unwrap() else {
        panic!("it is there");
    };
    assert_eq!(change, None);
    let steps = products(&file.products, &found).unwrap();
    assert!(
        steps
            .iter()
            .all(|step| step.id.is_some() && step.fields.is_none()),
        "{steps:?}"
    );
    assert_eq!(prices(&file.products, &ids(), &found).unwrap(), []);
    assert!(undeclared(&file.products, &ids(), &found).is_empty());
}

#[test]
fn everything_is_made_where_there_is_nothing() {
    let file = file();
    let Project::Missing { create, change } = project(&file, None, &[]).unwrap() else {
        panic!("it is not there");
    };
    assert_eq!(create, json!({"name": "Shop"}));
    assert_eq!(
        change,
        Some(json!({"allowedOrigins": ["https://shop.example"]}))
    );
    let steps = products(&file.products, &[]).unwrap();
    assert!(
        steps
            .iter()
            .all(|step| step.id.is_none() && step.fields.is_some()),
        "{steps:?}"
    );
    let mut empty = applied();
    empty.iter_mut().for_each(|product| product.prices.clear());
    let steps = prices(&file.products, &ids(), &empty).unwrap();
    assert_eq!(
        (steps[1].product.as_deref(), &steps[1].id),
        (Some("prod_2"), &None)
    );
    assert_eq!(steps[1].fields["creditsProductId"], "prod_1");
}

#[test]
fn only_what_differs_is_changed_and_what_is_left_out_takes_its_default() {
    let (mut file, mut found) = (file(), applied());
    found[0].description = Some("Typed in by hand".into());
    file.products[0].credit_unit = Some("pictures".into());
    let steps = products(&file.products, &found).unwrap();
    assert_eq!(steps[0].id.as_deref(), Some("prod_1"));
    assert_eq!(
        steps[0].fields,
        Some(json!({"creditUnit": "pictures", "description": null}))
    );
}

#[test]
fn other_terms_are_another_price_and_the_old_one_is_left_and_named() {
    let (mut file, found) = (file(), applied());
    file.products[0].prices[0].amount_cents = 600;
    let steps = prices(&file.products, &ids(), &found).unwrap();
    let [
        PriceStep {
            id: None, fields, ..
        },
    ] = &steps[..]
    else {
        panic!("{steps:?}")
    };
    assert_eq!(fields["amountCents"], 600);
    let left = undeclared(&file.products, &ids(), &found);
    assert_eq!(left, ["price 5.00 EUR of \"Images\" (price_1)"]);
}

#[test]
fn a_label_changes_in_place_and_only_a_written_inactive_switches_off() {
    let (mut file, found) = (file(), applied());
    file.products[0].prices[0].label = Some("Starter".into());
    file.products[0].prices[0].active = false;
    let steps = prices(&file.products, &ids(), &found).unwrap();
    let [step] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert_eq!(step.id.as_deref(), Some("price_1"));
    assert_eq!(step.fields, json!({"active": false, "label": "Starter"}));
    assert!(step.switches_off());
}

#[test]
fn prices_with_the_same_terms_are_distinguished_by_their_labels() {
    let (mut file, mut found) = (file(), applied());
    let twin = serde_json::from_value(price("price_3", "prod_1", "Twin")).unwrap();
    found[0].prices.insert(0, twin);
    let mut other = file.products[0].prices[0].clone();
    other.label = Some("Twin".into());
    file.products[0].prices.push(other);
    assert_eq!(prices(&file.products, &ids(), &found).unwrap(), []);
}

#[test]
fn what_is_ambiguous_or_unknown_is_refused() {
    let (mut file, mut found) = (file(), applied());
    let projects = [project_called("Shop"), project_called("Shop")];
    assert!(project(&file, None, &projects).is_err());
    assert!(project(&file, Some("Nobody"), &projects).is_err());
    file.products[1].prices[0].credits_product = Some("Nothing".into());
    assert!(prices(&file.products, &ids(), &found).is_err());
    found[1].name = "Images".into();
    assert!(products(&file.products, &found).is_err());
    file.products[0].id = Some("prod_1".into());
    assert!(products(&file.products, &found).is_ok());
    file.products[0].id = Some("prod_9".into());
    assert!(products(&file.products, &found).is_err());
    file.products[1].name = "Images".into();
    assert!(products(&file.products, &applied()).is_err());
}

#[test]
fn unknown_keys_in_the_file_are_refused_by_line() {
    let said = file::File::parse("[[products]]\nname = \"x\"\ntyp = \"credits\"").unwrap_err();
    assert!(said.contains("typ") && said.contains("line 3"), "{said}");
}
