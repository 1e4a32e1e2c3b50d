//! Operators' notes about a wallet, for each other.

use domain::id::WalletKey;
use operations::wallet_notes::Comment;
use operator::{AddNote, DeleteNote};

use super::{
    actions::or_again,
    prelude::*,
    wallets::{path, wallet},
};

pub(super) fn card(
    request: &PageRequest,
    key: WalletKey,
    comments: &[Comment],
    form: Form<'_>,
) -> Markup {
    let action = format!("{}/notes", path(&request.project, key));
    let may = request.may(Privilege::Support);
    html! {
        section.card #notes {
            h2 { "Notes" }
            @for comment in comments.iter().rev() {
                div.comment {
                    (text(comment))
                    @if may { form method="post" action={ (action) "/delete" } {
                        (form::token(request))
                        input type="hidden" name="at" value=(comment.at);
                        button.link type="submit" { "Delete this note…" }
                    } }
                }
            }
            @if may {
                (form.alert(&["text"]))
                form method="post" action=(action) {
                    (form::token(request))
                    (form.area(&FieldLabel("text", "Add a note", "For operators only: the wallet's owner does not see it.")))
                    button type="submit" { "Add" }
                }
            } @else if comments.is_empty() { p.empty { "None." } }
        }
    }
}

fn text(comment: &Comment) -> Markup {
    let lines = comment.text.lines().enumerate();
    html! {
        p { @for (at, line) in lines { @if at > 0 { br; } (verbatim(line)) } }
        p.hint { (verbatim(&comment.who)) ", " (layout::when(Timestamp(comment.at.cast_signed()))) }
    }
}

pub(super) async fn add(request: FormPost<AddNote>) -> PageResult {
    let wallet = wallet(&request)?;
    let text = request.fields.text("text").to_owned();
    let back = path(&request.project, wallet);
    let added = request.run(AddNote { wallet, text }, &back, "saved").await;
    let form = |form: Form<'_>| card(&request, wallet, &[], form);
    or_again(&request, added, wallet, "Notes", form).await
}

pub(super) async fn delete(request: FormPost<DeleteNote>) -> PageResult {
    let wallet = wallet(&request)?;
    let at = request.fields.required("at", "an instant")?;
    let back = path(&request.project, wallet);
    request
        .run(DeleteNote { wallet, at }, &back, "deleted")
        .await
}
