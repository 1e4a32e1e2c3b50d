//! What the Rust client costs: its calls compared with the same calls by bare reqwest, in turns, sequentially
//! over one connection each.

use std::time::Instant;

use scrip_wallet::{Credit, Deduct, Scrip, Wallet};
use serde_json::{Value, json};

use super::{
    Bench,
    error::{Context, Error, Result},
    format::median,
    project::text,
};

/// Calls of one kind in a turn.
const CALLS: u64 = 500;
/// Turns of each kind.
const TURNS: usize = 20;
/// Credits for all deductions, and more.
const FUNDS: u64 = 1_000_000_000;

/// Microseconds per call in each turn.
#[derive(Default)]
struct Series {
    bare: Vec<f64>,
    client: Vec<f64>,
}

impl Series {
    fn ratio(&self) -> f64 {
        let turns = self.client.iter().zip(&self.bare);
        median(turns.map(|(client, bare)| client / bare))
    }
}

/// Both ways to make a call.
struct Callers {
    http: reqwest::Client,
    base: String,
    secret: String,
    product: String,
    scrip: Scrip,
    wallet: Wallet,
}

impl Callers {
    async fn bare(&self, request: reqwest::RequestBuilder) -> Result<Value> {
        let sent = request.bearer_auth(&self.secret).send().await;
        let answer = sent.and_then(reqwest::Response::error_for_status);
        let answer = answer.context("a bare request")?.json().await;
        answer.context("a bare answer")
    }

    /// Reads `/me`, which writes nothing.
    async fn me(&self, series: &mut Series) -> Result<()> {
        let url = format!("{}/api/v1/me", self.base);
        let started = Instant::now();
        for _ in 0..CALLS {
            text(&self.bare(self.http.get(&url)).await?, "projectId")?;
        }
        series.bare.push(each(started));
        let started = Instant::now();
        for _ in 0..CALLS {
            self.scrip.me().await.context("the client")?;
        }
        series.client.push(each(started));
        Ok(())
    }

    /// Deducts; each call waits for the disk.
    async fn deduct(&self, series: &mut Series, turn: usize) -> Result<()> {
        let url = format!("{}/api/v1/wallets/external/deduct", self.base);
        let started = Instant::now();
        for call in 0..CALLS {
            let body = json!({
                "externalUserId": "client", "productId": self.product, "amount": 1,
                "idempotencyKey": format!("bare-{turn}-{call}"),
            });
            let answer = self.bare(self.http.post(&url).json(&body)).await?;
            if answer.get("deducted") != Some(&Value::Bool(true)) {
                return Err(Error(format!("not deducted: {answer}")));
            }
        }
        series.bare.push(each(started));
        let started = Instant::now();
        for call in 0..CALLS {
            let deduct = Deduct::new(1).product(&self.product);
            let deduct = deduct.key(format!("client-{turn}-{call}"));
            let answer = self.scrip.deduct(&self.wallet, deduct).await;
            if !answer.context("the client")?.deducted {
                return Err(Error("not deducted".to_owned()));
            }
        }
        series.client.push(each(started));
        Ok(())
    }
}

impl Bench {
    /// The suite of the Rust client.
    pub(crate) fn rust_client(&mut self) -> Result<()> {
        let (real, project) = self.start("client", &[])?;
        let base = format!("http://{}", real.address());
        let callers = Callers {
            http: kit::client::plain_http(),
            scrip: Scrip::new(&base, &project.secret).context("the client")?,
            base,
            secret: project.secret.clone(),
            product: project.product.clone(),
            wallet: Wallet::external("client"),
        };
        let turns = if self.args.quick { 2 } else { TURNS };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("a runtime")?;
        let (mut reads, mut deductions) = (Series::default(), Series::default());
        runtime.block_on(async {
            let funds = Credit::new(&callers.product, FUNDS).key("funds");
            let funded = callers.scrip.credit(&callers.wallet, funds).await;
            funded.context("funding a wallet")?;
            for turn in 0..turns {
                callers.me(&mut reads).await?;
                callers.deduct(&mut deductions, turn).await?;
            }
            Ok::<_, Error>(())
        })?;
        real.terminate()?;
        for (name, series) in [("who am I", &reads), ("deductions", &deductions)] {
            let name = format!("{name} with the Rust client, beside bare reqwest");
            self.report.value(name, series.ratio(), "");
            let [client, bare] =
                [&series.client, &series.bare].map(|it| median(it.iter().copied()));
            let note = format!("{client:.0} µs beside {bare:.0} µs a call");
            self.report.note(note);
        }
        Ok(())
    }
}

/// Microseconds per call since `started`.
fn each(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e6 / CALLS as f64
}
