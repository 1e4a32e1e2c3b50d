//! A project's settings and its payment provider.

use axum::{extract::State, response::Response};
use catalog::{ProjectCatalog, ProjectChange, ProviderChange, origins};
use domain::catalog::{CheckoutChange, CreationLimit};
use edge::Own;
use identity::Privilege;
use maud::{Markup, html};
use operator::UpdateProject;
use stripe::permissions;
use wire::{Error, ErrorCode};

use super::{
    archive,
    confirm::ActionForm,
    fields::{CONFIRMED, Fields},
    form::{self, FieldLabel, Form},
    layout::{Tab, base},
    page_request::{FormPost, PageRequest},
    projects::{MODES, provider},
};
use crate::state::App;

const LIMIT: &str = "walletCreationLimit";
const LIMIT_PER_IP: &str = "walletCreationLimitPerIp";
const CENTS: &str = "approvalAboveCents";
const CREDITS: &str = "approvalAboveCredits";
pub(super) const FREE: &str = "freeGrantsForCodeWallets";
/// Fields that show their own error.
const FIELDS: [&str; 9] = [
    CENTS,
    CREDITS,
    FREE,
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

/// `GET …/settings`: both forms.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Result<Response, Error> {
    let project = request.project(&app)?;
    Ok(page(&request, &app, &project, None, None))
}

/// `POST …/settings`: changes the settings.
pub(super) async fn save(
    State(app): State<App>,
    posted: FormPost<UpdateProject>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let saved = async {
        let change = change(&fields)?;
        let _saving = app.edge.saving.lock().await;
        let project = request.project(&app)?;
        form::refuse_stale(&fields, &current(&project))?;
        let form = ActionForm::new(&app, &request, &project, &fields, Tab::Settings);
        let (provider, back) = (None, page_path(&project));
        form.run(UpdateProject { change, provider }, &back, "saved")
            .await
    };
    match saved.await {
        Ok(saved) => Ok(saved),
        Err(error) => {
            // As it is stored now.
            let project = request.project(&app)?;
            Ok(page(
                &request,
                &app,
                &project,
                Some((&fields, &error)),
                None,
            ))
        }
    }
}

fn page_path(project: &ProjectCatalog) -> String {
    format!("{}/settings", base(project))
}

fn change(fields: &Fields) -> Result<ProjectChange, Error> {
    Ok(ProjectChange {
        name: Some(fields.text("name").to_owned()),
        mode: Some(fields.choice("mode").unwrap_or_default()),
        allowed_origins: Some(origins(&fields.list("allowedOrigins"))?),
        wallet_creation_limit: Some(limit(fields, LIMIT)?),
        wallet_creation_limit_per_ip: Some(limit(fields, LIMIT_PER_IP)?),
        free_grants_for_code_wallets: Some(fields.is_on(FREE)),
        subscription_grace_days: Some(fields.needed("subscriptionGraceDays")?),
        checkout: CheckoutChange {
            automatic_tax: Some(fields.is_on("automaticTax")),
            collect_tax_ids: Some(fields.is_on("collectTaxIds")),
            collect_billing_address: Some(fields.is_on("collectBillingAddress")),
            invoices: Some(fields.is_on("invoices")),
            terms_of_service: Some(fields.is_on("termsOfService")),
        },
        approval_above_cents: Some(fields.whole(CENTS)?),
        approval_above_credits: Some(fields.whole(CREDITS)?),
        archived: None,
    })
}

/// A limit of wallets per time window, an hour if none is given; `None` if `max` is empty.
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
        .with_choice("mode", project.mode)
        .with("allowedOrigins", project.allowed_origins.join("\n"))
        .ticked(FREE, project.free_grants_for_code_wallets)
        .with("subscriptionGraceDays", project.subscription_grace_days)
        .with_some(CENTS, project.approval.above_cents)
        .with_some(CREDITS, project.approval.above_credits)
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

/// `POST …/settings/provider`: sets the payment provider.
pub(super) async fn set_provider(
    State(app): State<App>,
    posted: FormPost<Own>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let (change, name) = match fields.text("kind") {
        "sandbox" => (ProviderChange::Sandbox, "the sandbox"),
        "stripe" => {
            let change = ProviderChange::Stripe {
                secret_key: fields.owned("provider.secretKey").map(Into::into),
                webhook_secret: fields.owned("provider.webhookSecret").map(Into::into),
            };
            (change, "Stripe")
        }
        "none" => (ProviderChange::None, "none"),
        _ => return Err(Error::missing("kind")),
    };
    let wanted = fields.text("kind");
    let present = provider(&project).to_lowercase();
    // Another account of the same provider is another provider too: then `force` is ticked.
    let leaves = present != "none" && (present != wanted || fields.is_on("force"));
    if leaves && !fields.is_on(CONFIRMED) {
        let body = html! {
            h1 { "Change the payment provider to " (name) "?" }
            section.card {
                (farewell(&project, wanted))
                form method="post" action={ (page_path(&project)) "/provider" } {
                    (form::token(&request))
                    input type="hidden" name="kind" value=(wanted);
                    @if fields.is_on("force") { input type="hidden" name="force" value="on"; }
                    input type="hidden" name=(CONFIRMED) value="on";
                    @if wanted == "stripe" { (secrets(Form::new(&Fields::default(), None))) }
                    div.row {
                        button.primary type="submit" { "Change the payment provider to " (name) }
                        a.button href=(page_path(&project)) { "Back" }
                    }
                }
            }
        };
        return Ok(Tab::Settings.page(&request, &project, "Please confirm", &body));
    }
    let update = UpdateProject {
        change: ProjectChange::default(),
        provider: Some((change, fields.is_on("force"))),
    };
    let _saving = app.edge.saving.lock().await;
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Settings);
    let done = form.run(update, &page_path(&project), "saved").await;
    Ok(done.unwrap_or_else(|error| {
        let payments = Some((&fields, &error));
        page(&request, &app, &project, None, payments)
    }))
}

/// What a change of the provider takes away, and what stays.
fn farewell(project: &ProjectCatalog, wanted: &str) -> Markup {
    html! { dl {
        div { dt { "At present" } dd { (provider(project)) } }
        div { dt { "What goes" } dd { "Here, pending orders expire and subscriptions end, and the present secrets and webhooks stop working at once. At the present provider, subscriptions go on until somebody cancels them there." } }
        div { dt { "What stays" } dd { "Credits, features that were bought once, and the record of orders." } }
        @if wanted == "none" { div { dt { "From now on" } dd { "Nothing can be bought." } } }
    } }
}

/// The secrets of an account at Stripe; a page never has their values.
fn secrets(form: Form<'_>) -> Markup {
    html! {
        (form.secret(&FieldLabel("provider.secretKey", "Secret key", "sk_… or rk_…. Never shown again. Empty: unchanged.")))
        (form.secret(&FieldLabel("provider.webhookSecret", "Webhook secret", "whsec_…. Optional. A replaced one is accepted for one more day.")))
    }
}

type RejectedForm<'a> = Option<(&'a Fields, &'a Error)>;

fn page(
    request: &PageRequest,
    app: &App,
    project: &ProjectCatalog,
    settings: RejectedForm<'_>,
    payments: RejectedForm<'_>,
) -> Response {
    let stored = current(project);
    let stale = settings.filter(|(_, error)| error.code() == ErrorCode::ChangedMeanwhile);
    let conflict = stale.map(|(sent, _)| form::conflict(sent, &stored));
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
        (settings_form(request, project, settings, &conflict.unwrap_or_default()))
        (provider_form(request, app, project, payments))
        (archive::card(request, project))
    };
    let page = Tab::Settings.page(request, project, "Settings", &body);
    settings.response(payments.response(page))
}

fn settings_form(
    request: &PageRequest,
    project: &ProjectCatalog,
    form: Form<'_>,
    conflict: &Markup,
) -> Markup {
    html! {
        section.card {
            h2 { "Project" }
            p.hint { code { (project.project.id) } }
            (form.alert(&FIELDS))
            (conflict)
            (form::guarded(request, request.may(Privilege::Manage), &page_path(project), &html! {
                (form::version(&current(project)))
                (form.text(&FieldLabel("name", "Name", "")))
                (form.choice(&FieldLabel("mode", "Wallets are addressed by", ""), &MODES))
                (form.area(&FieldLabel("allowedOrigins", "Allowed origins", "One per line, such as https://shop.example. A checkout by publishable key may send buyers back only there. Empty: anywhere over https.")))
                fieldset {
                    legend { "New anonymous wallets" }
                    div.pair {
                        (form.number(&FieldLabel("walletCreationLimit.max", "Most per project", "Empty: no limit.")))
                        (form.number(&FieldLabel("walletCreationLimit.windowSeconds", "within seconds", "3600 is an hour.")))
                    }
                    div.pair {
                        (form.number(&FieldLabel("walletCreationLimitPerIp.max", "Most per IP address", "Empty: no limit.")))
                        (form.number(&FieldLabel("walletCreationLimitPerIp.windowSeconds", "within seconds", "")))
                    }
                    (form.tick(&FieldLabel(FREE, "Anonymous wallets get free grants", "")))
                }
                (form.number(&FieldLabel("subscriptionGraceDays", "Grace days", "How long a subscription keeps its features after a failed payment.")))
                fieldset {
                    legend { "At checkout" }
                    (form.tick(&FieldLabel("automaticTax", "Add tax", "Stripe calculates it; set it up there first.")))
                    (form.tick(&FieldLabel("collectTaxIds", "Businesses may enter their tax number", "")))
                    (form.tick(&FieldLabel("collectBillingAddress", "Ask for the billing address", "")))
                    (form.tick(&FieldLabel("invoices", "Invoices for one-time purchases", "Subscriptions always have them.")))
                    (form.tick(&FieldLabel("termsOfService", "Buyers agree to the terms of service", "")))
                }
                fieldset {
                    legend { "Approval by a second person" }
                    p.hint { "What exceeds this waits until another operator or owner approves it. Only owners can change it." }
                    div.pair {
                        (form.number(&FieldLabel(CENTS, "Refunds above so many cents", "In the currency's smallest unit. Empty: none.")))
                        (form.number(&FieldLabel(CREDITS, "Grants above so many credits", "Empty: none.")))
                    }
                }
                @if request.may(Privilege::Manage) { button.primary type="submit" { "Save" } }
            }))
        }
    }
}

fn provider_form(
    request: &PageRequest,
    app: &App,
    project: &ProjectCatalog,
    form: Form<'_>,
) -> Markup {
    let webhook_url = app.accounts.webhook_url(project.project.id);
    html! {
        section.card #payments {
            h2 { "Payments" }
            p { "Payment provider: " b { (provider(project)) } }
            @if project.sandbox().is_some() {
                p { a href={ (base(project)) "/sandbox" } { "Sandbox behaviour" } }
            }
            (form.alert(&["provider.secretKey", "provider.webhookSecret"]))
            (form::guarded(request, request.may(Privilege::Own), &format!("{}/provider", page_path(project)), &html! {
                (form.choice(&FieldLabel("kind", "Provider", "The sandbox is for trying things out: anybody who can reach it gets credits for free."), &PROVIDERS))
                fieldset {
                    legend { "Stripe account" }
                    (secrets(form))
                    p.hint {
                        "Create a restricted key with the required permissions at Stripe: "
                        a href=(permissions::link(false)) rel="noreferrer" { "live" } ", "
                        a href=(permissions::link(true)) rel="noreferrer" { "test" } "."
                    }
                    p.hint { "The address for Stripe's webhooks: " code { (webhook_url) } }
                }
                (form.tick(&FieldLabel("force", "Switch although there are orders", "Credits stay; the former provider's open subscriptions end, and its secrets stop working at once.")))
                @if request.may(Privilege::Own) { button type="submit" { "Save provider" } }
            }))
        }
    }
}
