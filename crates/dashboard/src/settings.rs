//! A project's settings and its payment provider.

use catalog::{ProjectChange, ProviderChange, origins};
use domain::catalog::{CheckoutChange, CreationLimit, MailChange};
use edge::Own;
use operator::{ArchiveProject, UpdateProject};
use stripe::permissions;

use super::{
    prelude::*,
    projects::{MODES, provider},
};

const LIMIT: &str = "walletCreationLimit";
const LIMIT_PER_IP: &str = "walletCreationLimitPerIp";
const CENTS: &str = "approvalAboveCents";
const CREDITS: &str = "approvalAboveCredits";
const FREE: &str = "freeGrantsForCodeWallets";
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

pub(super) async fn show(request: PageRequest) -> PageResult {
    Ok(page(&request, None, None))
}

pub(super) async fn save(mut request: FormPost<UpdateProject>) -> PageResult {
    let app = Arc::clone(&request.app);
    let _saving = app.edge.saving.lock().await;
    request.reload()?;
    let fields = &request.fields;
    let saved = async {
        form::refuse_stale(fields, &current(&request.project))?;
        let (change, provider) = (change(fields)?, None);
        let (update, back) = (
            UpdateProject { change, provider },
            page_path(&request.project),
        );
        request.run(update, &back, "saved").await
    };
    let again = |error| page(&request, Some((fields, &error)), None);
    Ok(saved.await.unwrap_or_else(again))
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
        mails: MailChange::default(),
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

pub(super) async fn set_provider(mut request: FormPost<Own>) -> PageResult {
    let (change, name) = match request.fields.text("kind") {
        "sandbox" => (ProviderChange::Sandbox, "the sandbox"),
        "stripe" => {
            let change = ProviderChange::Stripe {
                secret_key: request.fields.owned("provider.secretKey").map(Into::into),
                webhook_secret: request
                    .fields
                    .owned("provider.webhookSecret")
                    .map(Into::into),
            };
            (change, "Stripe")
        }
        "none" => (ProviderChange::None, "none"),
        _ => return Err(Error::missing("kind")),
    };
    let wanted = request.fields.text("kind");
    let present = provider(&request.project).to_lowercase();
    // Another account of the same provider is another provider too: then `force` is ticked.
    let leaves = present != "none" && (present != wanted || request.fields.is_on("force"));
    if leaves && !request.fields.is_on(CONFIRMED) {
        let body = html! {
            h1 { "Change the payment provider to " (name) "?" }
            section.card {
                (farewell(&request.project, wanted))
                form method="post" action={ (page_path(&request.project)) "/provider" } {
                    (form::token(&request))
                    input type="hidden" name="kind" value=(wanted);
                    @if request.fields.is_on("force") { input type="hidden" name="force" value="on"; }
                    input type="hidden" name=(CONFIRMED) value="on";
                    @if wanted == "stripe" { (secrets(Form::new(&Fields::default(), None))) }
                    div.row {
                        button.primary type="submit" { "Change the payment provider to " (name) }
                        a.button href=(page_path(&request.project)) { "Back" }
                    }
                }
            }
        };
        return Ok(request.show("Please confirm", &body));
    }
    let update = UpdateProject {
        change: ProjectChange::default(),
        provider: Some((change, request.fields.is_on("force"))),
    };
    let app = Arc::clone(&request.app);
    let _saving = app.edge.saving.lock().await;
    request.reload()?;
    let done = request
        .run(update, &page_path(&request.project), "saved")
        .await;
    Ok(done.unwrap_or_else(|error| {
        let payments = Some((&request.fields, &error));
        page(&request, None, payments)
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

fn page(request: &PageRequest, settings: RejectedForm<'_>, payments: RejectedForm<'_>) -> Response {
    let stored = current(&request.project);
    let kind = Fields::default().with("kind", provider(&request.project).to_lowercase());
    let (settings, payments) = (Form::of(settings, &stored), Form::of(payments, &kind));
    let body = html! {
        h1 { "Settings" }
        (settings_form(request, settings))
        (provider_form(request, payments))
        (archive_card(request))
    };
    let page = request.show("Settings", &body);
    settings.response(payments.response(page))
}

fn settings_form(request: &PageRequest, form: Form<'_>) -> Markup {
    html! {
        section.card {
            h2 { "Project" }
            p.hint { code { (request.project.project.id) } }
            p { a href={ (base(&request.project)) "/mails" } { "Mails to customers" } }
            (form.alert(&FIELDS))
            (form::conflict_of(form, &current(&request.project)))
            (form::guarded(request, request.may(Privilege::Manage), &page_path(&request.project), &html! {
                (form::version(&current(&request.project)))
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

fn provider_form(request: &PageRequest, form: Form<'_>) -> Markup {
    let webhook_url = request.app.accounts.webhook_url(request.project.project.id);
    html! {
        section.card #payments {
            h2 { "Payments" }
            p { "Payment provider: " b { (provider(&request.project)) } }
            @if request.project.sandbox().is_some() {
                p { a href={ (base(&request.project)) "/sandbox" } { "Sandbox behaviour" } }
            }
            (form.alert(&["provider.secretKey", "provider.webhookSecret"]))
            (form::guarded(request, request.may(Privilege::Own), &format!("{}/provider", page_path(&request.project)), &html! {
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

/// The archive_card with the button that archives the project, or takes it out of the archive.
fn archive_card(request: &PageRequest) -> Markup {
    html! { @if request.may(Privilege::Manage) {
        section.card #archive {
            h2 { "Archive" }
            form method="post" action={ (base(&request.project)) "/settings/archive" } {
                (form::token(request))
                @if request.project.project.archived {
                    p { "The project sells again, and lists have it." }
                    button name="archived" value="false" type="submit" { "Unarchive…" }
                } @else {
                    p { "Nothing new is sold or spent, and lists leave it out. It can be unarchived." }
                    button.danger name="archived" value="true" type="submit" { "Archive…" }
                }
            }
        }
    } }
}

pub(super) async fn archive(request: FormPost<ArchiveProject>) -> PageResult {
    let archived = request.fields.text("archived") == "true";
    let message = if archived { "archived" } else { "unarchived" };
    let back = page_path(&request.project);
    request.run(ArchiveProject(archived), &back, message).await
}
