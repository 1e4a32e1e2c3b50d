//! A product's prices: listed, made, offered or not.

use axum::{extract::State, response::Response};
use domain::catalog::{Interval, Price, Product, ProductType};
use maud::{Markup, html};

use super::{
    audit::deed,
    catalog::{product, state},
    fields::Fields,
    form::{self, Form, Label},
    money::{decimals, grouped, money},
    projects::refused,
    shell::{self, At, Tab, base},
    visit::{Posted, Visit},
};
use crate::{
    catalog::{NewPrice, PriceChange, ProjectCatalog},
    http::{Code, Error},
    state::App,
};

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

/// The prices of a product.
pub(super) fn table(visit: &Visit, project: &ProjectCatalog, product: &Product) -> Markup {
    let here = format!("{}/catalog/{}/prices", base(project), product.id);
    html! {
        @if project.prices(&product.id).next().is_none() {
            p.empty { "No price yet. " a href=(here) { "Make one" } }
        } @else {
            div.scroll tabindex="0" role="region" aria-label={ "Prices of " (product.name) } { table {
                thead { tr { th { "Price" } th.number { "Amount" } th.number { "Credits" } th { "Features" } th { "State" } th { span.hidden { "Change" } } } }
                tbody { @for price in project.prices(&product.id) { tr {
                    td { @match &price.label { Some(label) => (label), None => "–" } br; code.small { (price.id) } }
                    td.number { (money(price.amount_cents, &price.currency)) (every(price.interval)) }
                    td.number { (grouped(price.credits_granted)) (terms(price)) }
                    td { @for feature in &price.features { span.tag { (feature.as_str()) } " " } }
                    td { (state(price.active)) }
                    td { form method="post" action={ (here) "/" (price.id) } {
                        (form::token(visit))
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

/// `GET …/catalog/{product}/prices`
pub(super) async fn draft(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = visit.project(&app)?;
    let product = product(&visit, &project)?;
    let interval = match product.kind {
        ProductType::Subscription => "month",
        ProductType::Credits | ProductType::OneTime => "one_time",
    };
    let currency = project
        .prices(&product.id)
        .last()
        .map(|price| &price.currency);
    let fields = Fields::default()
        .with("interval", interval)
        .with("currency", currency.map_or("EUR", String::as_str));
    Ok(page(&visit, &project, product, &fields, None))
}

/// `POST …/catalog/{product}/prices`
pub(super) async fn create(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let product = product(&visit, &project)?;
    let id = project.project.id;
    let made = match new(&fields) {
        Ok(new) => {
            let made = app.catalog.create_price(id, product.id, new).await;
            made.map_err(Error::from)
        }
        Err(error) => Err(error),
    };
    match made {
        Ok(price) => {
            let path = format!("{}/catalog/{}", base(&project), product.id);
            let cost = money(price.amount_cents, &price.currency);
            let what = format!("Made price {} of {}: {cost}", price.id, product.id);
            Ok(deed(shell::done(&path, "made"), &visit.signed, what))
        }
        Err(error) => {
            let page = page(&visit, &project, product, &fields, Some(&error));
            Ok(refused(&error, page))
        }
    }
}

/// `POST …/catalog/{product}/prices/{price}`
pub(super) async fn save(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let product = product(&visit, &project)?;
    let price = visit.named("price", Code::PriceNotFound)?;
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
    let path = format!("{}/catalog/{}", base(&project), product.id);
    Ok(deed(shell::done(&path, "saved"), &visit.signed, what))
}

fn new(fields: &Fields) -> Result<NewPrice, Error> {
    let interval = match fields.text("interval") {
        "one_time" => Interval::OneTime,
        "month" => Interval::Month,
        "year" => Interval::Year,
        _ => return Err(Error::missing("interval")),
    };
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
    visit: &Visit,
    project: &ProjectCatalog,
    product: &Product,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let here = format!("{}/catalog/{}/prices", base(project), product.id);
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
        p.lead { "What was sold stays what it was: a price's terms never change. To change them, make another price and stop offering this one." }
        section.card {
            (form.alert(&SHOWN))
            form method="post" action=(here) {
                (form::token(visit))
                (form.text(&Label("label", if recurs { "Name of the tier" } else { "Label" }, "Buyers see it, such as “1,000 credits” or “Pro”.")))
                div.pair {
                    (form.number(&Label("amountCents", "Amount", "What it costs, such as 9 or 9.50. With 0 it is free.")))
                    (form.text(&Label("currency", "Currency", "Three letters, such as EUR or USD.")))
                }
                (form.choice(&Label("interval", "Paid", ""), intervals))
                fieldset {
                    legend { "What it brings" }
                    (form.number(&Label("creditsGranted", "Credits", if recurs { "In each cycle." } else { "For one purchase." })))
                    (form.choice(&Label("creditsProductId", "Which credits", ""), &fills))
                    (form.number(&Label("creditsExpireAfterDays", "Credits expire after days", "Empty: never, but for a subscription's, which end with their cycle.")))
                    @if recurs { (form.tick(&Label("rollover", "What is left of a cycle rolls over", ""))) }
                    (form.text(&Label("features", "Features", "Slugs of what it unlocks, such as hd export. Your app asks for them.")))
                    @if !recurs { (form.tick(&Label("repeatable", "It can be bought again", "Without credits, what a wallet has bought is not sold to it twice."))) }
                }
                @if recurs { fieldset {
                    legend { "Trial" }
                    div.pair {
                        (form.number(&Label("trialDays", "Free days at first", "Empty: no trial.")))
                        (form.number(&Label("trialCredits", "Credits for them", "")))
                    }
                } }
                button.primary type="submit" { "Make price" }
            }
        }
    };
    shell::page(
        visit,
        At::Project(project, Tab::Catalog),
        "New price",
        &body,
    )
}
