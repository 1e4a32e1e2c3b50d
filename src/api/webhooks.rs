//! `POST /webhooks/stripe/{projectId}`: the provider's reports. Not part of the API that keys open:
//! what comes in is believed by its signature, over the body as it came.

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, Path, Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};

use stripe::signature;

use crate::{
    http::{Code, Error},
    payments::Refused,
    state::App,
};

/// Larger than any event of the provider's.
const MAX_BYTES: usize = 512 * 1024;

/// Takes a webhook in. Anything but a 200 has the provider send it again.
pub(crate) async fn stripe(
    State(app): State<App>,
    Path(project): Path<String>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, body) = request.into_parts();
    let body = bounded(body).await?;
    let unsigned = || Error::new(Code::InvalidSignature);
    let project = project.parse().map_err(|_| unsigned())?;
    let signature = parts.headers.get(signature::HEADER).ok_or_else(unsigned)?;
    let taken = app
        .payments
        .inbox()
        .receive(project, signature.as_bytes(), &body);
    match taken.await {
        Ok(()) => Ok(StatusCode::OK.into_response()),
        Err(Refused::Signature) => Err(unsigned()),
        Err(Refused::Malformed) => Err(Error::malformed("The body is not an event.")),
        Err(Refused::Unavailable) => Err(Error::new(Code::Unavailable)),
    }
}

async fn bounded(body: Body) -> Result<Bytes, Error> {
    let body = http_body_util::Limited::new(body, MAX_BYTES);
    let request = Request::new(Body::new(body));
    let read = Bytes::from_request(request, &()).await;
    read.map_err(|_| Error::new(Code::BodyTooLarge))
}
