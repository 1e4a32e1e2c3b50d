//! The load of a ledger: few customers do most, and requests come whether earlier ones were answered or not, so that
//! the latency of each counts from when it was due. Afterwards the balances must be what the answers make of the
//! grants, and no repeated request may take anything.

use std::{sync::Arc, time::Duration};

use super::{
    Bench, Setup,
    client::Client,
    error::{Error, Result},
    format::{median, milliseconds, thousands},
    load::{Load, Wallets, Zipf, next_run, user},
    project::FUNDS,
    report::Target,
    rounds::{Series, percentile, percentiles},
    stop,
};

/// Requests that can be under way; later ones wait, and that counts.
const CONNECTIONS: usize = 256;
const ROUND: Duration = Duration::from_secs(20);

impl Bench {
    pub(crate) fn ledger(&mut self, wallets: u64, skew: f64, rate: f64) -> Result<()> {
        let setup = self.funded("ledger", &[], wallets)?;
        let zipf = Arc::new(Zipf::new(wallets, skew));
        let hottest = zipf.hottest();
        let seconds = self.args.warm_up() + self.args.round_or(ROUND);
        let items = (rate * seconds.as_secs_f64()).ceil() as u64;
        let all = Wallets::Zipf { items, zipf };
        // A number of requests instead of a time, so that each of them is answered in the end.
        let mut load = Load {
            rate: Some(rate),
            length: None,
            ..self.load(&setup.server, setup.project.deduct(), CONNECTIONS, all)
        };
        let mut again = load.clone();
        again.template.expected = "\"deducted\":false";
        (again.rate, again.warm_up) = (None, Duration::ZERO);
        let offered = format!("{} deductions/s, Zipf {skew}", thousands(rate));
        let (mut runs, mut answered) = (Vec::new(), 0);
        for number in 1..=self.args.rounds() {
            load.run = Some(next_run());
            let mut series = Series::new(format!("{offered}, run {number}"))?;
            answered += self.round(&load, &setup.server, &mut series)?;
            runs.push((load.run, series));
        }
        let mut repeated = 0;
        for (run, _) in &runs {
            again.run = *run;
            repeated += again.run()?.all;
        }
        let spent = spent(&load.wallets, items, wallets, runs.len() as u64);
        let balances = self.balances(&setup, wallets)?;
        let taken = taken(&spent, &balances)?;
        if (answered, repeated) != (taken, taken) {
            return Err(Error(format!(
                "{answered} deductions were answered and {repeated} repeated, and the balances lack {taken}"
            )));
        }

        let report = &mut self.report;
        for (_, series) in &runs {
            series.report(report);
            let most = milliseconds(percentile(series.latency(), 100.0));
            report.note(format!("{}, at most {most}", percentiles(series.latency())));
        }
        let of = |value: fn(&Series) -> f64| runs.iter().map(move |(_, series)| value(series));
        let least = of(Series::rate).fold(f64::INFINITY, f64::min);
        let name = format!("{offered}: the slowest run / offered");
        report.add(name, least / rate, "", Target::AtLeast(0.98));
        report.note(format!(
            "{} wallets, {:.1} % of requests for one of them",
            thousands(wallets as f64),
            hottest * 100.0
        ));
        let p99 = of(|series| percentile(series.latency(), 99.0));
        report.value(
            format!("{offered}: p99, median of the runs"),
            median(p99),
            "ms",
        );
        report.note("from when each request was due");
        report.value("credits deducted, by the answers", answered as f64, "");
        report.note(format!(
            "granted - balances: {}; repeated by their keys: {}, which took nothing",
            thousands(taken as f64),
            thousands(repeated as f64)
        ));
        setup.server.terminate().map(drop)
    }

    /// What each wallet has, as the API answers.
    fn balances(&self, setup: &Setup, wallets: u64) -> Result<Vec<u64>> {
        let (address, project) = (setup.server.address(), &setup.project);
        let client = Client::new(self.runtime.handle(), address, &project.secret);
        let balance = |wallet| {
            stop::check()?;
            let user = user(wallet);
            self.runtime
                .block_on(client.balance(&user, &project.product))
        };
        (0..wallets).map(balance).collect()
    }
}

/// What each wallet spent in so many equal runs.
fn spent(choice: &Wallets, items: u64, wallets: u64, runs: u64) -> Vec<u64> {
    let mut spent = vec![0; wallets as usize];
    for item in 0..items {
        if let Some(spent) = spent.get_mut(choice.wallet(item) as usize) {
            *spent += runs;
        }
    }
    spent
}

/// What was granted less all balances, each of which must be what its wallet did not spend.
fn taken(spent: &[u64], balances: &[u64]) -> Result<u64> {
    for (wallet, (spent, balance)) in (0..).zip(spent.iter().zip(balances)) {
        if balance + spent != FUNDS {
            let user = user(wallet);
            return Err(Error(format!(
                "{user} has {balance} of {FUNDS} and spent {spent}"
            )));
        }
    }
    Ok(FUNDS * spent.len() as u64 - balances.iter().sum::<u64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wallet_that_has_a_credit_too_many_is_named() {
        let wallets = Wallets::InOrder {
            wallets: 2,
            times: 3,
        };
        let spent = spent(&wallets, 6, 2, 2);
        assert_eq!(taken(&spent, &[FUNDS - 6, FUNDS - 6]), Ok(12));
        let error = taken(&spent, &[FUNDS - 6, FUNDS - 5])
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("user_0000001 has 999999995"), "{error}");
    }
}
