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
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

pub use self::route::Route;
use self::{
    commits::CommitLatency,
    process::{DataMetrics, Figures, ProcessMetrics},
    route::{RequestLabels, RouteLabels, STATUSES},
};
use crate::backups::Backups;

/// Upper bounds of the latency buckets in seconds, from an answer out of memory to one that waited for a slow disk.
const LATENCY_BUCKETS: [f64; 14] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
];
/// The gauges that are read when they are asked for, a line each.
const GAUGES: &str = "\
wallets_awake: Wallets in memory
commands_in_flight: Commands that wallets are working on
balance_streams: Open streams of wallets' balances
journal_backlog_events: Events logged and not folded yet
webhooks_waiting: Reports of payment providers that are stored and not processed yet
payments_missing_objects: Reports, pending orders and lapsed subscriptions since the start that the payment provider does not know
payments_missing_permissions: Permissions that payment providers' keys lack; /readyz names them
unfulfilled_payments: Payments that lead to no order and wait for somebody to decide
reconciliation_differences: What differs between payment providers' books and orders, by the projects' last reconciliations
backup_age_seconds: Seconds since the last good backup began; where none is known, since the data was first used
backup_made: Whether any good backup is known
backup_running: Whether a backup is being made
backup_kept_bytes: Bytes of the log that are kept only for the backup that is being made
backup_failures: Backups since the start that failed
webhook_deliveries_pending: Events that were read for projects' endpoints and not delivered yet
webhook_endpoints_disabled: Endpoints that were disabled because they accepted nothing
webhook_endpoints_failing: Active endpoints that did not accept the last attempt
checkouts: Checkouts that were opened since the start
orders_paid: Orders that were paid since the start, renewals included
reconciliation_age_seconds: Seconds since the oldest of the projects' last reconciliations ended; missing where there is none";
/// The prefix of all names of metrics, except those of the process.
const PREFIX: &str = "scrip";

type Labels = Vec<(&'static str, &'static str)>;

/// The metrics of routes, by path.
type Routes = HashMap<Box<str>, Arc<Route>>;

pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    latency: Family<RouteLabels, Histogram, fn() -> Histogram>,
    routes: RwLock<HashMap<Method, Routes>>,
    applied: Counter,
    replayed: Counter,
    refused: Counter,
    deliveries: AttemptCounters,
    commits: CommitLatency,
    /// What is read only when it is asked for.
    figures: Figures,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

/// Counters by outcome.
fn by_outcome(
    registry: &mut Registry,
    name: &str,
    help: &str,
) -> impl Fn(&'static str) -> Counter + use<> {
    let all = Family::<Labels, Counter>::default();
    registry.register(name, help, all.clone());
    move |outcome| all.get_or_create_owned(&vec![("outcome", outcome)])
}

impl Metrics {
    pub fn new() -> Self {
        let mut all = Registry::default();
        all.register_collector(Box::new(ProcessMetrics::new()));
        let registry = all.sub_registry_with_prefix(PREFIX);
        let build = Family::<Labels, Gauge>::default();
        let version = vec![("version", env!("CARGO_PKG_VERSION"))];
        build.get_or_create(&version).set(1);
        registry.register("build_info", "The version of Scrip", build);
        let requests = Family::<RequestLabels, Counter>::default();
        let help = "Requests by route and status";
        registry.register("http_requests", help, requests.clone());
        let histogram: fn() -> Histogram = || Histogram::new(LATENCY_BUCKETS);
        let latency = Family::new_with_constructor(histogram);
        let help = "Seconds from the request's head to the answer";
        registry.register("http_request_duration_seconds", help, latency.clone());
        let help = "Deductions: applied, replayed (the key was used before) or refused";
        let deductions = by_outcome(registry, "deductions", help);
        let help = "Attempts to deliver events to projects' endpoints: accepted, refused, unanswered, or unreadable (not sent, and failed)";
        let attempts = by_outcome(registry, "webhook_attempts", help);
        let commits = CommitLatency::default();
        registry.register_collector(Box::new(commits.clone()));
        let figures = Figures::default();
        registry.register_collector(Box::new(figures.clone()));
        Self {
            registry: all,
            requests,
            latency,
            routes: RwLock::default(),
            applied: deductions("applied"),
            replayed: deductions("replayed"),
            refused: deductions("refused"),
            deliveries: AttemptCounters {
                accepted: attempts("accepted"),
                refused: attempts("refused"),
                unanswered: attempts("unanswered"),
                unreadable: attempts("unreadable"),
            },
            commits,
            figures,
        }
    }

    pub fn add_data(&mut self, data_dir: &Path) {
        self.add(DataMetrics(data_dir.to_owned()));
    }

    /// Adds others, whose names get the prefix of all.
    pub fn add(&mut self, metrics: impl Collector) {
        let registry = self.registry.sub_registry_with_prefix(PREFIX);
        registry.register_collector(Box::new(metrics));
    }

    /// The metrics of a route; requests of no route share those of `None`.
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

    pub fn deliveries(&self) -> AttemptCounters {
        self.deliveries.clone()
    }

    pub fn deducted(&self, outcome: Result<&CommandResult, &actors::Error>) {
        match outcome {
            Ok(applied) if applied.replayed => self.replayed.inc(),
            Ok(_) => self.applied.inc(),
            Err(_) => self.refused.inc(),
        };
    }

    /// Deductions that took credits since the start.
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
        self.commits.set(stats.commits);
        let count = |all: usize| u64::try_from(all).unwrap_or(u64::MAX);
        let seconds = |age: i64| u64::try_from(age).unwrap_or(0);
        let (oldest, differences) = payments.reconciliations().oldest();
        let reconciled = oldest.map(|ended| {
            let age = handle.now().0.saturating_sub(ended.0).div_euclid(1000);
            seconds(age)
        });
        let backup = backups.status();
        let (opened, paid) = payments.sales();
        let missing_permissions = count(payments.missing_permissions().len());
        let all = [
            ("wallets_awake", stats.awake),
            ("commands_in_flight", stats.in_flight),
            ("balance_streams", stats.watchers),
            ("journal_backlog_events", stats.backlog),
            ("webhooks_waiting", payments.inbox().waiting()),
            ("payments_missing_objects", payments.missing_objects()),
            ("payments_missing_permissions", missing_permissions),
            (
                "unfulfilled_payments",
                count(payments.unfulfilled().count(None)),
            ),
            ("reconciliation_differences", differences),
            ("backup_age_seconds", seconds(backups.age_seconds())),
            ("backup_made", backup.last_good.is_some().into()),
            ("backup_running", backup.running.is_some().into()),
            ("backup_kept_bytes", handle.kept_for_backup()),
            ("backup_failures", backup.failures),
            ("webhook_deliveries_pending", webhooks.pending()),
            ("webhook_endpoints_disabled", webhooks.disabled()),
            ("webhook_endpoints_failing", webhooks.failing()),
            ("checkouts", opened),
            ("orders_paid", paid),
        ];
        let reconciled = reconciled.map(|age| ("reconciliation_age_seconds", age));
        self.figures
            .set(all.into_iter().chain(reconciled).collect());
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
