//! Grants of credits by hand: the request, and its answer. The administration names the wallet in the
//! path, and not in the request.

use actors::CommandResult;
use api_types::Credited;
use axum::response::Response;
use catalog::ProjectCatalog;
use domain::{id::ProductId, text::IdempotencyKey, wallet::credit};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{CodeText, InstantText, KeyText, MetaObject, Positive, ProductName, Text, UserText},
    respond,
};

use super::subject;

/// Credits to grant. The wallet is named by exactly one of `externalUserId` and `code`; a user's is
/// created if there is none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Credit {
    #[schema(ignore)]
    pub(crate) external_user_id: Option<UserText>,
    #[schema(ignore)]
    pub(crate) code: Option<CodeText>,
    /// The product whose credits to grant.
    product_id: ProductName,
    amount: Positive,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    pub(crate) idempotency_key: Option<KeyText>,
    /// When what is left of them expires, an instant in the future; left out: never.
    expires_at: Option<InstantText>,
    /// A note for the ledger.
    meta: Option<MetaObject>,
}

impl Credit {
    /// The command for the wallet, if the product is valid in this project.
    pub(crate) fn command(
        self,
        key: IdempotencyKey,
        project: &ProjectCatalog,
    ) -> Result<credit::Credit, Error> {
        let product = subject::product(&self.product_id, project)?;
        holds_credits(project, &product)?;
        Ok(credit::Credit {
            product,
            amount: self.amount.0,
            expires_at: self.expires_at.map(|Text(at)| at),
            key,
            meta: self.meta.map(|MetaObject(meta)| meta),
        })
    }
}

/// The answer to a grant that was applied, now or before.
pub(crate) fn answer(applied: &CommandResult) -> Result<Response, Error> {
    respond::replayable(&credited(applied), applied.replayed)
}

pub(crate) const fn credited(applied: &CommandResult) -> Credited {
    Credited {
        balance: applied.balance,
        credited: applied.applied && !applied.replayed,
    }
}

/// Refuses a product that holds no credits.
pub(crate) fn holds_credits(project: &ProjectCatalog, product: &ProductId) -> Result<(), Error> {
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
