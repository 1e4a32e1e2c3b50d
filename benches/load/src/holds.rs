//! What draws cost: a hold that is drawn from fifty times beside one that is only settled, and each of its draws beside
//! a deduction; in turns, one call after the other over one connection, each until it is durable.

use std::time::Instant;

use scrip_wallet::{Credit, Deduct, PlaceHold, Scrip, Wallet};

use super::{
    Bench,
    error::{Context, Error, Result},
    format::median,
    project::Project,
    report::Target,
};

/// Draws of a hold.
const DRAWS: u64 = 50;
/// Holds of each kind in a turn.
const HOLDS: u64 = 10;
/// Turns of each kind.
const TURNS: usize = 20;
/// Credits for all of it, and more.
const FUNDS: u64 = 1_000_000_000;

/// Microseconds for each, in every turn.
#[derive(Default)]
struct Durations {
    deduction: Vec<f64>,
    without: Vec<f64>,
    with: Vec<f64>,
    draw: Vec<f64>,
    settlement: Vec<f64>,
    last_settlement: Vec<f64>,
}

/// Where the holds are placed.
struct Caller {
    scrip: Scrip,
    wallet: Wallet,
    product: String,
}

impl Caller {
    async fn turn(&self, durations: &mut Durations) -> Result<()> {
        let started = Instant::now();
        for _ in 0..DRAWS {
            let deduct = Deduct::new(1).product(&self.product);
            let deducted = self.scrip.deduct(&self.wallet, deduct).await;
            if !deducted.context("a deduction")?.deducted {
                return Err(Error("not deducted".to_owned()));
            }
        }
        durations.deduction.push(each(started, DRAWS));
        let [mut settling, mut last_settling] = [0.0, 0.0];
        let started = Instant::now();
        for _ in 0..HOLDS {
            settling += self.held(0).await?;
        }
        durations.without.push(each(started, HOLDS));
        let started = Instant::now();
        for _ in 0..HOLDS {
            last_settling += self.held(DRAWS).await?;
        }
        durations.with.push(each(started, HOLDS));
        durations.settlement.push(settling / HOLDS as f64);
        durations.last_settlement.push(last_settling / HOLDS as f64);
        let last = |of: &[f64]| of.last().copied().unwrap_or(0.0);
        let draws = last(&durations.with) - last(&durations.without);
        durations.draw.push(draws / DRAWS as f64);
        Ok(())
    }

    /// Places a hold, draws from it, and settles it for all that it holds; returns the microseconds that settling took.
    async fn held(&self, draws: u64) -> Result<f64> {
        let hold = PlaceHold::new(DRAWS).product(&self.product);
        let hold = self.scrip.hold(&self.wallet, hold).await;
        let hold = hold.context("a hold")?.hold_id;
        for _ in 0..draws {
            let drawn = self.scrip.draw(&hold, 1).await;
            drawn.context("a draw")?;
        }
        let started = Instant::now();
        let settled = self.scrip.settle(&hold, DRAWS).await;
        settled.context("a settlement")?;
        Ok(each(started, 1))
    }
}

impl Bench {
    /// The suite of holds.
    pub(crate) fn holds(&mut self) -> Result<()> {
        let mut server = self.server(&self.place.data("holds"), &[])?;
        server.ready()?;
        let project = Project::create(&server)?;
        let base = format!("http://{}", server.address());
        let caller = Caller {
            scrip: Scrip::new(&base, &project.secret).context("the client")?,
            wallet: Wallet::external("holder"),
            product: project.product.clone(),
        };
        let turns = if self.args.quick { 2 } else { TURNS };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("a runtime")?;
        let mut durations = Durations::default();
        runtime.block_on(async {
            let funds = Credit::new(&caller.product, FUNDS).key("funds");
            let funded = caller.scrip.credit(&caller.wallet, funds).await;
            funded.context("funding a wallet")?;
            for _ in 0..turns {
                caller.turn(&mut durations).await?;
            }
            Ok::<_, Error>(())
        })?;
        server.terminate()?;
        for (name, dear, cheap, target) in [
            (
                "a hold with 50 draws / one without",
                &durations.with,
                &durations.without,
                Target::None,
            ),
            (
                "a draw / a deduction",
                &durations.draw,
                &durations.deduction,
                Target::AtMost(1.5),
            ),
            (
                "settling after 50 draws / after none",
                &durations.last_settlement,
                &durations.settlement,
                Target::AtMost(1.5),
            ),
        ] {
            let turns = dear.iter().zip(cheap);
            let ratio = median(turns.map(|(dear, cheap)| dear / cheap));
            self.report.add(name, ratio, "", target);
            let [dear, cheap] = [dear, cheap].map(|it| median(it.iter().copied()));
            self.report
                .note(format!("{dear:.0} µs beside {cheap:.0} µs"));
        }
        Ok(())
    }
}

/// Microseconds since `started` for each of so many.
fn each(started: Instant, count: u64) -> f64 {
    started.elapsed().as_secs_f64() * 1e6 / count as f64
}
