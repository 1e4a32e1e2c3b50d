//! What was paid and leads to no order, what a person decides about it, and whether the provider's books and the
//! orders add up.

use actors::Address;
use axum::{extract::State, response::Response};
use domain::{
    Timestamp,
    code::Code as RecoveryCode,
    id::PriceId,
    text::{ExternalUserId, PaymentId},
};
use maud::{Markup, html};

use super::{
    audit::deed,
    fields::Fields,
    form::{self, Form, Label},
    money::money,
    projects::refused,
    shell::{self, At, Tab, base},
    visit::{Posted, Visit},
};
use crate::{
    catalog::ProjectCatalog,
    http::{Code, Error, cursor::PaymentCursor, field::FromText as _},
    payments::{AssignmentRequest, Proof, UnfulfilledPayment, Unplaceable},
    state::App,
};

/// Payments on a page.
const SHOWN: usize = 25;
/// Characters of a note.
const LONGEST_NOTE: usize = 2000;
/// What somebody who means it sends along.
const CONFIRMED: &str = "confirmed";

const fn why(reason: Unplaceable) -> &'static str {
    match reason {
        Unplaceable::UnknownPrice => "Its price is not in the catalog",
        Unplaceable::UnknownOrder => "The order that it is for is not here",
        Unplaceable::UnclearBill => "Its bill does not say what it is for",
        Unplaceable::UnknownWallet => "What said whose it is was replaced",
        Unplaceable::AlreadyPaid => "Its order was paid by another payment",
        Unplaceable::OtherCurrency => "It was paid in another currency than its price's",
    }
}

fn here(project: &ProjectCatalog) -> String {
    format!("{}/unfulfilled-payments", base(project))
}

/// `GET …/unfulfilled-payments`
pub(super) async fn list(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = visit.project(&app)?;
    let cursor = visit.query().some("before").map(PaymentCursor::from_text);
    let cursor = cursor.map(|read| read.ok_or_else(|| Error::invalid("before", "No such page.")));
    let before = cursor.transpose()?;
    let before = before.as_ref().map(|PaymentCursor(at, id)| (*at, id));
    let id = project.project.id;
    let mut payments = app
        .payments
        .unfulfilled()
        .open(id, before, SHOWN.saturating_add(1));
    let more = payments.len() > SHOWN;
    payments.truncate(SHOWN);
    let last = payments.last().filter(|_| more);
    let older = last.map(|last| PaymentCursor(last.seen_at, last.payment.clone()));
    let body = html! {
        h1 { "Unfulfilled payments" }
        p { "What was paid and leads to no order. Assign it, give it back, or say why it stays as it is. One that leads to an order after all leaves this list by itself." }
        @if payments.is_empty() { p.empty { "There are none." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Unfulfilled payments" { table {
                thead { tr { th { "Paid" } th { "Why" } th.number { "Amount" } th { "Buyer" } th { "Payment" } } }
                tbody { @for payment in &payments { (row(&project, payment)) } }
            } }
        }
        @if let Some(older) = older { p { a.button href={ "?before=" (older) } { "Older" } } }
        (proof(&visit, &app, &project))
    };
    Ok(shell::page(
        &visit,
        At::Project(&project, Tab::Orders),
        "Unfulfilled payments",
        &body,
    ))
}

fn row(project: &ProjectCatalog, payment: &UnfulfilledPayment) -> Markup {
    html! { tr {
        td.time { a href={ (here(project)) "/" (payment.payment) } { (shell::when(payment.paid_at)) } }
        td { (why(payment.reason)) }
        td.number { (money(payment.paid.amount_cents, &payment.currency)) }
        td { (payment.paid.email.as_ref().map_or("–", |email| email.as_str())) }
        td { code { (payment.payment) } }
    } }
}

/// What the last proof came to.
fn proof(visit: &Visit, app: &App, project: &ProjectCatalog) -> Markup {
    let status = app.payments.proofs().status(project.project.id);
    html! {
        section.card {
            h2 { "Daily proof" }
            p { "Once a day the provider's own lists of charges, refunds and disputes are held against the orders." }
            @match &status.last {
                Some(last) => (came_to(last)),
                None => p.empty { "There was none yet." },
            }
            @if let Some(error) = &status.error { p.alert { "The last one did not come to its end: " (error) } }
            @if status.running.is_some() { p { "One is being made." } } @else {
                form method="post" action={ (here(project)) "/prove" } {
                    (form::token(visit))
                    button type="submit" { "Hold them against each other now" }
                }
            }
        }
    }
}

fn came_to(last: &Proof) -> Markup {
    html! {
        p {
            @if last.adds_up() { span class="badge good" { "Adds up" } } @else { span class="badge bad" { (last.differences) " differences" } }
            " " (shell::when(Timestamp(last.from))) " to " (shell::when(Timestamp(last.until)))
            ": " (last.charges) " charges, " (last.refunds) " refunds, " (last.disputes) " disputes"
            @if last.mended > 0 { "; " (last.mended) " were mended" }
        }
        @if !last.sums.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Sums" { table {
                thead { tr { th { "Currency" } th.number { "Orders" } th.number { "Unfulfilled" } th.number { "Other products" } th.number { "Differs" } } }
                tbody { @for sum in &last.sums { tr {
                    td { (sum.currency) }
                    @for cents in [sum.orders_cents, sum.unfulfilled_cents, sum.other_cents, sum.differing_cents] {
                        td.number { (money(cents, &sum.currency)) }
                    }
                } } }
            } }
        }
        @if !last.found.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Differences" { table {
                thead { tr { th { "What" } th { "At the provider" } th { "Order" } th.number { "Provider says" } th.number { "Order says" } } }
                tbody { @for found in &last.found { tr {
                    td { (found.kind.as_str()) }
                    td { code { (found.id) } }
                    td { @match &found.order { Some(order) => code { (order) }, None => "–" } }
                    td.number { (money(found.provider_cents, &found.currency)) }
                    td.number { @match found.order_cents { Some(cents) => (money(cents, &found.currency)), None => "–" } }
                } } }
            } }
        }
    }
}

/// `POST …/unfulfilled-payments/prove`
pub(super) async fn prove(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, .. } = posted;
    let project = visit.project(&app)?;
    let begun = app.payments.proofs().begin_daily(&project);
    begun.map_err(|error| Error::from_payments(error, &project))?;
    let what = "Held the provider's books against the orders";
    Ok(deed(
        shell::done(&here(&project), "proving"),
        &visit.signed,
        what.to_owned(),
    ))
}

fn payment(
    app: &App,
    visit: &Visit,
    project: &ProjectCatalog,
) -> Result<UnfulfilledPayment, Error> {
    let unknown = Code::PaymentNotFound;
    let id: String = visit.named("payment", unknown)?;
    let id = PaymentId::new(id).map_err(|_| Error::new(unknown))?;
    let known = app.payments.unfulfilled().get(project.project.id, &id);
    known.ok_or_else(|| Error::new(unknown))
}

/// `GET …/unfulfilled-payments/{payment}`
pub(super) async fn show(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = visit.project(&app)?;
    let known = payment(&app, &visit, &project)?;
    Ok(page(&visit, &project, &known, &Fields::default(), None))
}

fn page(
    visit: &Visit,
    project: &ProjectCatalog,
    known: &UnfulfilledPayment,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
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
                div { dt { "Why it leads to no order" } dd { (why(known.reason)) } }
                div { dt { "Paid" } dd { (shell::when(known.paid_at)) } }
                @if let Some(email) = &known.paid.email { div { dt { "Buyer" } dd { (email.as_str()) } } }
                @for (name, id) in names { @if let Some(id) = id { div { dt { (name) } dd { code { (id) } } } } }
            }
        }
        @if known.is_open() { (decisions(visit, project, known, Form::new(fields, error))) } @else {
            p { "It was decided about." }
        }
    };
    shell::page(
        visit,
        At::Project(project, Tab::Orders),
        "Unfulfilled payment",
        &body,
    )
}

fn decisions(
    visit: &Visit,
    project: &ProjectCatalog,
    known: &UnfulfilledPayment,
    form: Form<'_>,
) -> Markup {
    let action = format!("{}/{}", here(project), known.payment);
    let prices: Vec<(String, String)> = project
        .products()
        .flat_map(|product| {
            project
                .prices(&product.id)
                .map(move |price| (product, price))
        })
        .map(|(product, price)| {
            let said = money(price.amount_cents, &price.currency);
            (price.id.to_string(), format!("{}, {said}", product.name))
        })
        .collect();
    html! {
        (form.alert(&["priceId", "externalUserId", "code", "note", CONFIRMED]))
        section.card {
            h2 { "Assign" }
            form method="post" action={ (action) "/assign" } {
                (form::token(visit))
                (form.choice(&Label("priceId", "Price", "What it paid for. The order says what was really charged."), &prices))
                (form.text(&Label("externalUserId", "User", "Whose wallet it fills, where that is a user's.")))
                (form.text(&Label("code", "Recovery code", "Of the wallet, where that is an anonymous one. With neither a new wallet is made.")))
                (form.tick(&Label(CONFIRMED, "Yes, make it an order", "")))
                button.primary type="submit" { "Assign" }
            }
        }
        section.card {
            h2 { "Refund" }
            form method="post" action={ (action) "/refund" } {
                (form::token(visit))
                p { "All that is left of it goes back. A subscription that it paid goes on: end it at the provider." }
                (form.tick(&Label(CONFIRMED, "Yes, give this money back", "")))
                button.danger type="submit" { "Refund" }
            }
        }
        section.card {
            h2 { "Dismiss" }
            form method="post" action={ (action) "/dismiss" } {
                (form::token(visit))
                (form.text(&Label("note", "Why", "It stands in the audit log.")))
                (form.tick(&Label(CONFIRMED, "Yes, leave it as it is", "")))
                button type="submit" { "Dismiss" }
            }
        }
    }
}

/// Whoever did not tick the box is asked to.
fn meant(fields: &Fields) -> Result<(), Error> {
    match fields.is_on(CONFIRMED) {
        true => Ok(()),
        false => Err(Error::invalid(CONFIRMED, "Tick the box if you mean it.")),
    }
}

/// `POST …/unfulfilled-payments/{payment}/assign`
pub(super) async fn assign(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let known = payment(&app, &visit, &project)?;
    let again = |error: Error| {
        let page = page(&visit, &project, &known, &fields, Some(&error));
        Ok(refused(&error, page))
    };
    let to = match assignment(&fields) {
        Ok(to) => to,
        Err(error) => return again(error),
    };
    let price = to.price;
    let payments = &app.payments;
    match payments
        .assign(project.clone(), known.payment.clone(), to)
        .await
    {
        Ok(order) => {
            let path = format!("{}/orders/{}", base(&project), order.id);
            let what = format!(
                "Assigned payment {} to {price} as order {}",
                known.payment, order.id
            );
            Ok(deed(shell::done(&path, "assigned"), &visit.signed, what))
        }
        Err(error) => again(Error::from_instruction(error, &project)),
    }
}

fn assignment(fields: &Fields) -> Result<AssignmentRequest, Error> {
    meant(fields)?;
    let price: Option<PriceId> = fields.parsed("priceId", "a price of this project")?;
    let price = price.ok_or_else(|| Error::missing("priceId"))?;
    let to = match (fields.some("externalUserId"), fields.some("code")) {
        (Some(_), Some(_)) => return Err(Error::new(Code::ConflictingWallet)),
        (Some(user), None) => {
            let user = ExternalUserId::new(user);
            Some(Address::External(
                user.map_err(|error| Error::text("externalUserId", error))?,
            ))
        }
        (None, Some(code)) => {
            let code = RecoveryCode::parse(code);
            let code = code.ok_or_else(|| Error::invalid("code", "This is no recovery code."))?;
            Some(Address::Code(code))
        }
        (None, None) => None,
    };
    Ok(AssignmentRequest { price, to })
}

/// `POST …/unfulfilled-payments/{payment}/refund`
pub(super) async fn refund(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let known = payment(&app, &visit, &project)?;
    let given = match meant(&fields) {
        Ok(()) => {
            let given = app
                .payments
                .refund_unfulfilled(project.clone(), known.payment.clone());
            given
                .await
                .map_err(|error| Error::from_instruction(error, &project))
        }
        Err(error) => Err(error),
    };
    match given {
        Ok(_) => {
            let amount = money(known.paid.amount_cents, &known.currency);
            let what = format!("Refunded unfulfilled payment {} of {amount}", known.payment);
            Ok(deed(
                shell::done(&here(&project), "refunded"),
                &visit.signed,
                what,
            ))
        }
        Err(error) => {
            let page = page(&visit, &project, &known, &fields, Some(&error));
            Ok(refused(&error, page))
        }
    }
}

/// `POST …/unfulfilled-payments/{payment}/dismiss`
pub(super) async fn dismiss(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let known = payment(&app, &visit, &project)?;
    let note = meant(&fields).and_then(|()| {
        let note = fields.some("note").filter(|note| {
            note.chars().count() <= LONGEST_NOTE && !note.chars().any(char::is_control)
        });
        note.ok_or_else(|| Error::invalid("note", "Say why, in one line."))
    });
    let done = match note {
        Ok(note) => {
            let payments = &app.payments;
            let done = payments
                .dismiss(&project, &known.payment, note.to_owned())
                .await;
            let done = done.map_err(|error| Error::from_instruction(error, &project));
            done.map(|_| note)
        }
        Err(error) => Err(error),
    };
    match done {
        Ok(note) => {
            let what = format!("Dismissed unfulfilled payment {}: {note}", known.payment);
            Ok(deed(
                shell::done(&here(&project), "dismissed"),
                &visit.signed,
                what,
            ))
        }
        Err(error) => {
            let page = page(&visit, &project, &known, &fields, Some(&error));
            Ok(refused(&error, page))
        }
    }
}
