//! The pages as a browser gets them.

use reqwest::{Response, header};

use super::*;

const HTML: &str = "text/html,application/xhtml+xml";

async fn press(stage: &Stage, url: &str, action: &str, form: &str) -> Response {
    let request = stage
        .http
        .post(format!("{url}/{action}"))
        .header(header::ACCEPT, HTML);
    let kind = "application/x-www-form-urlencoded";
    request
        .header(header::CONTENT_TYPE, kind)
        .body(form.to_owned())
        .send()
        .await
        .unwrap()
}

fn leads_to(answer: &Response) -> (u16, &str) {
    let location = answer
        .headers()
        .get(header::LOCATION)
        .map(|to| to.to_str().unwrap());
    (answer.status().as_u16(), location.unwrap_or_default())
}

#[tokio::test]
async fn the_checkout_page_is_escaped_and_may_do_nothing() {
    let stage = Stage::new().await;
    let session = stage.session(credits(), Promotion::BuyerMayEnter).await;
    let page = stage.http.get(session.url.unwrap()).send().await.unwrap();
    assert_eq!(page.status(), 200);
    let policy = page.headers()["content-security-policy"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(
        policy.contains("form-action 'self' https://shop.example"),
        "{policy}"
    );
    assert_eq!(page.headers()["cache-control"], "no-store");
    assert_eq!(page.headers()["x-frame-options"], "DENY");
    assert_eq!(page.headers()["referrer-policy"], "no-referrer");
    let html = page.text().await.unwrap();
    assert!(html.contains("1,000 &lt;credits&gt;") && html.contains("Corner &lt;Shop&gt;"));
    assert!(!html.contains("<credits>") && !html.contains("<script"));
    assert!(html.contains("$5.00") && html.contains("ann@example.com"));
    assert!(html.contains("No real money"));
}

#[tokio::test]
async fn buttons_lead_to_the_shop_and_back() {
    let stage = Stage::new().await;
    let session = stage.session(credits(), Promotion::BuyerMayEnter).await;
    let url = session.url.clone().unwrap();
    let declined = press(&stage, &url, "decline", "email=").await;
    assert_eq!(declined.status(), 402);
    assert!(
        declined
            .text()
            .await
            .unwrap()
            .contains("Your card was declined")
    );
    let wrong = press(&stage, &url, "promotion", "promotionCode=%3Cb%3E").await;
    assert_eq!(wrong.status(), 400);
    let html = wrong.text().await.unwrap();
    assert!(html.contains("not valid") && html.contains("value=\"&lt;b&gt;\""));
    let right = press(&stage, &url, "promotion", "promotionCode=SANDBOX20").await;
    let here = format!("/sandbox/{PROJECT}/checkout/{}", session.id);
    assert_eq!(leads_to(&right), (303, here.as_str()));
    let html = stage
        .http
        .get(&url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(html.contains("$4.00"));
    let paid = press(&stage, &url, "pay", "email=bob%40example.com").await;
    let shop = format!("https://shop.example/ok?session={}", session.id);
    assert_eq!(leads_to(&paid), (303, shop.as_str()));
    let read = stage.client().read(&session.id).await.unwrap();
    assert_eq!(
        (read.email(), read.amount_total),
        (Some("bob@example.com"), Some(400))
    );
    let html = stage
        .http
        .get(&url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(html.contains("Payment complete"));
    let late = press(&stage, &url, "expire", "").await;
    assert_eq!(late.status(), 409);
    let session = stage.session(credits(), Promotion::None).await;
    let expired = press(&stage, &session.url.unwrap(), "expire", "").await;
    assert_eq!(leads_to(&expired), (303, "https://shop.example/cart"));
}

#[tokio::test]
async fn an_outstanding_payment_has_its_buttons() {
    let stage = Stage::new().await;
    let session = stage.session(credits(), Promotion::None).await;
    let url = session.url.unwrap();
    press(&stage, &url, "pay_later", "").await;
    let html = stage
        .http
        .get(&url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(html.contains("Settle payment") && html.contains("Fail payment"));
    assert_eq!(press(&stage, &url, "settle", "").await.status(), 303);
    let html = stage
        .http
        .get(&url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(!html.contains("Settle payment"));
}

#[tokio::test]
async fn the_portal_shows_what_there_is_for_an_hour() {
    let stage = Stage::new().await;
    let price = stage.price(1, 1900).await;
    let session = stage
        .session(Item::Subscription(price.id), Promotion::None)
        .await;
    stage.act(&session.url.unwrap(), "pay", "").await;
    let customer = stage
        .client()
        .read(&session.id)
        .await
        .unwrap()
        .customer
        .unwrap();
    let form = "features[subscription_cancel][enabled]=true";
    assert_eq!(
        stage.send("billing_portal/configurations", form).await.0,
        200
    );
    let form = format!("customer={customer}&return_url=https://shop.example/account");
    let (_, visit) = stage.send("billing_portal/sessions", &form).await;
    let url = visit["url"].as_str().unwrap();
    let html = stage
        .http
        .get(url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    for text in [
        "Tier 1",
        "€19.00 / month",
        "Renews on 28 February 2026",
        "Cancel subscription",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert_eq!(press(&stage, url, "cancel", "").await.status(), 303);
    let html = stage
        .http
        .get(url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(html.contains("Ends on 28 February 2026") && html.contains("Keep subscription"));
    assert_eq!(press(&stage, url, "undo", "").await.status(), 303);
    assert_eq!(
        press(&stage, url, "refund", "amount=5.00").await.status(),
        303
    );
    let too_much = press(&stage, url, "refund", "amount=50").await;
    assert_eq!(too_much.status(), 400);
    assert!(too_much.text().await.unwrap().contains("greater than"));
    stage.set_clock(START + 3_600_000);
    assert_eq!(stage.http.get(url).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn there_is_no_page_for_a_project_without_a_sandbox() {
    let stage = Stage::new().await;
    for path in ["checkout/cs_test_x", "portal/bps_x"] {
        for project in [PROJECT, FOREIGN] {
            let url = format!("{}/{path}", stage.base(project));
            assert_eq!(stage.http.get(&url).send().await.unwrap().status(), 404);
            assert_eq!(stage.act(&url, "pay", "").await.0, 404);
        }
    }
}

#[tokio::test]
async fn receipts_and_invoices_are_where_their_objects_say() {
    let stage = Stage::new().await;
    let price = stage.price(1, 1900).await;
    let session = stage
        .session(Item::Subscription(price.id), Promotion::None)
        .await;
    stage.act(&session.url.unwrap(), "pay", "").await;
    let invoice = stage.get("invoices").await["data"][0].clone();
    let charge = stage.get("charges").await["data"][0].clone();
    for (url, kind, says) in [
        (
            &charge["receipt_url"],
            "text/html; charset=utf-8",
            "Receipt",
        ),
        (
            &invoice["hosted_invoice_url"],
            "text/html; charset=utf-8",
            "Tier 1",
        ),
        (&invoice["invoice_pdf"], "application/pdf", "%PDF-1.4"),
    ] {
        let answer = stage.http.get(url.as_str().unwrap()).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{url}");
        assert_eq!(answer.headers()["content-type"], kind);
        let text = answer.text().await.unwrap();
        assert!(text.contains(says) && text.contains("19.00"), "{text}");
        assert!(
            kind == "application/pdf" || !text.contains("<Shop>"),
            "{text}"
        );
    }
    let nothing = charge["receipt_url"]
        .as_str()
        .unwrap()
        .replace("ch_", "ch_x");
    let answer = stage.http.get(nothing).send().await.unwrap();
    assert_eq!(answer.status(), 404);
}

#[tokio::test]
async fn a_person_chooses_the_card_that_is_kept() {
    let stage = Stage::new().await;
    let form = "mode=setup&allowed_payment_method_types[0]=card&success_url=https://shop.example/ok\
                &cancel_url=https://shop.example/no&customer_creation=always";
    let (_, session) = stage.send("checkout/sessions", form).await;
    let url = session["url"].as_str().unwrap();
    let html = stage
        .http
        .get(url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(html.contains("Save card") && html.contains("Nothing is charged now"));
    assert!(html.contains("4242424242424242: works") && !html.contains("Or try another"));
    let asks = "email=ann%40example.com&card=4000002760003184";
    let answer = press(&stage, url, "pay", asks).await;
    let here = url.strip_prefix(&stage.host.public_url()).unwrap();
    assert_eq!(leads_to(&answer), (303, here), "its bank asks first");
    let html = stage
        .http
        .get(url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(html.contains("confirm that this is your card"));
    let answer = press(&stage, url, "authenticate", "").await;
    assert_eq!(leads_to(&answer), (303, "https://shop.example/ok"));
    let html = stage
        .http
        .get(url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(html.contains("Card saved"));
    let page = stage.session(credits(), Promotion::None).await.url.unwrap();
    let html = stage
        .http
        .get(page)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(
        !html.contains("<select"),
        "a card that is not kept is one of two"
    );
}
