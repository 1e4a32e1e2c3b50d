//! Pages of products and prices.

use kit::service::Service;

use crate::browser::Browser;

#[tokio::test]
async fn a_product_and_a_price_are_made_and_taken_off_offer() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let catalog = format!("/dashboard/projects/{}/catalog", service.project.id);
    browser
        .get(&format!("{catalog}/new"))
        .await
        .shows("Credit unit");
    let product = [
        ("name", "Images"),
        ("type", "credits"),
        ("description", "Pictures to make"),
        ("creditUnit", "images"),
        ("freeGrant.credits", "1,000"),
        ("freeGrant.period", "weekly"),
        ("lowBalance", "10"),
        ("debtLimit", "1,500"),
        ("active", "on"),
    ];
    let page = browser.post(&catalog, &product).await;
    let here = page.location().split('?').next().unwrap().to_owned();
    browser
        .get(&here)
        .await
        .shows("Images")
        .shows("No price yet");
    let price = [
        ("label", "Small"),
        ("amountCents", "9.50"),
        ("currency", "eur"),
        ("creditsGranted", "500"),
        ("features", "hd, export"),
        ("interval", "one_time"),
    ];
    browser
        .submit(&format!("{here}/prices"), &price)
        .await
        .shows("9.50 EUR")
        .shows("500");
    let listed = service
        .publishable
        .get("/api/v1/products")
        .await
        .expect(200);
    let sold = &listed["products"][1];
    assert_eq!(
        sold["freeGrant"],
        serde_json::json!({"credits": 1000, "period": "weekly"})
    );
    assert_eq!(sold["prices"][0]["amountCents"], 950);
    assert_eq!(
        sold["prices"][0]["features"],
        serde_json::json!(["export", "hd"])
    );
    let id = sold["prices"][0]["id"].as_str().unwrap();
    let price = format!("{here}/prices/{id}");
    browser
        .confirm(&price, &[("active", "")])
        .await
        .shows("Not offered")
        .shows("Offer again");
    let listed = service
        .publishable
        .get("/api/v1/products")
        .await
        .expect(200);
    assert_eq!(listed["products"][1]["prices"], serde_json::json!([]));
    browser
        .submit(&price, &[("active", "on")])
        .await
        .shows("Stop offering");
    let mut changed = product;
    changed[0].1 = "Pictures";
    changed[8].1 = "";
    browser
        .confirm(&here, &changed)
        .await
        .shows("Pictures")
        .shows("Not offered");
    let listed = service
        .publishable
        .get("/api/v1/products")
        .await
        .expect(200);
    assert_eq!(listed["products"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_typed_wrong_stays_and_is_explained() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let catalog = format!("/dashboard/projects/{}/catalog", service.project.id);
    for (name, value, message) in [
        ("name", "", "id=\"name-wrong\""),
        ("creditUnit", "", "id=\"creditUnit-wrong\""),
        (
            "freeGrant.credits",
            "many",
            "id=\"freeGrant.credits-wrong\"",
        ),
        ("lowBalance", "-1", "id=\"lowBalance-wrong\""),
        ("debtLimit", "-1", "id=\"debtLimit-wrong\""),
    ] {
        let form = [
            (name, value),
            ("name", "Kept <b>"),
            ("type", "credits"),
            ("creditUnit", "x"),
        ];
        let page = browser.post(&catalog, &form).await;
        assert_eq!(page.status, 400, "{name}");
        page.shows(message);
        if name != "name" {
            page.shows("value=\"Kept &lt;b&gt;\"");
        }
    }
    let prices = format!("{catalog}/{}/prices", service.product);
    for (name, value) in [
        ("amountCents", "9.999"),
        ("amountCents", "0.01"),
        ("currency", "EURO"),
        ("creditsGranted", "x"),
        ("features", "<script>"),
    ] {
        let form = [
            (name, value),
            ("amountCents", "9"),
            ("currency", "EUR"),
            ("interval", "one_time"),
        ];
        let page = browser.post(&prices, &form).await;
        assert_eq!(page.status, 400, "{name} {value}");
        page.shows("-wrong\"").lacks("<script>\"");
    }
    let none = service.catalog.current();
    let project = none.project(&service.project.id).unwrap();
    assert_eq!(project.prices(&service.product.parse().unwrap()).count(), 0);
    assert_eq!(browser.get(&format!("{catalog}/prod_x")).await.status, 404);
}

#[tokio::test]
async fn a_product_that_a_colleague_saved_is_not_overwritten() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let here = format!("{base}/catalog/{}", service.product);
    let page = browser.get(&here).await;
    let version = page.value("version").unwrap().to_owned();
    let save = async |name: &str, limit: &str, version: &str| {
        let form = [
            ("name", name),
            ("type", "credits"),
            ("creditUnit", "renders"),
            ("debtLimit", limit),
            ("active", "on"),
            ("version", version),
        ];
        browser.post(&here, &form).await
    };
    let first = save("Renders", "500", &version).await;
    assert_eq!(first.status, 303, "{}", first.html);
    let late = save("Pictures", "", &version).await;
    assert_eq!(late.status, 412);
    late.shows("Stored now, where it differs")
        .shows("<dt>debtLimit</dt><dd><bdi>500</bdi></dd>")
        .shows("<dt>name</dt><dd><bdi>Renders</bdi></dd>")
        .shows("value=\"Pictures\"");
    let version = late.value("version").unwrap().to_owned();
    let again = save("Pictures", "500", &version).await;
    assert_eq!(again.status, 303);
    let page = browser.get("/dashboard/audit").await;
    page.shows("name “Renders” -&gt; “Pictures”");
}

#[tokio::test]
async fn a_new_price_is_in_the_currency_that_the_shop_sells_in() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let prices = format!("{base}/catalog/{}/prices", service.product);
    let sell = async |currency: &'static str| {
        service.clock.advance_millis(1000);
        let price = [
            ("amountCents", "9.50"),
            ("currency", currency),
            ("creditsGranted", "5"),
            ("interval", "one_time"),
        ];
        browser.submit(&prices, &price).await
    };
    sell("USD").await;
    sell("SEK").await;
    let product = [("name", "Other"), ("type", "credits"), ("creditUnit", "x")];
    let page = browser.post(&format!("{base}/catalog"), &product).await;
    let other = page.location().split('?').next().unwrap().to_owned();
    let page = browser.get(&format!("{other}/prices")).await;
    assert_eq!(page.value("currency"), Some("SEK"));
}
