//! The pages that list, create, offer and withdraw a product's prices.

use axum::{extract::State, response::Response};
use catalog::{NewPrice, PriceChange, ProjectCatalog};
use domain::{
    catalog::{Interval, Price, Product, ProductType},
    id::PriceId,
};
use edge::Manage;
use identity::Privilege;
use maud::{Markup, html};
use operator::{CreatePrice, UpdatePrice};
use wire::{Error, ErrorCode};

use super::{
    approval_request::notice,
    catalog::{path, product, state},
    confirm::ActionForm,
    fields::Fields,
    form::{self, FieldLabel, Form},
    layout::Tab,
    money::{decimals, grouped, money},
    page_request::{FormPost, PageFor, PageRequest},
};
use crate::state::App;

const FIELDS: [&str; 11] = [
    "label",
    "amountCents",
    "currency",
    "creditsGranted",
    "creditsProductId",
    "creditsExpireAfterDays",
    "features",
    "interval",
    "trialDays",
    "trialCredits",
    "repeatable",
];

pub(super) fn table(request: &PageRequest, project: &ProjectCatalog, product: &Product) -> Markup {
    let page_path = format!("{}/prices", path(project, product));
    html! {
        @if project.prices(&product.id).next().is_none() {
            p.empty { "No price yet. " @if request.may(Privilege::Manage) { a href=(page_path) { "Create one" } } }
        } @else {
            div.scroll tabindex="0" role="region" aria-label={ "Prices of " (product.name) } { table {
                thead { tr { th { "Price" } th.number { "Amount" } th.number { "Credits" } th { "Features" } th { "State" } th { span.hidden { "Change" } } } }
                tbody { @for price in project.prices(&product.id) { tr {
                    td { @match &price.label { Some(label) => (label), None => "–" } br; code.small { (price.id) } }
                    td.number { (money(price.amount_cents, &price.currency)) (every(price.interval)) }
                    td.number { (grouped(price.credits_granted)) (terms(price)) }
                    td { @for feature in &price.features { span.tag { (feature.as_str()) } " " } }
                    td { (state(price.active)) }
                    td { @if request.may(Privilege::Manage) { form method="post" action={ (page_path) "/" (price.id) } {
                        (form::token(request))
                        input type="hidden" name="active" value=(if price.active { "" } else { "on" });
                        @if price.active { button.small.danger type="submit" { "Stop offering…" } }
                        @else { button.small type="submit" { "Offer again" } }
                    } } }
                } } }
            } }
        }
    }
}

const fn every(interval: Interval) -> &'static str {
    match interval {
        Interval::OneTime => "",
        Interval::Month => " a month",
        Interval::Year => " a year",
    }
}

fn terms(price: &Price) -> String {
    let mut terms = String::new();
    if let Some(days) = price.credits_expire_after_days {
        terms.push_str(&format!(", for {days} days"));
    }
    if price.rollover {
        terms.push_str(", rolling over");
    }
    if price.repeatable {
        terms.push_str(", any number of times");
    }
    terms
}

/// The currency that the project sells in: that of its newest price.
fn sold_in(project: &ProjectCatalog) -> &str {
    let prices = project
        .products()
        .flat_map(|product| project.prices(&product.id));
    let newest = prices.max_by_key(|price| (price.created_at, price.id));
    newest.map_or("EUR", |price| &price.currency)
}

/// `GET …/catalog/{product}/prices`: the form for a new price.
pub(super) async fn draft(
    page_for: PageFor<Manage>,
    State(app): State<App>,
) -> Result<Response, Error> {
    let request = page_for.request;
    let project = request.project(&app)?;
    let product = product(&request, &project)?;
    let interval = match product.kind {
        ProductType::Subscription => Interval::Month,
        ProductType::Credits | ProductType::OneTime => Interval::OneTime,
    };
    let currency = sold_in(&project);
    let fields = Fields::default()
        .with_choice("interval", interval)
        .with("currency", currency);
    Ok(page(&request, &project, product, &fields, None))
}

/// `POST …/catalog/{product}/prices`: creates a price.
pub(super) async fn create(
    State(app): State<App>,
    posted: FormPost<CreatePrice>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let product = product(&request, &project)?;
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Catalog);
    let made = async {
        let create = CreatePrice(product.id, new(&fields)?);
        form.run(create, &path(&project, product), "created").await
    };
    let again = |error| page(&request, &project, product, &fields, Some(&error));
    Ok(made.await.unwrap_or_else(again))
}

/// `POST …/catalog/{product}/prices/{price}`: offers or withdraws a price.
pub(super) async fn save(
    State(app): State<App>,
    posted: FormPost<UpdatePrice>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let product = product(&request, &project)?;
    let price: PriceId = request.named("price", ErrorCode::PriceNotFound)?;
    let active = fields.is_on("active");
    let back = path(&project, product);
    if project.any_price(&price).map(|known| known.active) == Some(active) {
        return Ok(request.done_before(&back));
    }
    let change = PriceChange {
        active: Some(active),
        label: None,
    };
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Catalog);
    form.run(UpdatePrice(product.id, price, change), &back, "saved")
        .await
}

pub(super) fn written(new: &NewPrice) -> Fields {
    let some = |number: i64| Some(number).filter(|number| *number != 0);
    Fields::default()
        .with_some("label", new.label.as_deref())
        .with("amountCents", money(new.amount_cents, &new.currency))
        .with_choice("interval", new.interval)
        .with("creditsGranted", grouped(new.credits_granted))
        .with_some("creditsProductId", new.credits_product)
        .with_some("creditsExpireAfterDays", new.credits_expire_after_days)
        .ticked("rollover", new.rollover)
        .with_some("features", some_text(new.features.join(" ")))
        .with_some("trialDays", new.trial_days)
        .with_some("trialCredits", some(new.trial_credits))
        .ticked("repeatable", new.repeatable)
}

fn some_text(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn new(fields: &Fields) -> Result<NewPrice, Error> {
    let interval = fields.choice("interval")?;
    let currency = fields.text("currency").to_uppercase();
    Ok(NewPrice {
        label: fields.owned("label"),
        amount_cents: fields.money("amountCents", decimals(&currency))?,
        currency,
        credits_granted: fields.whole("creditsGranted")?.unwrap_or(0),
        credits_product: fields.parsed("creditsProductId", "a product of this project")?,
        credits_expire_after_days: fields.whole("creditsExpireAfterDays")?,
        rollover: fields.is_on("rollover"),
        features: fields.list("features"),
        interval,
        trial_days: fields.whole("trialDays")?,
        trial_credits: fields.whole("trialCredits")?.unwrap_or(0),
        repeatable: fields.is_on("repeatable"),
    })
}

fn page(
    request: &PageRequest,
    project: &ProjectCatalog,
    product: &Product,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let page_path = format!("{}/prices", path(project, product));
    let form = Form::new(fields, error);
    let recurs = product.kind == ProductType::Subscription;
    let intervals: &[(&str, &str)] = match recurs {
        true => &[("month", "Each month"), ("year", "Each year")],
        false => &[("one_time", "Once")],
    };
    let own = match &product.credit_unit {
        Some(unit) => format!("This product's own {unit}"),
        None => "None: it brings features only".into(),
    };
    let others = project
        .products()
        .filter(|other| other.holds_credits() && other.id != product.id);
    let mut fills = vec![(String::new(), own)];
    fills.extend(others.map(|other| (other.id.to_string(), other.name.clone())));
    let body = html! {
        h1 { "New price of " (product.name) }
        p.lead { "A price's terms never change, so that what was sold stays as it was. To change them, create another price and stop offering this one." }
        section.card {
            (form.alert(&FIELDS))
            (notice(request, project, "Prices"))
            form method="post" action=(page_path) {
                (form::token(request))
                (form.text(&FieldLabel("label", if recurs { "Name of the tier" } else { "Label" }, "Buyers see it, such as “1,000 credits” or “Pro”.")))
                div.pair {
                    (form.number(&FieldLabel("amountCents", "Amount", "Such as 9 or 9.50; 0 is free.")))
                    (form.text(&FieldLabel("currency", "Currency", "Three letters, such as EUR or USD.")))
                }
                (form.choice(&FieldLabel("interval", "Paid", ""), intervals))
                fieldset {
                    legend { "What it grants" }
                    (form.number(&FieldLabel("creditsGranted", "Credits", if recurs { "In each cycle." } else { "For one purchase." })))
                    (form.choice(&FieldLabel("creditsProductId", "Which credits", ""), &fills))
                    (form.number(&FieldLabel("creditsExpireAfterDays", "Days until the credits expire", "Empty: never, except a subscription's, which expire with their cycle.")))
                    @if recurs { (form.tick(&FieldLabel("rollover", "Credits left over from a cycle roll over", ""))) }
                    (form.text(&FieldLabel("features", "Features", "Slugs of the features it unlocks, such as hd export. Your app checks them.")))
                    @if !recurs { (form.tick(&FieldLabel("repeatable", "It can be bought again", "By default, a wallet cannot buy a price without credits twice."))) }
                }
                @if recurs { fieldset {
                    legend { "Trial" }
                    div.pair {
                        (form.number(&FieldLabel("trialDays", "Free days at the start", "Empty: no trial.")))
                        (form.number(&FieldLabel("trialCredits", "Credits for the trial", "")))
                    }
                } }
                button.primary type="submit" { "Create price" }
            }
        }
    };
    form.response(Tab::Catalog.page(request, project, "New price", &body))
}
