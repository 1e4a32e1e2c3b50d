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
use outbound::customer_mail::CustomerMails;

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
    answer(&mails, link, None).await
}

async fn leave(State(mails): State<CustomerMails>, Path(link): Link) -> Response {
    answer(&mails, link, Some(false)).await
}

async fn stay(State(mails): State<CustomerMails>, Path(link): Link) -> Response {
    answer(&mails, link, Some(true)).await
}

/// Says how it is, after a change if mails are wanted or not from now on, and offers the opposite.
async fn answer(
    mails: &CustomerMails,
    (project, token): (String, String),
    wanted: Option<bool>,
) -> Response {
    let project = project.parse().ok();
    let Some(of) = project.and_then(|project| mails.subscription(project, &token)) else {
        let text = "It may have been cut off. Open it again from the mail.";
        let page = page(MailLocale::En, "This link is not complete", text, &html! {});
        return (StatusCode::NOT_FOUND, page).into_response();
    };
    if let Some(wanted) = wanted
        && let Err(error) = mails.subscribe(&of, wanted).await
    {
        return error.into_response();
    }
    let words = words(of.locale);
    let (title, text, button, action) = match (wanted, of.kind) {
        (Some(false), _) => (words.left, words.nothing, words.undo, "subscribe"),
        (_, MailKind::LowBalance) => (words.leave, words.low_balance, words.leave, "unsubscribe"),
        (_, MailKind::LimitReached) => (words.leave, words.limit, words.leave, "unsubscribe"),
        _ => (words.leave, words.top_up, words.leave, "unsubscribe"),
    };
    let form = html! { form method="post" action={ "../" (action) "/" (token) } { p { button type="submit" { (button) } } } };
    page(of.locale, title, text, &form)
}

/// What the page says in a language.
struct Words {
    language: &'static str,
    /// The title and the button before.
    leave: &'static str,
    low_balance: &'static str,
    limit: &'static str,
    top_up: &'static str,
    /// The title after, what it means, and the button that takes it back.
    left: &'static str,
    nothing: &'static str,
    undo: &'static str,
}

const fn words(locale: MailLocale) -> Words {
    match locale {
        MailLocale::En => Words {
            language: "en",
            leave: "Unsubscribe",
            low_balance: "You get a mail when your balance is low.",
            limit: "You get a mail when a limit is reached.",
            top_up: "You get a mail when your automatic top-up stops.",
            left: "You are unsubscribed",
            nothing: "You get no more mails of this kind.",
            undo: "Undo",
        },
        MailLocale::De => Words {
            language: "de",
            leave: "Abbestellen",
            low_balance: "Sie erhalten eine Nachricht, wenn Ihr Guthaben niedrig ist.",
            limit: "Sie erhalten eine Nachricht, wenn ein Limit erreicht ist.",
            top_up: "Sie erhalten eine Nachricht, wenn Ihre automatische Aufladung anhält.",
            left: "Abbestellt",
            nothing: "Sie erhalten keine Nachrichten dieser Art mehr.",
            undo: "Rückgängig machen",
        },
        MailLocale::Fr => Words {
            language: "fr",
            leave: "Se désabonner",
            low_balance: "Vous recevez un message quand votre solde est bas.",
            limit: "Vous recevez un message quand une limite est atteinte.",
            top_up: "Vous recevez un message quand votre recharge automatique s’arrête.",
            left: "Vous êtes désabonné",
            nothing: "Vous ne recevrez plus de messages de ce type.",
            undo: "Annuler",
        },
    }
}

fn page(locale: MailLocale, title: &str, text: &str, more: &Markup) -> Response {
    let language = words(locale).language;
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
