//! `POST /credit`: granting credits by hand.

use axum::{extract::State, response::Response};
use domain::{Timestamp, wallet::credit::Credit};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{
    catalog::ProjectCatalog,
    http::{
        Code, Error,
        auth::SecretKey,
        body::Body,
        field::{Positive, Text},
        idempotency::KeyHeader,
        meta, respond,
        subject::{self, required},
    },
    state::App,
};

/// Credits to grant. The wallet is named by exactly one of `externalUserId` and `code`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Credit)]
pub(super) struct Request<'a> {
    /// The caller's own user id. Its wallet is created if there is none.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255)]
    external_user_id: Option<Text<'a>>,
    /// A recovery code.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    code: Option<Text<'a>>,
    /// Whose credits.
    #[serde(borrow)]
    #[schema(value_type = String, required, nullable = false)]
    product_id: Option<Text<'a>>,
    #[schema(value_type = i64, required, nullable = false, minimum = 1, maximum = 9007199254740991_i64)]
    amount: Option<Positive>,
    /// Names the operation: it is applied once. May be sent as the header `Idempotency-Key`.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 255)]
    idempotency_key: Option<Text<'a>>,
    /// When what is left of them expires; left out: never.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Text<'a>>,
    /// A note for the ledger: at most 4 KiB.
    #[serde(borrow)]
    #[schema(value_type = Option<Object>)]
    meta: Option<&'a RawValue>,
}

/// What came of a grant.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Credited {
    /// Credits that can be spent now.
    balance: i64,
    /// Whether this very request granted them; false on a repeat.
    credited: bool,
}

/// Grant credits
///
/// Applied once for each `idempotencyKey`: a repeat answers the current balance,
/// `credited: false` and the header `Idempotency-Replayed`.
#[utoipa::path(
    post,
    path = "/api/v1/credit",
    tag = "Wallets of both kinds",
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "In place of `idempotencyKey`"),
    ),
    request_body = Request,
    responses((status = 200, description = "Done, now or before", body = Credited)),
    security(("secret" = [])),
    extensions(("x-errors" = json!([
        "conflicting_wallet", "wallet_not_found", "product_not_found", "idempotency_key_reused",
        "balance_limit", "too_many_lots"
    ]))),
)]
pub(super) async fn credit(
    State(app): State<App>,
    key: SecretKey,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: Request<'_> = body.parse()?;
    let wallet = subject::wallet(request.external_user_id.as_ref(), request.code.as_ref())?;
    let wallet = wallet.ok_or_else(|| Error::new(Code::ConflictingWallet))?;
    let product = required(request.product_id.as_ref(), "productId")?;
    let Positive(amount) = required(request.amount, "amount")?;
    let idempotency = header.or(request.idempotency_key.as_ref())?;
    let expires_at = request
        .expires_at
        .as_ref()
        .map(|at| expiry(at, app.clock.now()))
        .transpose()?;
    let meta = meta::parse(request.meta)?;
    let product = subject::product(product, &key)?;
    holds_credits(&key, &product)?;
    let command = Credit {
        product,
        amount,
        expires_at,
        key: idempotency,
        meta,
    };
    let applied = app
        .handle
        .credit(&key.scope, &wallet.address()?, command)
        .await;
    let applied = applied.map_err(|error| Error::from_wallet(error, &key))?;
    let credited = applied.applied && !applied.replayed;
    respond::replayable(
        &Credited {
            balance: applied.balance,
            credited,
        },
        applied.replayed,
    )
}

fn holds_credits(project: &ProjectCatalog, product: &domain::id::ProductId) -> Result<(), Error> {
    match project
        .product(product)
        .is_some_and(|product| product.credit_unit.is_some())
    {
        true => Ok(()),
        false => Err(Error::invalid(
            "productId",
            "This product holds no credits.",
        )),
    }
}

/// An instant to come.
fn expiry(text: &Text<'_>, now: Timestamp) -> Result<Timestamp, Error> {
    const NAME: &str = "expiresAt";
    let instant: jiff::Timestamp = text.as_str().parse().map_err(|_| {
        Error::invalid(
            NAME,
            "expiresAt has to be an ISO 8601 instant with its offset from UTC.",
        )
    })?;
    let instant = Timestamp(instant.as_millisecond());
    if instant > now {
        return Ok(instant);
    }
    Err(Error::invalid(NAME, "expiresAt has to lie in the future."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Timestamp, Error> {
        let json = serde_json::to_string(text).unwrap();
        expiry(&serde_json::from_str(&json).unwrap(), Timestamp(1000))
    }

    #[test]
    fn expiry_is_an_instant_to_come() {
        assert_eq!(read("1970-01-01T00:00:01.001Z").unwrap(), Timestamp(1001));
        assert_eq!(read("1970-01-01T02:00:02+02:00").unwrap(), Timestamp(2000));
        for bad in [
            "",
            "1970-01-01T00:00:01Z",
            "2030-01-01",
            "2030-01-01T00:00:00",
            "1893456000",
        ] {
            assert_eq!(read(bad).unwrap_err().param(), Some("expiresAt"), "{bad}");
        }
    }
}
