//! The text of one mail in one language: to be changed, looked at, and sent as a test.

use axum::{
    http::{HeaderName, HeaderValue, header},
    response::{Html, IntoResponse as _},
};
use domain::{
    catalog::{MailChange, MailKind, MailLocale, MailTemplate},
    text::Email,
};
use operator::{TestMail, UpdateProject};
use outbound::customer_mail::{names, template};
use wire::field::FromText as _;

use super::{
    mails::{LOCALES, page_path, text_path, title},
    prelude::*,
};

/// A mail has no scripts, loads nothing, and is apart from the dashboard, in whose frame it is.
const FRAMED: [(HeaderName, HeaderValue); 2] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'self'",
        ),
    ),
    (
        header::X_FRAME_OPTIONS,
        HeaderValue::from_static("SAMEORIGIN"),
    ),
];

/// The mail that the path names.
fn named(request: &PageRequest) -> Result<(MailKind, MailLocale), Error> {
    let segment = |name| request.named::<String>(name, ErrorCode::RouteNotFound);
    let kind = MailKind::from_text(&segment("kind")?);
    let locale = MailLocale::from_text(&segment("locale")?);
    kind.zip(locale)
        .ok_or_else(|| Error::new(ErrorCode::RouteNotFound))
}

fn current(request: &PageRequest, (kind, locale): (MailKind, MailLocale)) -> Fields {
    let stored = template(&request.project, kind, locale);
    Fields::default()
        .with("subject", stored.subject)
        .with("text", stored.text)
        .with_some("html", stored.html)
}

pub(super) async fn show(request: PageRequest) -> PageResult {
    let mail = named(&request)?;
    Ok(page(&request, mail, None))
}

/// The mail with values that are made up.
pub(super) async fn preview(request: PageRequest) -> PageResult {
    let (kind, locale) = named(&request)?;
    let mail = request.app.mails.preview(&request.project, kind, locale);
    Ok((FRAMED, Html(mail.html)).into_response())
}

pub(super) async fn save(mut request: FormPost<UpdateProject>) -> PageResult {
    let app = Arc::clone(&request.app);
    let _saving = app.edge.saving.lock().await;
    request.reload()?;
    let (kind, locale) = named(&request)?;
    let fields = &request.fields;
    let saved = async {
        form::refuse_stale(fields, &current(&request, (kind, locale)))?;
        let mut templates = request.project.project.mails.templates.clone();
        templates.retain(|it| (it.kind, it.locale) != (kind, locale));
        if fields.text("action") != "reset" {
            // Browsers send line ends of their own.
            let text = |name| fields.text(name).replace("\r\n", "\n");
            templates.push(MailTemplate {
                kind,
                locale,
                subject: text("subject"),
                text: text("text"),
                html: Some(text("html")).filter(|html| !html.is_empty()),
            });
        }
        let mails = MailChange {
            templates: Some(templates),
            ..MailChange::default()
        };
        let back = text_path(&request.project, kind, locale);
        request
            .run(UpdateProject::of_mails(mails), &back, "saved")
            .await
    };
    Ok(saved.await.unwrap_or_else(|error| {
        // Its path names the template among all; here there is one.
        let field = error.param().and_then(|param| param.rsplit('.').next());
        let error = match field {
            Some(field @ ("subject" | "text" | "html")) => {
                Error::invalid(field, error.message().to_owned())
            }
            _ => error,
        };
        page(&request, (kind, locale), Some((fields, &error)))
    }))
}

pub(super) async fn send_test(request: FormPost<TestMail>) -> PageResult {
    let (kind, locale) = named(&request)?;
    let sent = async {
        let to = Email::new(request.fields.text("to"));
        let to = to.map_err(|error| Error::text("to", error))?;
        let back = text_path(&request.project, kind, locale);
        request
            .run(TestMail(kind, locale, to), &back, "mailed")
            .await
    };
    Ok(sent
        .await
        .unwrap_or_else(|error| page(&request, (kind, locale), Some((&request.fields, &error)))))
}

fn page(
    request: &PageRequest,
    mail: (MailKind, MailLocale),
    refused: RejectedForm<'_>,
) -> Response {
    let (kind, locale) = mail;
    let path = text_path(&request.project, kind, locale);
    let stored = current(request, mail);
    let is_test = refused.is_some_and(|(fields, _)| fields.some("to").is_some());
    let form = Form::of(refused.filter(|_| !is_test), &stored);
    let own = request.authority.user();
    let own = own.and_then(|user| request.app.edge.people.user(user).ok());
    let to = Fields::default().with_some("to", own.map(|user| user.email.clone()));
    let test = Form::of(refused.filter(|_| is_test), &to);
    let is_own = request
        .project
        .project
        .mails
        .template(kind, locale)
        .is_some();
    let text = request.app.mails.preview(&request.project, kind, locale);
    let known: Vec<_> = names(&request.project, kind)
        .iter()
        .map(|name| format!("{{{{ {name} }}}}"))
        .collect();
    let name = title(kind);
    let language = LOCALES.iter().find(|(of, _)| *of == locale);
    let language = language.map_or("", |(_, name)| name);
    let may = request.may(Privilege::Manage);
    let body = html! {
        div.head { h1 { (name) } span.badge { @if is_own { "Your own" } @else { "Built-in" } } }
        nav.ranges aria-label="Languages" {
            a href=(page_path(&request.project)) { "All mails" }
            @for (other, language) in LOCALES {
                a href=(text_path(&request.project, kind, other)) aria-current=[(other == locale).then_some("true")] { (language) }
            }
        }
        section.card {
            h2 { "Preview" }
            p { b { (text.subject) } }
            iframe src={ (path) "/preview" } title={ "Preview: " (name) ", " (language) } sandbox="" loading="lazy" {}
            details { summary { "As plain text" } pre.plain { (text.text) } }
        }
        section.card.template {
            h2 { "Text" }
            p.hint { "Values: " (known.join(", ")) ". What does not apply is empty: {% if name %}…{% endif %}." }
            (form.alert(&["subject", "text", "html"]))
            (form::conflict_of(form, &stored))
            (form::guarded(request, may, &path, &html! {
                (form::version(&stored))
                (form.text(&FieldLabel("subject", "Subject", "")))
                (form.area(&FieldLabel("text", "Plain text", "")))
                (form.area(&FieldLabel("html", "HTML", "What is between heading and footer; the preview loads no pictures. Empty: the paragraphs of the plain text.")))
                @if may { div.row {
                    button.primary name="action" value="save" type="submit" { "Save" }
                    @if is_own { button name="action" value="reset" type="submit" { "Use the built-in text" } }
                } }
            }))
        }
        @if may { section.card {
            h2 { "Test" }
            (test.alert(&["to"]))
            form.row method="post" action={ (path) "/test" } {
                (form::token(request))
                (test.text(&FieldLabel("to", "To", "")))
                button type="submit" { "Send a test" }
            }
        } }
    };
    let page = request.show(name, &body);
    test.response(form.response(page))
}
