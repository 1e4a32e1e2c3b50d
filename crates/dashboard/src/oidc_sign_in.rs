//! Signs in by an identity provider. The callback is a navigation from another site: a sealed cookie, valid once, proves
//! that this browser began it.

use axum::{
    extract::{Request, State},
    http::{StatusCode, Uri, header},
    response::{IntoResponse as _, Redirect},
};
use edge::{context::Context, refused};
use identity::{
    BoundIdentity, ProviderSignIn, User,
    oidc::{Error as OidcError, Identity, Oidc, ProviderAnswer},
};
use operations::audit::AuditEntry;
use scrip_http::limits::TokenScope;
use url::form_urlencoded;

use super::{
    cookies::{self, ATTEMPT, Transport},
    next_page::{NEXT, own_page},
    prelude::*,
    sign_in::{Begin, forms, noted},
};

/// Where a sign-in by the identity provider begins.
pub(super) const BEGIN: &str = "/dashboard/sign-in/oidc";
/// Where the identity provider sends browsers back to, behind the dashboard's address.
pub const OIDC_CALLBACK: &str = "/dashboard/sign-in/oidc/callback";

/// The link to the identity provider, where there is one.
pub(super) fn button(app: &App, next: Option<&str>) -> Markup {
    let query = next.map(|next| {
        let mut query = form_urlencoded::Serializer::for_suffix("?".to_owned(), 1);
        query.append_pair(NEXT, next).finish()
    });
    html! { @if let Some(oidc) = &app.oidc {
        p { a.button.primary href={ (BEGIN) (query.unwrap_or_default()) } { "Sign in with " (verbatim(&oidc.name())) } }
    } }
}

fn provider(app: &App) -> Result<&Oidc, Error> {
    let oidc = app.oidc.as_deref();
    oidc.ok_or_else(|| Error::new(ErrorCode::RouteNotFound))
}

pub(super) async fn begin(
    State(app): State<App>,
    context: Context,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let oidc = provider(&app)?;
    let now = context.now;
    let counted = app.edge.limits.count_admin_request(context.client, now);
    counted.map_err(|refusal| Error::limited(ErrorCode::RateLimited, refusal))?;
    let Some(transport) = Transport::of(&parts.headers, &app.site) else {
        return Ok(in_the_clear());
    };
    let query = fields(&parts.uri);
    let begun = match oidc
        .begin(own_page(query.text(NEXT)), app.edge.clock.wall())
        .await
    {
        Ok(begun) => begun,
        Err(error) => return Ok(failure(&app, &query, &error)),
    };
    let cookie = transport.written(ATTEMPT, &begun.sealed, begun.seconds);
    let cookie = cookie.ok_or(Error::new(ErrorCode::InternalError))?;
    let mut response = Redirect::to(begun.url.as_str()).into_response();
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response)
}

pub(super) async fn finish(State(app): State<App>, request: Request) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let context = Context::of(&parts)?;
    let oidc = provider(&app)?;
    let (client, now) = (context.client, context.now);
    let counted = app.edge.limits.count_admin_request(client, now);
    counted.map_err(|refusal| Error::limited(ErrorCode::RateLimited, refusal))?;
    let Some(transport) = Transport::of(&parts.headers, &app.site) else {
        return Ok(in_the_clear());
    };
    let query = fields(&parts.uri);
    // Each answer that is checked costs the provider a request.
    let failures = app
        .edge
        .limits
        .wrong_tokens(TokenScope::IdentityProvider, client, now);
    failures.map_err(|refusal| Error::limited(ErrorCode::RateLimited, refusal))?;
    let answer = ProviderAnswer {
        state: query.text("state"),
        code: query.some("code"),
        issuer: query.some("iss"),
        client: client.site().address(),
    };
    let sealed = cookies::kept(&parts.headers, &app.site, ATTEMPT).unwrap_or_default();
    let people = &app.edge.people;
    let is_known = |subject: &str| people.by_identity(&bound(oidc.issuer(), subject)).is_some();
    let wall = app.edge.clock.wall();
    let mut response = match oidc.finish(sealed, answer, is_known, wall).await {
        Ok((identity, next)) => {
            let who = recognised(&app, &identity).await?;
            let next = next.unwrap_or_default();
            let session = Begin {
                app: app.clone(),
                headers: parts.headers.clone(),
                context: context.clone(),
                transport,
                fields: Fields::default().with(NEXT, next),
            };
            match who {
                Ok((user, is_new)) => {
                    let response = session.begin_for(&user).await?;
                    let way = match is_new {
                        true => "Signed in for the first time, and is bound to",
                        false => "Signed in by",
                    };
                    let what = format!("{way} subject {} of {}", identity.subject, identity.issuer);
                    written(&app, context, &user, &what).await;
                    response
                }
                Err(wrong) => {
                    failed(&app, context).await?;
                    layout::alone(
                        StatusCode::FORBIDDEN,
                        "Sign in",
                        &forms(&app, &session.fields, Some(wrong)),
                    )
                }
            }
        }
        Err(error) => {
            if !matches!(
                error,
                OidcError::Busy | OidcError::Unavailable(_) | OidcError::Unfit(_)
            ) {
                // Beyond the limit nothing is logged: no stranger can fill the log.
                failed(&app, context).await?;
                tracing::warn!(client.address = %client, %error, "A sign-in by the identity provider failed");
            }
            failure(&app, &Fields::default(), &error)
        }
    };
    for cookie in Transport::no_cookies(ATTEMPT) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

fn fields(uri: &Uri) -> Fields {
    Fields::read(uri.query().unwrap_or_default().as_bytes())
}

fn bound(issuer: &str, subject: &str) -> BoundIdentity {
    BoundIdentity {
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
    }
}

/// Whom the identity is of, and whether it was bound just now; else why they do not come in.
async fn recognised(
    app: &App,
    identity: &Identity,
) -> Result<Result<(Arc<User>, bool), &'static str>, Error> {
    let email = identity.email.as_deref();
    let recognised = app
        .edge
        .people
        .recognise(bound(&identity.issuer, &identity.subject), email);
    Ok(match recognised.await.map_err(refused)? {
        ProviderSignIn::Done(user) => Ok((user, false)),
        ProviderSignIn::Bound(user) => Ok((user, true)),
        ProviderSignIn::AnotherIdentity => Err(
            "The account with this e-mail address belongs to another person at the identity provider. An owner can \
             unbind it.",
        ),
        ProviderSignIn::Stranger if email.is_none() => Err(
            "The identity provider has not verified an e-mail address of yours, so that nobody can be recognised by it.",
        ),
        ProviderSignIn::Stranger => Err(
            "Nobody with this e-mail address was invited, or they are kept out. Ask an owner for an invitation.",
        ),
    })
}

/// The page of a sign-in that did not succeed, with the forms to begin again.
fn failure(app: &App, fields: &Fields, error: &OidcError) -> Response {
    let (status, wrong) = match error {
        OidcError::NoAttempt => (
            StatusCode::UNAUTHORIZED,
            "This sign-in was not begun in this browser at this address, or took more than ten minutes, or was used before. \
             Begin again.",
        ),
        OidcError::Denied => (
            StatusCode::UNAUTHORIZED,
            "The identity provider did not let you in, or you declined.",
        ),
        OidcError::Untrusted(_) => (
            StatusCode::UNAUTHORIZED,
            "The identity provider's answer is not valid. The server's log has the reason.",
        ),
        OidcError::Unavailable(_) | OidcError::Unfit(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "The identity provider cannot be asked now. Try again in a moment, or sign in another way.",
        ),
        OidcError::Busy => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many sign-ins are under way. Try again in a moment.",
        ),
    };
    layout::alone(status, "Sign in", &forms(app, fields, Some(wrong)))
}

fn in_the_clear() -> Response {
    let message = "A session would be sent where others can read it. Open the dashboard over https, or on the \
                   server's own machine.";
    layout::apart(StatusCode::FORBIDDEN, "Not over plain HTTP", message)
}

/// Counts a failed sign-in, and notes it in the logs.
async fn failed(app: &App, context: &Context) -> Result<(), Error> {
    let (client, now) = (context.client, context.now);
    let scope = TokenScope::IdentityProvider;
    let counted = app.edge.limits.wrong_token(scope, client, now).await;
    counted.map_err(|refusal| Error::limited(ErrorCode::RateLimited, refusal))?;
    noted(app, client, now).await;
    Ok(())
}

/// Writes a sign-in into the audit log, which otherwise has no requests that only read.
async fn written(app: &App, context: &Context, user: &User, what: &str) {
    let who = user.authority().map(|authority| authority.name());
    let from = context.client.to_string();
    let entry = AuditEntry::done(context.now, who.unwrap_or_default(), what, from);
    if let Err(error) = app.edge.audit.add(entry.about(None, "people")).await {
        tracing::error!(%error, "A sign-in could not be written into the audit log");
    }
}
