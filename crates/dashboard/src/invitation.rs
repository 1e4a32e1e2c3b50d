//! `/dashboard/invitation`: an invited user sets a password, then a second factor. The second step uses the invitation
//! up, and signs in.

use axum::http::StatusCode;
use edge::permission::refused;
use identity::{RecoveryCodes, TotpSecret, User};
use outbound::invitation_mail::INVITATION;
use qrcodegen::{QrCode, QrCodeEcc};
use scrip_http::limits::TokenScope;

use super::{
    assets,
    page_request::audited,
    prelude::*,
    sign_in::{Begin, code_field},
};

pub(super) async fn show() -> Response {
    layout::alone(StatusCode::OK, "Invitation", &password_form("", None))
}

fn password_form(secret: &str, wrong: Option<&str>) -> Markup {
    html! {
        h1 { "Set your password" }
        @if let Some(wrong) = wrong { p.alert role="alert" { (wrong) } }
        form method="post" action=(INVITATION) {
            div.field {
                label for="secret" { "Invitation" }
                input #secret name="secret" type="password" autocomplete="off" required value=(secret)
                    aria-describedby="secret-hint";
                p.hint #secret-hint { "The part of the link after " code { "#" } ". Filled in already if scripts may run." }
            }
            div.field {
                label for="password" { "Password" }
                input #password name="password" type="password" autocomplete="new-password" required minlength="12"
                    aria-describedby="password-hint";
                p.hint #password-hint { "At least 12 characters. A password manager makes good ones." }
            }
            button.primary type="submit" { "Go on" }
        }
        script src=(assets::path("invitation.js")) defer {}
    }
}

fn qr_code(text: &str) -> Markup {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok();
    html! { @if let Some(code) = code {
        // Four modules of margin on each side.
        @let side = code.size().saturating_add(8);
        @let modules = (0..code.size()).flat_map(|y| (0..code.size()).map(move |x| (x, y)));
        @let dark = modules.filter(|(x, y)| code.get_module(*x, *y));
        @let path = dark.map(|(x, y)| format!("M{x} {y}h1v1h-1z")).collect::<String>();
        svg.qr role="img" aria-label="QR code of the key" viewBox={ "-4 -4 " (side) " " (side) } shape-rendering="crispEdges" {
            rect x="-4" y="-4" width=(side) height=(side) fill="#fff" {}
            path d=(path) fill="#000" {}
        }
    } }
}

fn code_form(user: &User, totp: &TotpSecret, ticket: &str, wrong: Option<&str>) -> Markup {
    let text = totp.text();
    let groups = text.as_bytes().chunks(4).map(String::from_utf8_lossy);
    let (spaced, address) = (
        groups.collect::<Vec<_>>().join(" "),
        totp.address(&user.email),
    );
    html! {
        h1 { "Set up your second factor" }
        @if let Some(wrong) = wrong { p.alert role="alert" { (wrong) } }
        p { "Scan this code with an authenticator app, or " a href=(address) { "open the app" } " on this device." }
        (qr_code(&address))
        p { "Or enter the key by hand:" }
        p { (layout::copyable(&spaced)) }
        form method="post" action=(INVITATION) {
            input type="hidden" name="ticket" value=(ticket);
            (code_field("The six digits that the app shows now."))
            button.primary type="submit" { "Finish" }
        }
    }
}

fn done(user: &User, codes: &RecoveryCodes) -> Markup {
    html! {
        h1 { "Welcome, " (verbatim(&user.name)) }
        p { "If you lose your device, each of these recovery codes signs you in once. Keep them in a safe place: they are shown only now." }
        ul { @for code in &codes.0 { li { code { (code) } } } }
        p { a.button href="/dashboard" { "Go to the dashboard" } }
    }
}

pub(super) async fn accept(session: Begin) -> Result<Response, Error> {
    let Begin { app, fields, .. } = &session;
    let (client, now) = (session.context.client, session.context.now);
    let people = &app.edge.people;
    let page = |status, body: &Markup| layout::alone(status, "Invitation", body);
    let wrong = if let Some(ticket) = fields.some("ticket") {
        match people.accept(ticket, fields.text("code"), now).await {
            Ok((user, codes)) => {
                let response = page(StatusCode::OK, &done(&user, &codes));
                let response = session.signed_in(Some(&user), response).await?;
                let who = user
                    .authority()
                    .ok_or(Error::new(ErrorCode::RoleForbidden))?;
                let what = "Accepted the invitation: set a password and a second factor";
                return Ok(audited(&who, response, what));
            }
            Err(identity::Error::WrongCode) => {
                let chosen = people.chosen(ticket, now);
                let (user, totp) = chosen.ok_or(Error::new(ErrorCode::InvitationNotFound))?;
                let wrong = Some("This code is not the one that the app should show now.");
                let form = code_form(&user, &totp, ticket, wrong);
                return Ok(page(StatusCode::UNAUTHORIZED, &form));
            }
            Err(error) => refused(error),
        }
    } else {
        let (secret, password) = (fields.text("secret"), fields.raw("password"));
        match people.choose_password(secret, password, now).await {
            Ok((user, totp, ticket)) => {
                let form = code_form(&user, &totp, &ticket, None);
                return Ok(page(StatusCode::OK, &form));
            }
            Err(error @ identity::Error::Invalid { .. }) => {
                let error = refused(error);
                let form = password_form(secret, Some(error.message()));
                return Ok(page(StatusCode::BAD_REQUEST, &form));
            }
            Err(error) => refused(error),
        }
    };
    if wrong.code() == ErrorCode::InvitationNotFound {
        let scope = TokenScope::Administration;
        let counted = app.edge.limits.wrong_token(scope, client, now).await;
        counted.map_err(|refusal| Error::limited(ErrorCode::RateLimited, refusal))?;
    }
    Err(wrong)
}
