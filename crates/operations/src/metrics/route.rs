//! The metrics of one method of one route: found once, and counted without a look-up.

use std::{sync::OnceLock, time::Duration};

use axum::http::StatusCode;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
};

/// Statuses from 100 to 599.
pub(super) const STATUSES: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RouteLabels {
    pub(super) method: String,
    pub(super) route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabels {
    pub(super) method: String,
    pub(super) route: String,
    pub(super) status: u16,
}

/// The metrics of one method of one route.
#[derive(Debug)]
pub struct Route {
    pub(super) labels: RouteLabels,
    pub(super) requests: Family<RequestLabels, Counter>,
    pub(super) by_status: Box<[OnceLock<Counter>]>,
    pub(super) latency: Histogram,
}

impl Route {
    /// Counts a response, and how long it took.
    pub fn answered(&self, status: StatusCode, took: Duration) {
        self.latency.observe(took.as_secs_f64());
        let slot = usize::from(status.as_u16())
            .checked_sub(100)
            .and_then(|i| self.by_status.get(i));
        if let Some(counter) = slot {
            counter.get_or_init(|| self.counter(status)).inc();
        } else {
            self.counter(status).inc();
        }
    }

    /// The method, or `other` for an unusual one.
    pub fn method(&self) -> &str {
        &self.labels.method
    }

    /// The route's path as it is registered.
    pub fn name(&self) -> &str {
        &self.labels.route
    }

    fn counter(&self, status: StatusCode) -> Counter {
        let RouteLabels { method, route } = self.labels.clone();
        self.requests.get_or_create_owned(&RequestLabels {
            method,
            route,
            status: status.as_u16(),
        })
    }
}
