//! The server over HTTP and the bare handler, in turns, so that a slow phase of the machine affects both.

use super::{
    Bench,
    error::Result,
    format::milliseconds,
    load::Wallets,
    project::BATCH,
    rounds::{Series, percentile},
};

/// Wallets that deductions are spread over.
const WALLETS: u64 = 10_000;

impl Bench {
    pub(crate) fn http(&mut self) -> Result<()> {
        let setup = self.funded("http", &[], WALLETS)?;
        let (real, project) = (&setup.server, &setup.project);
        let bare = self.bare_handler(&project.secret)?;
        let (single, batch) = (project.deduct(), project.batch());
        for (name, connections, template) in [
            ("single, 1 connection".to_owned(), 1, &single),
            ("single, 64 connections".to_owned(), 64, &single),
            ("single, 256 connections".to_owned(), 256, &single),
            (format!("batches of {BATCH}, 64 connections"), 64, &batch),
        ] {
            let mut of_bare = Series::new(format!("{name}: bare handler"))?;
            let mut of_real = Series::new(format!("{name}: 10,000 wallets"))?;
            for _ in 0..self.args.rounds() {
                for (server, series) in [(&bare, &mut of_bare), (real, &mut of_real)] {
                    let wallets = Wallets::Random(WALLETS);
                    let load = self.load(server, template.clone(), connections, wallets);
                    self.round(&load, server, series)?;
                }
            }
            let report = &mut self.report;
            of_bare.report(report);
            of_real.report(report);
            for percent in [50.0, 99.0] {
                let [bare, real] = [&of_bare, &of_real].map(|it| percentile(it.latency(), percent));
                report.value(format!("{name}: 10,000 wallets, p{percent}"), real, "ms");
                report.note(format!("bare handler {}", milliseconds(bare)));
            }
            let ratio = of_real.rate_beside(&of_bare);
            report.value(format!("{name}: 10,000 wallets / bare handler"), ratio, "");
        }
        setup.server.terminate().map(drop)
    }
}
