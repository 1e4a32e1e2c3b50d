//! Every form of every page: what takes something away asks first; what somebody's role does not allow is not shown to
//! them, and refused.

use std::collections::{BTreeMap, BTreeSet};

use kit::{
    service::Service,
    stripe::{self, Stripe},
};
use scrip::identity::Role;
use serde_json::json;

use crate::{
    browser::Browser,
    orders::{buy, open, plan, price},
    people::{new, person, signed_in},
    rate_cards::{put, rates},
    unfulfilled::pay,
};

/// Forms that do what they say at once, by their address and button: they add something, or what they change can be
/// changed back by the same form. All others have to ask before they do anything.
const HARMLESS: [&str; 25] = [
    "/dashboard",
    "/dashboard/people",
    "/dashboard/people/{}",
    "/dashboard/people/{}/invitation",
    "/dashboard/people/{}/enable",
    "/dashboard/sign-out",
    "/dashboard/system",
    "/dashboard/time-zone",
    "/dashboard/projects/{}/catalog",
    "/dashboard/projects/{}/catalog/{}",
    "/dashboard/projects/{}/catalog/{}/prices",
    "/dashboard/projects/{}/keys",
    "/dashboard/projects/{}/keys/{}",
    "/dashboard/projects/{}/mails",
    "/dashboard/projects/{}/outstanding",
    "/dashboard/projects/{}/sandbox",
    "/dashboard/projects/{}/search",
    "/dashboard/projects/{}/settings",
    "/dashboard/projects/{}/settings/provider",
    "/dashboard/projects/{}/unfulfilled-payments/reconcile",
    "/dashboard/projects/{}/wallets/{}/deductions/{}",
    "/dashboard/projects/{}/wallets/{}/limits",
    "/dashboard/projects/{}/wallets/{}/notes",
    "/dashboard/projects/{}/webhooks",
    "/dashboard/projects/{}/webhooks/{}/test",
];
/// The same, of forms with several buttons.
const HARMLESS_BUTTONS: [(&str, &str); 5] = [
    ("/dashboard/projects/{}/orders/{}/refresh", ""),
    ("/dashboard/projects/{}/webhooks/{}", "save"),
    ("/dashboard/projects/{}/webhooks/{}", "on"),
    ("/dashboard/projects/{}/webhooks/{}/replay", ""),
    ("/dashboard/projects/{}/wallets/{}/subscription", "resume"),
];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Form {
    pub(crate) action: String,
    pub(crate) fields: Vec<(String, String)>,
    /// The name, the value and the class of each button.
    buttons: Vec<[String; 3]>,
}

impl Form {
    /// Its address without what names one thing.
    fn shape(&self) -> String {
        let names_one = |part: &&str| {
            let mut chars = part.chars();
            chars.any(|c| c == '_')
                || part.len() > 20 && part.contains(|c: char| c.is_ascii_digit())
        };
        let (path, _) = self.action.split_once('?').unwrap_or((&self.action, ""));
        let parts = path.split('/');
        let parts: Vec<_> = parts
            .map(|part| if names_one(&part) { "{}" } else { part })
            .collect();
        parts.join("/")
    }

    fn sent_by<'a>(&'a self, [name, value, _]: &'a [String; 3]) -> Vec<(&'a str, &'a str)> {
        let fields = self.fields.iter().map(|(name, value)| (&**name, &**value));
        let button = (!name.is_empty()).then_some((&**name, &**value));
        let token = |(name, _): &(&str, &str)| *name != "formToken";
        fields.chain(button).filter(token).collect()
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let value = rest.split_once('"')?.0;
    let plain = value.replace("&lt;", "<").replace("&gt;", ">");
    Some(plain.replace("&quot;", "\"").replace("&amp;", "&"))
}

/// The forms of a page that are posted, as a browser would send them untouched.
pub(crate) fn forms(html: &str) -> Vec<Form> {
    let mut forms = Vec::new();
    for part in html.split("<form").skip(1) {
        let part = part.split("</form>").next().unwrap();
        let (tag, inner) = part.split_once('>').unwrap();
        if attribute(tag, "method").as_deref() != Some("post") {
            continue;
        }
        let mut form = Form {
            action: attribute(tag, "action").unwrap(),
            fields: Vec::new(),
            buttons: Vec::new(),
        };
        for tag in inner.split('<').skip(1) {
            let (tag, text) = tag.split_once('>').unwrap_or((tag, ""));
            let name = attribute(tag, "name").unwrap_or_default();
            let value = attribute(tag, "value").unwrap_or_default();
            let is_off = tag.contains("type=\"checkbox\"") && !tag.contains(" checked");
            match tag.split(' ').next().unwrap() {
                "input" if !is_off => form.fields.push((name, value)),
                "textarea" => form.fields.push((name, text.to_owned())),
                "select" => form.fields.push((name, String::new())),
                "option" if tag.contains(" selected") => form.fields.last_mut().unwrap().1 = value,
                "button" => {
                    let class = attribute(tag, "class").unwrap_or_default();
                    form.buttons.push([name, value, class]);
                }
                _ => {}
            }
        }
        forms.push(form);
    }
    forms
}

/// All pages that links lead to, and what they answer.
async fn pages(browser: &Browser) -> BTreeMap<String, (u16, String)> {
    let mut pages = BTreeMap::new();
    let mut next = vec!["/dashboard".to_owned()];
    while let Some(path) = next.pop() {
        if pages.contains_key(&path) {
            continue;
        }
        let page = browser.get(&path).await;
        for link in page.html.split("href=\"").skip(1) {
            let link = link.split(['"', '?', '#']).next().unwrap();
            let is_page = link == "/dashboard" || link.starts_with("/dashboard/");
            if is_page && !link.contains("/assets/") && !link.ends_with(".csv") {
                next.push(link.to_owned());
            }
        }
        pages.insert(path, (page.status, page.html));
        assert!(pages.len() < 200, "{:?}", pages.keys());
    }
    pages
}

async fn all_forms(browser: &Browser) -> BTreeSet<Form> {
    let pages = pages(browser).await;
    for (path, (status, html)) in &pages {
        assert!(matches!(status, 200 | 303), "{path}: {status} {html}");
    }
    pages.values().flat_map(|(_, html)| forms(html)).collect()
}

/// A shop in which there is something of everything.
async fn shop() -> (Service, Browser, String) {
    let (service, browser, base) = open().await;
    service.grant("ann", 100).await;
    let hold = json!({"externalUserId": "ann", "amount": 30, "idempotencyKey": "h"});
    let path = "/api/v1/wallets/external/holds";
    service.secret.post(path, &hold).await.expect(200);
    let deduct = json!({"externalUserId": "ann", "amount": 5, "idempotencyKey": "d"});
    let path = "/api/v1/wallets/external/deduct";
    service.secret.post(path, &deduct).await.expect(200);
    let wallet = browser.search(&base, "ann").await.location().to_owned();
    let note = [("text", "She called.")];
    browser.submit(&format!("{wallet}/notes"), &note).await;
    let product = plan(&browser, &base).await;
    let terms = [
        ("label", "Pro"),
        ("amountCents", "5"),
        ("currency", "EUR"),
        ("creditsGranted", "100"),
        ("interval", "month"),
    ];
    let price = price(&browser, &product, &terms).await;
    buy(&service, json!({"externalUserId": "ann", "priceId": price})).await;
    let pack = service.add_price(1000).await;
    buy(
        &service,
        json!({"priceId": pack, "customerEmail": "bea@mail.example"}),
    )
    .await;
    let endpoint = [("url", "https://shop.example/hooks")];
    browser.submit(&format!("{base}/webhooks"), &endpoint).await;
    put(&service, "chat", &rates("3"), None).await;
    (service, browser, base)
}

/// Sends every form by each of its buttons, and says which asked first.
async fn press_all(browser: &Browser) -> BTreeSet<(String, String)> {
    let mut asked = BTreeSet::new();
    let signs_out = |form: &Form| form.action.ends_with("/sign-out");
    let mut forms = all_forms(browser).await;
    forms.retain(|form| !signs_out(form));
    for form in forms {
        let shape = form.shape();
        assert!(!form.buttons.is_empty(), "{form:?}");
        for button in &form.buttons {
            let [_, value, class] = button;
            let page = browser.post(&form.action, &form.sent_by(button)).await;
            let asks = page.status == 200
                && page.html.contains("<title>Please confirm")
                && page.html.contains("name=\"confirmed\" value=\"on\"");
            let ticks = page.status == 400 && page.html.contains("Tick the box to confirm.");
            if asks || ticks {
                asked.insert((shape.clone(), value.clone()));
                continue;
            }
            let harmless = HARMLESS.contains(&&*shape)
                || HARMLESS_BUTTONS.contains(&(&*shape, &**value))
                // A template, or a mail to oneself.
                || shape.starts_with("/dashboard/projects/{}/mails/")
                // An empty form: nothing is asked about what cannot be done.
                || (page.status == 400 && page.html.contains("-wrong\""));
            let harmless = harmless && !class.contains("danger");
            assert!(harmless, "{shape} {value:?} acted at once: {}", page.status);
        }
    }
    asked
}

#[tokio::test]
async fn what_takes_something_away_asks_first() {
    let (service, browser, _) = shop().await;
    let vera = person(&service, new("Vera", Role::Viewer)).await;
    signed_in(&service, &vera).await;
    let asked = press_all(&browser).await;
    let shapes: BTreeSet<&str> = asked.iter().map(|(shape, _)| &**shape).collect();
    let project = |path: &str| format!("/dashboard/projects/{{}}{path}");
    for needed in [
        project("/keys/{}/revoke"),
        project("/catalog/{}/prices/{}"),
        project("/rate-cards/chat/close"),
        project("/orders/{}/refund"),
        project("/wallets/{}/release"),
        project("/wallets/{}/freeze"),
        project("/wallets/{}/replace-code"),
        project("/wallets/{}/notes/delete"),
        project("/wallets/{}/subscription"),
        project("/webhooks/{}"),
        "/dashboard/account".into(),
        "/dashboard/people/{}/remove".into(),
        "/dashboard/people/{}/disable".into(),
        "/dashboard/people/{}/end".into(),
    ] {
        assert!(shapes.contains(&*needed), "{needed} in {shapes:?}");
    }
    for action in ["off", "rotate", "delete"] {
        assert!(asked.contains(&(project("/webhooks/{}"), action.into())));
    }
}

#[tokio::test]
async fn a_provider_is_left_and_a_product_withdrawn_after_a_second_look() {
    let (service, browser, base) = shop().await;
    let path = format!("{base}/settings/provider");
    let keep = [("kind", "stripe"), ("provider.secretKey", "sk_test_hush")];
    let page = browser.post(&path, &keep).await;
    assert_eq!(page.status, 200);
    page.shows("Change the payment provider to Stripe?")
        .shows("What goes")
        .lacks("hush");
    let page = browser.get(&format!("{base}/settings")).await;
    page.shows("<b>Sandbox</b>");
    let other = [("kind", "sandbox"), ("force", "on")];
    browser.post(&path, &other).await.shows("Please confirm");
    let none = [("kind", "none"), ("force", "on")];
    browser.confirm(&path, &none).await.shows("<b>None</b>");
    let product = format!("{base}/catalog/{}", service.product);
    let page = browser.get(&product).await;
    let form = forms(&page.html);
    let form = form.iter().find(|form| form.action == product).unwrap();
    let mut fields = form.sent_by(&form.buttons[0]);
    fields.retain(|(name, _)| *name != "active");
    let page = browser.post(&product, &fields).await;
    page.shows("Stop offering").shows("keeps the credits");
    browser.get(&product).await.shows("badge good");
    browser
        .confirm(&product, &fields)
        .await
        .shows("Not offered");
}

#[tokio::test]
async fn nobody_is_shown_a_form_that_their_role_does_not_allow() {
    let (service, owner, _) = shop().await;
    let support = person(&service, new("Sue", Role::Support)).await;
    let viewer = person(&service, new("Vera", Role::Viewer)).await;
    let operator = person(&service, new("Olga", Role::Operator)).await;
    let all = all_forms(&owner).await;
    for person in [viewer, support, operator] {
        let browser = signed_in(&service, &person).await;
        let shown = all_forms(&browser).await;
        let shapes: BTreeSet<_> = shown.iter().map(Form::shape).collect();
        for form in &shown {
            assert!(!form.buttons.is_empty(), "no button: {form:?}");
        }
        for form in &all {
            let shape = form.shape();
            if shape.ends_with("/sign-out") {
                continue;
            }
            let button = form.buttons.last().unwrap();
            let page = browser.post(&form.action, &form.sent_by(button)).await;
            let is_shown = shapes.contains(&shape);
            assert_eq!(
                page.status != 403,
                is_shown,
                "{shape}: {} {}",
                page.status,
                person.id
            );
        }
    }
}

#[tokio::test]
async fn who_may_not_decide_about_a_payment_sees_it_and_no_form() {
    let stripe = Stripe::start().await;
    let service = Service::beside(&stripe.base).await;
    let owner = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let provider = [
        ("kind", "stripe"),
        ("provider.secretKey", stripe::SECRET_KEY),
        ("provider.webhookSecret", stripe::WEBHOOK_SECRET),
    ];
    let path = format!("{base}/settings/provider");
    owner.submit(&path, &provider).await;
    service.add_price(100).await;
    pay(&service, &stripe, "pi_1").await;
    let here = format!("{base}/unfulfilled-payments/pi_1");
    let asked = press_all(&owner).await;
    for action in ["assign", "refund", "dismiss"] {
        let shape = format!("/dashboard/projects/{{}}/unfulfilled-payments/{{}}/{action}");
        assert!(asked.iter().any(|(asked, _)| *asked == shape), "{asked:?}");
    }
    let vera = person(&service, new("Vera", Role::Viewer)).await;
    let browser = signed_in(&service, &vera).await;
    let page = browser.get(&here).await;
    page.shows("9.00 EUR").lacks(&format!("action=\"{here}"));
    let page = browser.get(&format!("{base}/unfulfilled-payments")).await;
    page.shows("pi_1").lacks("/reconcile\"");
    for action in ["assign", "refund", "dismiss"] {
        let page = browser
            .post(&format!("{here}/{action}"), &[("confirmed", "on")])
            .await;
        assert_eq!(page.status, 403);
    }
}
