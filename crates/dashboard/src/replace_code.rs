//! The form that replaces the recovery code of an anonymous wallet.

use actors::WalletView;
use domain::text::Email;
use operator::{CodeReceiver, ReplaceCode, ReplacedCode};
use uuid::Uuid;

use super::{
    prelude::*,
    wallets::{path, wallet},
};

pub(super) fn card(request: &PageRequest, view: &WalletView) -> Markup {
    let action = format!("{}/replace-code", path(&request.project, view.key));
    html! { @if view.external_user.is_none() && request.may(Privilege::Support) {
        section.card {
            h2 { "Recovery code" }
            form method="post" action=(action) {
                (form::token(request))
                input type="hidden" name=(KEY) value=(Uuid::now_v7());
                p { "For a buyer who lost it, or whose code somebody else knows." }
                label { "Mail it to" input type="email" name="address" placeholder="the buyer whose payment created the wallet"; }
                div.row {
                    button.danger name="to" value="page" type="submit" { "Replace and show it…" }
                    button.danger name="to" value="mail" type="submit" { "Replace and mail it…" }
                }
            }
        }
    } }
}

pub(super) async fn replace(request: FormPost<ReplaceCode>) -> PageResult {
    let key = wallet(&request)?;
    let typed = request.fields.text("address");
    let receiver = match request.fields.text("to") {
        "page" => CodeReceiver::Caller,
        "mail" if typed.is_empty() => CodeReceiver::FirstBuyer,
        "mail" => {
            let invalid = |_| Error::invalid("address", "This is no e-mail address.");
            CodeReceiver::Named(Email::new(typed).map_err(invalid)?)
        }
        _ => return Err(Error::missing("to")),
    };
    let replace = ReplaceCode {
        wallet: key,
        receiver,
        key: Some(request.fields.key()?),
    };
    let back = path(&request.project, key);
    let shown = |replaced: ReplacedCode, _| {
        let rotation = &replaced.rotation;
        let body = html! {
            h1 { "The code was replaced" }
            @if rotation.replayed { p.done role="status" { "This was done before; nothing was done twice." } }
            @match &replaced.mailed_to {
                Some(to) => section.card { p { "The new code is on its way to " (verbatim(to.as_str())) "." } },
                None => section.card.shown {
                    h2 { "Copy now" }
                    p { "The new recovery code of the wallet. It is shown only now." }
                    p { (layout::copyable(rotation.code.reveal())) }
                },
            }
            p { a href=(back) { "Go on" } }
        };
        request.show("The code was replaced", &body)
    };
    request.answer(replace, &back, shown).await
}
