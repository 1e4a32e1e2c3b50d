//! How a refusal is written out.

use api_types::ErrorBody;
use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};

use super::Error;
use crate::{
    headers::{RATE_LIMIT_LIMIT, RATE_LIMIT_REMAINING, RATE_LIMIT_RESET},
    request_id::RequestId,
};

impl Error {
    /// The response's body; the items of a batch have no request id.
    #[must_use]
    pub fn body(&self, request_id: Option<&str>) -> ErrorBody {
        ErrorBody {
            code: self.code.as_str().to_owned(),
            message: self.message.clone().into_owned(),
            request_id: request_id.map(str::to_owned),
            param: self.param.clone(),
            docs: Some(self.code.docs().to_owned()),
            ..self.detail.as_deref().cloned().unwrap_or_default()
        }
    }

    /// Writes the body and the headers that belong to the code.
    pub fn write(&self, response: &mut Response, id: RequestId) {
        let body = serde_json::to_vec(&self.body(Some(id.text().as_str()))).unwrap_or_default();
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if self.code.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.code.status() == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Some(refusal) = self.limit {
            let figures: [(HeaderName, u32); 4] = [
                (header::RETRY_AFTER, refusal.retry_after_seconds),
                (RATE_LIMIT_LIMIT, refusal.limit),
                (RATE_LIMIT_REMAINING, 0),
                (RATE_LIMIT_RESET, refusal.reset_seconds),
            ];
            headers.extend(figures.map(|(name, figure)| (name, HeaderValue::from(figure))));
        }
        *response.body_mut() = Body::from(body);
    }
}
