//! Creates an order for a payment that has none, once that was confirmed. What the price brings beyond the payment
//! counts as a grant.

use actors::Address;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    catalog::{Interval, Price},
    code::RecoveryCode,
    id::PriceId,
    terms::Terms,
    text::ExternalUserId,
};
use edge::Support;
use identity::{OutgoingValue, Recipient};
use maud::{Markup, html};
use operations::audit::Proof;
use payments::UnfulfilledPayment;
use wire::{Error, ErrorCode};

use super::{
    admission,
    catalog::product_name,
    confirm::confirm,
    fields::{CONFIRMED, Fields},
    layout::{At, Tab},
    money::{grouped, money},
    orders,
    page_request::FormPost,
    prices::{is_on_sale, price_words},
    unfulfilled::{page, page_path, payment, undecided},
    verbatim::verbatim,
};
use crate::state::App;

/// `POST …/unfulfilled-payments/{payment}/assign`: creates an order for a payment.
pub(super) async fn assign(
    State(app): State<App>,
    posted: FormPost<Support>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let known = payment(&app, &request, &project)?;
    let done: Result<Response, Error> = async {
        undecided(&known)?;
        let (id, price) = (&known.payment, price(&project, &fields)?);
        let to = recipient(&app, &project, &fields).await?;
        let beyond = Terms::from(price).beyond(known.paid.amount_cents, &known.currency);
        let value = OutgoingValue::Assignment {
            payment: id.clone(),
            price: price.id,
            to: to.clone(),
            credits: beyond.credits,
            cents: beyond.cents,
        };
        if !fields.is_on(CONFIRMED) {
            let facts = html! {
                (assignment_facts(&project, &known, price, &fields))
                (admission::notice(&request, &project, &value))
            };
            let back = format!("{}/{id}", page_path(&project));
            let paths = (&*format!("{back}/assign"), &*back);
            let at = At::Project(&project, Tab::Orders);
            let title = "Assign this payment?";
            return Ok(confirm(&request, at, &fields, paths, title, &facts));
        }
        let why = ("", id.as_str());
        if let Some(pending) = admission::admit(&app, &request, &project, &value, why).await? {
            return Ok(pending);
        }
        let words = format!(
            "payment {id} of {} to {}",
            money(known.paid.amount_cents, &known.currency),
            price_words(&project, price.id)
        );
        let proof = Proof::Assignment {
            payment: id.clone(),
        };
        let tries = format!("Assign {words}");
        request.announce(&app, &tries, Some(proof)).await?;
        let order = app
            .payments
            .assign(project.clone(), id.clone(), price.id, to.address())
            .await;
        let order = order.map_err(|error| Error::from_instruction(error, &project))?;
        let id = order.after.id;
        let path = orders::path(&project, id);
        if order.replayed {
            return Ok(request.done_before(&path));
        }
        let what = format!("Assigned {words} as order {id}");
        Ok(request.done(&path, "assigned", what))
    }
    .await;
    let again = |error| page(&request, &project, &known, &fields, Some(&error));
    Ok(done.unwrap_or_else(again))
}

fn price<'a>(project: &'a ProjectCatalog, fields: &Fields) -> Result<&'a Price, Error> {
    let price: Option<PriceId> = fields.parsed("priceId", "a price of this project")?;
    let price = price.ok_or_else(|| Error::missing("priceId"))?;
    let known = project.any_price(&price);
    known.ok_or_else(|| Error::about("priceId", ErrorCode::PriceNotFound))
}

/// What was paid beside what the price brings.
fn assignment_facts(
    project: &ProjectCatalog,
    known: &UnfulfilledPayment,
    price: &Price,
    fields: &Fields,
) -> Markup {
    let beyond = Terms::from(price).beyond(known.paid.amount_cents, &known.currency);
    let whose = [
        ("User", fields.exact("externalUserId")),
        ("Recovery code", fields.some("code")),
    ];
    let named = whose.iter().find_map(|(name, it)| Some((name, (*it)?)));
    html! { dl {
        div { dt { "Paid" } dd { (money(known.paid.amount_cents, &known.currency)) } }
        div { dt { "Price" } dd {
            (product_name(project, price.product)) ", " (money(price.amount_cents, &price.currency))
            @if !is_on_sale(project, price) { ", not on sale" }
        } }
        @if *known.currency != *price.currency { div { dt { "Currency" } dd { "The payment was in another one: amounts cannot be compared." } } }
        div { dt { "Brings" } dd { (grouped(price.credits_granted)) " credits" @if price.interval != Interval::OneTime { " in each cycle" } } }
        @if beyond.credits > 0 || beyond.cents > 0 { div { dt { "Beyond what was paid" } dd {
            (grouped(beyond.credits)) " credits, at " (money(beyond.cents, &price.currency))
            ". This counts as a grant, for daily limits and approvals."
        } } }
        @match named {
            Some((name, who)) => div { dt { (name) } dd { (verbatim(who)) } },
            None => div { dt { "Wallet" } dd { "A new one" } },
        }
    } }
}

async fn recipient(
    app: &App,
    project: &ProjectCatalog,
    fields: &Fields,
) -> Result<Recipient, Error> {
    match (fields.exact("externalUserId"), fields.some("code")) {
        (Some(_), Some(_)) => Err(Error::new(ErrorCode::ConflictingWallet)),
        (Some(user), None) => {
            let user = ExternalUserId::new(user);
            let user = user.map_err(|error| Error::text("externalUserId", error))?;
            Ok(Recipient::User(user))
        }
        (None, Some(code)) => {
            let code = RecoveryCode::parse(code).map(Address::Code);
            let wrong = || Error::invalid("code", "This is not a recovery code.");
            let address = code.ok_or_else(wrong)?;
            let view = app.handle.read(&project.scope, &address).await;
            let view = view.map_err(|error| Error::from_wallet(error, project))?;
            Ok(Recipient::Wallet(view.key))
        }
        (None, None) => Ok(Recipient::New),
    }
}
