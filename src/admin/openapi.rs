//! What the admin API's document says beside its routes: the refusals that they share, and how to
//! sign in.

use utoipa::{
    IntoResponses,
    openapi::{
        Info, License, OpenApi, Server,
        security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme},
    },
};

use crate::http::error::ErrorBody;

/// Routes with a body refuse these.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "only described, never built")]
pub(super) enum Refused {
    /// `invalid_request`: malformed JSON, a missing or ill-typed field, or a value that breaks a
    /// rule of the catalog. `param` names the input.
    #[response(status = 400)]
    Invalid(#[to_schema] ErrorBody<'static>),
    /// `body_too_large`
    #[response(status = 413)]
    TooLarge(#[to_schema] ErrorBody<'static>),
    /// `unsupported_media_type`
    #[response(status = 415)]
    NotJson(#[to_schema] ErrorBody<'static>),
}

/// Routes with an identifier in their path refuse this.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "only described, never built")]
pub(super) enum NotFound {
    /// `project_not_found`, `key_not_found`, `product_not_found` or `price_not_found`
    #[response(status = 404)]
    Unknown(#[to_schema] ErrorBody<'static>),
}

/// Every route may answer these.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "only described, never built")]
pub(super) enum Failure {
    /// `missing_api_key` or `invalid_api_key`: the administrator's token is missing or wrong.
    #[response(status = 401, headers(("WWW-Authenticate" = String, description = "`Bearer`")))]
    Unauthorized(#[to_schema] ErrorBody<'static>),
    /// `overloaded`: nothing was done. `unavailable`: it may or may not have been done.
    #[response(status = 503, headers(("Retry-After" = u32, description = "Seconds.")))]
    Unavailable(#[to_schema] ErrorBody<'static>),
}

/// Adds what no route says.
pub(super) fn finish(mut document: OpenApi) -> OpenApi {
    let mut info = Info::new("Scrip administration", env!("CARGO_PKG_VERSION"));
    info.description = Some(
        "Projects, API keys, products and prices. Sign in with the administrator's token as a \
         bearer token. Lists are whole. In a PATCH, a field that is left out stays as it is, and \
         null clears what can be cleared."
            .into(),
    );
    let mut license = License::new("Apache-2.0");
    license.identifier = Some("Apache-2.0".into());
    info.license = Some(license);
    document.info = info;
    // The paths are whole already, so that the document holds for any base address.
    document.servers = Some(vec![Server::new("/")]);
    let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("administrator", scheme);
    let nothing: [&str; 0] = [];
    document.security = Some(vec![SecurityRequirement::new("administrator", nothing)]);
    document
}
