//! The page where the receiver of a mail unsubscribes from its kind. Only a POST does it, by the page's button or by a mail
//! program's one click (RFC 8058): what opens links to look at them unsubscribes nobody.

use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse as _, Response},
    routing::{get, post},
};
use domain::catalog::{MailKind, MailLocale};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use outbound::customer_mail::{CustomerMails, MailSubscription};

use super::result::{HEADERS, STYLE};

/// Sends its form here and does nothing else.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

/// Serves `/mails/{project}/unsubscribe/{token}`, and `/mails/{project}/subscribe/{token}`, which takes it back.
pub fn router<S>(mails: CustomerMails) -> Router<S> {
    Router::new()
        .route(
            "/mails/{project}/unsubscribe/{token}",
            get(show).post(leave),
        )
        .route("/mails/{project}/subscribe/{token}", post(stay))
        .with_state(mails)
}

type Link = Path<(String, String)>;

async fn show(State(mails): State<CustomerMails>, Path(link): Link) -> Response {
    let Some(of) = subscription(&mails, &link) else {
        return unknown();
    };
    let [title, text, button, ..] = words(of);
    page(of.locale, title, text, &form("", button))
}

async fn leave(State(mails): State<CustomerMails>, Path(link): Link) -> Response {
    let Some(of) = subscription(&mails, &link) else {
        return unknown();
    };
    if let Err(error) = mails.subscribe(&of, false).await {
        return error.into_response();
    }
    let [.., title, text, button] = words(of);
    let back = format!("../subscribe/{}", link.1);
    page(of.locale, title, text, &form(&back, button))
}

async fn stay(State(mails): State<CustomerMails>, Path(link): Link) -> Response {
    let Some(of) = subscription(&mails, &link) else {
        return unknown();
    };
    if let Err(error) = mails.subscribe(&of, true).await {
        return error.into_response();
    }
    let [title, text, button, ..] = words(of);
    let back = format!("../unsubscribe/{}", link.1);
    page(of.locale, title, text, &form(&back, button))
}

fn subscription(
    mails: &CustomerMails,
    (project, token): &(String, String),
) -> Option<MailSubscription> {
    mails.subscription(project.parse().ok()?, token)
}

fn form(action: &str, button: &str) -> Markup {
    html! { form method="post" action=(action) { p { button type="submit" { (button) } } } }
}

fn unknown() -> Response {
    let text = "It may have been cut off. Open it again from the mail.";
    let page = page(MailLocale::En, "This link is not complete", text, &html! {});
    (StatusCode::NOT_FOUND, page).into_response()
}

/// The title, text and button before, and after.
const fn words(of: MailSubscription) -> [&'static str; 6] {
    match (of.locale, of.kind) {
        (MailLocale::En, kind) => [
            "Unsubscribe",
            match kind {
                MailKind::LowBalance => "You get a mail when your balance is low.",
                MailKind::LimitReached => "You get a mail when a limit is reached.",
                _ => "You get a mail when your automatic top-up stops.",
            },
            "Unsubscribe",
            "You are unsubscribed",
            "You get no more mails of this kind.",
            "Undo",
        ],
        (MailLocale::De, kind) => [
            "Abbestellen",
            match kind {
                MailKind::LowBalance => {
                    "Sie erhalten eine Nachricht, wenn Ihr Guthaben niedrig ist."
                }
                MailKind::LimitReached => {
                    "Sie erhalten eine Nachricht, wenn ein Limit erreicht ist."
                }
                _ => "Sie erhalten eine Nachricht, wenn Ihre automatische Aufladung anhält.",
            },
            "Abbestellen",
            "Abbestellt",
            "Sie erhalten keine Nachrichten dieser Art mehr.",
            "Rückgängig machen",
        ],
        (MailLocale::Fr, kind) => [
            "Se désabonner",
            match kind {
                MailKind::LowBalance => "Vous recevez un message quand votre solde est bas.",
                MailKind::LimitReached => "Vous recevez un message quand une limite est atteinte.",
                _ => "Vous recevez un message quand votre recharge automatique s’arrête.",
            },
            "Se désabonner",
            "Vous êtes désabonné",
            "Vous ne recevrez plus de messages de ce type.",
            "Annuler",
        ],
    }
}

fn page(locale: MailLocale, title: &str, text: &str, more: &Markup) -> Response {
    let language = match locale {
        MailLocale::En => "en",
        MailLocale::De => "de",
        MailLocale::Fr => "fr",
    };
    let page = html! {
        (DOCTYPE)
        html lang=(language) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { h1 { (title) } p { (text) } (more) } }
        }
    };
    let mut response = (HEADERS, Html(page.into_string())).into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, POLICY);
    response
}
