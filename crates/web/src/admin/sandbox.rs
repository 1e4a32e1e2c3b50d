//! A project's sandbox: how it delivers webhooks, and its clock.

use axum::Json;
use catalog::{ProjectCatalog, SandboxChange};
use domain::catalog::Refusal;
use edge::{Read, body::Body};
use operator::{AdvanceSandbox, UpdateSandbox};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error,
    field::BoundedInteger,
    view::{Instant, instant},
};

use super::call::AdminCall;
use crate::{admin::App, http::patch::Field};

/// A project's sandbox.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Sandbox)]
pub(super) struct View {
    /// The instant that the project's clock shows.
    now: Instant,
    /// Seconds before a webhook goes out, by the project's clock.
    delay_seconds: u32,
    /// How many extra times each webhook goes out.
    duplicates: u32,
    /// Whether webhooks go out in another order than things happened.
    shuffle: bool,
    /// The API base under which Stripe's own libraries reach it.
    api_base: String,
    /// The API key for these libraries. It moves no money.
    secret_key: String,
    /// The secret that its webhooks are signed with.
    webhook_secret: String,
}

/// What to change. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SandboxChange)]
pub(super) struct Update {
    /// Seconds before a webhook goes out.
    #[schema(value_type = Option<Delay>, nullable = false)]
    #[serde(default)]
    delay_seconds: Field<Delay>,
    /// How many extra times each webhook goes out: 0 to 10, or true for 1 and false for 0.
    #[schema(value_type = Option<i64>, nullable = false, minimum = 0, maximum = 10)]
    #[serde(default)]
    duplicates: Field<Copies>,
    /// Whether webhooks go out in another order than things happened.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    shuffle: Field<bool>,
}

/// Seconds, at most a week.
type Delay = BoundedInteger<0, 604_800>;

#[derive(Deserialize)]
#[serde(untagged)]
enum Copies {
    Whether(bool),
    Number(i64),
}

/// By how much to move the clock on.
#[derive(Deserialize, ToSchema)]
#[schema(as = SandboxAdvance)]
pub(super) struct Advance {
    seconds: BoundedInteger<1, 316_224_000>,
}

/// The clock after it was moved on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SandboxAdvanced)]
pub(super) struct Advanced {
    /// The instant that it shows.
    now: Instant,
}

pub(super) async fn show(call: AdminCall<Read>) -> Result<Json<View>, Error> {
    let project = call.project()?;
    view(&call.app, &project)
}

pub(super) async fn update(
    call: AdminCall<UpdateSandbox>,
    body: Body,
) -> Result<Json<View>, Error> {
    let Update {
        delay_seconds,
        duplicates,
        shuffle,
    } = body.parse()?;
    let copies = duplicates.not_null("duplicates")?;
    let change = SandboxChange {
        delay_seconds: delay_seconds.not_null("delaySeconds")?.map(|delay| delay.0),
        duplicates: copies.map(|copies| match copies {
            Copies::Whether(whether) => whether.into(),
            Copies::Number(number) => number,
        }),
        shuffle: shuffle.not_null("shuffle")?,
    };
    let project = call.project()?;
    call.run(project, UpdateSandbox(change)).await?;
    let project = call.project()?;
    view(&call.app, &project)
}

pub(super) async fn advance(
    call: AdminCall<AdvanceSandbox>,
    body: Body,
) -> Result<Json<Advanced>, Error> {
    let Advance { seconds } = body.parse()?;
    let BoundedInteger(seconds) = seconds;
    let project = call.project()?;
    let now = call.run(project, AdvanceSandbox(seconds)).await?;
    Ok(Json(Advanced { now: instant(now) }))
}

fn view(app: &App, project: &ProjectCatalog) -> Result<Json<View>, Error> {
    let sandbox = project.sandbox().ok_or(Refusal::NoSandbox)?;
    let accounts = &app.accounts;
    let id = project.project.id;
    let keys = accounts.sandbox_keys(id);
    Ok(Json(View {
        now: instant(app.handle.now_in(&project.scope)),
        delay_seconds: sandbox.delay_seconds,
        duplicates: sandbox.duplicates,
        shuffle: sandbox.shuffle,
        api_base: accounts.sandbox_api(id),
        secret_key: keys.secret_key,
        webhook_secret: keys.webhook_secret,
    }))
}
