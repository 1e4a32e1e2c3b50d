//! `POST /wallets/{code}/holds` and `POST /wallets/external/holds`: setting credits aside for work whose
//! cost is known only afterwards. `/holds/{holdId}…`: reading, releasing and extending a hold.

use actors::{Address, BatchAnswer, HoldAnswer, Scope};
use api_types::PlacedHold;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    Amount, Timestamp,
    catalog::KeyKind,
    id::{HoldId, KeyId},
    limit::Spender,
    text::IdempotencyKey,
    wallet::{ProductRef, hold},
};
use edge::{
    body::Body,
    caller::{AnyKey, MayDeduct, SecretKey},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error,
    field::{
        CodeText, Credits, KeyText, MemberText, MetaObject, Positive, ProductName, Seconds, Text,
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
        hold_path::{HoldPath, access},
        idempotency::KeyHeader,
        metered::{CostChoice, RequestedCost, metered_fields},
        subject::{NamedWallet, Unknown, WalletChoice},
    },
};

const DEFAULT_SECONDS: u32 = 900;

metered_fields! {
costs Amount;
/// Credits to set aside: an amount, or what a rate card prices, rounded up.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(bound = "")]
pub(super) struct PlaceHold<U = Unknown, C = Unknown> {
    /// The product whose credits to hold; may be left out where the project has exactly one product
    /// that holds credits, and with a rate card.
    product_id: Option<ProductName>,
    /// Needed unless `rateCard` is there.
    amount: Option<Positive>,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// Seconds until the credits come back by themselves; 900 when left out.
    expires_in_seconds: Option<Seconds>,
    /// How much the work may come to owe beyond what is held: so much of the limit of debt is reserved until the hold
    /// is closed. 0 when left out.
    max_overrun: Option<Credits>,
    /// One of those who share the wallet, whose use limits count.
    member: Option<MemberText>,
    /// A note for the ledger.
    meta: Option<MetaObject>,
    #[schema(ignore)]
    #[serde(default)]
    external_user_id: U,
    #[schema(ignore)]
    #[serde(default)]
    code: C,
}
}

impl<U, C> PlaceHold<U, C> {
    /// The command for the wallet, of the hold's id and the present time.
    fn command(
        self,
        key: IdempotencyKey,
        (product, cost): (ProductRef, RequestedCost<Amount>),
        (kind, max_open, by): (KeyKind, usize, Option<KeyId>),
    ) -> impl FnOnce(HoldId, Timestamp) -> hold::PlaceHold {
        let seconds = self
            .expires_in_seconds
            .map_or(DEFAULT_SECONDS, Seconds::small);
        let meta = cost.note(self.meta.map(|MetaObject(meta)| meta));
        let cost = cost.cost;
        let max_overrun = self.max_overrun.map_or(0, |credits| credits.0);
        let by = Spender {
            member: self.member.map(|Text(member)| member),
            key: by,
        };
        move |id, now| hold::PlaceHold {
            id,
            product,
            cost,
            expires_at: now.plus_seconds(seconds.into()),
            key,
            meta,
            publishable: kind == KeyKind::Publishable,
            max_open,
            max_overrun,
            by,
        }
    }
}

pub(super) async fn place_hold(
    State(app): State<App>,
    key: AnyKey<MayDeduct>,
    code: CodePath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let request: PlaceHold = body.parse()?;
    key.require_not_archived()?;
    answer(
        &app,
        &key,
        (key.kind(), key.key_id()),
        &code.into(),
        &header,
        request,
    )
    .await
}

pub(super) async fn place_external_hold(
    State(app): State<App>,
    key: SecretKey<MayDeduct>,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let mut request: PlaceHold<Option<UserText>> = body.parse()?;
    key.require_not_archived()?;
    let Text(user) =
        (request.external_user_id.take()).ok_or_else(|| Error::missing("externalUserId"))?;
    let by = (KeyKind::Secret, key.key_id());
    answer(&app, &key, by, &user.into(), &header, request).await
}

async fn answer<U>(
    app: &App,
    project: &ProjectCatalog,
    by: (KeyKind, Option<KeyId>),
    wallet: &NamedWallet,
    header: &KeyHeader,
    mut request: PlaceHold<U>,
) -> Result<Response, Error> {
    let cost = request.cost(&app.handle, project)?;
    let key = header.or(request.idempotency_key.take())?;
    let product = cost.product(request.product_id.as_ref(), project)?;
    let max_open = app.edge.limits.settings().open_holds;
    let hold = request.command(key, (product, cost), (by.0, max_open, by.1));
    let placed = app
        .handle
        .place_hold(&project.scope, wallet.address()?, hold)
        .await;
    let placed = placed.map_err(|error| wallet.refused(error, project))?;
    respond::replayable(&view::placed_hold(&placed), placed.replayed)
}

/// A hold of a batch.
pub(super) type ListedHold = PlaceHold<Option<UserText>, Option<CodeText>>;

/// Makes a hold's command of its id and the present time.
type Placing = Box<dyn FnOnce(HoldId, Timestamp) -> hold::PlaceHold + Send>;

impl BatchItem for ListedHold {
    const NAMES: (&str, &str) = ("Hold", "HoldItem");
    type Needs = MayDeduct;
    type Schema = WalletChoice<CostChoice<Self>>;
    type Command = (Address, Placing);
    type Note = ();
    type Answer = HoldAnswer;
    type Done = PlacedHold;

    fn check(mut self, app: &App, project: &SecretKey<MayDeduct>) -> Result<Checked<Self>, Error> {
        let cost = self.cost(&app.handle, project)?;
        let names = (self.external_user_id.take(), self.code.take());
        let (wallet, key) = named(names, self.idempotency_key.take())?;
        let product = cost.product(self.product_id.as_ref(), project);
        let max_open = app.edge.limits.settings().open_holds;
        let by = (KeyKind::Secret, max_open, project.key_id());
        Ok(product.and_then(|product| {
            let hold: Placing = Box::new(self.command(key, (product, cost), by));
            Ok(((wallet.into_address()?, hold), ()))
        }))
    }

    async fn send(app: &App, scope: &Scope, items: Vec<Self::Command>) -> BatchAnswer<HoldAnswer> {
        app.handle.hold_batch(scope, items).await
    }

    fn done(
        _: &App,
        outcome: Result<HoldAnswer, actors::Error>,
        (): (),
    ) -> Result<PlacedHold, actors::Error> {
        outcome.map(|placed| PlacedHold {
            replayed: placed.replayed,
            ..view::placed_hold(&placed)
        })
    }
}

pub(super) async fn read_hold(
    State(app): State<App>,
    key: AnyKey<MayDeduct>,
    hold: HoldPath,
) -> Result<Response, Error> {
    let answer = app.handle.hold(&key.scope, access(&key), hold.id()?).await;
    let answer = answer.map_err(|error| hold.refused(error, &key))?;
    respond::json(&view::hold(&answer))
}

/// The balance after the release.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Released {
    /// Credits that can be spent now.
    balance: i64,
}

pub(super) async fn release_hold(
    State(app): State<App>,
    key: AnyKey<MayDeduct>,
    hold: HoldPath,
) -> Result<Response, Error> {
    let applied = app
        .handle
        .release(&key.scope, access(&key), hold.id()?)
        .await;
    let applied = applied.map_err(|error| hold.refused(error, &key))?;
    respond::replayable(
        &Released {
            balance: applied.balance,
        },
        applied.replayed,
    )
}

/// How long a hold lasts from now.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExtendHold {
    /// Seconds from now until the credits come back by themselves.
    expires_in_seconds: Seconds,
}

pub(super) async fn extend_hold(
    State(app): State<App>,
    key: AnyKey<MayDeduct>,
    hold: HoldPath,
    body: Body,
) -> Result<Response, Error> {
    let ExtendHold { expires_in_seconds } = body.parse()?;
    let seconds = expires_in_seconds.small();
    let answer = app
        .handle
        .extend(&key.scope, access(&key), hold.id()?, seconds)
        .await;
    let answer = answer.map_err(|error| hold.refused(error, &key))?;
    respond::replayable(&view::hold(&answer), answer.replayed)
}
