//! The rate card that a path names.

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use domain::rate_card::RateCardSlug;
use wire::{Error, ErrorCode};

use super::operation::Input;

/// The name in the path. A malformed one is that of no card.
#[derive(Debug)]
pub(crate) struct RateCardPath(Option<RateCardSlug>);

impl RateCardPath {
    /// The card's name.
    pub(crate) fn slug(&self) -> Result<&RateCardSlug, Error> {
        let slug = self.0.as_ref();
        slug.ok_or_else(|| Error::new(ErrorCode::RateCardNotFound))
    }
}

impl Input for RateCardPath {}

impl<S: Send + Sync> FromRequestParts<S> for RateCardPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let slug = path
            .ok()
            .and_then(|Path(text)| RateCardSlug::new(text).ok());
        Ok(Self(slug))
    }
}
