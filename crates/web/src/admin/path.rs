//! Identifiers in the path. A malformed one is treated as one that does not exist. They are parsed
//! by the handler, after its body: a bad body is reported before an unknown id.

use std::str::FromStr;

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};
use catalog::ProjectCatalog;
use domain::{
    id::{
        DeliveryId, EndpointId, KeyId, PriceId, ProductId, ProjectId, SessionId, UserId, WalletKey,
    },
    rate_card::RateCardSlug,
    text::PaymentId,
};
use wire::{Error, ErrorCode};

use crate::{
    admin::App,
    http::{operation::Input, order_name::OrderName},
};

/// The named segments of a request's path, unread.
#[derive(Debug)]
pub(super) struct Segments(Vec<(String, String)>);

impl Input for Segments {}

impl Segments {
    pub(super) fn project(&self) -> Result<ProjectId, Error> {
        self.read("projectId", ErrorCode::ProjectNotFound)
    }

    pub(super) fn user(&self) -> Result<UserId, Error> {
        self.read("userId", ErrorCode::UserNotFound)
    }

    pub(super) fn session(&self) -> Result<SessionId, Error> {
        self.read("sessionId", ErrorCode::SessionNotFound)
    }

    pub(super) fn key(&self) -> Result<KeyId, Error> {
        self.read("keyId", ErrorCode::KeyNotFound)
    }

    pub(super) fn product(&self) -> Result<ProductId, Error> {
        self.read("productId", ErrorCode::ProductNotFound)
    }

    pub(super) fn price(&self) -> Result<PriceId, Error> {
        self.read("priceId", ErrorCode::PriceNotFound)
    }

    pub(super) fn rate_card(&self) -> Result<RateCardSlug, Error> {
        let unknown = || Error::new(ErrorCode::RateCardNotFound);
        RateCardSlug::new(self.text("slug")).map_err(|_| unknown())
    }

    /// The name of a card to make.
    pub(super) fn new_rate_card(&self) -> Result<RateCardSlug, Error> {
        RateCardSlug::new(self.text("slug")).map_err(|error| Error::text("slug", error))
    }

    pub(super) fn webhook(&self) -> Result<EndpointId, Error> {
        self.read("webhookId", ErrorCode::WebhookNotFound)
    }

    pub(super) fn delivery(&self) -> Result<DeliveryId, Error> {
        self.read("deliveryId", ErrorCode::DeliveryNotFound)
    }

    /// The wallet that the path names, by its `ref` or its `wal_…`.
    pub(super) fn wallet(&self, app: &App, project: &ProjectCatalog) -> Result<WalletKey, Error> {
        match self.read("walletRef", ErrorCode::WalletNotFound) {
            Ok(id) => {
                let key = app.handle.key_of(id);
                key.map_err(|error| Error::from_wallet(error, project))
            }
            Err(_) => self.read("walletRef", ErrorCode::WalletNotFound),
        }
    }

    pub(super) fn payment(&self) -> Result<PaymentId, Error> {
        let segment = self.0.iter().find(|(key, _)| key == "paymentId");
        segment
            .and_then(|(_, text)| PaymentId::new(text.as_str()).ok())
            .ok_or_else(|| Error::new(ErrorCode::PaymentNotFound))
    }

    /// The order that the path names, by its own identifier or its checkout's.
    pub(super) fn order(&self) -> OrderName {
        let segment = self.0.iter().find(|(key, _)| key == "orderIdOrCheckoutId");
        segment.map_or(OrderName::Nothing, |(_, text)| OrderName::by(text))
    }

    fn text(&self, name: &str) -> &str {
        let segment = self.0.iter().find(|(key, _)| key == name);
        segment.map_or("", |(_, text)| text)
    }

    fn read<T: FromStr>(&self, name: &str, unknown: ErrorCode) -> Result<T, Error> {
        let segment = self.0.iter().find(|(key, _)| key == name);
        segment
            .and_then(|(_, text)| text.parse().ok())
            .ok_or_else(|| Error::new(unknown))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Segments {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        // Fails only where a segment is not UTF-8: nothing is served there.
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| Error::new(ErrorCode::RouteNotFound))?;
        Ok(Self(
            params
                .iter()
                .map(|(name, text)| (name.to_owned(), text.to_owned()))
                .collect(),
        ))
    }
}
