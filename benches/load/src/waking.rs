//! Wallets that slept: how fast deductions are in the first second after a quiet minute, beside the tenth.

use std::time::Duration;

use super::{
    Bench,
    error::Result,
    format::{median, milliseconds, thousands},
    load::{Load, Wallets},
    report::Target,
    rounds::percentile,
    stop,
};

const WALLETS: u64 = 10_000;
const CONNECTIONS: usize = 64;
/// Past deductions of each wallet.
const PAST: u64 = 600;
/// How soon a wallet sleeps.
const IDLE_SECONDS: &str = "3";
const SECOND: Duration = Duration::from_secs(1);

impl Bench {
    /// The suite of wallets that wake.
    pub(crate) fn waking(&mut self) -> Result<()> {
        let wallets = self.args.count(WALLETS);
        let idle = [("SCRIP_ACTORS_IDLE_SECONDS", IDLE_SECONDS.to_owned())];
        let setup = self.funded("waking", &idle, wallets)?;
        self.send_batches(&setup, wallets * PAST, wallets)?;
        let load = Load {
            warm_up: Duration::ZERO,
            length: Some(SECOND),
            ..self.load(
                &setup.server,
                setup.project.deduct(),
                CONNECTIONS,
                Wallets::Random(wallets),
            )
        };
        let seconds_between = Load {
            length: Some(8 * SECOND),
            ..load.clone()
        };
        let mut ratios = Vec::new();
        for _ in 0..self.args.rounds() {
            setup.server.checkpointed()?;
            while setup.server.gauge("scrip_wallets_awake ")? > 0 {
                stop::check()?;
                std::thread::sleep(SECOND / 10);
            }
            let first = load.run()?;
            seconds_between.run()?;
            let tenth = load.run()?;
            eprintln!(
                "waking: {}/s in the first second, p99 {}; {}/s in the tenth, p99 {}",
                thousands(first.rate()),
                milliseconds(percentile(&first.latency, 99.0)),
                thousands(tenth.rate()),
                milliseconds(percentile(&tenth.latency, 99.0)),
            );
            ratios.push(first.rate() / tenth.rate().max(1e-9));
        }
        let name = format!(
            "deductions, first second after {} wallets slept / tenth",
            thousands(wallets as f64)
        );
        self.report
            .add(name, median(ratios), "", Target::AtLeast(0.8));
        setup.server.terminate().map(drop)
    }
}
