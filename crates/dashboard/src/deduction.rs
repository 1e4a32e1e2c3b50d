//! One deduction: how much of it was reversed, and the form that reverses more.

use actors::ReversibleDeduction;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{Amount, id::LedgerId};
use identity::Privilege;
use maud::html;
use operator::ReverseDeduction;
use uuid::Uuid;
use wire::{Error, ErrorCode};

use super::{
    catalog::product_name,
    confirm::ActionForm,
    fields::{Fields, KEY},
    form::{self, FieldLabel, Form},
    layout::{self, Tab},
    money::grouped,
    page_request::{FormPost, PageRequest},
    verbatim::verbatim,
    wallets::{path, wallet},
};
use crate::state::App;

const MAX_NOTE: usize = 300;

/// The path of a deduction's page.
pub(super) fn deduction_path(project: &ProjectCatalog, id: LedgerId) -> String {
    format!("{}/deductions/{id}", path(project, id.wallet))
}

/// The deduction that the path names, which is the wallet's.
fn named(request: &PageRequest) -> Result<LedgerId, Error> {
    let unknown = ErrorCode::DeductionNotFound;
    let id: LedgerId = request.named("deduction", unknown)?;
    match id.wallet == wallet(request)? {
        true => Ok(id),
        false => Err(Error::new(unknown)),
    }
}

/// `GET …/wallets/{wallet}/deductions/{deduction}`: the deduction, and how much of it can be reversed.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    let id = named(&request)?;
    let known = app.handle.reversible(&project.scope, id).await;
    let known = known.map_err(|error| Error::from_wallet(error, &project))?;
    let fields = Fields::default()
        .with("amount", known.left)
        .with(KEY, Uuid::now_v7());
    Ok(page(&request, &project, id, &known, &fields, None))
}

fn page(
    request: &PageRequest,
    project: &ProjectCatalog,
    id: LedgerId,
    known: &ReversibleDeduction,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let form = Form::new(fields, error);
    let back = path(project, id.wallet);
    let reversed = known.credits.saturating_sub(known.left);
    let can = known.left > 0 && request.may(Privilege::Support);
    let body = html! {
        h1 { "Deduction of " (grouped(known.credits)) }
        p.hint { code { (id) } }
        section.card {
            dl {
                div { dt { "Of" } dd { (product_name(project, known.product)) } }
                div { dt { "When" } dd { (layout::when(known.at)) } }
                @if let Some(meta) = &known.meta { div { dt { "Note" } dd { (verbatim(meta.as_str())) } } }
                div { dt { "Cannot be reversed" } dd { (grouped(reversed)) } }
                div { dt { "Can be reversed" } dd { b { (grouped(known.left)) } } }
            }
        }
        @if can || error.is_some() {
            section.card {
                h2 { "Reverse deduction" }
                p { "The credits return to the lots that they came from, and expire when those do. A debt is paid first." }
                (form.alert(&["amount", "note"]))
                form method="post" action=(deduction_path(project, id)) {
                    (form::token(request))
                    input type="hidden" name=(KEY) value=(fields.text(KEY));
                    (form.number(&FieldLabel("amount", "Credits", "")))
                    (form.text(&FieldLabel("note", "Note", "Shown in the wallet's ledger, which its owner can see.")))
                    div.row {
                        button.primary type="submit" { "Reverse" }
                        a.button href=(back) { "Back to the wallet" }
                    }
                }
            }
        } @else {
            p { a.button href=(back) { "Back to the wallet" } }
        }
    };
    form.response(Tab::Wallets.page(request, project, "Deduction", &body))
}

/// `POST …/wallets/{wallet}/deductions/{deduction}`: reverses credits of it.
pub(super) async fn reverse(
    State(app): State<App>,
    posted: FormPost<ReverseDeduction>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let id = named(&request)?;
    let page_path = path(&project, id.wallet);
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Wallets);
    let done = async {
        let amount = Amount::new(fields.needed("amount")?);
        let whole = || Error::invalid("amount", "Credits are a whole number from 1 to 2^53 - 1.");
        let message = "Enter a note of one line, at most 300 characters.";
        let reverse = ReverseDeduction {
            deduction: id,
            amount: Some(amount.ok_or_else(whole)?),
            note: Some(fields.line("note", MAX_NOTE, message)?),
            key: fields.key()?,
        };
        form.run(reverse, &page_path, "reversed").await
    };
    match done.await {
        Ok(done) => Ok(done),
        Err(error) => {
            let known = app.handle.reversible(&project.scope, id).await;
            let known = known.map_err(|error| Error::from_wallet(error, &project))?;
            Ok(page(&request, &project, id, &known, &fields, Some(&error)))
        }
    }
}
