//! `POST /credit`: granting credits by hand.

use axum::{extract::State, response::Response};
use domain::{Timestamp, wallet::credit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    catalog::ProjectCatalog,
    http::{
        Body, Code, Error, SecretKey,
        field::{InstantText, KeyText, MetaObject, Positive, ProductName, Text},
        idempotency::KeyHeader,
        respond,
        subject::{self, OfEither},
    },
    state::App,
};

/// Credits to grant. The wallet is named by exactly one of `externalUserId` and `code`; a user's is
/// created if there is none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Credit {
    /// Whose credits.
    product_id: ProductName,
    amount: Positive,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// When what is left of them expires, an instant to come; left out: never.
    expires_at: Option<InstantText>,
    /// A note for the ledger.
    meta: Option<MetaObject>,
}

/// The wallet is in the body, too.
type Request = OfEither<Credit>;

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
    let (wallet, asked) = body.parse::<Request>()?.split()?;
    let wallet = wallet.ok_or_else(|| Error::new(Code::ConflictingWallet))?;
    let idempotency = header.or(asked.idempotency_key)?;
    let now = app.clock.now();
    let expires_at = asked.expires_at.map(|at| to_come(at, now)).transpose()?;
    let product = subject::product(&asked.product_id, &key)?;
    holds_credits(&key, &product)?;
    let command = credit::Credit {
        product,
        amount: asked.amount.0,
        expires_at,
        key: idempotency,
        meta: asked.meta.map(|MetaObject(meta)| meta),
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

fn to_come(Text(instant): InstantText, now: Timestamp) -> Result<Timestamp, Error> {
    if instant > now {
        return Ok(instant);
    }
    Err(Error::invalid(
        "expiresAt",
        "expiresAt has to lie in the future.",
    ))
}
