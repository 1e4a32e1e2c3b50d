//! Projects: make, list, show, change.

use axum::{Json, extract::State, http::StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    path::Segments,
    view::{CreatedProject, CreationLimit, Mode, Project, Projects},
};
use crate::{
    catalog::{self, NewProject, ProjectCatalog, ProjectChange, ProviderChange},
    http::patch::Field,
    http::{Administrator, Body, Error, Object},
    state::App,
};

/// A project to make.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewProject)]
struct Create {
    /// 1 to 200 characters.
    #[schema(value_type = String)]
    name: Option<String>,
    /// How its wallets are addressed; `credit_codes` when left out.
    mode: Option<Mode>,
}

/// What to change of a project. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProjectChange)]
struct Update {
    /// 1 to 200 characters.
    #[schema(value_type = Option<String>, nullable = false)]
    #[serde(default)]
    name: Field<String>,
    /// How its wallets are addressed.
    #[schema(value_type = Option<Mode>, nullable = false)]
    #[serde(default)]
    mode: Field<Mode>,
    /// Origins that a publishable key may redirect to: `https://host`, or `http://` on loopback.
    /// Empty: any.
    #[schema(value_type = Option<Vec<String>>, nullable = false)]
    #[serde(default)]
    allowed_origins: Field<Vec<String>>,
    /// Anonymous wallets for the whole project; null: no limit.
    #[schema(value_type = Option<CreationLimit>)]
    #[serde(default)]
    wallet_creation_limit: Field<Object<Limit>>,
    /// Anonymous wallets for each client address; null: no limit.
    #[schema(value_type = Option<CreationLimit>)]
    #[serde(default)]
    wallet_creation_limit_per_ip: Field<Object<Limit>>,
    /// Whether anonymous wallets get free grants.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    free_grants_for_code_wallets: Field<bool>,
    /// Who takes the project's money; null: nobody. Secrets are never shown again; of a Stripe account
    /// that is set already, what is left out stays. A replaced `webhookSecret` is accepted for a day
    /// more.
    #[schema(value_type = Option<Provider>)]
    #[serde(default)]
    provider: Field<Object<Provider>>,
    /// 0 to 365 days.
    #[schema(value_type = Option<u32>, nullable = false, maximum = 365)]
    #[serde(default)]
    subscription_grace_days: Field<u32>,
}

/// A payment provider.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProviderChange)]
struct Provider {
    /// `sandbox`, which is built in and moves no money, or `stripe`.
    #[schema(value_type = String, example = "sandbox")]
    kind: Option<String>,
    /// Of a Stripe account: its API key, `sk_…` or `rk_…`.
    #[schema(write_only, nullable = false)]
    secret_key: Option<String>,
    /// Of a Stripe account: what its webhooks are signed with, `whsec_…`.
    #[schema(write_only, nullable = false)]
    webhook_secret: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Limit {
    max: Option<u32>,
    window_seconds: Option<u32>,
}

/// Make a project, with a key of each kind. The secret key is shown only here.
#[utoipa::path(
    post,
    path = "/projects",
    operation_id = "createProject",
    tag = "Projects",
    request_body = Create,
    responses((status = 201, description = "Made.", body = CreatedProject))
)]
pub(super) async fn create(
    _: Administrator,
    State(app): State<App>,
    body: Body,
) -> Result<(StatusCode, Json<CreatedProject>), Error> {
    let Create { name, mode } = body.parse()?;
    let name = name.ok_or_else(|| Error::missing("name"))?;
    let new = NewProject {
        name,
        mode: mode.map(Into::into).unwrap_or_default(),
    };
    let (project, publishable, secret) = app.catalog.create_project(new).await?;
    let created = CreatedProject {
        project: Project::of(&project, None, &app.accounts),
        publishable_key: publishable.plain,
        secret_key: secret.plain,
    };
    Ok((StatusCode::CREATED, Json(created)))
}

/// List all projects.
#[utoipa::path(
    get,
    path = "/projects",
    operation_id = "listProjects",
    tag = "Projects",
    responses((status = 200, description = "All of them.", body = Projects))
)]
pub(super) async fn list(_: Administrator, State(app): State<App>) -> Json<Projects> {
    let catalog = app.catalog.current();
    let projects = catalog
        .projects()
        .map(|catalog| view(&app, catalog))
        .collect();
    Json(Projects { projects })
}

/// Show a project.
#[utoipa::path(
    get,
    path = "/projects/{projectId}",
    operation_id = "getProject",
    tag = "Projects",
    params(("projectId" = String, Path, description = "The project.")),
    responses((status = 200, description = "The project.", body = Project)),
    extensions(("x-errors" = json!(["project_not_found"])))
)]
pub(super) async fn show(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
) -> Result<Json<Project>, Error> {
    let catalog = app.catalog.project(path.project()?)?;
    Ok(Json(view(&app, &catalog)))
}

/// Change a project.
#[utoipa::path(
    patch,
    path = "/projects/{projectId}",
    operation_id = "updateProject",
    tag = "Projects",
    params(("projectId" = String, Path, description = "The project.")),
    request_body = Update,
    responses(
        (status = 200, description = "As it is now.", body = Project)),
    extensions(("x-errors" = json!(["project_not_found"])))
)]
pub(super) async fn update(
    _: Administrator,
    State(app): State<App>,
    path: Segments,
    body: Body,
) -> Result<Json<Project>, Error> {
    let mut update = body.parse::<Update>()?;
    let provider = provider(std::mem::take(&mut update.provider))?;
    let change = update.read()?;
    let id = path.project()?;
    app.catalog.update_project(id, change, provider).await?;
    let catalog = app.catalog.project(id)?;
    Ok(Json(view(&app, &catalog)))
}

fn view(app: &App, catalog: &ProjectCatalog) -> Project {
    let accounts = &app.accounts;
    Project::of(&catalog.project, catalog.provider(), accounts)
}

fn provider(field: Field<Object<Provider>>) -> Result<Option<ProviderChange>, Error> {
    let read = |Object(provider)| {
        let Provider {
            kind,
            secret_key,
            webhook_secret,
        } = provider;
        match kind.as_deref() {
            Some("sandbox") => Ok(ProviderChange::Sandbox),
            Some("stripe") => Ok(ProviderChange::Stripe {
                secret_key,
                webhook_secret,
            }),
            Some(_) => Err(Error::invalid(
                "provider.kind",
                "provider.kind is sandbox or stripe.",
            )),
            None => Err(Error::missing("kind").within("provider")),
        }
    };
    let change = field.nullable();
    change
        .map(|provider| provider.map_or(Ok(ProviderChange::None), read))
        .transpose()
}

impl Update {
    fn read(self) -> Result<ProjectChange, Error> {
        let origins = self.allowed_origins.not_null("allowedOrigins")?;
        Ok(ProjectChange {
            name: self.name.not_null("name")?,
            mode: self.mode.not_null("mode")?.map(Into::into),
            allowed_origins: origins.as_deref().map(catalog::origins).transpose()?,
            wallet_creation_limit: limit("walletCreationLimit", self.wallet_creation_limit)?,
            wallet_creation_limit_per_ip: limit(
                "walletCreationLimitPerIp",
                self.wallet_creation_limit_per_ip,
            )?,
            free_grants_for_code_wallets: self
                .free_grants_for_code_wallets
                .not_null("freeGrantsForCodeWallets")?,
            subscription_grace_days: self
                .subscription_grace_days
                .not_null("subscriptionGraceDays")?,
        })
    }
}

fn limit(
    param: &str,
    field: Field<Object<Limit>>,
) -> Result<Option<Option<domain::catalog::CreationLimit>>, Error> {
    let read = |Object(limit)| {
        let Limit {
            max,
            window_seconds,
        } = limit;
        let missing = |field| Error::missing(field).within(param);
        Ok(domain::catalog::CreationLimit {
            max: max.ok_or_else(|| missing("max"))?,
            window_seconds: window_seconds.ok_or_else(|| missing("windowSeconds"))?,
        })
    };
    field
        .nullable()
        .map(|limit| limit.map(read).transpose())
        .transpose()
}
