//! What a deduction costs in a wallet with ten million past keys, compared with a fresh one.

use std::time::Duration;

use serde_json::json;

use super::{
    Bench,
    engine::{Engine, addresses},
    error::Result,
    format::{median, thousands},
    proc::{processor_time, resident},
    report::Target,
};

/// Deductions that wait for the disk at any time.
const IN_FLIGHT: usize = 1_024;

/// The cost of a deduction.
#[derive(Clone, Copy)]
struct Cost {
    /// Microseconds of wall-clock time per deduction.
    wall: f64,
    /// Microseconds of processor time, folding included.
    processor: f64,
}

impl Bench {
    /// The suite of old and fresh wallets.
    pub(crate) fn keys(&mut self) -> Result<()> {
        let data = self.place.data("keys");
        let past = self.args.count(10_000_000);
        let old = addresses(0, 1)?;
        let engine = Engine::open(&data, 0)?;
        engine.fund(&old)?;
        eprintln!("keys: giving one wallet {past} keys");
        let rate = engine.fill(&old, past)?;
        let next_key = engine.next_key();
        engine.close()?;
        // Cold, as after a restart: the old wallet is not in memory.
        let engine = Engine::open(&data, next_key)?;
        let mut costs = [Vec::new(), Vec::new()];
        for round in 1..=self.args.rounds().max(3) as u64 {
            let fresh = addresses(round, 1)?;
            engine.fund(&fresh)?;
            for (which, wallet) in [("old", &old), ("fresh", &fresh)].into_iter().enumerate() {
                let (name, wallet) = wallet;
                let cost = self.cost(&engine, wallet)?;
                eprintln!(
                    "keys round {round}: {name:>5} wallet {:.2} µs a deduction, {:.2} µs of processor",
                    cost.wall, cost.processor
                );
                self.report.detail(json!({
                    "suite": "keys", "wallet": name, "round": round,
                    "microseconds": cost.wall, "processorMicroseconds": cost.processor,
                }));
                if let Some(costs) = costs.get_mut(which) {
                    costs.push(cost);
                }
            }
        }
        let memory = resident(std::process::id())? as f64 / 1e6;
        engine.close()?;
        let [old, fresh] = costs;
        let of = |costs: &[Cost], part: fn(&Cost) -> f64| median(costs.iter().map(part));
        let wall = of(&old, |c| c.wall) / of(&fresh, |c| c.wall).max(1e-9);
        let processor = of(&old, |c| c.processor) / of(&fresh, |c| c.processor).max(1e-9);
        let report = &mut self.report;
        let name = format!("cost with {} past keys / fresh", thousands(past as f64));
        report.add(name, wall, "", Target::AtMost(1.5));
        report.note(format!(
            "time from one to the next; {processor:.2} in processor time"
        ));
        report.value("filling that wallet, batches of 1,000", rate, "/s");
        report.note(format!("{memory:.0} MB resident afterwards, this process"));
        Ok(())
    }

    fn cost(&self, engine: &Engine, wallet: &std::sync::Arc<[actors::Address]>) -> Result<Cost> {
        engine.settle()?;
        // Woken and warmed up, then counted from the first to the last fold.
        engine.deduct(wallet, IN_FLIGHT, Duration::ZERO, self.args.warm_up())?;
        engine.settle()?;
        let (keys, processor) = (engine.next_key(), processor_time(std::process::id())?);
        let rate = engine.deduct(wallet, IN_FLIGHT, Duration::ZERO, self.args.round())?;
        engine.settle()?;
        let used = processor_time(std::process::id())?.saturating_sub(processor);
        let operations = (engine.next_key() - keys).max(1) as f64;
        Ok(Cost {
            wall: 1e6 / rate.max(1e-9),
            processor: used.as_secs_f64() * 1e6 / operations,
        })
    }
}
