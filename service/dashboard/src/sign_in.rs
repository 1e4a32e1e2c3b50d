//! Signs in, with the administrator's token or by a link, and out.

use axum::{
    extract::{Request, State},
    http::{StatusCode, Uri, header, request::Parts},
    response::{IntoResponse, Redirect, Response},
};
use catalog::sha256;
use edge::{Read, body::FormBody, context::Context, refused};
use limits::TokenScope;
use maud::{Markup, html};
use people::{Authority, Origin};
use subtle::ConstantTimeEq as _;
use wire::{Error, ErrorCode};

use super::{
    cookies::{self, Transport},
    fields::Fields,
    layout,
    page_request::{FormPost, SIGN_IN, audited, foreign},
};
use crate::state::App;

/// `GET /dashboard/sign-in`: the form. A link needs a button press as well, so that a program that prefetches
/// addresses does not use it up.
pub(super) async fn show(uri: Uri) -> Response {
    let query = Fields::read(uri.query().unwrap_or_default().as_bytes());
    let body = match query.some("link") {
        None => by_token(None),
        Some(link) => by_link(link),
    };
    layout::alone(StatusCode::OK, "Sign in", &body)
}

fn by_token(wrong: Option<&str>) -> Markup {
    html! {
        h1 { "Sign in" }
        @if let Some(wrong) = wrong { p.alert role="alert" { (wrong) } }
        form method="post" action=(SIGN_IN) {
            div.field {
                label for="token" { "Administrator token" }
                input #token name="token" type="password" autocomplete="current-password" required
                    autofocus aria-describedby="token-hint";
                p.hint #token-hint {
                    "The value of " code { "SCRIP_ADMIN_TOKEN" } ", or the token that the server printed at its first start."
                }
            }
            button.primary type="submit" { "Sign in" }
        }
    }
}

fn by_link(link: &str) -> Markup {
    html! {
        h1 { "Sign in" }
        p { "This link signs you in once." }
        form method="post" action=(SIGN_IN) {
            input type="hidden" name="link" value=(link);
            button.primary type="submit" autofocus { "Sign in" }
        }
    }
}

/// `POST /dashboard/sign-in`: signs in.
pub(super) async fn enter(State(app): State<App>, request: Request) -> Result<Response, Error> {
    let (parts, body) = request.into_parts();
    let context = Context::of(&parts)?;
    if !cookies::is_own(&parts.headers, &app.site) {
        return Ok(foreign());
    }
    let Some(cookies) = Transport::of(&parts.headers, &app.site) else {
        let message = "The token would be sent where others can read it. Open the dashboard over https, or on \
                    the server's own machine (ssh -L 8787:127.0.0.1:8787).";
        return Ok(layout::apart(
            StatusCode::FORBIDDEN,
            "Not over plain HTTP",
            message,
        ));
    };
    let limited = |refusal| Error::limited(ErrorCode::RateLimited, refusal);
    let (scope, client, now) = (TokenScope::Administration, context.client, context.now);
    let fields = FormBody::read(&parts.headers, body, &app.edge.bodies).await?;
    let fields = Fields::read(fields.bytes());
    let (way, good) = match fields.some("link") {
        Some(link) => ("by link", app.edge.people.sessions.take_link(link, now)),
        None => {
            let hash = sha256(fields.text("token").as_bytes());
            ("by token", hash.ct_eq(&app.edge.admin_token_sha256).into())
        }
    };
    if !good {
        let counted = app.edge.limits.wrong_token(scope, client, now).await;
        counted.map_err(limited)?;
        tracing::warn!(client.address = %client, "A sign-in to the dashboard failed");
        let wrong = match way {
            "by link" => {
                "This link was used before or has expired. Sign in with the token instead."
            }
            _ => "That is not the administrator's token.",
        };
        let page = by_token(Some(wrong));
        return Ok(layout::alone(StatusCode::UNAUTHORIZED, "Sign in", &page));
    }
    app.edge
        .limits
        .count_admin_request(client, now)
        .map_err(limited)?;
    let origin = origin(&parts, context);
    let name = app.edge.people.sessions.begin(None, origin, now).await;
    let name = name.map_err(refused)?;
    let cookie = cookies
        .cookie(&name)
        .ok_or(Error::new(ErrorCode::InternalError))?;
    let mut response = Redirect::to("/dashboard").into_response();
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    let who = Authority::administrator();
    Ok(audited(&who, response, format!("Signed in {way}")))
}

/// Where a session is begun.
fn origin(parts: &Parts, context: &Context) -> Origin {
    let browser = parts.headers.get(header::USER_AGENT);
    let browser = browser.and_then(|value| value.to_str().ok());
    Origin {
        host: cookies::host(&parts.headers).to_owned(),
        address: context.client.to_string(),
        browser: browser.unwrap_or_default().to_owned(),
    }
}

/// `POST /dashboard/sign-out`: signs out.
pub(super) async fn leave(
    State(app): State<App>,
    posted: FormPost<Read>,
) -> Result<Response, Error> {
    let request = posted.request;
    let ended = app.edge.people.sessions.end(&[request.signed.id()]).await;
    ended.map_err(refused)?;
    let mut response = Redirect::to(SIGN_IN).into_response();
    for cookie in Transport::no_cookies() {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(request.audited(response, "Signed out"))
}
