//! Disk space compared with the ledger itself, after ten million mixed operations.

use domain::{
    Timestamp,
    history::{Entry, HoldSnapshot, HoldStatus, Reason, Record, RecordContent},
    id::{HoldId, ProductId, WalletKey},
    text::{IdempotencyKey, Meta},
};
use persistence::record_bytes;

use super::{
    Bench,
    error::{Context, Result},
    folder::disk_use,
    format::thousands,
    load::{Template, Wallets},
    report::Target,
};

/// Wallets that the operations are spread over.
const WALLETS: u64 = 10_000;

impl Bench {
    pub(crate) fn disk(&mut self) -> Result<()> {
        let data = self.folder.path().join("disk");
        let setup = self.funded("disk", &[], WALLETS)?;
        // In slices, so that kinds of operations are mixed as in real use.
        let slices = if self.args.quick { 2 } else { 10 };
        let [batched, single, credits, holds] =
            [8_000_000, 1_000_000, 700_000, 300_000].map(|count| self.args.count(count) / slices);
        for slice in 1..=slices {
            eprintln!("disk: slice {slice} of {slices}");
            self.send_batches(&setup, batched, WALLETS)?;
            let send = |template: Template, items: u64| {
                let wallets = WALLETS;
                self.send_all(&setup.server, template, Wallets::Count { items, wallets })
            };
            send(setup.project.deduct(), single)?;
            send(setup.project.credit(), credits)?;
            send(setup.project.hold(), holds)?;
        }
        setup.server.idle()?;
        let running = disk_use(&data)? as f64;
        setup.server.terminate()?;
        let ended = disk_use(&data)? as f64;

        let all = [
            (batched * slices, deduction(None)?),
            (single * slices, deduction(Some(r#"{"feature":"image"}"#))?),
            (credits * slices + WALLETS, grant()?),
            // A hold leaves two records: one when placed and one when it expired.
            (holds * slices, hold(HoldStatus::Open)?),
            (holds * slices, hold(HoldStatus::Expired)?),
        ];
        let (mut logical, mut entries) = (0.0, 0.0);
        for (count, fact) in all {
            let record = Record {
                seq: 1_000,
                at: Timestamp(1_800_000_000_000),
                fact,
            };
            let bytes = record_bytes(&record).context("encoding a record")?;
            logical += (count * bytes) as f64;
            entries += count as f64;
        }
        let operations = thousands(((batched + single + credits + holds) * slices) as f64);
        let report = &mut self.report;
        let name = format!("logical ledger of {operations} operations");
        report.value(name, logical / 1e6, "MB");
        report.note("every record once, as encoded; no keys' index, no wallets, no log");
        let name = "disk while running / logical ledger";
        report.add(name, running / logical, "", Target::AtMost(3.0));
        report.note(format!("{:.0} MB", running / 1e6));
        report.value("disk while running, each entry", running / entries, "bytes");
        report.note(format!("{} entries", thousands(entries)));
        let name = "disk after a clean end / logical ledger";
        report.value(name, ended / logical, "");
        report.note(format!("{:.0} MB", ended / 1e6));
        Ok(())
    }
}

/// A key as long as those of the load generator.
fn key() -> Result<IdempotencyKey> {
    IdempotencyKey::new("k0000000000abc_00000_000000001f").context("a key")
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
        rate: None,
        counted: None,
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
        amount: 1,
        status,
        settled: 0,
        expires_at: Timestamp(1_800_000_000_000),
        drawn: 0,
        max_overrun: 0,
        publishable: false,
        rotations: 0,
        owed: 0,
        uncovered: 0,
        rate: None,
        counted: None,
    };
    Ok(match status {
        HoldStatus::Open => RecordContent::HoldPlaced(facts, key()?, None),
        _ => RecordContent::HoldSettled(facts, None, Vec::new()),
    })
}
