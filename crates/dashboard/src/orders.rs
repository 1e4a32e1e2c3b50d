//! A project's orders, newest first, and those of a wallet.

use actors::{OrderAnswer, OrderFilter, OrderPage, OrderState, OrderTotals};
use domain::{
    id::{OrderId, ProductId, WalletKey},
    text::Email,
    wallet::{Order, OrderKind, OrderStatus},
};
use edge::csv;
use wire::{cursor::OrderCursor, field::FromText as _};

use super::{catalog::product_name, prelude::*, wallets};

const PAGE_SIZE: usize = 25;

/// An order's statuses, with the names of each: in the query, for people, and of its badge's class.
pub(super) const STATES: [(OrderStatus, &str, &str, &str); 5] = [
    (OrderStatus::Paid, "paid", "Paid", "badge good"),
    (OrderStatus::Pending, "pending", "Pending", "badge wait"),
    (OrderStatus::Refunded, "refunded", "Refunded", "badge"),
    (OrderStatus::Failed, "failed", "Failed", "badge bad"),
    (OrderStatus::Expired, "expired", "Expired", "badge"),
];

pub(super) fn badge(status: OrderStatus) -> Markup {
    let known = STATES.iter().find(|(known, ..)| *known == status);
    html! { @if let Some((.., name, class)) = known { span class=(class) { (name) } } }
}

/// The same for an order, which may also be processing.
pub(super) fn order_badge(order: &Order) -> Markup {
    match order.is_processing() {
        true => html! { span.badge.wait { "Processing" } },
        false => badge(order.status()),
    }
}

pub(super) const fn kind(kind: OrderKind) -> &'static str {
    match kind {
        OrderKind::Checkout => "Checkout",
        OrderKind::Renewal => "Renewal",
        OrderKind::Switch => "Tier switch",
        OrderKind::TopUp => "Automatic top-up",
    }
}

const FILTERS: [&str; 7] = ["status", "productId", "email", "from", "to", "min", "max"];

/// Which orders the address asks for.
fn filter(query: &Fields, project: &ProjectCatalog) -> Result<OrderFilter, Error> {
    let state = OrderState::from_text(query.text("status"));
    let product = query.text("productId").parse::<ProductId>().ok();
    let email = query.some("email").map(Email::new).transpose();
    let places = decimals(&currency(project));
    let cents = |name| query.some(name).map(|_| query.money(name, places));
    Ok(OrderFilter {
        state,
        product: product.filter(|it| project.product(it).is_some()),
        email: email.map_err(|error| Error::text("email", error))?,
        from: query.day("from")?,
        to: query.day_end("to")?,
        min_cents: cents("min").transpose()?,
        max_cents: cents("max").transpose()?,
    })
}

/// The currency that amounts of the filter are read in: that of the first price.
fn currency(project: &ProjectCatalog) -> String {
    let mut prices = project.products().flat_map(|it| project.prices(&it.id));
    prices
        .next()
        .map_or_else(|| "EUR".to_owned(), |price| price.currency.to_string())
}

pub(super) async fn list(request: PageRequest) -> PageResult {
    let query = request.query();
    let before = query.cursor()?.map(|OrderCursor(at, order)| (at, order));
    let wanted = filter(query, &request.project);
    let (page, totals) = match &wanted {
        Ok(filter) => {
            let (products, filter) = (request.project.product_ids(), filter.clone());
            let handle = &request.app.handle;
            let found = handle.orders_and_totals(
                &request.project.scope,
                products,
                filter,
                before,
                PAGE_SIZE,
            );
            let found = found.await;
            request.read(found)?
        }
        Err(_) => (
            OrderPage {
                orders: Vec::new(),
                next: None,
            },
            OrderTotals::default(),
        ),
    };
    let kept = query.query(&FILTERS);
    let older = page
        .next
        .map(|(at, order)| format!("?{kept}before={}", OrderCursor(at, order)));
    let form = Form::new(query, wanted.as_ref().err());
    let body = html! {
        div.head { h1 { "Orders" } a.button href={ (base(&request.project)) "/orders.csv?" (kept) } { "CSV" } }
        @let waiting = request.app.payments.unfulfilled().count(Some(request.project.project.id));
        p { a href={ (base(&request.project)) "/unfulfilled-payments" } { "Unfulfilled payments and daily reconciliation" } @if waiting > 0 { " " span class="badge bad" { (waiting) } } }
        (filter_form(&request.project, form))
        @if wanted.is_ok() { (sums(&totals)) }
        @if !page.orders.is_empty() { (table(&request.project, &page.orders)) }
        @else if !kept.is_empty() || before.is_some() { p.empty { "No orders match these filters." } }
        @else { p.empty {
            "No orders yet. One appears here when your app begins a checkout: "
            (layout::docs("quick-start", "quick start"))
        } }
        @if let Some(older) = older { p { a.button href=(older) { "Older" } } }
    };
    Ok(form.response(request.show("Orders", &body)))
}

fn filter_form(project: &ProjectCatalog, form: Form<'_>) -> Markup {
    let mut states = vec![
        ("", "All"),
        ("processing", "Processing"),
        ("disputed", "Disputed, to answer"),
    ];
    states.extend(STATES.iter().map(|(_, value, name, _)| (*value, *name)));
    let mut products = vec![(String::new(), "All".to_owned())];
    products.extend(
        project
            .products()
            .map(|it| (it.id.to_string(), it.name.to_string())),
    );
    let currency = currency(project);
    let (least, most) = (
        format!("At least, {currency}"),
        format!("At most, {currency}"),
    );
    html! {
        (form.filters(&FILTERS, &html! {
            (form.choice(&FieldLabel("status", "State", ""), &states))
            (form.choice(&FieldLabel("productId", "Product", ""), &products))
            (form.text(&FieldLabel("email", "Buyer's e-mail", "")))
            (form.day(&FieldLabel("from", "From", "")))
            (form.day(&FieldLabel("to", "To and including", "")))
            (form.number(&FieldLabel("min", &least, "")))
            (form.number(&FieldLabel("max", &most, "")))
        }))
    }
}

/// What all orders come to that the filter lets through.
fn sums(totals: &OrderTotals) -> Markup {
    html! {
        p.sums { b { (layout::count(totals.count)) } @if totals.count == 1 { " order" } @else { " orders" }
            @for (currency, sum) in &totals.currencies {
                "; " (money(sum.paid_cents, currency)) " paid"
                @if sum.refunded_cents > 0 { ", " (money(sum.refunded_cents, currency)) " of it refunded" }
            }
        }
    }
}

pub(super) async fn export(request: PageRequest) -> PageResult {
    let filter = filter(request.query(), &request.project)?;
    Ok(csv::orders(
        request.app.handle.clone(),
        request.project.clone(),
        filter,
    ))
}

pub(super) fn table(project: &ProjectCatalog, orders: &[OrderAnswer]) -> Markup {
    let headings = ["What", "State", "#Amount", "Buyer", "Wallet", "Placed"];
    let rows = html! { @for order in orders { (row(project, order, true)) } };
    layout::table("Orders", &headings, &rows)
}

fn row(project: &ProjectCatalog, answer: &OrderAnswer, with_wallet: bool) -> Markup {
    let order = &answer.order;
    html! { tr.linked {
        td { (link(project, answer)) }
        td { (order_badge(order)) }
        td.number { (amounts(order)) }
        td { @match &order.email { Some(email) => (verbatim(email.as_str())), None => "–" } }
        @if with_wallet { td { (owner(project, answer)) } }
        td.time { (layout::when(order.created_at)) }
    } }
}

/// What was bought, as a link that covers its row.
fn link(project: &ProjectCatalog, answer: &OrderAnswer) -> Markup {
    let Order {
        quantity, kind: of, ..
    } = &answer.order;
    html! {
        a.cover href=(path(project, answer.id)) { (what(project, answer)) @if quantity.get() > 1 { " × " (quantity.get()) } }
        br; span.hint { (kind(*of)) }
    }
}

pub(super) fn what(project: &ProjectCatalog, answer: &OrderAnswer) -> String {
    let terms = &answer.order.terms;
    let label = terms.label.as_ref().map(ToString::to_string);
    label.unwrap_or_else(|| product_name(project, terms.product))
}

pub(super) fn owner(project: &ProjectCatalog, answer: &OrderAnswer) -> Markup {
    let name = match (&answer.external_user, answer.wallet) {
        (Some(user), _) => verbatim(user.as_str()),
        (None, Some(_)) => html! { "Anonymous" },
        (None, None) => return html! { "–" },
    };
    html! { a href=(wallets::path(project, answer.id.wallet)) { (name) } }
}

pub(super) async fn list_of_wallet(request: PageRequest) -> PageResult {
    let (key, scope) = (wallets::wallet(&request)?, &request.project.scope);
    let address = Address::Stored(key);
    let view = request.read(request.app.handle.read(scope, &address).await)?;
    let before = request.query().cursor()?;
    let before = before.map(|OrderCursor(at, order)| (at, order));
    let page = request
        .app
        .handle
        .wallet_orders(scope, &address, before, PAGE_SIZE);
    let page = request.read(page.await)?;
    let older = page.next.map(|(at, order)| OrderCursor(at, order));
    let body = html! {
        h1 { "Orders of a wallet" }
        p.hint { a href=(wallets::path(&request.project, key)) { (wallets::name(&view)) } }
        (table_of_wallet(&request.project, &page))
        @if let Some(older) = older { p { a.button href={ "?before=" (older) } { "Older" } } }
    };
    Ok(request.show("Orders of a wallet", &body))
}

pub(super) fn of_wallet(project: &ProjectCatalog, wallet: WalletKey, page: &OrderPage) -> Markup {
    html! {
        section.card #orders {
            h2 { "Orders" }
            (table_of_wallet(project, page))
            @if page.next.is_some() {
                p { a.button href={ (wallets::path(project, wallet)) "/orders" } { "All orders" } }
            }
        }
    }
}

fn table_of_wallet(project: &ProjectCatalog, page: &OrderPage) -> Markup {
    let headings = ["What", "State", "#Amount", "Buyer", "Placed"];
    let rows = html! { @for order in &page.orders { (row(project, order, false)) } };
    html! {
        @if page.orders.is_empty() { p.empty { "No orders." } }
        @else { (layout::table("Orders of this wallet", &headings, &rows)) }
    }
}

/// What an order costs, and what of that was returned.
fn amounts(order: &Order) -> Markup {
    let currency = &order.terms.currency;
    html! {
        (money(order.amount_cents, currency))
        @if order.reversal.refunded_cents > 0 {
            br; span.hint { (money(order.reversal.refunded_cents, currency)) " refunded" }
        }
    }
}

pub(super) fn path(project: &ProjectCatalog, order: OrderId) -> String {
    format!("{}/orders/{order}", base(project))
}
