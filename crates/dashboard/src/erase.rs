//! Erases the personal data of a wallet, once that was confirmed.

use actors::Address;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::id::WalletKey;
use edge::Manage;
use identity::Privilege;
use maud::{Markup, html};
use wire::Error;

use super::{
    comments,
    confirm::confirm,
    fields::CONFIRMED,
    form,
    layout::{At, Tab},
    page_request::{FormPost, PageRequest},
    wallets::{path, wallet},
};
use crate::state::App;

/// The card with the button that leads to it.
pub(super) fn card(request: &PageRequest, project: &ProjectCatalog, key: WalletKey) -> Markup {
    html! { @if request.may(Privilege::Manage) {
        section.card #erase {
            h2 { "Erase the customer" }
            form method="post" action={ (path(project, key)) "/erase" } {
                (form::token(request))
                p { "E-mail addresses, metadata and notes go; credits and sums stay." }
                button.danger type="submit" { "Erase…" }
            }
        }
    } }
}

fn facts() -> Markup {
    html! { dl {
        div { dt { "What goes" } dd { "The e-mail address and the metadata of all orders, paid or not, the address on payments that led to no order, and the notes about this wallet. It is not found by such an address any more, and no code is mailed there. This cannot be undone." } }
        div { dt { "What stays" } dd { "Credits, the ledger with callers’ notes (meta), sums of orders, the user id, and the provider’s name for the customer, which refunds need." } }
        div { dt { "What is elsewhere" } dd { "What the provider has, webhooks that were sent, events for 30 days, superseded records on the disk, which nothing shows, and backups until they are deleted." } }
        div { dt { "Later orders" } dd { "An order that is made or paid after this has its buyer’s address." } }
    } }
}

/// `POST …/wallets/{wallet}/erase`: erases it, once that was confirmed.
pub(super) async fn erase(
    State(app): State<App>,
    posted: FormPost<Manage>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let key = wallet(&request)?;
    let (scope, address) = (&project.scope, Address::Stored(key));
    let refused = |error| Error::from_wallet(error, &project);
    let view = app.handle.read(scope, &address).await.map_err(refused)?;
    let page_path = path(&project, key);
    if !fields.is_on(CONFIRMED) {
        let paths = (&*format!("{page_path}/erase"), &*page_path);
        let at = At::Project(&project, Tab::Wallets);
        let title = "Erase this customer?";
        return Ok(confirm(&request, at, &fields, paths, title, &facts()));
    }
    let words = format!("Erase the customer of {}", view.id);
    request.announce_once(&app, &words, None, "").await?;
    let payments = app.payments.erase_unfulfilled(&project, key).await;
    let payments = payments.map_err(|error| Error::from_payments(error, &project))?;
    let orders = app.handle.erase(scope, &address).await.map_err(refused)?;
    let notes = comments::remove_all(&app, key).await?;
    let what = format!(
        "Erased the customer of {}: {orders} orders, {notes} notes, {payments} payments without an order",
        view.id
    );
    if orders == 0 && notes == 0 && payments == 0 {
        return Ok(request.done_before(&page_path));
    }
    Ok(request.done(&page_path, "erased", what))
}
