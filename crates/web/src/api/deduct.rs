//! `POST /wallets/{code}/deduct` and `POST /wallets/external/deduct`: using credits up.

use actors::{Address, BatchAnswer, CommandResult, Scope};
use api_types::Deducted;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    Amount,
    id::KeyId,
    limit::Spender,
    rate_card::WorkCost,
    text::IdempotencyKey,
    wallet::{ProductRef, deduct::Deduct, shortfall::OnShortfall},
};
use edge::{
    body::Body,
    caller::{AnyKey, MayDeduct, SecretKey},
};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{
        CodeText, KeyText, MemberText, MetaObject, OnShortfallText, Positive, ProductName, Text,
        UserText,
    },
    respond, view,
};

use crate::{
    api::{
        App,
        batch::{BatchItem, Checked, named},
    },
    http::{
        code_path::CodePath,
        idempotency::KeyHeader,
        metered::{CostChoice, RequestedCost, metered_fields},
        subject::{NamedWallet, Unknown, WalletChoice},
    },
};

metered_fields! {
costs Amount;
/// Credits to use up: an amount, or what a rate card prices.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Deduct, bound = "")]
pub(super) struct Deduction<U = Unknown, C = Unknown> {
    /// Needed unless `rateCard` is there.
    amount: Option<Positive>,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it,
    /// except in a batch.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// The product whose credits to use; may be left out where the project has exactly one product
    /// that holds credits, and with a rate card.
    product_id: Option<ProductName>,
    /// One of those who share the wallet, whose use limits count.
    member: Option<MemberText>,
    /// A note for the ledger.
    meta: Option<MetaObject>,
    /// What to do where the balance does not cover the amount: `refuse` (when left out), `drain` takes what can be
    /// spent, `owe` makes a debt of the rest as far as that may be. A code wallet never owes.
    on_shortfall: Option<OnShortfallText>,
    #[schema(ignore)]
    #[serde(default)]
    external_user_id: U,
    #[schema(ignore)]
    #[serde(default)]
    code: C,
}
}

/// What an answer says beyond a wallet's.
#[derive(Debug, Default)]
pub(super) struct CostNote {
    /// The cost, unless a rate card priced it.
    pub(super) credits: i64,
    /// Whether the request says what to do with a shortfall.
    pub(super) names_shortfall: bool,
    /// Counts in `usage` that were not priced.
    pub(super) unpriced: Vec<String>,
}

impl CostNote {
    pub(super) fn of<A: Copy + Into<i64>>(cost: &RequestedCost<A>, names_shortfall: bool) -> Self {
        Self {
            credits: match &cost.cost {
                WorkCost::Credits(amount) => (*amount).into(),
                WorkCost::Metered(_) => 0,
            },
            names_shortfall,
            unpriced: cost.unpriced.clone(),
        }
    }

    /// What the wallet answered, with this.
    pub(super) fn answer(self, applied: &CommandResult) -> Deducted {
        Deducted {
            unpriced_usage: self.unpriced,
            ..view::deducted(applied, self.credits, self.names_shortfall)
        }
    }
}

impl<U, C> Deduction<U, C> {
    /// The command for the wallet, and what its answer says beyond it.
    fn command(
        self,
        key: IdempotencyKey,
        (product, by): (ProductRef, Option<KeyId>),
        cost: RequestedCost<Amount>,
    ) -> (Deduct, CostNote) {
        let note = CostNote::of(&cost, self.on_shortfall.is_some());
        let command = Deduct {
            key,
            product,
            meta: cost.note(self.meta.map(|MetaObject(meta)| meta)),
            cost: cost.cost,
            on_shortfall: shortfall(self.on_shortfall.as_ref()),
            by: Spender {
                member: self.member.map(|Text(member)| member),
                key: by,
            },
        };
        (command, note)
    }
}

pub(super) async fn deduct(
    State(app): State<App>,
    key: AnyKey<MayDeduct>,
    code: CodePath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    by_code(&app, &key, code, &header, &body).await
}

pub(super) async fn deduct_external(
    State(app): State<App>,
    key: SecretKey<MayDeduct>,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    by_user(&app, &key, &header, &body).await
}

/// A deduction by code, for the router and for the fast path.
pub(crate) async fn by_code(
    app: &App,
    key: &AnyKey<MayDeduct>,
    code: CodePath,
    header: &KeyHeader,
    body: &Body,
) -> Result<Response, Error> {
    let mut request: Deduction = body.parse()?;
    let cost = request.cost(&app.handle, key)?;
    if request.product_id.is_none() && matches!(cost.cost, WorkCost::Credits(_)) {
        return Err(Error::missing("productId"));
    }
    key.require_not_archived()?;
    let name = header.or(request.idempotency_key.take())?;
    let product = cost.product(request.product_id.as_ref(), key)?;
    let (command, note) = request.command(name, (product, key.key_id()), cost);
    answer(app, key, &code.into(), command, note).await
}

/// A deduction by user, for the router and for the fast path.
pub(crate) async fn by_user(
    app: &App,
    key: &SecretKey<MayDeduct>,
    header: &KeyHeader,
    body: &Body,
) -> Result<Response, Error> {
    let mut request: Deduction<Option<UserText>> = body.parse()?;
    let cost = request.cost(&app.handle, key)?;
    key.require_not_archived()?;
    let name = header.or(request.idempotency_key.take())?;
    let product = cost.product(request.product_id.as_ref(), key)?;
    let user = request.external_user_id.take();
    let Text(user) = user.ok_or_else(|| Error::missing("externalUserId"))?;
    let (command, note) = request.command(name, (product, key.key_id()), cost);
    answer(app, key, &user.into(), command, note).await
}

async fn answer(
    app: &App,
    project: &ProjectCatalog,
    wallet: &NamedWallet,
    command: Deduct,
    note: CostNote,
) -> Result<Response, Error> {
    let outcome = app
        .handle
        .deduct(&project.scope, wallet.address()?, command)
        .await;
    app.edge.metrics.deducted(outcome.as_ref());
    let applied = outcome.map_err(|error| wallet.refused(error, project))?;
    respond::replayable(&note.answer(&applied), applied.replayed)
}

/// A deduction of a batch.
pub(super) type ListedDeduction = Deduction<Option<UserText>, Option<CodeText>>;

impl BatchItem for ListedDeduction {
    const NAMES: (&str, &str) = ("Deduct", "Deduct");
    type Needs = MayDeduct;
    type Schema = WalletChoice<CostChoice<Self>>;
    type Command = (Address, Deduct);
    type Note = CostNote;
    type Answer = CommandResult;
    type Done = Deducted;

    fn check(mut self, app: &App, project: &SecretKey<MayDeduct>) -> Result<Checked<Self>, Error> {
        let cost = self.cost(&app.handle, project)?;
        let names = (self.external_user_id.take(), self.code.take());
        let (wallet, key) = named(names, self.idempotency_key.take())?;
        let product = cost.product(self.product_id.as_ref(), project);
        Ok(product.and_then(|product| {
            let (command, note) = self.command(key, (product, project.key_id()), cost);
            Ok(((wallet.into_address()?, command), note))
        }))
    }

    async fn send(
        app: &App,
        scope: &Scope,
        items: Vec<Self::Command>,
    ) -> BatchAnswer<CommandResult> {
        app.handle.deduct_batch(scope, items).await
    }

    fn done(
        app: &App,
        outcome: Result<CommandResult, actors::Error>,
        note: CostNote,
    ) -> Result<Deducted, actors::Error> {
        app.edge.metrics.deducted(outcome.as_ref());
        outcome.map(|applied| note.answer(&applied))
    }
}

/// What to do with a shortfall: refuse it, unless the request says otherwise.
pub(super) fn shortfall(choice: Option<&OnShortfallText>) -> OnShortfall {
    choice.map_or_else(OnShortfall::default, |Text(choice)| *choice)
}
