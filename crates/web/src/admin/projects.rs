//! Projects: make, list, show, change.

use api_types::admin::{CreatedProject, CreationLimit, Mode, Project, Projects};
use axum::{Json, http::StatusCode, response::Response};
use catalog::{self, NewProject, ProjectCatalog, ProjectChange, ProviderChange};
use domain::catalog::{CheckoutChange, SecretText};
use edge::{Read, body::Body};
use operator::{CreateProject, NoProject, OperatorState, UpdateProject};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use utoipa::{ToSchema, openapi::ObjectBuilder};
use wire::{
    Error, choice,
    field::{BoundedInteger, FromText, NameText, Object, Text, line},
};

use super::{call::AdminCall, mails::UpdateMails, view};
use crate::http::{
    etag::{IfMatch, tagged},
    patch::Field,
};

/// A project to create.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewProject)]
pub(super) struct Create {
    name: NameText,
    /// How its wallets are addressed; `credit_codes` when left out.
    #[schema(value_type = Option<Mode>)]
    mode: Option<domain::catalog::Mode>,
}

/// What to change of a project. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProjectChange)]
pub(super) struct Update {
    #[schema(value_type = Option<NameText>, nullable = false)]
    #[serde(default)]
    name: Field<NameText>,
    /// How its wallets are addressed.
    #[schema(value_type = Option<Mode>, nullable = false)]
    #[serde(default)]
    mode: Field<domain::catalog::Mode>,
    /// Origins that a publishable key may redirect to: `https://host`, or `http://` on loopback.
    /// Empty: any.
    #[schema(value_type = Option<Vec<OriginText>>, nullable = false, max_items = 100)]
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
    /// The payment provider; null: none. Secrets are never shown again; for a Stripe account that is
    /// set already, what is left out stays. A replaced `webhookSecret` is accepted for a day more.
    #[schema(value_type = Option<Provider>)]
    #[serde(default)]
    provider: Field<Object<Provider>>,
    /// Days for which a past-due subscription keeps its features.
    #[schema(value_type = Option<GraceDays>, nullable = false)]
    #[serde(default)]
    subscription_grace_days: Field<GraceDays>,
    /// Whether the provider adds the tax that is due where the buyer is. At Stripe, Stripe Tax has to be
    /// set up for it.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    automatic_tax: Field<bool>,
    /// Whether buyers who are businesses may enter their tax number.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    collect_tax_ids: Field<bool>,
    /// Whether buyers have to enter their billing address.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    collect_billing_address: Field<bool>,
    /// Whether what is paid once gets an invoice too; each cycle of a subscription has one anyway.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    invoices: Field<bool>,
    /// Whether buyers have to agree to the terms of service. At Stripe, their address has to be set among
    /// the public details.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    terms_of_service: Field<bool>,
    /// The mails that its customers get.
    #[schema(value_type = Option<UpdateMails>, nullable = false)]
    #[serde(default)]
    mails: Field<Object<UpdateMails>>,
    /// Refunds of more cents than this need another person's yes on the dashboard; null: none do.
    #[schema(value_type = Option<Above>)]
    #[serde(default)]
    approval_above_cents: Field<Above>,
    /// Grants of more credits than this need another person's yes on the dashboard; null: none do.
    #[schema(value_type = Option<Above>)]
    #[serde(default)]
    approval_above_credits: Field<Above>,
    /// Whether it is archived: its keys sell and spend nothing new (`project_archived`), and lists leave it out. Reads,
    /// refunds, and what the provider reports go on.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    archived: Field<bool>,
}

/// What one person may give alone.
type Above = BoundedInteger<0, 9_007_199_254_740_991>;

/// The schema of an origin. The catalog reads it, with the parser that reads addresses to return to,
/// and accepts more than the schema does.
type OriginText = Text<DescribedOrigin>;

#[derive(Debug)]
struct DescribedOrigin;

impl FromText for DescribedOrigin {
    const NAME: &'static str = "Origin";
    const WANTED: &'static str = "an origin";

    fn from_text(_: &str) -> Option<Self> {
        Some(Self)
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        const LABEL: &str = "(?!xn--)[a-z]([a-z0-9-]{0,61}[a-z0-9])?";
        let pattern =
            format!("^(https://{LABEL}(\\.{LABEL}){{0,3}}|http://localhost)(:[1-9][0-9]{{3}})?$");
        string
            .pattern(Some(pattern))
            .examples(["https://shop.example"])
    }
}

/// A payment provider.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProviderChange)]
struct Provider {
    /// `sandbox`, which is built in and moves no money, or `stripe`.
    kind: KindText,
    /// For a Stripe account: its API key, `sk_…` or `rk_…`.
    #[schema(
        value_type = Option<String>,
        write_only,
        pattern = "^[sr]k_[!-~]*$",
        max_length = 255
    )]
    secret_key: Option<SecretString>,
    /// For a Stripe account: the secret that its webhooks are signed with, `whsec_…`.
    #[schema(value_type = Option<String>, write_only, pattern = "^[!-~]+$", max_length = 255)]
    webhook_secret: Option<SecretString>,
    /// Whether to leave a provider, an account or a mode that the project has orders at: pending orders
    /// expire and subscriptions end here, credits stay. A new key of the same account and mode does not
    /// need it.
    #[schema(value_type = Option<bool>, nullable = false)]
    #[serde(default)]
    force: bool,
}

enum Kind {
    Sandbox,
    Stripe,
}

type KindText = Text<Kind>;

choice!(Kind, "ProviderKind": "sandbox" => Self::Sandbox, "stripe" => Self::Stripe);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Limit {
    max: BoundedInteger<1, 4_294_967_295>,
    window_seconds: BoundedInteger<1, 31_622_400>,
}

/// Days for which a past-due subscription keeps its features.
type GraceDays = BoundedInteger<0, 365>;

pub(super) async fn create(
    call: AdminCall<CreateProject>,
    body: Body,
) -> Result<(StatusCode, Json<CreatedProject>), Error> {
    let Create { name, mode } = body.parse()?;
    let new = NewProject {
        name: line(name),
        mode: mode.unwrap_or_default(),
    };
    let created = call.run(NoProject, CreateProject(new)).await?;
    let (project, publishable, secret) = created;
    let created = CreatedProject {
        project: view::project(&project, None, &call.app.accounts),
        publishable_key: publishable.plain,
        secret_key: secret.plain,
    };
    Ok((StatusCode::CREATED, Json(created)))
}

/// The projects of this process' cell.
pub fn of_cell(app: &OperatorState) -> Projects {
    let catalog = app.catalog.current();
    let projects = catalog.projects().map(|catalog| shown(app, catalog));
    Projects {
        projects: projects.collect(),
    }
}

pub(super) async fn show(call: AdminCall<Read>) -> Result<Response, Error> {
    let catalog = call.project()?;
    Ok(tagged(&shown(&call.app, &catalog)))
}

pub(super) async fn update(
    call: AdminCall<UpdateProject>,
    if_match: IfMatch,
    body: Body,
) -> Result<Response, Error> {
    let mut update = body.parse::<Update>()?;
    let provider = provider(std::mem::take(&mut update.provider))?;
    let change = update.read()?;
    let id = call.path.project()?;
    let _saving = call.app.edge.saving.lock().await;
    let project = call.app.catalog.project(id)?;
    if_match.check(&shown(&call.app, &project))?;
    call.run(project, UpdateProject { change, provider })
        .await?;
    Ok(tagged(&shown(&call.app, &*call.app.catalog.project(id)?)))
}

fn shown(app: &OperatorState, catalog: &ProjectCatalog) -> Project {
    let accounts = &app.accounts;
    view::project(&catalog.project, catalog.provider(), accounts)
}

/// The change of the provider, and whether it is forced.
fn provider(field: Field<Object<Provider>>) -> Result<Option<(ProviderChange, bool)>, Error> {
    let read = |Object(provider): Object<Provider>| {
        let change = match provider.kind {
            Text(Kind::Sandbox) => {
                // The sandbox needs no secrets, but malformed ones are refused all the same.
                let text = |it: SecretString| it.expose_secret().to_owned();
                let (key, webhook) = (provider.secret_key, provider.webhook_secret);
                key.map(text).map(SecretText::key).transpose()?;
                webhook.map(text).map(SecretText::webhook).transpose()?;
                ProviderChange::Sandbox
            }
            Text(Kind::Stripe) => ProviderChange::Stripe {
                secret_key: provider.secret_key,
                webhook_secret: provider.webhook_secret,
            },
        };
        Ok((change, provider.force))
    };
    let change = field.nullable();
    change
        .map(|provider| provider.map_or(Ok((ProviderChange::None, false)), read))
        .transpose()
}

impl Update {
    fn read(self) -> Result<ProjectChange, Error> {
        let origins = self.allowed_origins.not_null("allowedOrigins")?;
        let mails = self.mails.not_null("mails")?.map(|Object(mails)| mails);
        Ok(ProjectChange {
            name: self.name.not_null("name")?.map(line),
            mode: self.mode.not_null("mode")?,
            allowed_origins: origins.as_deref().map(catalog::origins).transpose()?,
            wallet_creation_limit: limit(self.wallet_creation_limit),
            wallet_creation_limit_per_ip: limit(self.wallet_creation_limit_per_ip),
            free_grants_for_code_wallets: self
                .free_grants_for_code_wallets
                .not_null("freeGrantsForCodeWallets")?,
            subscription_grace_days: self
                .subscription_grace_days
                .not_null("subscriptionGraceDays")?
                .map(BoundedInteger::small),
            checkout: CheckoutChange {
                automatic_tax: self.automatic_tax.not_null("automaticTax")?,
                collect_tax_ids: self.collect_tax_ids.not_null("collectTaxIds")?,
                collect_billing_address: self
                    .collect_billing_address
                    .not_null("collectBillingAddress")?,
                invoices: self.invoices.not_null("invoices")?,
                terms_of_service: self.terms_of_service.not_null("termsOfService")?,
            },
            mails: mails.unwrap_or_default().read()?,
            approval_above_cents: above(self.approval_above_cents),
            approval_above_credits: above(self.approval_above_credits),
            archived: self.archived.not_null("archived")?,
        })
    }
}

fn above(field: Field<Above>) -> Option<Option<i64>> {
    field.nullable().map(|above| above.map(|it| it.0))
}

fn limit(field: Field<Object<Limit>>) -> Option<Option<domain::catalog::CreationLimit>> {
    let read = |Object(limit): Object<Limit>| domain::catalog::CreationLimit {
        max: limit.max.small(),
        window_seconds: limit.window_seconds.small(),
    };
    field.nullable().map(|limit| limit.map(read))
}
