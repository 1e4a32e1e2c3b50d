//! `POST /wallets/recover`: mails the codes of paid anonymous wallets to the address that paid. What
//! is answered never says whether there are any.

use axum::{extract::State, http::StatusCode};
use domain::catalog::KeyKind;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    http::{
        Code, Error,
        auth::AnyKey,
        body::Body,
        context::Context,
        field::{EmailText, Text},
    },
    outbound::recovery_mail::recovery_mail,
    state::App,
};

/// More purchases than one buyer makes without an account.
const MAX_WALLETS: usize = 200;

/// Who wants their codes.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Recover)]
pub(super) struct Request {
    /// The address that was given when paying.
    email: EmailText,
}

/// Mail recovery codes
///
/// Mails the codes of paid anonymous wallets bought with this address, if there are any; the answer
/// is the same if there are none. At most 3 mails an hour to an address, and 10 requests an hour
/// from a client with a publishable key.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/recover",
    tag = "Code wallets",
    request_body = Request,
    responses((status = 202, description = "Whatever was found was mailed")),
    security(("publishable" = []), ("secret" = [])),
)]
pub(super) async fn recover(
    State(app): State<App>,
    key: AnyKey,
    context: Context,
    body: Body,
) -> Result<StatusCode, Error> {
    let Context { client, now, .. } = context;
    let project = key.project.id;
    if key.kind() == KeyKind::Publishable {
        let allowed = app.limits.recover(project, client, now);
        allowed.map_err(|refusal| Error::limited(Code::RateLimited, refusal))?;
    }
    let Request { email: Text(email) } = body.parse()?;
    // Behind the answer's back: how long it takes would tell whether there is anything.
    tokio::spawn(async move {
        let codes = app.handle.codes_paid_by(&key.scope, &email, MAX_WALLETS);
        let codes = match codes.await {
            Ok(codes) if codes.is_empty() => return,
            Ok(codes) => codes,
            Err(error) => {
                tracing::error!(%error, "Codes to be mailed could not be read");
                return;
            }
        };
        if !app.limits.may_mail(project, &email, now) {
            return;
        }
        let mail = recovery_mail(&key.project.name, email, &codes);
        if !app.mailer.enqueue(mail) {
            tracing::error!("Too many mails wait; a recovery mail was not sent");
        }
    });
    Ok(StatusCode::ACCEPTED)
}
