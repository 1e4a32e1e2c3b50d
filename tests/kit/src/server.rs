//! A server for one test: a new data directory, a project, and the binary.

use crate::{
    client::Client,
    instance::Instance,
    launch::{ADMIN_TOKEN, Launch, binary},
    ledger,
    project::Project,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};
use tempfile::TempDir;

/// A server with a project and a product. Dropping it kills it and removes its directory.
pub struct Server {
    // Dropped first: the process must be gone before its directory.
    instance: Option<Instance>,
    launch: Launch,
    project: Project,
    data_dir: PathBuf,
    /// Holds the data directory, unless the test has put that elsewhere.
    #[expect(dead_code, reason = "it removes the directory when it is dropped")]
    folder: Option<TempDir>,
}

impl Server {
    /// A server with default settings.
    pub async fn start() -> Self {
        Self::launch(Launch::default()).await
    }

    /// A server that is started in this way, also after a restart.
    pub async fn launch(launch: Launch) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // Canonical, as traces and recordings contain the kernel's paths.
        let path = folder.path().canonicalize().expect("the folder is there");
        let server = Self::launch_at(launch, &path.join("data")).await;
        Self {
            folder: Some(folder),
            ..server
        }
    }

    /// A server on a data directory of the test's.
    pub async fn launch_at(launch: Launch, data_dir: &Path) -> Self {
        let instance = Instance::start(&launch, data_dir).await;
        let project = Project::create(&instance.admin()).await;
        Self {
            instance: Some(instance),
            launch,
            project,
            data_dir: data_dir.to_owned(),
            folder: None,
        }
    }

    /// The running process; panics if the test has stopped it.
    pub fn instance(&self) -> &Instance {
        self.instance.as_ref().expect("the server is running")
    }

    /// The running process, mutable.
    pub fn instance_mut(&mut self) -> &mut Instance {
        self.instance.as_mut().expect("the server is running")
    }

    /// The absolute address of `path`, which starts with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.instance().base())
    }

    /// How the server is started.
    pub fn launch_settings(&self) -> &Launch {
        &self.launch
    }

    /// The data directory.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// The project with its keys and its product.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The project's first secret key.
    pub fn secret(&self) -> &str {
        &self.project.secret
    }

    /// The project's first publishable key.
    pub fn publishable(&self) -> &str {
        &self.project.publishable
    }

    /// The id of the project's credit product.
    pub fn product(&self) -> &str {
        &self.project.product
    }

    /// A client with the secret key.
    pub fn client(&self) -> Client {
        self.instance().client(self.secret())
    }

    /// A client with the publishable key.
    pub fn browser(&self) -> Client {
        self.instance().client(self.publishable())
    }

    /// A client with the administrator's token.
    pub fn admin(&self) -> Client {
        self.instance().admin()
    }

    /// A command that speaks with this server, with the administrator's token and the secret key.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(words)
            .args(["--url", self.instance().base()])
            .env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN)
            .env("SCRIP_SECRET_KEY", self.secret())
            .stdin(Stdio::null());
        command
    }

    /// The path of the project in the admin API.
    pub fn project_path(&self) -> String {
        format!("/api/admin/v1/projects/{}", self.project.id)
    }

    /// All metrics, in Prometheus' text format.
    pub async fn figures(&self) -> String {
        let figures = self.admin().request(Method::GET, "/metrics").send();
        let figures = figures.await.expect("an answer").text();
        figures.await.expect("text")
    }

    /// Sets the project's provider, in the admin API's form.
    pub async fn set_provider(&self, provider: &Value) {
        let body = json!({"provider": provider});
        let set = self.admin().patch(&self.project_path(), &body).await;
        set.expect(200);
    }

    /// Adds a price of the project's product, this many credits for 5.00 EUR; returns its id.
    pub async fn add_price(&self, credits: i64) -> String {
        let price = json!({
            "amountCents": 500, "currency": "EUR", "creditsGranted": credits, "interval": "one_time",
        });
        let prices = format!("{}/products/{}/prices", self.project_path(), self.product());
        let created = self.admin().post(&prices, &price).await.expect(201);
        created["id"]
            .as_str()
            .expect("a price has an id")
            .to_owned()
    }

    /// Grants credits to an external wallet, which is created if needed.
    pub async fn grant(&self, wallet: &str, amount: i64, key: &str) -> Value {
        let body = json!({
            "externalUserId": wallet, "productId": self.product(), "amount": amount,
            "idempotencyKey": key,
        });
        self.client()
            .post("/api/v1/credit", &body)
            .await
            .expect(200)
    }

    /// Balance and held credits of an external wallet that must exist.
    pub async fn balance(&self, wallet: &str) -> ledger::Balance {
        ledger::balance(&self.client(), wallet, self.product())
            .await
            .unwrap_or_else(|| panic!("no wallet of `{wallet}`"))
    }

    /// Ends the server cleanly and starts it again, on another port.
    pub async fn restart(&mut self) {
        let status = self.terminate().await;
        assert!(status.success(), "a clean end exits with 0, not {status}");
        self.start_again().await;
    }

    /// Sends SIGTERM and waits for the end.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.instance
            .take()
            .expect("the server is running")
            .terminate()
            .await
    }

    /// Sends SIGKILL and waits for the end.
    pub async fn crash(&mut self) {
        self.instance
            .take()
            .expect("the server is running")
            .crash()
            .await;
    }

    /// Starts the binary again on the data directory of a stopped server.
    pub async fn start_again(&mut self) {
        let launch = self.launch.clone();
        self.start_as(&launch).await;
    }

    /// Starts the binary in another way, once, on the data directory of a stopped server.
    pub async fn start_as(&mut self, launch: &Launch) {
        assert!(self.instance.is_none(), "the server is still running");
        self.instance = Some(Instance::start(launch, &self.data_dir).await);
    }

    /// Takes over a process that was started on this server's directory.
    pub fn take_over(&mut self, instance: Instance) {
        assert!(self.instance.is_none(), "the server is still running");
        self.instance = Some(instance);
    }

    /// Runs `scrip verify` on the data directory of a stopped server; panics unless it is clean.
    pub fn verify(&self) {
        assert!(self.instance.is_none(), "the server is still running");
        self.launch.verify(&self.data_dir);
    }
}
