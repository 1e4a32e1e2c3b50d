//! The pages that list, create, offer and withdraw a product's prices.

use catalog::{NewPrice, PriceChange};
use domain::{
    catalog::{Interval, Price, Product, ProductType},
    id::PriceId,
};
use edge::Manage;
use operator::{CreatePrice, UpdatePrice, limit_words};

use super::{
    catalog::{path, product, state},
    limit_fields::{LIMITS, inputs, limits},
    limits::who,
    prelude::*,
};

const FIELDS: [&str; 12] = [
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
    LIMITS,
];

pub(super) fn table(request: &PageRequest, product: &Product) -> Markup {
    let page_path = format!("{}/prices", path(&request.project, product));
    html! {
        @if request.project.prices(&product.id).next().is_none() {
            p.empty { "No price yet. " @if request.may(Privilege::Manage) { a href=(page_path) { "Create one" } } }
        } @else {
            (layout::table(&format!("Prices of {}", product.name), &["Price", "#Amount", "#Credits", "Features", "State", "~Change"], &html! { @for price in request.project.prices(&product.id) { tr {
                td { @match &price.label { Some(label) => (label), None => "–" } br; code.small { (price.id) } }
                td.number { (money(price.amount_cents, &price.currency)) (every(price.interval)) }
                td.number { (grouped(price.credits_granted)) (terms(price))
                    @for limit in &price.limits { br; span.small { (who(&limit.scope)) ": " (limit_words(&request.project, limit)) } } }
                td { @for feature in &price.features { span.tag { (feature.as_str()) } " " } }
                td { (state(price.active)) }
                td { @if request.may(Privilege::Manage) { form method="post" action={ (page_path) "/" (price.id) } {
                    (form::token(request))
                    input type="hidden" name="active" value=(if price.active { "" } else { "on" });
                    @if price.active { button.small.danger type="submit" { "Stop offering…" } }
                    @else { button.small type="submit" { "Offer again" } }
                } } }
            } } }))
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

pub(super) async fn draft(request: PageFor<Manage>) -> PageResult {
    let product = product(&request)?;
    let interval = match product.kind {
        ProductType::Subscription => Interval::Month,
        ProductType::Credits | ProductType::OneTime => Interval::OneTime,
    };
    let currency = sold_in(&request.project);
    let fields = Fields::default()
        .with_choice("interval", interval)
        .with("currency", currency);
    Ok(page(&request, product, &fields, None))
}

pub(super) async fn create(request: FormPost<CreatePrice>) -> PageResult {
    let product = product(&request)?;
    let made = async {
        let create = CreatePrice(product.id, new(&request.fields, &request.project)?);
        request
            .run(create, &path(&request.project, product), "created")
            .await
    };
    let again = |error| page(&request, product, &request.fields, Some(&error));
    Ok(made.await.unwrap_or_else(again))
}

pub(super) async fn save(mut request: FormPost<UpdatePrice>) -> PageResult {
    let app = Arc::clone(&request.app);
    let _saving = app.edge.saving.lock().await;
    request.reload()?;
    let product = product(&request)?;
    let price: PriceId = request.named("price", ErrorCode::PriceNotFound)?;
    let active = request.fields.is_on("active");
    let back = path(&request.project, product);
    if request.project.any_price(&price).map(|known| known.active) == Some(active) {
        return Ok(request.done_before(&back));
    }
    let change = PriceChange {
        active: Some(active),
        ..PriceChange::default()
    };
    request
        .run(UpdatePrice(product.id, price, change), &back, "saved")
        .await
}

fn new(fields: &Fields, project: &ProjectCatalog) -> Result<NewPrice, Error> {
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
        limits: limits(fields, project)?.unwrap_or_default(),
    })
}

fn page(
    request: &PageRequest,
    product: &Product,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let page_path = format!("{}/prices", path(&request.project, product));
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
    let others = request
        .project
        .products()
        .filter(|other| other.holds_credits() && other.id != product.id);
    let mut fills = vec![(String::new(), own)];
    fills.extend(others.map(|other| (other.id.to_string(), other.name.clone())));
    let body = html! {
        h1 { "New price of " (product.name) }
        p.lead { "A price's terms never change, so that what was sold stays as it was. To change them, create another price and stop offering this one." }
        section.card {
            (form.alert(&FIELDS))
            (form::approval_notice(request, &request.project, "Prices"))
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
                }
                (inputs(form, &request.project, "That which it fills")) }
                button.primary type="submit" { "Create price" }
            }
        }
    };
    form.response(request.show("New price", &body))
}
