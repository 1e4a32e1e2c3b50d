//! Replaces a wallet's recovery code without the present one.

use axum::response::Response;
use edge::body::MaybeBody;
use operator::CodeReceiver;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error,
    field::{EmailText, KeyText, Text},
    respond,
};

use super::call::AdminCall;
use crate::http::idempotency::KeyHeader;

/// Who receives the new code. The body may be left out.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReplaceCode {
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
pub(super) struct ReplacedCode<'a> {
    /// The new recovery code, shown here alone; null where it is mailed.
    #[schema(example = "OLIVE-7K2M-9QXP-4TBD")]
    code: Option<&'a str>,
    /// The address that it is mailed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    mailed_to: Option<&'a str>,
}

pub(super) async fn replace_code(
    call: AdminCall<operator::ReplaceCode>,
    header: KeyHeader,
    body: MaybeBody,
) -> Result<Response, Error> {
    let request: Option<ReplaceCode> = body.parse()?;
    let ReplaceCode {
        mail,
        idempotency_key,
    } = request.unwrap_or_default();
    let key = header.resolve_optional(idempotency_key)?;
    let project = call.project()?;
    let receiver = match mail {
        None | Some(MailTo::FirstBuyer(false)) => CodeReceiver::Caller,
        Some(MailTo::FirstBuyer(true)) => CodeReceiver::FirstBuyer,
        Some(MailTo::Named(Text(to))) => CodeReceiver::Named(to),
    };
    let replace = operator::ReplaceCode {
        wallet: call.path.wallet(&call.app, &project)?,
        receiver,
        key,
    };
    let replaced = call.run(project, replace).await?;
    let (rotation, to) = (&replaced.rotation, replaced.mailed_to.as_ref());
    let answer = ReplacedCode {
        code: to.is_none().then(|| rotation.code.reveal()),
        mailed_to: to.map(|to| to.as_str()),
    };
    respond::replayable(&answer, rotation.replayed)
}
