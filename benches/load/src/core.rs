//! Durable deductions per second without HTTP: many wallets and one, in turns.

use serde_json::json;

use super::{
    Bench,
    engine::{Engine, addresses},
    error::Result,
    format::{median, thousands},
    proc::processor_time,
    report::Target,
};

/// Deductions that wait for the disk at any time.
const IN_FLIGHT: usize = 1_024;

impl Bench {
    /// The suite of the core, in this process.
    pub(crate) fn core(&mut self) -> Result<()> {
        let engine = Engine::open(&self.place.data("core"), 0)?;
        let many = addresses(0, 10_000)?;
        let hot = addresses(0, 1)?;
        engine.fund(&many)?;
        engine.settle()?;
        let mut rates = [Vec::new(), Vec::new(), Vec::new()];
        let mut settled = [Vec::new(), Vec::new(), Vec::new()];
        let (warm_up, length) = (self.args.warm_up(), self.args.round());
        for round in 1..=self.args.rounds() {
            for (kind, name) in ["10,000 wallets", "one hot wallet", "batches"]
                .iter()
                .enumerate()
            {
                let started = std::time::Instant::now();
                let before = (engine.next_key(), processor_time(std::process::id())?);
                let rate = match kind {
                    0 => engine.deduct(&many, IN_FLIGHT, warm_up, length)?,
                    1 => engine.deduct(&hot, IN_FLIGHT, warm_up, length)?,
                    _ => engine.fill(&many, self.args.count(2_000_000))?,
                };
                let busy = started.elapsed().as_secs_f64();
                let put_off = engine.settle()?.as_secs_f64();
                // Less affected by other guests of the machine than any rate.
                let used = processor_time(std::process::id())?.saturating_sub(before.1);
                let operations = engine.next_key() - before.0;
                let each = used.as_secs_f64() * 1e6 / (operations as f64).max(1.0);
                eprintln!(
                    "core round {round}: {name:>14} {:>9}/s, {each:.3} µs of processor each, then folding \
                     for {put_off:.2} s",
                    thousands(rate)
                );
                self.report.detail(json!({
                    "suite": "core", "load": name, "round": round, "perSecond": rate,
                    "processorMicrosecondsEach": each, "foldingAfterwardsSeconds": put_off,
                }));
                if let (Some(rates), Some(settled)) = (rates.get_mut(kind), settled.get_mut(kind)) {
                    rates.push(rate);
                    settled.push(rate * busy / (busy + put_off));
                }
            }
        }
        engine.close()?;
        let [many, hot, batches] = rates.map(median);
        let notes = settled
            .map(|rates| format!("{}/s with the folding afterwards", thousands(median(rates))));
        let [many_note, hot_note, batches_note] = notes;
        let report = &mut self.report;
        let name = "core, 10,000 wallets, 1,024 in flight";
        report.add(name, many, "/s", Target::AtLeast(350e3, Some(500e3)));
        report.note(many_note);
        report.value("core, one hot wallet, 1,024 in flight", hot, "/s");
        report.note(hot_note);
        report.add(
            "core, hot wallet / 10,000",
            hot / many.max(1.0),
            "",
            Target::AtLeast(0.9, None),
        );
        report.value("core, 16 batches of 1,000 in flight", batches, "/s");
        report.note(batches_note);
        Ok(())
    }
}
