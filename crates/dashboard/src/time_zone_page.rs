//! The form by which a browser's time zone is chosen.

use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse as _, Redirect},
};
use edge::Read;
use jiff::tz::{self, TimeZone};

use super::{
    cookies::Transport,
    next_page::own_page,
    prelude::*,
    time_zone::{COOKIE, PATH, name},
};

/// How long a browser keeps its choice.
const KEPT_SECONDS: i64 = 365 * 24 * 3600;

pub(super) async fn show(request: PageRequest<NoProject>) -> Response {
    let fields = Fields::default()
        .with("timeZone", name())
        .with("back", request.query().text("back"));
    page(&request, Form::new(&fields, None))
}

fn page(request: &PageRequest<NoProject>, form: Form<'_>) -> Response {
    let names: Vec<String> = tz::db().available().map(|name| name.to_string()).collect();
    let names: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &**name)).collect();
    let body = html! {
        h1 { "Time zone" }
        section.card {
            p { "In this browser, instants are shown and days are read in this zone. Charts count by days of UTC." }
            form method="post" action=(PATH) {
                (form::token(request))
                input type="hidden" name="back" value=(form.fields.text("back"));
                (form.choice(&FieldLabel("timeZone", "Time zone", ""), &names))
                button.primary type="submit" { "Save" }
            }
        }
    };
    form.response(request.show("Time zone", &body))
}

pub(super) async fn save(headers: HeaderMap, request: FormPost<Read, NoProject>) -> PageResult {
    let name = request.fields.text("timeZone");
    let Ok(zone) = TimeZone::get(name) else {
        let error = Error::invalid("timeZone", "There is no such time zone.");
        return Ok(page(&request, Form::new(&request.fields, Some(&error))));
    };
    let secure = Transport::of(&headers, &request.app.site) == Some(Transport::Tls);
    let secure = if secure { "; Secure" } else { "" };
    let name = zone.iana_name().unwrap_or("UTC");
    let cookie = format!(
        "{COOKIE}={name}; Path=/dashboard; HttpOnly; SameSite=Lax; Max-Age={KEPT_SECONDS}{secure}"
    );
    let cookie =
        HeaderValue::from_str(&cookie).map_err(|_| Error::new(ErrorCode::InternalError))?;
    let back = own_page(request.fields.text("back")).unwrap_or("/dashboard");
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to(back)).into_response())
}
