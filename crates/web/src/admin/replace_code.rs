//! Replaces a wallet's recovery code without the present one.

use axum::{extract::State, response::Response};
use edge::{Authorized, Support, body::MaybeBody};
use outbound::code_replacement::{self, Recipient, code_receiver, in_words};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{EmailText, KeyText, Text},
    respond,
};

use super::path::Segments;
use crate::{admin::App, http::idempotency::KeyHeader};

/// Who receives the new code. The body may be left out.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReplaceCode {
    /// Whom it is mailed to, in place of being answered: an e-mail address, or `true` for the buyer whose payment made the
    /// wallet.
    mail: Option<MailTo>,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it.
    idempotency_key: Option<KeyText>,
}

/// The receiver of a mail with a code.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum MailTo {
    FirstBuyer(bool),
    Named(EmailText),
}

/// The code that opens the wallet from now on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReplacedCode<'a> {
    /// The new recovery code, shown here alone; null where it is mailed.
    #[schema(example = "OLIVE-7K2M-9QXP-4TBD")]
    code: Option<&'a str>,
    /// The address that it is mailed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    mailed_to: Option<&'a str>,
}

/// Replace a recovery code
///
/// Also where a thief replaced it first. Former codes open nothing any more, sessions end, and open holds that
/// publishable keys placed are released. With `mail` the new code is mailed and not shown, to the buyer whose
/// payment made the wallet or to the address that is named: who only paid for more may know a former code alone.
/// With a key, repeating the request within 24 hours answers, or mails, the same code.
#[utoipa::path(
    post,
    path = "/projects/{projectId}/wallets/{walletRef}/replace-code",
    operation_id = "replaceCode",
    tag = "Wallets",
    request_body = Option<ReplaceCode>,
    responses((
        status = 200,
        description = "The new code.",
        body = ReplacedCode,
        headers(("Idempotency-Replayed" = String)),
    )),
    extensions(("x-errors" = json!(["no_recovery_code", "no_purchase", "mail_not_configured"])))
)]
pub(super) async fn replace_code(
    caller: Authorized<Support>,
    State(app): State<App>,
    path: Segments,
    header: KeyHeader,
    body: MaybeBody,
) -> Result<Response, Error> {
    let request: Option<ReplaceCode> = body.parse()?;
    let ReplaceCode {
        mail,
        idempotency_key,
    } = request.unwrap_or_default();
    let key = header.resolve_optional(idempotency_key)?;
    let project = app.catalog.project(path.project()?)?;
    let address = path.wallet_of(&app, &project)?;
    let refused = |error| Error::from_wallet(error, &project);
    // Everything that mailing it needs comes first: else the new code would be lost.
    let view = app.handle.read(&project.scope, &address).await;
    let view = view.map_err(refused)?;
    let recipient = match &mail {
        None | Some(MailTo::FirstBuyer(false)) => Recipient::Caller,
        Some(MailTo::FirstBuyer(true)) => Recipient::FirstBuyer,
        Some(MailTo::Named(_)) => Recipient::Named,
    };
    if recipient != Recipient::Caller && view.external_user.is_some() {
        return Err(Error::new(ErrorCode::NoRecoveryCode));
    }
    let to = match mail {
        Some(MailTo::FirstBuyer(true)) => {
            Some(code_receiver(&app.handle, &project, &address).await?)
        }
        Some(MailTo::Named(Text(to))) => Some(to),
        None | Some(MailTo::FirstBuyer(false)) => None,
    };
    if to.is_some() && !app.mailer.is_configured() {
        return Err(Error::new(ErrorCode::MailNotConfigured));
    }
    if let Some(key) = &key {
        let words = format!("Replace the recovery code of {}", view.id);
        let announced = caller.announce_once(&app.edge, &words, None, key.as_str());
        announced.await?;
    }
    let of = (&*project, &address);
    let (handle, mailer) = (&app.handle, &app.mailer);
    let replaced =
        code_replacement::replace_code(handle, mailer, of, to.clone(), key.as_ref()).await?;
    caller.did(in_words(&replaced, &view.id, recipient));
    let answer = ReplacedCode {
        code: to.is_none().then(|| replaced.code.reveal()),
        mailed_to: to.as_ref().map(|to| to.as_str()),
    };
    respond::replayable(&answer, replaced.replayed)
}
