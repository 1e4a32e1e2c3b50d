//! The pages that list, create, offer and withdraw a product's prices.

use axum::{extract::State, response::Response};
use catalog::{NewPrice, PriceChange, ProjectCatalog};
use domain::{
    catalog::{Interval, Price, Product, ProductType},
    id::PriceId,
};
use edge::Manage;
use identity::{CatalogChange, Privilege};
use maud::{Markup, html};
use wire::{Error, ErrorCode};

use super::{
    approval_request::{ask_for_change, guards_changes, notice},
    catalog::{path, product, state},
    confirm::confirm,
    fields::{CONFIRMED, Fields},
    form::{self, FieldLabel, Form},
    layout::{At, Tab},
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
    posted: FormPost<Manage>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let product = product(&request, &project)?;
    let id = project.project.id;
    let made: Result<Response, Error> = async {
        let new = new(&fields)?;
        let mut others = project.prices(&product.id).filter(|price| price.active);
        let same = others.find(|price| NewPrice::from((*price).clone()) == new);
        if let Some(same) = same.filter(|_| !fields.is_on(CONFIRMED)) {
            let page_path = path(&project, product);
            let paths = (&*format!("{page_path}/prices"), &*page_path);
            let facts = html! { p { "Buyers would see both. The one that is offered now: " code { (same.id) } "." } };
            let (at, title) = (At::Project(&project, Tab::Catalog), "Create an identical price?");
            return Ok(confirm(&request, at, &fields, paths, title, &facts));
        }
        if guards_changes(&request, &project) {
            let draft = app.catalog.draft();
            draft.create_price(id, product.id, new.clone()).await?;
            let (product, price) = (product.id, new);
            let cost = money(price.amount_cents, &price.currency);
            let credits = grouped(price.credits_granted);
            let what = format!("create a price of {product}: {cost} for {credits} credits");
            let change = CatalogChange::NewPrice { product, price };
            return ask_for_change(&app, &request, &project, change, what).await;
        }
        let price = app.catalog.create_price(id, product.id, new).await?;
        let cost = money(price.amount_cents, &price.currency);
        let what = format!("Created price {} of {}: {cost}", price.id, product.id);
        Ok(request.done(&path(&project, product), "created", what))
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
    let price: PriceId = request.named("price", ErrorCode::PriceNotFound)?;
    let active = fields.is_on("active");
    let known = project.any_price(&price).map(|known| known.active);
    if known == Some(active) {
        return Ok(request.done_before(&path(&project, product)));
    }
    if !active && !fields.is_on(CONFIRMED) {
        let mut prices = project.prices(&product.id);
        let known = prices.find(|known| known.id == price);
        let known = known.ok_or_else(|| Error::new(ErrorCode::PriceNotFound))?;
        let page_path = path(&project, product);
        let paths = (&*format!("{page_path}/prices/{price}"), &*page_path);
        let at = At::Project(&project, Tab::Catalog);
        let (title, facts) = ("Stop offering this price?", withdrawal(product, known));
        return Ok(confirm(&request, at, &fields, paths, title, &facts));
    }
    let change = PriceChange {
        active: Some(active),
        label: None,
    };
    let (project_id, product_id) = (project.project.id, product.id);
    if active && guards_changes(&request, &project) {
        let draft = app.catalog.draft();
        draft
            .update_price(project_id, product_id, price, change)
            .await?;
        let product = product_id;
        let what = format!("offer price {} again", price_words(&project, price));
        let change = CatalogChange::OfferPrice { product, price };
        return ask_for_change(&app, &request, &project, change, what).await;
    }
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

/// A price in words: its identifier, what it costs, and whether it is off sale.
pub(super) fn price_words(project: &ProjectCatalog, price: PriceId) -> String {
    let Some(known) = project.any_price(&price) else {
        return price.to_string();
    };
    let cost = money(known.amount_cents, &known.currency);
    match is_on_sale(project, known) {
        true => format!("{price} ({cost})"),
        false => format!("{price} ({cost}, not on sale)"),
    }
}

pub(super) fn is_on_sale(project: &ProjectCatalog, price: &Price) -> bool {
    let product = project.product(&price.product);
    price.active && product.is_some_and(|product| product.active)
}

/// What is not sold any more, and who keeps what.
fn withdrawal(product: &Product, price: &Price) -> Markup {
    html! { dl {
        div { dt { "Price" } dd { @match &price.label { Some(label) => (label), None => (product.name) } ", " (money(price.amount_cents, &price.currency)) (every(price.interval)) } }
        div { dt { "What stops" } dd { "Nobody can buy it any more. It can be offered again." } }
        div { dt { "Who keeps what" } dd {
            "Everybody keeps what they bought with it. A checkout that is open can still be paid."
            @if price.interval != Interval::OneTime { " Subscriptions at it are renewed as before, until they are canceled." }
        } }
    } }
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
