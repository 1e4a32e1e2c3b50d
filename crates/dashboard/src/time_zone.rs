//! The time zone in which pages show instants and forms read days. A cookie names it: a script sets it to the browser's
//! own zone for a session, a form for longer. Without it the zone is UTC.

use axum::{extract::Request, middleware::Next, response::Response};
use domain::Timestamp;
use jiff::{civil::Date, tz::TimeZone};
use maud::{Markup, html};

use super::cookies;

pub(super) const PATH: &str = "/dashboard/time-zone";
pub(super) const COOKIE: &str = "scrip_time_zone";

tokio::task_local! {
    /// The zone of the request that is being answered, and its path and query.
    static CHOSEN: (Option<TimeZone>, String);
}

/// Answers a request in the zone that its browser chose.
pub(super) async fn choose(request: Request, next: Next) -> Response {
    let named = cookies::value(request.headers(), COOKIE);
    let zone = named.and_then(|name| TimeZone::get(name).ok());
    let chosen = (zone, request.uri().to_string());
    CHOSEN.scope(chosen, next.run(request)).await
}

/// The zone of the request that is being answered.
fn chosen() -> TimeZone {
    let zone = CHOSEN.try_with(|(zone, _)| zone.clone());
    zone.ok().flatten().unwrap_or(TimeZone::UTC)
}

/// The line below each page that names the zone and leads to its form.
pub(super) fn footer() -> Markup {
    let chosen = CHOSEN.try_with(|(zone, path)| (zone.is_none(), path.clone()));
    let (is_default, path) = chosen.unwrap_or_default();
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("back", &path);
    html! {
        footer {
            "Times are in " span #zone data-default[is_default] { (name()) } ". "
            a href={ (PATH) "?" (query.finish()) } { "Change" }
            " · " a href="/docs/dashboard" { "About the dashboard" }
        }
    }
}

/// The zone's name, such as `Europe/Berlin`.
pub(super) fn name() -> String {
    let zone = chosen();
    zone.iana_name().unwrap_or("UTC").to_owned()
}

pub(super) fn written(at: Timestamp) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(at.0).ok()?;
    let text = at.to_zoned(chosen()).strftime("%Y-%m-%d %H:%M:%S");
    Some(text.to_string())
}

pub(super) fn midnight(day: Date) -> Option<Timestamp> {
    let at = day.to_zoned(chosen()).ok()?;
    Some(Timestamp(at.timestamp().as_millisecond()))
}

pub(super) fn day(at: Timestamp) -> Option<Date> {
    let at = jiff::Timestamp::from_millisecond(at.0).ok()?;
    Some(at.to_zoned(chosen()).date())
}
