//! A project's settings, and who takes its money.

use axum::{extract::State, response::Response};
use domain::catalog::{CheckoutChange, CreationLimit};
use maud::{Markup, html};
use stripe::permissions;

use super::{
    audit::deed,
    fields::Fields,
    form::{self, Form, Label},
    projects::{MODES, mode, mode_text, provider, refused},
    shell::{self, At, Tab, base},
    visit::{Posted, Visit},
};
use crate::{
    admin::change_provider,
    catalog::{ProjectCatalog, ProjectChange, ProviderChange, origins},
    http::Error,
    state::App,
};

const LIMIT: &str = "walletCreationLimit";
const LIMIT_PER_IP: &str = "walletCreationLimitPerIp";
/// Fields beside which a refusal can stand.
const SHOWN: [&str; 6] = [
    "name",
    "mode",
    "allowedOrigins",
    LIMIT,
    LIMIT_PER_IP,
    "subscriptionGraceDays",
];
const PROVIDERS: [(&str, &str); 3] = [
    ("none", "None: nothing can be bought"),
    ("sandbox", "Sandbox: built in, moves no money"),
    ("stripe", "Stripe"),
];

/// `GET …/settings`
pub(super) async fn show(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = visit.project(&app)?;
    Ok(page(&visit, &app, &project, None, None))
}

/// `POST …/settings`
pub(super) async fn save(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let id = project.project.id;
    let saved = match change(&fields) {
        Ok(change) => {
            let saved = app.catalog.update_project(id, change, None).await;
            saved.map_err(Error::from)
        }
        Err(error) => Err(error),
    };
    match saved {
        Ok(_) => {
            let response = shell::done(&format!("{}/settings", base(&project)), "saved");
            Ok(deed(
                response,
                &visit.signed,
                format!("Changed the settings of {id}"),
            ))
        }
        Err(error) => {
            let page = page(&visit, &app, &project, Some((&fields, &error)), None);
            Ok(refused(&error, page))
        }
    }
}

fn change(fields: &Fields) -> Result<ProjectChange, Error> {
    Ok(ProjectChange {
        name: Some(fields.text("name").to_owned()),
        mode: Some(mode(fields)),
        allowed_origins: Some(origins(&fields.list("allowedOrigins"))?),
        wallet_creation_limit: Some(limit(fields, LIMIT)?),
        wallet_creation_limit_per_ip: Some(limit(fields, LIMIT_PER_IP)?),
        free_grants_for_code_wallets: Some(fields.is_on("freeGrantsForCodeWallets")),
        subscription_grace_days: Some(fields.needed("subscriptionGraceDays")?),
        checkout: CheckoutChange {
            automatic_tax: Some(fields.is_on("automaticTax")),
            collect_tax_ids: Some(fields.is_on("collectTaxIds")),
            collect_billing_address: Some(fields.is_on("collectBillingAddress")),
            invoices: Some(fields.is_on("invoices")),
            terms_of_service: Some(fields.is_on("termsOfService")),
        },
    })
}

/// So many an hour; none where the field is empty.
fn limit(fields: &Fields, name: &'static str) -> Result<Option<CreationLimit>, Error> {
    let max = fields.whole(&format!("{name}.max"))?;
    let window = fields.whole(&format!("{name}.windowSeconds"))?;
    Ok(max.map(|max| CreationLimit {
        max,
        window_seconds: window.unwrap_or(3600),
    }))
}

fn current(project: &ProjectCatalog) -> Fields {
    let project = &project.project;
    let limit = |fields: Fields, name: &str, limit: Option<CreationLimit>| {
        fields
            .with_some(&format!("{name}.max"), limit.map(|limit| limit.max))
            .with_some(
                &format!("{name}.windowSeconds"),
                limit.map(|limit| limit.window_seconds),
            )
    };
    let fields = Fields::default()
        .with("name", &project.name)
        .with("mode", mode_text(project.mode))
        .with("allowedOrigins", project.allowed_origins.join("\n"))
        .ticked(
            "freeGrantsForCodeWallets",
            project.free_grants_for_code_wallets,
        )
        .with("subscriptionGraceDays", project.subscription_grace_days)
        .ticked("automaticTax", project.checkout.automatic_tax)
        .ticked("collectTaxIds", project.checkout.collect_tax_ids)
        .ticked(
            "collectBillingAddress",
            project.checkout.collect_billing_address,
        )
        .ticked("invoices", project.checkout.invoices)
        .ticked("termsOfService", project.checkout.terms_of_service);
    let fields = limit(fields, LIMIT, project.wallet_creation_limit);
    limit(fields, LIMIT_PER_IP, project.wallet_creation_limit_per_ip)
}

/// `POST …/settings/provider`
pub(super) async fn set_provider(
    State(app): State<App>,
    posted: Posted,
) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = visit.project(&app)?;
    let id = project.project.id;
    let (change, name) = match fields.text("kind") {
        "sandbox" => (ProviderChange::Sandbox, "the sandbox"),
        "stripe" => {
            let change = ProviderChange::Stripe {
                secret_key: fields.owned("provider.secretKey").map(Into::into),
                webhook_secret: fields.owned("provider.webhookSecret").map(Into::into),
            };
            (change, "Stripe")
        }
        "none" => (ProviderChange::None, "nobody"),
        _ => return Err(Error::missing("kind")),
    };
    let (nothing, force) = (ProjectChange::default(), fields.is_on("force"));
    match change_provider(&app, id, nothing, change, force).await {
        Ok(()) => {
            let response = shell::done(&format!("{}/settings", base(&project)), "saved");
            let what = format!("Set the payment provider of {id}: {name}");
            Ok(deed(response, &visit.signed, what))
        }
        Err(error) => {
            let page = page(&visit, &app, &project, None, Some((&fields, &error)));
            Ok(refused(&error, page))
        }
    }
}

type Typed<'a> = Option<(&'a Fields, &'a Error)>;

fn page(
    visit: &Visit,
    app: &App,
    project: &ProjectCatalog,
    settings: Typed<'_>,
    payments: Typed<'_>,
) -> Response {
    let stored = current(project);
    let settings = Form::new(
        settings.map_or(&stored, |(fields, _)| fields),
        settings.map(|(_, error)| error),
    );
    let kind = Fields::default().with("kind", provider(project).to_lowercase());
    let payments = Form::new(
        payments.map_or(&kind, |(fields, _)| fields),
        payments.map(|(_, error)| error),
    );
    let body = html! {
        h1 { "Settings" }
        (settings_form(visit, project, settings))
        (provider_form(visit, app, project, payments))
    };
    shell::page(
        visit,
        At::Project(project, Tab::Settings),
        "Settings",
        &body,
    )
}

fn settings_form(visit: &Visit, project: &ProjectCatalog, form: Form<'_>) -> Markup {
    html! {
        section.card {
            h2 { "Project" }
            p.hint { code { (project.project.id) } }
            (form.alert(&SHOWN))
            form method="post" action={ (base(project)) "/settings" } {
                (form::token(visit))
                (form.text(&Label("name", "Name", "")))
                (form.choice(&Label("mode", "Wallets are addressed by", ""), &MODES))
                (form.area(&Label("allowedOrigins", "Allowed origins", "One a line, such as https://shop.example. A publishable key may send buyers back there and nowhere else; empty: anywhere over https.")))
                fieldset {
                    legend { "New anonymous wallets" }
                    div.pair {
                        (form.number(&Label("walletCreationLimit.max", "For the project, at most", "Empty: no limit.")))
                        (form.number(&Label("walletCreationLimit.windowSeconds", "within seconds", "3600 is an hour.")))
                    }
                    div.pair {
                        (form.number(&Label("walletCreationLimitPerIp.max", "For each address, at most", "Empty: no limit.")))
                        (form.number(&Label("walletCreationLimitPerIp.windowSeconds", "within seconds", "")))
                    }
                    (form.tick(&Label("freeGrantsForCodeWallets", "Anonymous wallets get free grants", "")))
                }
                (form.number(&Label("subscriptionGraceDays", "Grace days", "For so long a subscription whose payment failed keeps its features.")))
                fieldset {
                    legend { "At checkout" }
                    (form.tick(&Label("automaticTax", "Add the tax that is due", "Stripe works it out; it has to be set up there.")))
                    (form.tick(&Label("collectTaxIds", "Businesses may enter their tax number", "")))
                    (form.tick(&Label("collectBillingAddress", "Ask for the billing address", "")))
                    (form.tick(&Label("invoices", "Invoices for what is paid once", "Subscriptions have them anyway.")))
                    (form.tick(&Label("termsOfService", "Buyers agree to the terms of service", "")))
                }
                button.primary type="submit" { "Save" }
            }
        }
    }
}

fn provider_form(visit: &Visit, app: &App, project: &ProjectCatalog, form: Form<'_>) -> Markup {
    let webhook_url = app.accounts.webhook_url(project.project.id);
    html! {
        section.card {
            h2 { "Payments" }
            p { "Money goes through: " b { (provider(project)) } }
            @if project.sandbox().is_some() {
                p { a href={ (base(project)) "/sandbox" } { "How unkind the sandbox is" } }
            }
            (form.alert(&["provider.secretKey", "provider.webhookSecret"]))
            form method="post" action={ (base(project)) "/settings/provider" } {
                (form::token(visit))
                (form.choice(&Label("kind", "Provider", "The sandbox gives credits away to anybody who can reach it: for trying things out."), &PROVIDERS))
                fieldset {
                    legend { "Of a Stripe account" }
                    (form.secret(&Label("provider.secretKey", "Secret key", "sk_… or rk_…. Never shown again. Empty: stays as it is.")))
                    (form.secret(&Label("provider.webhookSecret", "Webhook secret", "whsec_…. Not needed. A replaced one is accepted for a day more.")))
                    p.hint {
                        "Stripe makes a restricted key with all that is needed: "
                        a href=(permissions::link(false)) rel="noreferrer" { "live" } ", "
                        a href=(permissions::link(true)) rel="noreferrer" { "test" } "."
                    }
                    p.hint { "Stripe's webhooks go to " code { (webhook_url) } }
                }
                (form.tick(&Label("force", "Change over although there are orders", "Credits stay; open subscriptions of the former provider end, and its secrets stop at once.")))
                button type="submit" { "Save payments" }
            }
        }
    }
}
