//! The pages that list, create, offer and withdraw a product's prices.

use axum::{extract::State, response::Response};
use catalog::{NewPrice, PriceChange, ProjectCatalog};
use domain::catalog::{Interval, Price, Product, ProductType};
use edge::Manage;
use maud::{Markup, html};
use wire::{Error, ErrorCode};

use super::{
    catalog::{path, product, state},
    fields::Fields,
    form::{self, FieldLabel, Form},
    layout::Tab,
    money::{decimals, grouped, money},
    page_request::{FormPost, PageRequest},
};
use crate::state::App;

const SHOWN: [&str; 11] = [
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

/// The table of a product's prices.
pub(super) fn table(request: &PageRequest, project: &ProjectCatalog, product: &Product) -> Markup {
    let page_path = format!("{}/prices", path(project, product));
    html! {
        @if project.prices(&product.id).next().is_none() {
            p.empty { "No price yet. " a href=(page_path) { "Create one" } }
        } @else {
            div.scroll tabindex="0" role="region" aria-label={ "Prices of " (product.name) } { table {
                thead { tr { th { "Price" } th.number { "Amount" } th.number { "Credits" } th { "Features" } th { "State" } th { span.hidden { "Change" } } } }
                tbody { @for price in project.prices(&product.id) { tr {
                    td { @match &price.label { Some(label) => (label), None => "–" } br; code.small { (price.id) } }
                    td.number { (money(price.amount_cents, &price.currency)) (every(price.interval)) }
                    td.number { (grouped(price.credits_granted)) (terms(price)) }
                    td { @for feature in &price.features { span.tag { (feature.as_str()) } " " } }
                    td { (state(price.active)) }
                    td { form method="post" action={ (page_path) "/" (price.id) } {
                        (form::token(request))
                        input type="hidden" name="active" value=(if price.active { "" } else { "on" });
                        button.small type="submit" {
                            @if price.active { "Stop offering" } @else { "Offer again" }
                        }
                    } }
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

/// `GET …/catalog/{product}/prices`: the form for a new price.
pub(super) async fn draft(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let product = product(&request, &project)?;
    let interval = match product.kind {
        ProductType::Subscription => Interval::Month,
        ProductType::Credits | ProductType::OneTime => Interval::OneTime,
    };
    let last = project.prices(&product.id).last();
    let currency = last.map_or("EUR", |price| &price.currency);
    let fields = Fields::default()
        .with_choice("interval", interval)
        .with("currency", currency);
    Ok(page(&request, &project, product, &fields, None))
}

/// `POST …/catalog/{product}/prices`: creates a price.
pub(super) async fn create(
    State(app): State<App>,
    posted: FormPost<Manage>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let product = product(&request, &project)?;
    let id = project.project.id;
    let made: Result<Response, Error> = async {
        let create = app.catalog.create_price(id, product.id, new(&fields)?);
        let price = create.await?;
        let cost = money(price.amount_cents, &price.currency);
        let what = format!("Created price {} of {}: {cost}", price.id, product.id);
        Ok(request.done(&path(&project, product), "made", what))
    }
    .await;
    let again = |error| page(&request, &project, product, &fields, Some(&error));
    Ok(made.unwrap_or_else(again))
}

/// `POST …/catalog/{product}/prices/{price}`: offers or withdraws a price.
pub(super) async fn save(
    State(app): State<App>,
    posted: FormPost<Manage>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let product = product(&request, &project)?;
    let price = request.named("price", ErrorCode::PriceNotFound)?;
    let active = fields.is_on("active");
    let change = PriceChange {
        active: Some(active),
        label: None,
    };
    let (project_id, product_id) = (project.project.id, product.id);
    let price = app
        .catalog
        .update_price(project_id, product_id, price, change)
        .await?;
    let what = match active {
        true => format!("Offered price {} again", price.id),
        false => format!("Stopped offering price {}", price.id),
    };
    Ok(request.done(&path(&project, product), "saved", what))
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
            (form.alert(&SHOWN))
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
