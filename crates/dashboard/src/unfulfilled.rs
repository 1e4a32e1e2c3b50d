//! Unfulfilled payments, what a person decides about each, and the daily reconciliation of the provider's payments
//! with the orders.

use actors::OrderAnswer;
use domain::{
    catalog::Price,
    code::RecoveryCode,
    id::PriceId,
    text::{ExternalUserId, PaymentId},
};
use operator::{
    Action, AssignPayment, DismissPayment, RefundPayment, StartReconciliation, is_on_sale,
};
use payments::{NoOrderReason, Reconciliation, UnfulfilledPayment};
use wire::cursor::PaymentCursor;

use super::{orders, prelude::*};

const PAGE_SIZE: usize = 25;
const MAX_NOTE: usize = 2000;

const fn why(reason: NoOrderReason) -> &'static str {
    match reason {
        NoOrderReason::UnknownPrice => "Its price is not in the catalog",
        NoOrderReason::UnknownOrder => "Its order does not exist here",
        NoOrderReason::UnclearBill => "Its invoice does not say what it is for",
        NoOrderReason::UnknownWallet => "The reference to its wallet was replaced",
        NoOrderReason::AlreadyPaid => "Its order was already paid by another payment",
        NoOrderReason::OtherCurrency => "It was paid in a currency other than its price's",
    }
}

pub(super) fn page_path(project: &ProjectCatalog) -> String {
    format!("{}/unfulfilled-payments", base(project))
}

pub(super) async fn list(request: PageRequest) -> PageResult {
    let before: Option<PaymentCursor> = request.query().cursor()?;
    let before = before.as_ref().map(|PaymentCursor(at, id)| (*at, id));
    let id = request.project.project.id;
    let unfulfilled = request.app.payments.unfulfilled();
    let mut payments = unfulfilled.open(id, before, PAGE_SIZE.saturating_add(1));
    let more = payments.len() > PAGE_SIZE;
    payments.truncate(PAGE_SIZE);
    let last = payments.last().filter(|_| more);
    let older = last.map(|last| PaymentCursor(last.seen_at, last.payment.clone()));
    let body = html! {
        h1 { "Unfulfilled payments" }
        p { "Payments that no order was found for. Assign, refund or dismiss each. One whose order turns up after all leaves this list by itself." }
        @if payments.is_empty() { p.empty { "There are none." } } @else {
            (table("Unfulfilled payments", &["Paid", "Why", "#Amount", "Buyer", "Payment"], &html! { @for payment in &payments { (row(&request.project, payment)) } }))
        }
        @if let Some(older) = older { p { a.button href={ "?before=" (older) } { "Older" } } }
        (last_reconciliation(&request))
    };
    let title = "Unfulfilled payments";
    Ok(request.show(title, &body))
}

fn row(project: &ProjectCatalog, payment: &UnfulfilledPayment) -> Markup {
    html! { tr {
        td.time { a href={ (page_path(project)) "/" (payment.payment) } { (layout::when(payment.paid_at)) } }
        td { (why(payment.reason)) }
        td.number { (money(payment.paid.amount_cents, &payment.currency)) }
        td { @match &payment.paid.email { Some(email) => (verbatim(email.as_str())), None => "–" } }
        td { code { (payment.payment) } }
    } }
}

fn last_reconciliation(request: &PageRequest) -> Markup {
    let status = request
        .app
        .payments
        .reconciliations()
        .status(request.project.project.id);
    html! {
        section.card {
            h2 { "Daily reconciliation" }
            p { "Once a day the provider's lists of charges, refunds and disputes are compared with the orders." }
            @match &status.last {
                Some(last) => (result(last)),
                None => p.empty { "There was none yet." },
            }
            @if let Some(error) = &status.error { p.alert { "The last one failed: " (error) } }
            @if status.running.is_some() { p { "One is running." } } @else if request.may(Privilege::Support) {
                form method="post" action={ (page_path(&request.project)) "/reconcile" } {
                    (form::token(request))
                    button type="submit" { "Compare now" }
                }
            }
        }
    }
}

fn result(last: &Reconciliation) -> Markup {
    html! {
        p {
            @if last.adds_up() { span class="badge good" { "Adds up" } } @else { span class="badge bad" { (last.differences) " differences" } }
            " " (layout::when(Timestamp(last.from))) " to " (layout::when(Timestamp(last.until)))
            ": " (last.charges) " charges, " (last.refunds) " refunds, " (last.disputes) " disputes"
            @if last.mended > 0 { "; " (last.mended) " were corrected" }
        }
        @if !last.sums.is_empty() {
            (table("Sums", &["Currency", "#Orders", "#Unfulfilled", "#Other products", "#Differs"], &html! { @for sum in &last.sums { tr {
                td { (sum.currency) }
                @for cents in [sum.orders_cents, sum.unfulfilled_cents, sum.other_cents, sum.differing_cents] {
                    td.number { (money(cents, &sum.currency)) }
                }
            } } }))
        }
        @if !last.found.is_empty() {
            (table("Differences", &["What", "At the provider", "Order", "#Provider says", "#Order says"], &html! { @for found in &last.found { tr {
                td { (found.kind.as_str()) }
                td { code { (found.id) } }
                td { @match &found.order { Some(order) => code { (order) }, None => "–" } }
                td.number { (money(found.provider_cents, &found.currency)) }
                td.number { @match found.order_cents { Some(cents) => (money(cents, &found.currency)), None => "–" } }
            } } }))
        }
    }
}

pub(super) async fn reconcile(request: FormPost<StartReconciliation>) -> PageResult {
    let start = StartReconciliation::default();
    request
        .run(start, &page_path(&request.project), "reconciling")
        .await
}

pub(super) fn payment(request: &PageRequest) -> Result<UnfulfilledPayment, Error> {
    let unknown = ErrorCode::PaymentNotFound;
    let id: String = request.named("payment", unknown)?;
    let id = PaymentId::new(id).map_err(|_| Error::new(unknown))?;
    let known = request
        .app
        .payments
        .unfulfilled()
        .get(request.project.project.id, &id);
    known.ok_or_else(|| Error::new(unknown))
}

pub(super) async fn show(request: PageRequest) -> PageResult {
    let known = payment(&request)?;
    let fields = Fields::default().with_some("priceId", likely(&request.project, &known));
    Ok(page(&request, &known, &fields, None))
}

/// A price that costs what was paid; else any.
fn likely(project: &ProjectCatalog, known: &UnfulfilledPayment) -> Option<PriceId> {
    let products = project.products();
    let prices = products.flat_map(|product| project.prices(&product.id));
    let paid = (known.paid.amount_cents, &*known.currency);
    let fits = |price: &&Price| (price.amount_cents, &*price.currency) == paid;
    let mut prices: Vec<_> = prices.collect();
    prices.sort_by_key(|price| (!fits(price), !price.active));
    prices.first().map(|price| price.id)
}

pub(super) fn page(
    request: &PageRequest,
    known: &UnfulfilledPayment,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let form = Form::new(fields, error);
    let others = known
        .others
        .iter()
        .map(|other| ("Other part", Some(other.as_str())));
    let names = [
        ("Payment", Some(known.payment.as_str())),
        ("Invoice", known.paid.invoice.as_ref().map(|id| id.as_str())),
        (
            "Subscription",
            known.billing.as_ref().map(|it| it.subscription.as_str()),
        ),
        (
            "Customer",
            known.paid.customer.as_ref().map(|id| id.as_str()),
        ),
    ];
    let body = html! {
        h1 { (money(known.paid.amount_cents, &known.currency)) }
        section.card {
            h2 { "Payment" }
            dl {
                div { dt { "Why it has no order" } dd { (why(known.reason)) } }
                div { dt { "Paid" } dd { (layout::when(known.paid_at)) } }
                @if let Some(email) = &known.paid.email { div { dt { "Buyer" } dd { (verbatim(email.as_str())) } } }
                @for (name, id) in names.into_iter().chain(others) { @if let Some(id) = id { div { dt { (name) } dd { code { (id) } } } } }
            }
        }
        @if known.is_open() && !request.may(Privilege::Support) {
            p { "Somebody with permission has to decide about it." }
        } @else if known.is_open() { (decisions(request, known, form)) } @else {
            p { "This payment was already decided." }
        }
    };
    let title = "Unfulfilled payment";
    form.response(request.show(title, &body))
}

fn decisions(request: &PageRequest, known: &UnfulfilledPayment, form: Form<'_>) -> Markup {
    let action = format!("{}/{}", page_path(&request.project), known.payment);
    let project = &request.project;
    let products = project.products();
    let prices =
        products.flat_map(|product| project.prices(&product.id).map(move |it| (product, it)));
    let prices = prices.map(|(product, price)| {
        let cost = money(price.amount_cents, &price.currency);
        let off = if is_on_sale(project, price) {
            ""
        } else {
            ", not on sale"
        };
        (
            price.id.to_string(),
            format!("{}, {cost}{off}", product.name),
        )
    });
    let prices: Vec<_> = prices.collect();
    html! {
        (form.alert(&["priceId", "externalUserId", "code", "note", CONFIRMED]))
        section.card {
            h2 { "Assign" }
            form method="post" action={ (action) "/assign" } {
                (form::token(request))
                (form.choice(&FieldLabel("priceId", "Price", "What it paid for. The order records the amount that was charged."), &prices))
                (form.text(&FieldLabel("externalUserId", "User", "The user id of the wallet that gets the credits.")))
                (form.text(&FieldLabel("code", "Recovery code", "Of an anonymous wallet. With neither, a new wallet is created.")))
                button.primary type="submit" { "Assign…" }
            }
        }
        section.card {
            h2 { "Refund" }
            form method="post" action={ (action) "/refund" } {
                (form::token(request))
                p { "The whole remaining amount is refunded. A subscription that it paid for continues: end it at the provider." }
                (form.tick(&FieldLabel(CONFIRMED, "Refund this payment", "")))
                button.danger type="submit" { "Refund" }
            }
        }
        section.card {
            h2 { "Dismiss" }
            form method="post" action={ (action) "/dismiss" } {
                (form::token(request))
                (form.text(&FieldLabel("note", "Why", "Recorded in the audit log.")))
                (form.tick(&FieldLabel(CONFIRMED, "Leave it without an order", "")))
                button type="submit" { "Dismiss" }
            }
        }
    }
}

/// Refuses a second decision about a payment.
pub(super) fn undecided(known: &UnfulfilledPayment) -> Result<(), Error> {
    match known.is_open() {
        true => Ok(()),
        false => Err(Error::new(ErrorCode::PaymentAlreadyResolved)),
    }
}

pub(super) async fn refund(request: FormPost<RefundPayment>) -> PageResult {
    let refund = |payment, _: &_| Ok(RefundPayment(payment));
    decide(request, "refunded", refund).await
}

pub(super) async fn dismiss(request: FormPost<DismissPayment>) -> PageResult {
    let dismiss = |payment, fields: &Fields| {
        let note = fields.line("note", MAX_NOTE, "Enter a reason of one line.")?;
        Ok(DismissPayment { payment, note })
    };
    decide(request, "dismissed", dismiss).await
}

/// Does what was confirmed with a payment that stays without an order.
async fn decide<A: Action>(
    request: FormPost<A>,
    message: &str,
    action: impl FnOnce(PaymentId, &Fields) -> Result<A, Error>,
) -> PageResult {
    let known = payment(&request)?;
    let done = async {
        undecided(&known)?;
        request.fields.confirmed()?;
        let action = action(known.payment.clone(), &request.fields)?;
        let back = page_path(&request.project);
        request.run(action, &back, message).await
    };
    let again = |error| page(&request, &known, &request.fields, Some(&error));
    Ok(done.await.unwrap_or_else(again))
}

pub(super) async fn assign(request: FormPost<AssignPayment>) -> PageResult {
    let known = payment(&request)?;
    let done = async {
        undecided(&known)?;
        let assign = AssignPayment {
            payment: known.payment.clone(),
            price: request
                .fields
                .required("priceId", "a price of this project")?,
            wallet: recipient(&request.fields)?,
        };
        let back = format!("{}/{}", page_path(&request.project), known.payment);
        let page = |order: OrderAnswer, replayed| {
            let message = if replayed { "again" } else { "assigned" };
            layout::done(&orders::path(&request.project, order.id), message)
        };
        request.answer(assign, &back, page).await
    };
    let again = |error| page(&request, &known, &request.fields, Some(&error));
    Ok(done.await.unwrap_or_else(again))
}

/// The wallet that gets what the price brings; `None`: a new one.
fn recipient(fields: &Fields) -> Result<Option<Address>, Error> {
    match (fields.exact("externalUserId"), fields.some("code")) {
        (Some(_), Some(_)) => Err(Error::new(ErrorCode::ConflictingWallet)),
        (Some(user), None) => {
            let user = ExternalUserId::new(user);
            let user = user.map_err(|error| Error::text("externalUserId", error))?;
            Ok(Some(Address::External(user)))
        }
        (None, Some(code)) => {
            let code = RecoveryCode::parse(code).map(Address::Code);
            let wrong = || Error::invalid("code", "This is not a recovery code.");
            code.map(Some).ok_or_else(wrong)
        }
        (None, None) => Ok(None),
    }
}
