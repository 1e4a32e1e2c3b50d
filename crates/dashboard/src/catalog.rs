//! The pages that list, create and change a project's products.

use catalog::{NewProduct, ProductChange};
use domain::{
    Amount,
    catalog::{FreeGrant, Product, ProductType},
    id::ProductId,
    time::Period,
};
use edge::Manage;
use operator::{CreateProduct, UpdateProduct};

use super::{
    limit_fields::{LIMITS, inputs, limits, with_limits},
    prelude::*,
    prices,
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
const FIELDS: [&str; 8] = [
    "name",
    "type",
    "description",
    "creditUnit",
    "freeGrant.credits",
    "lowBalance",
    "debtLimit",
    LIMITS,
];

pub(super) async fn list(request: PageRequest) -> PageResult {
    let base = base(&request.project);
    let body = html! {
        div.head {
            h1 { "Catalog" }
            a href={ (base) "/rate-cards" } { "Rate cards" }
            @if request.may(Privilege::Manage) { a.button.primary href={ (base) "/catalog/new" } { "New product" } }
        }
        @if request.project.products().next().is_none() {
            p.empty { "There is nothing to sell yet. Create a product, then a price for it. " (layout::docs("selling", "What can be sold")) }
        }
        @for product in request.project.products() {
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
                (prices::table(&request, product))
            }
        }
    };
    Ok(request.show("Catalog", &body))
}

pub(super) async fn draft(request: PageFor<Manage>) -> PageResult {
    let fields = Fields::default()
        .with("type", "credits")
        .with("creditUnit", "credits")
        .with("freeGrant.period", "monthly")
        .ticked("active", true);
    Ok(new_page(&request, &fields, None))
}

pub(super) async fn create(request: FormPost<CreateProduct>) -> PageResult {
    let made = async {
        let page = |product: Product, _| layout::done(&path(&request.project, &product), "created");
        let back = format!("{}/catalog", base(&request.project));
        request
            .answer(
                CreateProduct(new(&request.fields, &request.project)?),
                &back,
                page,
            )
            .await
    };
    let again = |error| new_page(&request, &request.fields, Some(&error));
    Ok(made.await.unwrap_or_else(again))
}

pub(super) async fn show(request: PageRequest) -> PageResult {
    let product = product(&request)?;
    Ok(page(&request, product, &current(product), None))
}

pub(super) async fn save(mut request: FormPost<UpdateProduct>) -> PageResult {
    let app = Arc::clone(&request.app);
    let _saving = app.edge.saving.lock().await;
    request.reload()?;
    let (product, fields) = (product(&request)?, &request.fields);
    let saved = async {
        form::refuse_stale(fields, &current(product))?;
        let mut change: ProductChange = new(fields, &request.project)?.into();
        if !fields.is_on(LIMITS) {
            change.limits = None;
        }
        let update = UpdateProduct(product.id, change);
        request
            .run(update, &path(&request.project, product), "saved")
            .await
    };
    let again = |error| page(&request, product, fields, Some(&error));
    Ok(saved.await.unwrap_or_else(again))
}

pub(super) fn path(project: &ProjectCatalog, product: &Product) -> String {
    format!("{}/catalog/{}", base(project), product.id)
}

/// A product's name; its id, where there is no such product any more.
pub(super) fn product_name(project: &ProjectCatalog, id: ProductId) -> String {
    let product = project.product(&id);
    product.map_or_else(|| id.to_string(), |product| product.name.clone())
}

pub(super) fn product(request: &PageRequest) -> Result<&Product, Error> {
    let id = request.named("product", ErrorCode::ProductNotFound)?;
    let product = request.project.product(&id);
    product.ok_or_else(|| Error::new(ErrorCode::ProductNotFound))
}

fn new(fields: &Fields, project: &ProjectCatalog) -> Result<NewProduct, Error> {
    let kind = fields.choice("type")?;
    let period = fields.choice("freeGrant.period");
    let period = period.unwrap_or(Period::Monthly);
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
        debt_limit: fields.whole("debtLimit")?.unwrap_or(0),
        limits: limits(fields, project)?.unwrap_or_default(),
        active: fields.is_on("active"),
    })
}

fn current(product: &Product) -> Fields {
    let grant = product.free_grant;
    let period = grant.map_or(Period::Monthly, |grant| grant.period);
    let fields = Fields::default()
        .with("name", &product.name)
        .with_choice("type", product.kind)
        .with_some("description", product.description.as_deref())
        .with_some("creditUnit", product.credit_unit.as_deref())
        .with_some("freeGrant.credits", grant.map(|grant| grant.credits.get()))
        .with_choice("freeGrant.period", period)
        .with_some("lowBalance", product.low_balance)
        .with_some(
            "debtLimit",
            Some(product.debt_limit).filter(|limit| *limit > 0),
        )
        .ticked("active", product.active);
    with_limits(fields, &product.limits)
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

pub(super) fn state(active: bool) -> Markup {
    html! {
        @if active { span.badge.good { "Offered" } } @else { span.badge { "Not offered" } }
    }
}

fn new_page(request: &PageRequest, fields: &Fields, error: Option<&Error>) -> Response {
    let form = Form::new(fields, error);
    let path = format!("{}/catalog", base(&request.project));
    let body = html! {
        h1 { "New product" }
        section.card { (product_form(request, &path, form, None)) }
    };
    form.response(request.show("New product", &body))
}

fn page(
    request: &PageRequest,
    product: &Product,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let (form, page_path) = (Form::new(fields, error), path(&request.project, product));
    let body = html! {
        div.head { h1 { (product.name) } (state(product.active)) }
        p.hint { code { (product.id) } @if product.holds_credits() { " · " a href={ (base(&request.project)) "/rate-cards" } { "Rate cards" } } }
        section.card {
            div.head {
                h2 { "Prices" }
                @if request.may(Privilege::Manage) { a.button href={ (page_path) "/prices" } { "New price" } }
            }
            (prices::table(request, product))
        }
        section.card {
            h2 { "Product" }
            (form::conflict_of(form, &current(product)))
            (product_form(request, &page_path, form, Some(product)))
        }
    };
    form.response(request.show(&product.name, &body))
}

/// The form for a product that there is, or a new one.
fn product_form(
    request: &PageRequest,
    action: &str,
    form: Form<'_>,
    product: Option<&Product>,
) -> Markup {
    let may = request.may(Privilege::Manage);
    let all = html! {
            @if let Some(product) = product { (form::version(&current(product))) }
            (form.text(&FieldLabel("name", "Name", "Buyers see it at checkout.")))
            (form.choice(&FieldLabel("type", "Type", "It cannot change once there are prices."), &KINDS))
            (form.text(&FieldLabel("description", "Description", "A sentence about it, for buyers.")))
            (form.text(&FieldLabel("creditUnit", "Credit unit", "What its credits are called, as a plural: credits, images, minutes. Empty for a product without credits of its own.")))
            fieldset {
                legend { "Free credits" }
                (form::approval_notice(request, &request.project, "They"))
                div.pair {
                    (form.number(&FieldLabel("freeGrant.credits", "Credits per period", "For each wallet. Empty: none.")))
                    (form.choice(&FieldLabel("freeGrant.period", "How often", "By the UTC calendar. Credits left over from the last period expire."), &PERIODS))
                }
            }
            (form.number(&FieldLabel("lowBalance", "Low balance", "Your server is notified when what is left, held credits included, falls to this or below. Empty: never.")))
            (form.number(&FieldLabel("debtLimit", "Debt limit", "How many credits a user's wallet may owe, where your server asks for it. Empty: none.")))
            (inputs(form, &request.project, "This one"))
            (form.tick(&FieldLabel("active", "Offered", "A product that is not offered cannot be bought; its credits can still be spent.")))
            @if may { button.primary type="submit" { @if product.is_some() { "Save" } @else { "Create product" } } }
    };
    html! { (form.alert(&FIELDS)) (form::guarded(request, may, action, &all)) }
}
