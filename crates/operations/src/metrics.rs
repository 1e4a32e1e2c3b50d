//! Metrics for Prometheus. Counting costs each request one look-up by text and no more: a route's
//! counters are found once and kept.

mod commits;
mod process;
mod route;

use std::{
    collections::HashMap,
    fmt,
    path::Path,
    sync::{Arc, OnceLock},
};

use actors::{CommandResult, Handle};
use axum::http::Method;
use outbound::{AttemptCounters, Webhooks};
use parking_lot::RwLock;
use payments::Payments;
use prometheus_client::{
    collector::Collector,
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

pub use self::route::Route;
use self::{
    commits::CommitLatency,
    process::{DataMetrics, ProcessMetrics},
    route::{RequestLabels, RouteLabels, STATUSES},
};
use crate::backups::Backups;

/// Upper bounds of the latency buckets in seconds, from an answer out of memory to one that waited for a slow disk.
const LATENCY_BUCKETS: [f64; 14] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
];
/// The prefix of all names of metrics, except those of the process.
const PREFIX: &str = "scrip";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

/// The labels of a single gauge, such as one that is missing until it has a value.
type Labels = Vec<(&'static str, &'static str)>;

/// The metrics of routes, by path.
type Routes = HashMap<Box<str>, Arc<Route>>;

/// All metrics of the service.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    latency: Family<RouteLabels, Histogram, fn() -> Histogram>,
    routes: RwLock<HashMap<Method, Routes>>,
    applied: Counter,
    replayed: Counter,
    refused: Counter,
    awake: Gauge<i64>,
    in_flight: Gauge<i64>,
    streams: Gauge<i64>,
    backlog: Gauge<i64>,
    commits: CommitLatency,
    webhooks: Gauge<i64>,
    missing_objects: Gauge<i64>,
    missing_permissions: Gauge<i64>,
    unfulfilled: Gauge<i64>,
    reconciliation_age: Family<Labels, Gauge<i64>>,
    reconciliation_differences: Gauge<i64>,
    backup_age: Gauge<i64>,
    backup_made: Gauge<i64>,
    backup_running: Gauge<i64>,
    backup_kept: Gauge<i64>,
    backup_failures: Gauge<i64>,
    deliveries: AttemptCounters,
    deliveries_pending: Gauge<i64>,
    endpoints_disabled: Gauge<i64>,
    endpoints_failing: Gauge<i64>,
    checkouts: Gauge<i64>,
    orders_paid: Gauge<i64>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// All metrics, at zero.
    #[must_use]
    pub fn new() -> Self {
        let mut all = Registry::default();
        all.register_collector(Box::new(ProcessMetrics::new()));
        let registry = all.sub_registry_with_prefix(PREFIX);
        let build = Family::<Labels, Gauge<i64>>::default();
        let version = vec![("version", env!("CARGO_PKG_VERSION"))];
        build.get_or_create(&version).set(1);
        registry.register("build_info", "The version of Scrip", build);
        let requests = Family::<RequestLabels, Counter>::default();
        registry.register(
            "http_requests",
            "Requests by route and status",
            requests.clone(),
        );
        let histogram: fn() -> Histogram = || Histogram::new(LATENCY_BUCKETS);
        let latency = Family::new_with_constructor(histogram);
        registry.register(
            "http_request_duration_seconds",
            "Seconds from the request's head to the answer",
            latency.clone(),
        );
        let deductions = Family::<OutcomeLabels, Counter>::default();
        registry.register(
            "deductions",
            "Deductions: applied, replayed (the key was used before) or refused",
            deductions.clone(),
        );
        let outcome = |outcome| deductions.get_or_create_owned(&OutcomeLabels { outcome });
        let (applied, replayed, refused) =
            (outcome("applied"), outcome("replayed"), outcome("refused"));
        let reconciliation_age = Family::<Labels, Gauge<i64>>::default();
        registry.register(
            "reconciliation_age_seconds",
            "Seconds since the oldest of the projects' last reconciliations ended; missing where there is none",
            reconciliation_age.clone(),
        );
        let attempts = Family::<OutcomeLabels, Counter>::default();
        registry.register(
            "webhook_attempts",
            "Attempts to deliver events to projects' endpoints: accepted, refused, unanswered, or unreadable (not sent, and failed)",
            attempts.clone(),
        );
        let outcome = |outcome| attempts.get_or_create_owned(&OutcomeLabels { outcome });
        let deliveries = AttemptCounters {
            accepted: outcome("accepted"),
            refused: outcome("refused"),
            unanswered: outcome("unanswered"),
            unreadable: outcome("unreadable"),
        };
        let commits = CommitLatency::default();
        registry.register_collector(Box::new(commits.clone()));
        let mut gauge = |name: &str, help: &str| {
            let gauge = Gauge::<i64>::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        Self {
            awake: gauge("wallets_awake", "Wallets in memory"),
            in_flight: gauge("commands_in_flight", "Commands that wallets are working on"),
            streams: gauge("balance_streams", "Open streams of wallets' balances"),
            backlog: gauge("journal_backlog_events", "Events logged and not folded yet"),
            webhooks: gauge(
                "webhooks_waiting",
                "Reports of payment providers that are stored and not processed yet",
            ),
            missing_objects: gauge(
                "payments_missing_objects",
                "Reports, pending orders and lapsed subscriptions since the start that the payment provider does not know",
            ),
            missing_permissions: gauge(
                "payments_missing_permissions",
                "Permissions that payment providers' keys lack; /readyz names them",
            ),
            unfulfilled: gauge(
                "unfulfilled_payments",
                "Payments that lead to no order and wait for somebody to decide",
            ),
            reconciliation_differences: gauge(
                "reconciliation_differences",
                "What differs between payment providers' books and orders, by the projects' last reconciliations",
            ),
            reconciliation_age,
            backup_running: gauge("backup_running", "Whether a backup is being made"),
            backup_kept: gauge(
                "backup_kept_bytes",
                "Bytes of the log that are kept only for the backup that is being made",
            ),
            backup_failures: gauge("backup_failures", "Backups since the start that failed"),
            backup_age: gauge(
                "backup_age_seconds",
                "Seconds since the last good backup began; where none is known, since the data was first used",
            ),
            backup_made: gauge("backup_made", "Whether any good backup is known"),
            deliveries_pending: gauge(
                "webhook_deliveries_pending",
                "Events that were read for projects' endpoints and not delivered yet",
            ),
            endpoints_disabled: gauge(
                "webhook_endpoints_disabled",
                "Endpoints that were disabled because they accepted nothing",
            ),
            endpoints_failing: gauge(
                "webhook_endpoints_failing",
                "Active endpoints that did not accept the last attempt",
            ),
            checkouts: gauge("checkouts", "Checkouts that were opened since the start"),
            orders_paid: gauge(
                "orders_paid",
                "Orders that were paid since the start, renewals included",
            ),
            deliveries,
            commits,
            registry: all,
            requests,
            latency,
            routes: RwLock::default(),
            applied,
            replayed,
            refused,
        }
    }

    /// Adds those of the data directory.
    pub fn add_data(&mut self, data_dir: &Path) {
        self.add(DataMetrics(data_dir.to_owned()));
    }

    /// Adds others, whose names get the prefix of all.
    pub fn add(&mut self, metrics: impl Collector) {
        let registry = self.registry.sub_registry_with_prefix(PREFIX);
        registry.register_collector(Box::new(metrics));
    }

    /// The metrics of a route; requests of no route share those of `None`.
    #[must_use]
    pub fn route(&self, method: &Method, route: Option<&str>) -> Arc<Route> {
        let route = route.unwrap_or("none");
        if let Some(found) = self
            .routes
            .read()
            .get(method)
            .and_then(|routes| routes.get(route))
        {
            return Arc::clone(found);
        }
        // Methods may be made up by strangers: beyond the usual ones they share a name.
        let known = matches!(
            *method,
            Method::GET
                | Method::POST
                | Method::PUT
                | Method::PATCH
                | Method::DELETE
                | Method::HEAD
                | Method::OPTIONS
        );
        let labels = RouteLabels {
            method: if known {
                method.as_str().into()
            } else {
                "other".into()
            },
            route: route.into(),
        };
        let made = Arc::new(Route {
            requests: self.requests.clone(),
            by_status: std::iter::repeat_with(OnceLock::new)
                .take(STATUSES)
                .collect(),
            latency: self.latency.get_or_create_owned(&labels),
            labels,
        });
        if known {
            let mut routes = self.routes.write();
            let of_method = routes.entry(method.clone()).or_default();
            return Arc::clone(of_method.entry(route.into()).or_insert(made));
        }
        made
    }

    /// The counters of attempts to deliver webhooks.
    #[must_use]
    pub fn deliveries(&self) -> AttemptCounters {
        self.deliveries.clone()
    }

    /// Counts a deduction by its outcome.
    pub fn deducted(&self, outcome: Result<&CommandResult, &actors::Error>) {
        match outcome {
            Ok(applied) if applied.replayed => self.replayed.inc(),
            Ok(_) => self.applied.inc(),
            Err(_) => self.refused.inc(),
        };
    }

    /// Deductions that took credits since the start.
    #[must_use]
    pub fn deductions(&self) -> u64 {
        self.applied.get()
    }

    /// All metrics, as Prometheus reads them.
    /// # Errors
    /// [`fmt::Error`] when one cannot be encoded.
    pub fn render(
        &self,
        handle: &Handle,
        payments: &Payments,
        webhooks: &Webhooks,
        backups: &Backups,
    ) -> Result<String, fmt::Error> {
        let stats = handle.stats();
        let signed = |figure: u64| i64::try_from(figure).unwrap_or(i64::MAX);
        self.awake.set(signed(stats.awake));
        self.in_flight.set(signed(stats.in_flight));
        self.streams.set(signed(stats.watchers));
        self.backlog.set(signed(stats.backlog));
        self.commits.set(stats.commits);
        self.webhooks.set(signed(payments.inbox().waiting()));
        self.missing_objects.set(signed(payments.missing_objects()));
        let missing = payments.missing_permissions().len();
        let missing = i64::try_from(missing).unwrap_or(i64::MAX);
        self.missing_permissions.set(missing);
        let waiting = payments.unfulfilled().count(None);
        self.unfulfilled
            .set(i64::try_from(waiting).unwrap_or(i64::MAX));
        let (oldest, differences) = payments.reconciliations().oldest();
        self.reconciliation_differences.set(signed(differences));
        if let Some(ended) = oldest {
            let age = handle.now().0.saturating_sub(ended.0).div_euclid(1000);
            self.reconciliation_age
                .get_or_create(&Labels::new())
                .set(age);
        }
        self.backup_age.set(backups.age_seconds());
        let status = backups.status();
        self.backup_made.set(status.last_good.is_some().into());
        self.backup_running.set(status.running.is_some().into());
        self.backup_kept.set(signed(handle.kept_for_backup()));
        self.backup_failures.set(signed(status.failures));
        self.deliveries_pending.set(signed(webhooks.pending()));
        self.endpoints_disabled.set(signed(webhooks.disabled()));
        self.endpoints_failing.set(signed(webhooks.failing()));
        let (opened, paid) = payments.sales();
        self.checkouts.set(signed(opened));
        self.orders_paid.set(signed(paid));
        let mut text = String::with_capacity(16 * 1024);
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::http::StatusCode;

    use super::*;

    #[test]
    fn requests_are_counted_by_route_method_and_status() {
        let metrics = Metrics::new();
        for _ in 0..3 {
            let route = metrics.route(&Method::GET, Some("/api/v1/me"));
            route.answered(StatusCode::OK, Duration::from_micros(80));
        }
        metrics
            .route(&Method::GET, None)
            .answered(StatusCode::NOT_FOUND, Duration::ZERO);
        let mut text = String::new();
        encode(&mut text, &metrics.registry).unwrap();
        assert!(
            text.contains(
                r#"scrip_http_requests_total{method="GET",route="/api/v1/me",status="200"} 3"#
            ),
            "{text}"
        );
        assert!(text.contains(r#"route="none",status="404"} 1"#), "{text}");
    }

    #[test]
    fn made_up_methods_share_a_name_and_fill_nothing() {
        let metrics = Metrics::new();
        for number in 0..100 {
            let method = Method::from_bytes(format!("M{number}").as_bytes()).unwrap();
            metrics
                .route(&method, None)
                .answered(StatusCode::METHOD_NOT_ALLOWED, Duration::ZERO);
        }
        assert!(metrics.routes.read().is_empty());
    }
}
