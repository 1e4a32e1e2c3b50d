//! The mails to a project's customers: which are sent and how they look, what became of them, and who gets none.

use data_encoding::HEXLOWER;
use domain::{
    catalog::{MailChange, MailKind, MailLocale},
    id::WalletKey,
    text::Email,
};
use operator::{ResumeMails, UpdateProject};
use outbound::customer_mail::{AddressHash, MailReport, Suppression};
use wire::view::word;

use super::{prelude::*, wallets};

/// The kinds with what they are called, and when one is sent.
pub(super) const KINDS: [(MailKind, &str, &str); 5] = [
    (
        MailKind::LowBalance,
        "Low balance",
        "When it falls to the product's threshold.",
    ),
    (
        MailKind::TopUpFailed,
        "Automatic top-up stopped",
        "Also sends “Confirm a top-up”, when the bank wants the buyer.",
    ),
    (MailKind::ActionRequired, "Confirm a top-up", ""),
    (
        MailKind::LimitReached,
        "Limit reached",
        "When it refuses the first use in its window.",
    ),
    (
        MailKind::Receipt,
        "Receipt",
        "For each payment. The payment provider may send one, too.",
    ),
];
pub(super) const LOCALES: [(MailLocale, &str); 3] = [
    (MailLocale::En, "English"),
    (MailLocale::De, "German"),
    (MailLocale::Fr, "French"),
];
const FIELDS: [&str; 5] = [
    "mails.name",
    "mails.color",
    "mails.replyTo",
    "mails.footer",
    "mails.locale",
];
const PAGE_SIZE: usize = 50;

/// What a kind is called.
pub(super) fn title(kind: MailKind) -> &'static str {
    let found = KINDS.iter().find(|(of, ..)| *of == kind);
    found.map_or("", |(_, name, _)| name)
}

pub(super) fn page_path(project: &ProjectCatalog) -> String {
    format!("{}/mails", base(project))
}

/// The page of a mail's text.
pub(super) fn text_path(project: &ProjectCatalog, kind: MailKind, locale: MailLocale) -> String {
    format!("{}/{}/{}", page_path(project), word(kind), word(locale))
}

/// The name of a switch; mails about confirmation have none of their own.
fn switch(kind: MailKind) -> Option<String> {
    (kind != MailKind::ActionRequired).then(|| format!("mails.{}", word(kind)))
}

pub(super) async fn show(request: PageRequest) -> PageResult {
    page(&request, None).await
}

pub(super) async fn save(mut request: FormPost<UpdateProject>) -> PageResult {
    let app = Arc::clone(&request.app);
    let _saving = app.edge.saving.lock().await;
    request.reload()?;
    let fields = &request.fields;
    let saved = async {
        form::refuse_stale(fields, &current(&request.project))?;
        let mails = change(fields)?;
        let update = UpdateProject::of_mails(mails);
        request
            .run(update, &page_path(&request.project), "saved")
            .await
    };
    match saved.await {
        Ok(saved) => Ok(saved),
        Err(error) => page(&request, Some((fields, &error))).await,
    }
}

fn change(fields: &Fields) -> Result<MailChange, Error> {
    let is_on = |kind| switch(kind).map(|name| fields.is_on(&name));
    let reply_to = fields.owned("mails.replyTo").map(Email::new).transpose();
    Ok(MailChange {
        low_balance: is_on(MailKind::LowBalance),
        top_up_failed: is_on(MailKind::TopUpFailed),
        limit_reached: is_on(MailKind::LimitReached),
        receipt: is_on(MailKind::Receipt),
        locale: Some(fields.choice("mails.locale")?),
        name: Some(fields.owned("mails.name")),
        color: Some(fields.owned("mails.color")),
        reply_to: Some(reply_to.map_err(|error| Error::text("mails.replyTo", error))?),
        footer: Some(
            fields
                .some("mails.footer")
                .map(|text| text.replace("\r\n", "\n")),
        ),
        templates: None,
    })
}

fn current(project: &ProjectCatalog) -> Fields {
    let mails = &project.project.mails;
    let fields = Fields::default()
        .with_choice("mails.locale", mails.locale)
        .with_some("mails.name", mails.name.as_ref())
        .with_some("mails.color", mails.color.as_ref())
        .with_some("mails.replyTo", mails.reply_to.as_ref().map(Email::as_str))
        .with_some("mails.footer", mails.footer.as_ref());
    KINDS
        .iter()
        .fold(fields, |fields, (kind, ..)| match switch(*kind) {
            Some(name) => fields.ticked(&name, mails.sends(*kind)),
            None => fields,
        })
}

async fn page(request: &PageRequest, refused: RejectedForm<'_>) -> PageResult {
    let id = request.project.project.id;
    let report = request.app.mails.report(id);
    let suppressions = request.app.mails.suppressions(id).await?;
    let stored = current(&request.project);
    let form = Form::of(refused, &stored);
    let body = html! {
        h1 { "Mails to customers" }
        @if !report.is_configured { p.note { "No mail server is set (" code { "mail.smtp_url" } "): nothing is sent." } }
        (settings(request, form))
        (templates(request))
        (state(request, &report))
        (suppressed(request, &suppressions))
    };
    Ok(form.response(request.show("Mails", &body)))
}

fn settings(request: &PageRequest, form: Form<'_>) -> Markup {
    let may = request.may(Privilege::Manage);
    let locales = LOCALES.map(|(locale, name)| (word(locale), name));
    html! { section.card {
        h2 { "What is sent" }
        p.lead { "To the wallet's own address, or that of its last buyer; one mail each time. " (layout::docs("mails", "More")) }
        (form.alert(&FIELDS))
        (form::conflict_of(form, &current(&request.project)))
        (form::guarded(request, may, &page_path(&request.project), &html! {
            (form::version(&current(&request.project)))
            @for (kind, label, hint) in KINDS { @if let Some(name) = switch(kind) { (form.tick(&FieldLabel(&name, label, hint))) } }
            (form.text(&FieldLabel("mails.name", "Sender's name", "Empty: the project's.")))
            (form.text(&FieldLabel("mails.replyTo", "Reply address", "Empty: answers go to the sender's address.")))
            div.pair {
                (form.text(&FieldLabel("mails.color", "Colour", "Such as #1a2b3c.")))
                (form.choice(&FieldLabel("mails.locale", "Language", "Where the buyer's is not known."), &locales))
            }
            (form.area(&FieldLabel("mails.footer", "Footer", "Such as your postal address.")))
            @if may { button.primary type="submit" { "Save" } }
        }))
    } }
}

fn templates(request: &PageRequest) -> Markup {
    let mails = &request.project.project.mails;
    html! { section.card {
        h2 { "Texts" }
        (table("Texts", &["Mail", "English", "German", "French"], &html! { @for (kind, label, _) in KINDS { tr {
            td { (label) }
            @for (locale, language) in LOCALES { td {
                a.nowrap href=(text_path(&request.project, kind, locale)) {
                    @if mails.template(kind, locale).is_some() { "Your own" } @else { "Built-in" }
                    span.hidden { ": " (label) ", " (language) }
                }
            } }
        } } }))
    } }
}

fn state(request: &PageRequest, report: &MailReport) -> Markup {
    html! { section.card #failed {
        h2 { "Not sent" }
        @if let Some(since) = report.unreachable_since { p.alert { "The mail server has not been reached since " (layout::when(since)) "." } }
        @if report.waiting > 0 { p { (layout::count(report.waiting)) " wait to be sent again." } }
        @if let (1.., Some(at)) = (report.progress.expired, report.progress.expired_at) {
            p { (layout::count(report.progress.expired)) " were too old once they could be sent, at last " (layout::when(at)) "." }
        }
        @if report.failed.is_empty() { p.empty { "No mail failed." } } @else {
            (table("Failed mails", &["Mail", "Wallet", "Last attempt", "Why"], &html! { @for mail in &report.failed { tr {
                td { (title(mail.kind)) }
                td { (wallet_link(request, mail.wallet)) }
                td.time { (layout::when(mail.at)) }
                td.wrap { (mail.error) }
            } } }))
        }
    } }
}

fn wallet_link(request: &PageRequest, wallet: WalletKey) -> Markup {
    html! { a href=(wallets::path(&request.project, wallet)) { code { (wallet) } } }
}

/// Why an address gets no mails, or none of some kinds.
fn reason(of: &Suppression) -> String {
    let unknown = of.no_mailbox.map(|code| format!("No such mailbox: {code}"));
    let kinds: Vec<_> = of.unsubscribed.iter().map(|kind| title(*kind)).collect();
    let left = (!kinds.is_empty()).then(|| format!("Unsubscribed: {}", kinds.join(", ")));
    let reasons: Vec<_> = unknown.into_iter().chain(left).collect();
    reasons.join("; ")
}

fn suppressed(request: &PageRequest, all: &[(AddressHash, Suppression)]) -> Markup {
    let (shown, links) = layout::paged(request.query(), &[], "suppressed", all, PAGE_SIZE);
    html! { section.card #suppressed {
        h2 { "Who gets none" }
        @if all.is_empty() { p.empty { "Nobody unsubscribed, and every address was accepted." } } @else {
            (table("Who gets no mails", &["Wallet", "Why", "Since", "~Send again"], &html! { @for (address, of) in shown { tr {
                td { (wallet_link(request, of.wallet)) }
                td.wrap { (reason(of)) }
                td.time { (layout::when(of.at)) }
                td { @if of.no_mailbox.is_some() && request.may(Privilege::Manage) {
                    form method="post" action={ (page_path(&request.project)) "/resume" } {
                        (form::token(request))
                        input type="hidden" name="key" value=(HEXLOWER.encode(address));
                        button.small type="submit" { "Send again" }
                    }
                } }
            } } }))
            (links)
        }
    } }
}

pub(super) async fn resume(request: FormPost<ResumeMails>) -> PageResult {
    let key = HEXLOWER.decode(request.fields.text("key").as_bytes()).ok();
    let key = key.and_then(|key| key.try_into().ok());
    let key: AddressHash = key.ok_or_else(|| Error::missing("key"))?;
    let back = page_path(&request.project);
    request.run(ResumeMails(key), &back, "resumed_mails").await
}
