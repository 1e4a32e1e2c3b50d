//! One deduction: how much of it was reversed, and the form that reverses more.

use actors::ReversibleDeduction;
use domain::id::LedgerId;
use operator::ReverseDeduction;
use uuid::Uuid;

use super::{
    catalog::product_name,
    prelude::*,
    wallets::{path, wallet},
};

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

pub(super) async fn show(request: PageRequest) -> PageResult {
    let id = named(&request)?;
    let known = reversible(&request, id).await?;
    let fields = Fields::default()
        .with("amount", known.left)
        .with(KEY, Uuid::now_v7());
    Ok(page(&request, id, &known, &fields, None))
}

async fn reversible(request: &PageRequest, id: LedgerId) -> Result<ReversibleDeduction, Error> {
    let known = request.app.handle.reversible(&request.project.scope, id);
    request.read(known.await)
}

fn page(
    request: &PageRequest,
    id: LedgerId,
    known: &ReversibleDeduction,
    fields: &Fields,
    error: Option<&Error>,
) -> Response {
    let form = Form::new(fields, error);
    let back = path(&request.project, id.wallet);
    let reversed = known.credits.saturating_sub(known.left);
    let can = known.left > 0 && request.may(Privilege::Support);
    let body = html! {
        h1 { "Deduction of " (grouped(known.credits)) }
        p.hint { code { (id) } }
        section.card {
            dl {
                div { dt { "Of" } dd { (product_name(&request.project, known.product)) } }
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
                form method="post" action=(deduction_path(&request.project, id)) {
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
    form.response(request.show("Deduction", &body))
}

pub(super) async fn reverse(request: FormPost<ReverseDeduction>) -> PageResult {
    let id = named(&request)?;
    let page_path = path(&request.project, id.wallet);
    let done = async {
        let message = "Enter a note of one line, at most 300 characters.";
        let reverse = ReverseDeduction {
            deduction: id,
            amount: Some(request.fields.credits("amount")?),
            note: Some(request.fields.line("note", MAX_NOTE, message)?),
            key: request.fields.key()?,
        };
        request.run(reverse, &page_path, "reversed").await
    };
    match done.await {
        Ok(done) => Ok(done),
        Err(error) => {
            let known = reversible(&request, id).await?;
            Ok(page(&request, id, &known, &request.fields, Some(&error)))
        }
    }
}
