//! When the server's own certificate ends, for Prometheus.

use std::{fmt, sync::Arc};

use cluster::{ClusterMetrics, ClusterPart};
use operations::metrics::Metrics;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::gauge::ConstGauge,
};
use scrip_http::connections::tls::Files;
use x509_parser::{certificate::X509Certificate, prelude::FromDer as _};

use crate::config::{Config, Http};

/// All metrics of a service, at zero.
pub(super) fn all_metrics(config: &Config, cluster: Option<&Arc<ClusterPart>>) -> Metrics {
    let mut metrics = Metrics::new();
    metrics.add_data(&config.data_dir);
    if let Some(certificate) = CertificateMetrics::of(&config.http) {
        metrics.add(certificate);
    }
    if let Some(part) = cluster {
        metrics.add(ClusterMetrics(Arc::clone(part)));
    }
    metrics
}

/// The certificate's files, read whenever the figure is asked for: they are replaced while the server runs.
#[derive(Debug)]
struct CertificateMetrics(Files);

impl CertificateMetrics {
    /// `None` where the server has no certificate.
    fn of(http: &Http) -> Option<Self> {
        let (cert, key) = http.tls_cert.clone().zip(http.tls_key.clone())?;
        Some(Self(Files { cert, key }))
    }

    /// The end of the certificate in the chain that ends first, in seconds since 1970.
    fn ends_at(&self) -> Option<i64> {
        let chain = self.0.chain().ok()?;
        let end = |der: &[u8]| {
            let (_, read) = X509Certificate::from_der(der).ok()?;
            Some(read.validity().not_after.timestamp())
        };
        chain.iter().filter_map(|der| end(der)).min()
    }
}

impl Collector for CertificateMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(end) = self.ends_at() else {
            return Ok(());
        };
        let gauge = ConstGauge::new(end);
        let help = "When the server's own certificate ends, in seconds since 1970";
        let kind = gauge.metric_type();
        gauge.encode(encoder.encode_descriptor(
            "certificate_not_after_seconds",
            help,
            None,
            kind,
        )?)
    }
}
