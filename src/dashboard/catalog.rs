//! The pages that list, create and change a project's products.

use axum::{extract::State, response::Response};
use domain::{
    Amount,
    catalog::{FreeGrant, Product, ProductType},
    time::Period,
};
use maud::{Markup, html};

use super::{
    audit::audited,
    fields::Fields,
    form::{self, FieldLabel, Form},
    layout::{self, At, Tab, base},
    money::grouped,
    page_request::{FormPost, PageRequest},
    prices,
    projects::refused,
};
use crate::{
    catalog::{NewProduct, ProductChange, ProjectCatalog},
    http::{Error, ErrorCode},
    state::App,
};

const KINDS: [(&str, &str); 3] = [
    ("credits", "Credits: a balance that is bought and spent"),
    (
        "subscription",
        "Subscription: tiers that are paid each month or year",
    ),
    ("one_time", "One-time: features that are bought once"),
];
const PERIODS: [(&str, &str); 5] = [
    ("once", "Once"),
    ("daily", "Each day"),
    ("weekly", "Each week"),
    ("monthly", "Each month"),
    ("yearly", "Each year"),
];
const SHOWN: [&str; 6] = [
    "name",
    "type",
    "description",
    "creditUnit",
    "freeGrant.credits",
    "lowBalance",
];

/// `GET …/catalog`: the products with their prices.
pub(super) async fn list(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let base = base(&project);
    let body = html! {
        div.head {
            h1 { "Catalog" }
            a.button.primary href={ (base) "/catalog/new" } { "New product" }
        }
        @if project.products().next().is_none() {
            p.empty { "There is nothing to sell yet. Create a product, then a price for it." }
        }
        @for product in project.products() {
            section.card {
                div.head {
                    h2 { a href={ (base) "/catalog/" (product.id) } { (product.name) } }
                    (state(product.active))
                }
                p.hint {
                    (kind_name(product.kind))
                    @if let Some(unit) = &product.credit_unit { " · " (unit) }
                    @if let Some(grant) = product.free_grant {
                        " · " (grouped(grant.credits.get())) " free " (period_text(grant.period))
                    }
                }
                (prices::table(&request, &project, product))
            }
        }
    };
    Ok(layout::page(
        &request,
        At::Project(&project, Tab::Catalog),
        "Catalog",
        &body,
    ))
}

/// `GET …/catalog/new`: the form for a new product.
pub(super) async fn draft(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let fields = Fields::default()
        .with("type", "credits")
        .with("creditUnit", "credits")
        .with("freeGrant.period", "monthly")
        .ticked("active", true);
    Ok(new_page(&request, &project, &fields, None))
}

/// `POST …/catalog`: creates a product.
pub(super) async fn create(State(app): State<App>, posted: FormPost) -> Result<Response, Error> {
    let FormPost { request, fields } = posted;
    let project = request.project(&app)?;
    let id = project.project.id;
    let made = match new(&fields) {
        Ok(new) => {
            let made = app.catalog.create_product(id, new).await;
            made.map_err(Error::from)
        }
        Err(error) => Err(error),
    };
    match made {
        Ok(product) => {
            let path = format!("{}/catalog/{}", base(&project), product.id);
            let what = format!("Created product {} “{}” of {id}", product.id, product.name);
            Ok(audited(layout::done(&path, "made"), &request.signed, what))
        }
        Err(error) => {
            let page = new_page(&request, &project, &fields, Some(&error));
            Ok(refused(&error, page))
        }
    }
}

/// `GET …/catalog/{product}`: a product, its prices and its form.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let product = product(&request, &project)?;
    Ok(page(&request, &project, product, &current(product), None))
}

/// `POST …/catalog/{product}`: changes a product.
pub(super) async fn save(State(app): State<App>, posted: FormPost) -> Result<Response, Error> {
    let FormPost { request, fields } = posted;
    let project = request.project(&app)?;
    let product = product(&request, &project)?;
    let id = project.project.id;
    let saved = match new(&fields) {
        Ok(new) => {
            let change = ProductChange {
                name: Some(new.name),
                kind: Some(new.kind),
                description: Some(new.description),
                credit_unit: Some(new.credit_unit),
                free_grant: Some(new.free_grant),
                low_balance: Some(new.low_balance),
                active: Some(new.active),
            };
            let saved = app.catalog.update_product(id, product.id, change).await;
            saved.map_err(Error::from)
        }
        Err(error) => Err(error),
    };
    match saved {
        Ok(saved) => {
            let path = format!("{}/catalog/{}", base(&project), product.id);
            let offered = match (product.active, saved.active) {
                (true, false) => ", no longer offered",
                (false, true) => ", offered again",
                _ => "",
            };
            let what = format!("Changed product {} of {id}{offered}", product.id);
            Ok(audited(layout::done(&path, "saved"), &request.signed, what))
        }
        Err(error) => {
            let page = page(&request, &project, product, &fields, Some(&error));
            Ok(refused(&error, page))
        }
    }
}

/// The product that the path names.
pub(super) fn product<'a>(
    request: &PageRequest,
    project: &'a ProjectCatalog,
) -> Result<&'a Product, Error> {
    let id = request.named("product", ErrorCode::ProductNotFound)?;
    let product = project.product(&id);
    product.ok_or_else(|| Error::new(ErrorCode::ProductNotFound))
}

fn new(fields: &Fields) -> Result<NewProduct, Error> {
    let kind = match fields.text("type") {
        "credits" => ProductType::Credits,
        "subscription" => ProductType::Subscription,
        "one_time" => ProductType::OneTime,
        _ => return Err(Error::missing("type")),
    };
    let period = match fields.text("freeGrant.period") {
        "once" => Period::Once,
        "daily" => Period::Daily,
        "weekly" => Period::Weekly,
        "yearly" => Period::Yearly,
        _ => Period::Monthly,
    };
    let credits = fields
        .whole("freeGrant.credits")?
        .filter(|&credits| credits != 0);
    let free_grant = credits.map(|credits| {
        let credits = Amount::new(credits);
        let credits = credits.ok_or_else(|| {
            let message = "Free credits are a whole number from 1 to 2^53 - 1.";
            Error::invalid("freeGrant.credits", message)
        });
        credits.map(|credits| FreeGrant { credits, period })
    });
    Ok(NewProduct {
        name: fields.text("name").to_owned(),
        kind,
        description: fields.owned("description"),
        credit_unit: fields.owned("creditUnit"),
        free_grant: free_grant.transpose()?,
        low_balance: fields.whole("lowBalance")?,
        active: fields.is_on("active"),
    })
}

fn current(product: &Product) -> Fields {
    let kind = match product.kind {
        ProductType::Credits => "credits",
        ProductType::Subscription => "subscription",
        ProductType::OneTime => "one_time",
    };
    let period = product
        .free_grant
        .map_or("monthly", |grant| match grant.period {
            Period::Once => "once",
            Period::Daily => "daily",
            Period::Weekly => "weekly",
            Period::Monthly => "monthly",
            Period::Yearly => "yearly",
        });
    Fields::default()
        .with("name", &product.name)
        .with("type", kind)
        .with_some("description", product.description.as_deref())
        .with_some("creditUnit", product.credit_unit.as_deref())
        .with_some(
            "freeGrant.credits",
            product.free_grant.map(|grant| grant.credits.get()),
        )
        .with("freeGrant.period", period)
        .with_some("lowBalance", product.low_balance)
        .ticked("active", product.active)
}

const fn period_text(period: Period) -> &'static str {
    match period {
        Period::Once => "once",
        Period::Daily => "each day",
        Period::Weekly => "each week",
        Period::Monthly => "each month",
        Period::Yearly => "each year",
    }
}

const fn kind_name(kind: ProductType) -> &'static str {
    match kind {
        ProductType::Credits => "Credits",
        ProductType::Subscription => "Subscription",
        ProductType::OneTime => "One-time",
    }
}

/// A badge that says whether a product or price is offered.
pub(super) fn state(active: bool) -> Markup {
    html! {
        @if active { span.badge.good { "Offered" } } @else { span.badge { "Not offered" } }
    }
}

fn new_page(
    request: &PageRequest,
    project: &ProjectCatalog,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let body = html! {
        h1 { "New product" }
        section.card {
            (product_form(request, &format!("{}/catalog", base(project)), Form::new(fields, error), "Create product"))
        }
    };
    layout::page(
        request,
        At::Project(project, Tab::Catalog),
        "New product",
        &body,
    )
}

fn page(
    request: &PageRequest,
    project: &ProjectCatalog,
    product: &Product,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let here = format!("{}/catalog/{}", base(project), product.id);
    let body = html! {
        div.head { h1 { (product.name) } (state(product.active)) }
        p.hint { code { (product.id) } }
        section.card {
            div.head {
                h2 { "Prices" }
                a.button href={ (here) "/prices" } { "New price" }
            }
            (prices::table(request, project, product))
        }
        section.card {
            h2 { "Product" }
            (product_form(request, &here, Form::new(fields, error), "Save"))
        }
    };
    layout::page(
        request,
        At::Project(project, Tab::Catalog),
        &product.name,
        &body,
    )
}

fn product_form(request: &PageRequest, action: &str, form: Form<'_>, press: &str) -> Markup {
    html! {
        (form.alert(&SHOWN))
        form method="post" action=(action) {
            (form::token(request))
            (form.text(&FieldLabel("name", "Name", "Buyers see it at checkout.")))
            (form.choice(&FieldLabel("type", "Type", "It cannot change once there are prices."), &KINDS))
            (form.text(&FieldLabel("description", "Description", "A sentence about it, for buyers.")))
            (form.text(&FieldLabel("creditUnit", "Credit unit", "What its credits are called, as a plural: credits, images, minutes. Empty for a product without credits of its own.")))
            fieldset {
                legend { "Free credits" }
                div.pair {
                    (form.number(&FieldLabel("freeGrant.credits", "Credits per period", "For each wallet. Empty: none.")))
                    (form.choice(&FieldLabel("freeGrant.period", "How often", "By the UTC calendar. Credits left over from the last period expire."), &PERIODS))
                }
            }
            (form.number(&FieldLabel("lowBalance", "Low balance", "Your server is notified when the spendable balance falls to this or below. Empty: never.")))
            (form.tick(&FieldLabel("active", "Offered", "A product that is not offered cannot be bought; its credits can still be spent.")))
            button.primary type="submit" { (press) }
        }
    }
}
