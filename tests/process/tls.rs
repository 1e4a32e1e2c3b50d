//! TLS by the server itself, and new certificates while it runs.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::{Launch, deadline, process::Process};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer};
use serde_json::json;
use tempfile::TempDir;

/// A folder with a certificate for `localhost` and its key.
struct Files(TempDir);

impl Files {
    fn new() -> (Self, CertificateDer<'static>) {
        let files = Self(tempfile::tempdir().unwrap());
        let cert = files.renew();
        (files, cert)
    }

    fn cert(&self) -> PathBuf {
        self.0.path().join("cert.pem")
    }

    fn key(&self) -> PathBuf {
        self.0.path().join("key.pem")
    }

    /// Another certificate with another key.
    fn renew(&self) -> CertificateDer<'static> {
        self.renew_for(&["localhost"])
    }

    fn renew_for(&self, names: &[&str]) -> CertificateDer<'static> {
        let names: Vec<String> = names.iter().copied().map(String::from).collect();
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        put(&self.cert(), &cert.pem());
        put(&self.key(), &signing_key.serialize_pem());
        cert.der().clone()
    }
}

/// Replaces a file atomically, as tools that renew certificates do.
fn put(path: &Path, text: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).unwrap();
    std::fs::rename(&new, path).unwrap();
}

/// A client that trusts only this certificate.
fn client(cert: &CertificateDer<'static>) -> reqwest::Client {
    let mut roots = RootCertStore::empty();
    roots.add(cert.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    reqwest::Client::builder()
        .no_proxy()
        .tls_backend_preconfigured(config)
        .build()
        .unwrap()
}

fn launch(files: &Files) -> Launch {
    Launch::default()
        .env("SCRIP_HTTP_TLS_CERT", files.cert())
        .env("SCRIP_HTTP_TLS_KEY", files.key())
}

async fn start(launch: &Launch, data: &Path) -> (Process, String) {
    let mut process = Process::start(launch.serve(data), false);
    let port = process
        .wait_for_line("the line with the address", |line| {
            let (_, address) = line.split_once("listening on https://127.0.0.1:")?;
            address.trim().parse::<u16>().ok()
        })
        .await;
    (process, format!("https://localhost:{port}"))
}

#[tokio::test]
async fn a_certificate_is_served_and_a_new_one_is_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let (files, first) = Files::new();
    let launch = launch(&files);
    let (mut process, base) = start(&launch, &folder.path().join("data")).await;
    let ready = format!("{base}/readyz");
    let answer = client(&first).get(&ready).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let stays = &answer.headers()["strict-transport-security"];
    assert_eq!(stays, "max-age=31536000");
    let figures = client(&first).get(format!("{base}/metrics"));
    let figures = figures.bearer_auth(kit::launch::ADMIN_TOKEN).send().await;
    let figures = figures.unwrap().text().await.unwrap();
    assert!(
        figures.contains("\nscrip_certificate_not_after_seconds "),
        "{figures}"
    );

    // Files that cannot be used change nothing.
    put(&files.key(), "no key");
    process
        .wait_for_line("that the files do not work", |line| {
            line.contains("do not work").then_some(())
        })
        .await;
    let answer = client(&first).get(&ready).send().await.unwrap();
    assert_eq!(answer.status(), 200);

    let second = files.renew();
    process
        .wait_for_line("that there are new certificates", |line| {
            line.contains("New TLS certificates").then_some(())
        })
        .await;
    let answer = client(&second).get(&ready).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(client(&first).get(&ready).send().await.is_err());

    // A client that speaks plain HTTP is refused, and one that sends nothing is disconnected.
    let plain = reqwest::Client::builder().no_proxy();
    let plain = plain.tls_backend_preconfigured(no_trust()).build().unwrap();
    let port = base.rsplit_once(':').unwrap().1;
    let request = plain.get(format!("http://127.0.0.1:{port}/readyz")).send();
    assert!(request.await.is_err());
    process.terminate();
    assert!(process.wait(deadline::SOON).await.success());
}

/// Two processes of a cluster: the one that follows serves as well, so its certificate is renewed as the other's is,
/// and it passes requests on to the other over TLS.
#[tokio::test]
async fn a_process_that_follows_trusts_the_leader_and_takes_up_a_new_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let database = postgres_kit::shared();
    let url = database.url(&database.create_database());
    let authorities = Files(tempfile::tempdir().unwrap());
    authorities.renew_for(&["localhost", "127.0.0.1"]);
    let member = |files: &Files| {
        launch(files)
            .env("SCRIP_STORAGE_URL", &url)
            .env("SSL_CERT_FILE", authorities.cert())
            .env("SCRIP_SERVER_KEY", "5c".repeat(32))
    };
    let (files, first) = Files::new();
    let (_leader, _) = start(&member(&authorities), &folder.path().join("leader")).await;
    let (mut follower, base) = start(&member(&files), &folder.path().join("follower")).await;
    let live = format!("{base}/healthz");
    let answer = client(&first).get(&live).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    // The leader is trusted by this machine's authorities: what it alone can do is passed on to it.
    let project = client(&first).post(format!("{base}/api/admin/v1/projects"));
    let project = project.bearer_auth(kit::launch::ADMIN_TOKEN);
    let answer = project.json(&json!({"name": "Shop"})).send().await.unwrap();
    assert_eq!(answer.status(), 201);

    let second = files.renew();
    follower
        .wait_for_line("that there are new certificates", |line| {
            assert!(!line.contains("leads"), "{line}");
            line.contains("New TLS certificates").then_some(())
        })
        .await;
    let answer = client(&second).get(&live).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(client(&first).get(&live).send().await.is_err());
}

fn no_trust() -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth()
}

#[tokio::test]
async fn the_sandbox_is_reached_though_the_certificate_is_for_another_name() {
    let folder = tempfile::tempdir().unwrap();
    let (files, cert) = Files::new();
    let (_process, base) = start(&launch(&files), &folder.path().join("data")).await;
    let client = client(&cert);
    let admin = kit::launch::ADMIN_TOKEN;
    let send = async |method: &str, path: &str, key: &str, body: serde_json::Value| {
        let method = method.parse().unwrap();
        let request = client.request(method, format!("{base}{path}"));
        let answer = request.bearer_auth(key).json(&body).send().await.unwrap();
        assert!(answer.status().is_success(), "{}", answer.status());
        answer.json::<serde_json::Value>().await.unwrap()
    };
    let projects = "/api/admin/v1/projects";
    let project = send("POST", projects, admin, json!({"name": "Shop"})).await;
    let one = format!("{projects}/{}", project["id"].as_str().unwrap());
    send(
        "PATCH",
        &one,
        admin,
        json!({"provider": {"kind": "sandbox"}}),
    )
    .await;
    let product = json!({"name": "Credits", "type": "credits", "creditUnit": "credits"});
    let product = send("POST", &format!("{one}/products"), admin, product).await;
    let prices = format!("{one}/products/{}/prices", product["id"].as_str().unwrap());
    let price =
        json!({"amountCents": 500, "currency": "EUR", "creditsGranted": 5, "interval": "one_time"});
    let price = send("POST", &prices, admin, price).await;
    let key = project["secretKey"].as_str().unwrap();
    let buy = json!({"priceId": price["id"], "externalUserId": "ann"});
    let checkout = send("POST", "/api/v1/checkout", key, buy).await;
    let url = checkout["url"].as_str().unwrap();
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
}

#[tokio::test]
async fn files_that_do_not_work_refuse_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (files, _) = Files::new();
    let (others, _) = Files::new();
    let key = std::fs::read_to_string(files.key()).unwrap();
    for (launch, expected) in [
        (launch(&files).env("SCRIP_HTTP_TLS_KEY", ""), "set together"),
        (
            launch(&files).env("SCRIP_HTTP_TLS_KEY", others.key()),
            "does not fit",
        ),
        (
            launch(&files).env("SCRIP_HTTP_TLS_CERT", "/nowhere.pem"),
            "/nowhere.pem",
        ),
        (
            launch(&files).env("SCRIP_HTTP_TLS_KEY", files.cert()),
            "has no key",
        ),
        (
            launch(&files).env("SCRIP_HTTP_TLS_CERT", files.key()),
            "no certificate",
        ),
    ] {
        let data = folder.path().join("data");
        let output = launch.serve(&data).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && text.contains(expected),
            "{text}"
        );
        assert!(!text.contains(key.lines().nth(1).unwrap()));
        assert!(!data.exists());
    }
}
