//! `POST /wallets/recover`: mails the codes of paid anonymous wallets to the address that paid. The
//! answer never says whether there are any.

use std::collections::BTreeMap;

use actors::BoughtCode;
use axum::{extract::State, http::StatusCode};
use domain::{catalog::KeyKind, text::Email};
use edge::{
    body::Body,
    caller::{AnyKey, MaySessions},
    context::Context,
};
use outbound::recovery_mail::recovery_mail;
use serde::Deserialize;
use tracing::Instrument as _;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{EmailText, Text},
};

use crate::api::App;

/// Most codes that one request mails: more wallets than one buyer buys without an account.
const MAX_WALLETS: usize = 200;

/// The buyer who wants their codes.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Recover)]
pub(super) struct Request {
    /// The address that was given when paying.
    email: EmailText,
}

pub(super) async fn recover(
    State(app): State<App>,
    key: AnyKey<MaySessions>,
    context: Context,
    body: Body,
) -> Result<StatusCode, Error> {
    let Context { client, now, .. } = context;
    let project = key.project.id;
    if key.kind() == KeyKind::Publishable {
        let allowed = app.edge.limits.recover(project, client, now);
        allowed.map_err(|refusal| Error::limited(ErrorCode::RateLimited, refusal))?;
    }
    let Request { email: Text(email) } = body.parse()?;
    let Some(expected) = app.mailer.expect() else {
        tracing::error!("Too many mails wait; a recovery mail was not sent");
        return Ok(StatusCode::ACCEPTED);
    };
    // After the answer: how long it takes would tell whether there are any.
    let search = async move {
        let _expected = expected;
        let codes = app.handle.codes_paid_by(&key.scope, &email, MAX_WALLETS);
        let codes = match codes.await {
            Ok(codes) if codes.is_empty() => return,
            Ok(codes) => codes,
            Err(error) => {
                tracing::error!(%error, "Codes to be mailed could not be read");
                return;
            }
        };
        // To the addresses on the orders, never to the one that was typed.
        let mut by_address: BTreeMap<String, (Email, Vec<_>)> = BTreeMap::new();
        for BoughtCode { address, code } in codes {
            let one = by_address.entry(address.as_str().to_owned());
            one.or_insert_with(|| (address, Vec::new())).1.push(code);
        }
        for (address, codes) in by_address.into_values() {
            if !app.edge.limits.may_mail(project, &address, now) {
                return;
            }
            let mail = recovery_mail(&key.project.name, address, &codes);
            if !app.mailer.enqueue(mail) {
                tracing::error!("A recovery mail was not sent");
            }
        }
    };
    tokio::spawn(search.in_current_span());
    Ok(StatusCode::ACCEPTED)
}
