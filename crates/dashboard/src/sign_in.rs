//! Signs in, with a name and a password and then a second factor, with the administrator's token, or by a link; and out.

use axum::{
    extract::{FromRef, FromRequest, Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Redirect},
};
use catalog::sha256;
use edge::{Read, body::FormBody, context::Context, refused};
use identity::{Authority, KNOWN_BROWSER_SECONDS, Origin, Queued, SignIn, User};
use scrip_http::limits::{Client, TokenScope};
use subtle::ConstantTimeEq as _;

use super::{
    cookies::{self, Transport},
    next_page::{NEXT, own_page},
    oidc_sign_in,
    page_request::{SIGN_IN, audited, foreign},
    prelude::*,
};

/// `GET /dashboard/sign-in`: the form. A link needs a button press as well, so that a program that prefetches
/// addresses does not use it up.
pub(super) async fn show(State(app): State<App>, uri: Uri) -> Response {
    let query = Fields::read(uri.query().unwrap_or_default().as_bytes());
    let body = match query.some("link") {
        None => forms(&app, &query, None),
        Some(link) => by_link(link),
    };
    layout::alone(StatusCode::OK, "Sign in", &body)
}

fn next(fields: &Fields) -> Markup {
    html! { @if let Some(path) = own_page(fields.text(NEXT)) { input type="hidden" name=(NEXT) value=(path); } }
}

/// Both forms; that for people first, unless there are none yet.
pub(super) fn forms(app: &App, fields: &Fields, wrong: Option<&str>) -> Markup {
    let none = app.edge.people.users().is_empty();
    html! {
        h1 { "Sign in" }
        @if let Some(wrong) = wrong { p.alert role="alert" { (wrong) } }
        (oidc_sign_in::button(app, own_page(fields.text(NEXT))))
        @if !none {
            form method="post" action=(SIGN_IN) {
                (next(fields))
                div.field {
                    label for="email" { "E-mail address" }
                    input #email name="email" type="email" autocomplete="username" required autofocus
                        value=(fields.text("email"));
                }
                div.field {
                    label for="password" { "Password" }
                    input #password name="password" type="password" autocomplete="current-password" required;
                }
                button.primary type="submit" { "Sign in" }
            }
        }
        details open[none] {
            summary { "With the administrator's token" }
            form method="post" action=(SIGN_IN) {
                (next(fields))
                div.field {
                    label for="token" { "Administrator token" }
                    input #token name="token" type="password" autocomplete="off" required
                        autofocus[none] aria-describedby="token-hint";
                    p.hint #token-hint {
                        "The value of " code { "SCRIP_ADMIN_TOKEN" } " or of the file that " code { "SCRIP_ADMIN_TOKEN_FILE" } " names; otherwise the first start printed it, or wrote it to " code { "admin-token" } " in the data directory. See " (layout::docs("self-hosting", "self-hosting")) "."
                    }
                }
                button.primary[none] type="submit" { "Sign in with the token" }
            }
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

fn by_code(ticket: &str, fields: &Fields, wrong: Option<&str>) -> Markup {
    html! {
        h1 { "Sign in" }
        @if let Some(wrong) = wrong { p.alert role="alert" { (wrong) } }
        form method="post" action=(SIGN_IN) {
            (next(fields))
            input type="hidden" name="ticket" value=(ticket);
            (code_field("The code that your authenticator app shows, or one of your recovery codes."))
            button.primary type="submit" { "Sign in" }
        }
    }
}

pub(super) fn code_field(hint: &str) -> Markup {
    html! {
        div.field {
            label for="code" { "Code" }
            input #code name="code" type="text" autocomplete="one-time-code" required autofocus
                aria-describedby="code-hint";
            p.hint #code-hint { (hint) }
        }
    }
}

pub(super) async fn enter(session: Begin) -> Result<Response, Error> {
    let Begin { app, fields, .. } = &session;
    let (client, now) = (session.context.client, session.context.now);
    let page = |status, body: &Markup| layout::alone(status, "Sign in", body);
    let people = &app.edge.people;
    if let Some(ticket) = fields.some("ticket") {
        return match people.check_code(ticket, fields.text("code"), now).await {
            Ok(SignIn::Done(user)) => {
                let authority = user
                    .authority()
                    .ok_or(Error::new(ErrorCode::RoleForbidden))?;
                let way = "with a password";
                session.begin(Some(&user), &authority, way).await
            }
            Ok(SignIn::Over) => {
                let wrong = Some("That took too long. Sign in again.");
                Ok(page(StatusCode::UNAUTHORIZED, &forms(app, fields, wrong)))
            }
            Ok(SignIn::Wrong) => {
                failed(app, ticket, client, now).await?;
                let wrong = Some("This code is not valid, or it was used before.");
                Ok(page(
                    StatusCode::UNAUTHORIZED,
                    &by_code(ticket, fields, wrong),
                ))
            }
            Err(error) => Err(refused(error)),
        };
    }
    if let Some(email) = fields.some("email") {
        let password = fields.raw("password");
        let known = cookies::kept(&session.headers, &app.site, cookies::BROWSER);
        let known = known.and_then(|token| people.knows_browser(token, email, now));
        let who = known.unwrap_or_else(|| stranger(client));
        let checked = people.check_password(email, password, who, now).await;
        if let Some(ticket) = checked.map_err(refused)? {
            return Ok(page(StatusCode::OK, &by_code(&ticket, fields, None)));
        }
        failed(app, email, client, now).await?;
        let wrong = Some("This e-mail address or password is wrong.");
        return Ok(page(StatusCode::UNAUTHORIZED, &forms(app, fields, wrong)));
    }
    let (way, good) = match fields.some("link") {
        Some(link) => ("by link", people.sessions.take_link(link, now)),
        None => {
            let hash = sha256(fields.text("token").as_bytes());
            let good = hash.ct_eq(&app.edge.admin_token_sha256).into();
            ("by token", good)
        }
    };
    if good {
        return session.begin(None, &Authority::administrator(), way).await;
    }
    let scope = TokenScope::Administration;
    let counted = app.edge.limits.wrong_token(scope, client, now).await;
    counted.map_err(|refusal| Error::limited(ErrorCode::RateLimited, refusal))?;
    noted(app, client, now).await;
    let wrong = match way {
        "by link" => "This link was used before or has expired. Sign in with the token instead.",
        _ => "That is not the administrator's token.",
    };
    Ok(page(
        StatusCode::UNAUTHORIZED,
        &forms(app, fields, Some(wrong)),
    ))
}

fn number(text: &str) -> u64 {
    let hash = sha256(text.as_bytes());
    let number = hash.first_chunk().copied().map(u64::from_be_bytes);
    number.unwrap_or_default()
}

/// The place in the queue for passwords of somebody who did not sign in here before.
pub(super) fn stranger(client: Client) -> Queued {
    Queued::Stranger(number(&client.site().to_string()))
}

/// Counts a failed sign-in to an account, and takes its time.
async fn failed(app: &App, account: &str, client: Client, now: Timestamp) -> Result<(), Error> {
    let account = number(&account.to_ascii_lowercase());
    let counted = app.edge.limits.wrong_sign_in(account, client, now).await;
    counted.map_err(|refusal| Error::limited(ErrorCode::RateLimited, refusal))?;
    noted(app, client, now).await;
    Ok(())
}

/// Notes a failed sign-in in the logs.
pub(super) async fn noted(app: &App, client: Client, now: Timestamp) {
    tracing::warn!(client.address = %client, "A sign-in to the dashboard failed");
    if let Err(error) = app.edge.audit.sign_in_failed(client.to_string(), now).await {
        tracing::error!(%error, "A failed sign-in could not be written into the audit log");
    }
}

/// The begin of a session: from where, over what, and the fields of the form.
pub(super) struct Begin {
    pub(super) app: App,
    pub(super) headers: HeaderMap,
    pub(super) context: Context,
    pub(super) transport: Transport,
    pub(super) fields: Fields,
}

impl<T: Sync> FromRequest<T> for Begin
where
    App: FromRef<T>,
{
    type Rejection = Response;

    /// The form is not read if it comes from elsewhere, or over what others can read.
    async fn from_request(request: Request, state: &T) -> Result<Self, Response> {
        let app = App::from_ref(state);
        let (parts, body) = request.into_parts();
        let context = Context::of(&parts).map_err(IntoResponse::into_response)?;
        if !cookies::is_own(&parts.headers, &app.site) {
            return Err(foreign());
        }
        let transport = Transport::of(&parts.headers, &app.site).ok_or_else(|| {
            let message = "Secrets would be sent where others can read them. Open the dashboard over https, or on \
                           the server's own machine (ssh -L 8787:127.0.0.1:8787).";
            layout::apart(StatusCode::FORBIDDEN, "Not over plain HTTP", message)
        })?;
        let body = FormBody::read(&parts.headers, body, &app.edge.bodies).await;
        let fields = Fields::read(body.map_err(IntoResponse::into_response)?.bytes());
        Ok(Self {
            context: context.clone(),
            headers: parts.headers,
            app,
            transport,
            fields,
        })
    }
}

impl Begin {
    /// Begins a session, and leads to the page that was asked for.
    async fn begin(
        &self,
        user: Option<&User>,
        who: &Authority,
        way: &str,
    ) -> Result<Response, Error> {
        let next = own_page(self.fields.text(NEXT)).unwrap_or("/dashboard");
        let response = Redirect::to(next).into_response();
        let response = self.signed_in(user, response).await?;
        Ok(audited(who, response, format!("Signed in {way}")))
    }

    /// Begins a session of a user whom an identity provider has identified, and leads to the page that was asked for.
    pub(super) async fn begin_for(&self, user: &User) -> Result<Response, Error> {
        let next = own_page(self.fields.text(NEXT)).unwrap_or("/dashboard");
        self.signed_in(Some(user), Redirect::to(next).into_response())
            .await
    }

    /// Begins a session: its cookie is added to the response.
    pub(super) async fn signed_in(
        &self,
        user: Option<&User>,
        mut response: Response,
    ) -> Result<Response, Error> {
        let (edge, now) = (&self.app.edge, self.context.now);
        let counted = edge.limits.count_admin_request(self.context.client, now);
        counted.map_err(|refusal| Error::limited(ErrorCode::RateLimited, refusal))?;
        let origin = origin(&self.headers, &self.context);
        let id = user.map(|user| user.id);
        let name = edge.people.sessions.begin(id, origin, now).await;
        let cookie = self.transport.cookie(&name.map_err(refused)?);
        let cookie = cookie.ok_or(Error::new(ErrorCode::InternalError))?;
        response.headers_mut().append(header::SET_COOKIE, cookie);
        if let Some(user) = user {
            let token = edge.people.browser_token(user, now);
            let seconds = KNOWN_BROWSER_SECONDS;
            let cookie = self.transport.written(cookies::BROWSER, &token, seconds);
            if let Some(cookie) = cookie {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
        }
        Ok(response)
    }
}

fn origin(headers: &HeaderMap, context: &Context) -> Origin {
    let browser = headers.get(header::USER_AGENT);
    let browser = browser.and_then(|value| value.to_str().ok());
    Origin {
        host: cookies::host(headers).to_owned(),
        address: context.client.to_string(),
        browser: browser.unwrap_or_default().to_owned(),
    }
}

pub(super) async fn leave(request: FormPost<Read, NoProject>) -> Result<Response, Error> {
    let sessions = &request.app.edge.people.sessions;
    let ended = sessions.end(&[request.signed.id]).await;
    ended.map_err(refused)?;
    let mut response = Redirect::to(SIGN_IN).into_response();
    for cookie in Transport::no_cookies(cookies::SESSION) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(audited(&request.authority, response, "Signed out"))
}
