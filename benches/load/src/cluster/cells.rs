//! Two logs side by side, each with one of two projects, beside one with both.

use std::{thread, time::Instant};

use postgres_kit::Postgres;
use serde_json::json;

use super::{WALLETS, check_timeout, leads, settings};
use crate::{
    Bench,
    child::Server,
    error::{Error, Result},
    format::median,
    load::{Load, Wallets},
    project::Project,
};

/// Callers of all projects together.
const CONNECTIONS: usize = 256;

impl Bench {
    /// Measures one cell with two projects, splits it, and measures both.
    pub(super) fn two_cells(&mut self, database: &Postgres) -> Result<()> {
        let env = settings(&database.url(&database.create_database()), 4);
        let (first, one) = self.start("cluster-cell-0", &env)?;
        let other = Project::create(&first)?;
        for project in [&one, &other] {
            project.fund(&first, self.args.load_threads, WALLETS)?;
        }
        let alone = self.together([(&first, &one), (&first, &other)])?;

        let mut env_of_second = env.clone();
        env_of_second.push(("SCRIP_CLUSTER_CELL", "1".to_owned()));
        let second = self.server(&self.place.data("cluster-cell-1"), &env_of_second)?;
        let split = json!({"to": 1, "projects": [other.id]});
        let started = Instant::now();
        while first
            .admin()
            .post("/api/admin/v1/cluster/split", &split)
            .is_err()
        {
            check_timeout(started, "a process that waits to become a cell")?;
        }
        leads(&second)?;
        first.ended()?;
        let first = self.server(&self.place.data("cluster-cell-0"), &env)?;
        leads(&first)?;
        let both = self.together([(&first, &one), (&second, &other)])?;

        let report = &mut self.report;
        let load = format!("single, {CONNECTIONS} connections, two projects");
        report.value(format!("{load}: one cell"), alone, "/s");
        report.value(
            format!("{load}: two cells / one"),
            both / alone.max(1e-9),
            "",
        );
        second.terminate().map(drop)?;
        first.terminate().map(drop)
    }

    /// Deductions a second of two projects at once, each with half of the callers.
    fn together(&self, all: [(&Server, &Project); 2]) -> Result<f64> {
        let mut rates = Vec::new();
        for _ in 0..self.args.rounds() {
            let rate = thread::scope(|scope| {
                let loads = all.map(|(server, project)| {
                    scope.spawn(move || {
                        let load = Load {
                            server: server.address(),
                            connections: CONNECTIONS / 2,
                            threads: 1,
                            template: &project.deduct(),
                            wallets: Wallets::Random(WALLETS / 2),
                            rate: None,
                            patient: false,
                            warm_up: self.args.warm_up(),
                            length: self.args.round(),
                        };
                        load.run().map(|outcome| outcome.rate())
                    })
                });
                let mut sum = 0.0;
                for load in loads {
                    let rate = load.join();
                    sum += rate.map_err(|_| Error("a load has panicked".into()))??;
                }
                Ok::<_, Error>(sum)
            })?;
            rates.push(rate);
        }
        Ok(median(rates.iter().copied()))
    }
}
