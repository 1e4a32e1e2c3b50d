//! Projects as the administrator sees them.

use accounts::Accounts;
use api_types::admin::{CreationLimit, MailTemplate, Mails, Project, Provider};
use domain::catalog::{self, Account};
use wire::view::{instant, word};

/// A project with its provider, if one was ever set.
pub(super) fn project(
    project: &catalog::Project,
    provider: Option<&catalog::Provider>,
    accounts: &Accounts,
) -> Project {
    let kind = provider.and_then(|provider| match provider.account {
        Account::None => None,
        Account::Sandbox => Some("sandbox"),
        Account::Stripe(_) => Some("stripe"),
    });
    Project {
        id: project.id.to_string(),
        name: project.name.clone(),
        mode: word(project.mode),
        allowed_origins: project.allowed_origins.clone(),
        wallet_creation_limit: project.wallet_creation_limit.map(limit),
        wallet_creation_limit_per_ip: project.wallet_creation_limit_per_ip.map(limit),
        free_grants_for_code_wallets: project.free_grants_for_code_wallets,
        subscription_grace_days: project.subscription_grace_days,
        automatic_tax: project.checkout.automatic_tax,
        collect_tax_ids: project.checkout.collect_tax_ids,
        collect_billing_address: project.checkout.collect_billing_address,
        invoices: project.checkout.invoices,
        terms_of_service: project.checkout.terms_of_service,
        mails: mails(&project.mails),
        approval_above_cents: project.approval.above_cents,
        approval_above_credits: project.approval.above_credits,
        archived: project.archived,
        provider: kind.map(|kind| Provider {
            kind: kind.into(),
            webhook_url: accounts.webhook_url(project.id),
            verified: provider.is_none_or(catalog::Provider::is_verified),
            changing: provider.is_some_and(|provider| provider.epoch.leaving),
        }),
        created_at: instant(project.created_at).to_string(),
    }
}

fn mails(mails: &catalog::MailSettings) -> Mails {
    let template = |template: &catalog::MailTemplate| MailTemplate {
        kind: word(template.kind),
        locale: word(template.locale),
        subject: template.subject.clone(),
        text: template.text.clone(),
        html: template.html.clone(),
    };
    Mails {
        low_balance: mails.low_balance.is_some(),
        top_up_failed: mails.top_up_failed.is_some(),
        limit_reached: mails.limit_reached.is_some(),
        receipt: mails.receipt.is_some(),
        locale: word(mails.locale),
        name: mails.name.clone(),
        color: mails.color.clone(),
        reply_to: mails.reply_to.as_ref().map(|to| to.as_str().to_owned()),
        footer: mails.footer.clone(),
        templates: mails.templates.iter().map(template).collect(),
    }
}

const fn limit(limit: catalog::CreationLimit) -> CreationLimit {
    CreationLimit {
        max: limit.max,
        window_seconds: limit.window_seconds,
    }
}
