//! `POST /credit`: granting credits by hand.

use actors::{Address, BatchAnswer, CommandResult, Scope};
use api_types::Credited;
use axum::{extract::State, response::Response};
use domain::wallet::credit;
use edge::{
    body::Body,
    caller::{MayGrant, SecretKey},
};
use wire::Error;

use crate::{
    api::{
        App,
        batch::{BatchItem, Checked, named},
    },
    http::{
        grant::{self, Credit},
        idempotency::KeyHeader,
        subject::{NamedWallet, WalletChoice},
    },
};

pub(super) async fn credit(
    State(app): State<App>,
    key: SecretKey<MayGrant>,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let mut request: Credit = body.parse()?;
    key.require_not_archived()?;
    let wallet = NamedWallet::one_of(request.external_user_id.take(), request.code.take())?;
    let name = header.or(request.idempotency_key.take())?;
    let command = request.command(name, &key)?;
    let applied = app
        .handle
        .credit(&key.scope, &wallet.into_address()?, command)
        .await;
    let applied = applied.map_err(|error| Error::from_wallet(error, &key))?;
    grant::answer(&applied)
}

impl BatchItem for Credit {
    const NAMES: (&str, &str) = ("Credit", "Credit");
    type Needs = MayGrant;
    type Schema = WalletChoice<Self>;
    type Command = (Address, credit::Credit);
    type Note = ();
    type Answer = CommandResult;
    type Done = Credited;

    fn check(mut self, _: &App, project: &SecretKey<MayGrant>) -> Result<Checked<Self>, Error> {
        let names = (self.external_user_id.take(), self.code.take());
        let (wallet, key) = named(names, self.idempotency_key.take())?;
        let command = self.command(key, project);
        Ok(command.and_then(|command| Ok(((wallet.into_address()?, command), ()))))
    }

    async fn send(
        app: &App,
        scope: &Scope,
        items: Vec<Self::Command>,
    ) -> BatchAnswer<CommandResult> {
        app.handle.credit_batch(scope, items).await
    }

    fn done(
        _: &App,
        outcome: Result<CommandResult, actors::Error>,
        (): (),
    ) -> Result<Credited, actors::Error> {
        outcome.map(|applied| grant::credited(&applied))
    }
}
