//! Disk space compared with the ledger itself, after ten million mixed operations.

use domain::{
    Amount, Timestamp,
    history::{Entry, HoldSnapshot, HoldStatus, Reason, Record, RecordContent},
    id::{HoldId, ProductId, WalletKey},
    text::{IdempotencyKey, Meta},
};
use persistence::record_bytes;

use super::{
    Bench,
    error::{Context, Needed, Result},
    format::thousands,
    load::{Template, Wallets},
    million::every_in_batches,
    place::disk_use,
    project::every,
    report::Target,
};

/// Wallets that the operations are spread over.
const WALLETS: u64 = 10_000;

impl Bench {
    /// The disk suite.
    pub(crate) fn disk(&mut self) -> Result<()> {
        let data = self.place.data("disk");
        let threads = self.args.load_threads;
        let (mut server, project) = self.start("disk", &[])?;
        // In slices, so that kinds of operations are mixed as in real use.
        let slices = if self.args.quick { 2 } else { 10 };
        let part = |full: u64| self.args.count(full) / slices;
        let (batched, single, credits, holds) = (
            part(8_000_000),
            part(1_000_000),
            part(700_000),
            part(300_000),
        );
        project.fund(&server, threads, WALLETS)?;
        for slice in 1..=slices {
            eprintln!("disk: slice {slice} of {slices}");
            every_in_batches(&server, threads, &project, batched, WALLETS)?;
            let some = |template: Template, items: u64| {
                every(
                    &server,
                    threads,
                    &template,
                    Wallets::Count {
                        items,
                        wallets: WALLETS,
                    },
                )
            };
            some(project.deduct(), single)?;
            some(project.credit(), credits)?;
            some(project.hold(), holds)?;
        }
        server.quiet()?;
        let alive = disk_use(&data)?;
        server.terminate()?;
        let ended = disk_use(&data)?;

        let all = [
            (batched * slices, deduction(None)?),
            (single * slices, deduction(Some(r#"{"feature":"image"}"#))?),
            (credits * slices + WALLETS, grant()?),
            // A hold leaves two records: one when placed and one when it expired.
            (holds * slices, hold(HoldStatus::Open)?),
            (holds * slices, hold(HoldStatus::Expired)?),
        ];
        let mut logical = 0;
        for (count, fact) in &all {
            let record = Record {
                seq: 1_000,
                at: Timestamp(1_800_000_000_000),
                fact: fact.clone(),
            };
            logical += count * record_bytes(&record).context("encoding a record")?;
        }
        let operations = thousands(((batched + single + credits + holds) * slices) as f64);
        let entries = all.iter().map(|(count, _)| count).sum::<u64>() as f64;
        let (alive, ended, logical) = (alive as f64, ended as f64, logical as f64);
        let report = &mut self.report;
        let name = format!("logical ledger of {operations} operations");
        report.value(name, logical / 1e6, "MB");
        report.note("every record once, as encoded; no keys' index, no wallets, no log");
        report.add(
            "disk while running / logical ledger",
            alive / logical,
            "",
            Target::AtMost(3.0),
        );
        report.note(format!("{:.0} MB", alive / 1e6));
        report.value("disk while running, each entry", alive / entries, "bytes");
        report.note(format!("{} entries", thousands(entries)));
        report.value(
            "disk after a clean end / logical ledger",
            ended / logical,
            "",
        );
        report.note(format!("{:.0} MB", ended / 1e6));
        Ok(())
    }
}

/// A key as long as those of the load generator.
fn key() -> Result<IdempotencyKey> {
    IdempotencyKey::new("k0000000000abc_1_000_000000001f").context("a key")
}

fn entry(delta: i64, reason: Reason, meta: Option<&str>) -> Result<Entry> {
    Ok(Entry {
        product: ProductId(u128::MAX),
        delta,
        balance_after: 999_999_000,
        reason,
        order: None,
        key: Some(key()?),
        meta: meta.map(Meta::new).transpose().context("meta")?,
        expires_at: None,
    })
}

fn deduction(meta: Option<&str>) -> Result<RecordContent> {
    Ok(RecordContent::Entry(entry(-1, Reason::Deduction, meta)?))
}

fn grant() -> Result<RecordContent> {
    Ok(RecordContent::Entry(entry(
        1_000_000_000,
        Reason::Manual,
        None,
    )?))
}

fn hold(status: HoldStatus) -> Result<RecordContent> {
    let facts = HoldSnapshot {
        id: HoldId {
            serial: u128::MAX,
            wallet: WalletKey([0xff; 16]),
        },
        product: ProductId(u128::MAX),
        amount: Amount::new(1).needed("an amount")?,
        status,
        settled: 0,
        expires_at: Timestamp(1_800_000_000_000),
        drawn: 0,
        max_overrun: 0,
        publishable: false,
        rotations: 0,
        owed: 0,
        uncovered: 0,
    };
    Ok(match status {
        HoldStatus::Open => RecordContent::HoldPlaced(facts, key()?),
        _ => RecordContent::HoldSettled(facts, None, Vec::new()),
    })
}
