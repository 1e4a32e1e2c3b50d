//! `scrip rates import`: a rate card from the prices that genai-prices or LiteLLM publish, read from the disk.

pub(super) mod card;
mod data;
mod decimal;
mod genai_prices;
mod imported;
mod litellm;
mod price_file;

use std::{io::Write as _, path::PathBuf, time::Instant};

use api_types::admin::{Product, Products};
use clap::{Args, Subcommand};
use domain::rate_card::{MAX_RATES, Rate, RateChange, RateChangeKind, changes};
use serde_json::json;
use wire::visible::visible;

use self::{
    card::{Card, line},
    decimal::Decimal,
    imported::Imported,
    price_file::PriceFile,
};
use super::{
    Failure, print,
    project::{Project, ProjectArgs},
    remote::{self, Error},
};

/// The most names that are printed of those that have the same reason.
const MAX_PRINTED: usize = 20;

#[derive(Debug, Args)]
pub(super) struct RatesArgs {
    #[command(subcommand)]
    command: RatesCommand,
}

#[derive(Debug, Subcommand)]
enum RatesCommand {
    /// Import the models' prices that genai-prices or LiteLLM publish, from a file on the disk.
    ///
    /// They take the place of the card's rates that match by `model` alone, but for those that are free or have a
    /// minimum. What changes is shown first.
    Import(ImportArgs),
}

/// What to import, and into which card.
#[derive(Debug, Args)]
struct ImportArgs {
    /// A price file: data.json or data.py of genai-prices, or model_prices_and_context_window.json of LiteLLM.
    file: PathBuf,
    /// The rate card, which is made if there is none.
    #[arg(long, value_name = "SLUG")]
    card: String,
    /// How many credits a dollar is.
    #[arg(long, value_name = "CREDITS")]
    credits_per_dollar: Decimal,
    /// What the prices are multiplied by.
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    markup: Decimal,
    /// Only these providers, as the file calls them. Where several have a model of one name, the first of them counts.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    provider: Vec<String>,
    /// Only models whose names begin with one of these.
    #[arg(long, value_name = "BEGINNINGS", value_delimiter = ',')]
    model: Vec<String>,
    /// The product whose credits the prices are in [default: the card's, or else the only one that has credits].
    #[arg(long, value_name = "ID OR NAME")]
    product: Option<String>,
    /// Makes the changes without asking.
    #[arg(long)]
    yes: bool,
    /// Also accepts prices that rise or fall by more than half.
    #[arg(long)]
    accept_large_changes: bool,
    #[command(flatten)]
    project: ProjectArgs,
}

pub(super) fn run(args: RatesArgs) -> Result<(), Failure> {
    let RatesCommand::Import(args) = args.command;
    remote::wait(args.import())
}

impl ImportArgs {
    async fn import(self) -> Result<(), Failure> {
        let started = Instant::now();
        let project = self.project.open().await?;
        let path = project.path(&format!("/rate-cards/{}", self.card));
        let card = match project.remote.get::<Card>(&path).await {
            Ok(card) => Some(card),
            Err(Error::Refused { status: 404, .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let product = self.product(&project, card.as_ref()).await?;
        let former = card.as_ref().map_or(&[][..], |card| &card.rates);
        let (kept, _): (Vec<&Rate>, Vec<&Rate>) = former.iter().partition(|it| is_kept(it));
        let imported = self.read(&kept)?;
        imported.print();
        let rates: Vec<Rate> = kept.into_iter().cloned().chain(imported.rates()).collect();
        let changes = changes(former, &rates);
        let is_moved = card.as_ref().is_some_and(|it| it.product_id != product);
        for change in &changes {
            print::line(&line(change));
        }
        let count = |kind| changes.iter().filter(|it| it.kind == kind).count();
        print::line(&format!(
            "rate card \"{}\", credits of {product}: {} rates; {} new, {} changed, {} gone",
            self.card,
            rates.len(),
            count(RateChangeKind::Added),
            count(RateChangeKind::Changed),
            count(RateChangeKind::Removed)
        ));
        if changes.is_empty() && !is_moved {
            let took = started.elapsed().as_secs_f64();
            print::line(&format!("nothing to change; took {took:.1} s"));
            return Ok(());
        }
        let read = started.elapsed();
        self.confirm(&changes)?;
        let started = Instant::now();
        let body = json!({ "productId": product, "rates": rates });
        let saved: Card = project.remote.put(&path, &body).await?;
        let took = read.saturating_add(started.elapsed()).as_secs_f64();
        print::line(&format!(
            "rate card \"{}\" is at version {}; took {took:.1} s",
            saved.slug, saved.version
        ));
        Ok(())
    }

    /// The id of the product whose credits the prices are in.
    async fn product(&self, project: &Project, card: Option<&Card>) -> Result<String, Failure> {
        if let (None, Some(card)) = (&self.product, card) {
            return Ok(card.product_id.clone());
        }
        let Products { products } = project.remote.get(&project.path("/products")).await?;
        let fits = |product: &&Product| match &self.product {
            Some(wanted) => [&product.id, &product.name].contains(&wanted),
            None => product.active && product.credit_unit.is_some(),
        };
        let mut found = products.iter().filter(fits);
        match (found.next(), found.next()) {
            (Some(product), None) => Ok(product.id.clone()),
            (first, _) => Err(Failure(format!(
                "{} fits: name one by --product",
                first.map_or("no product", |_| "more than one product")
            ))),
        }
    }

    /// Reads the rates, but for those that the card has its own for.
    fn read(&self, kept: &[&Rate]) -> Result<Imported, Failure> {
        let name = self.file.display();
        let text = std::fs::read_to_string(&self.file)
            .map_err(|error| Failure(format!("cannot read {name}: {error}")))?;
        let today = jiff::Timestamp::now().to_string();
        let today = today.get(..10).unwrap_or_default();
        let mut file = PriceFile::read(&text, &self.provider, today)
            .map_err(|error| Failure(format!("{name}: {error}")))?;
        if !self.model.is_empty() {
            let is_wanted = |name: &String| self.model.iter().any(|it| name.starts_with(it));
            for model in &mut file.models {
                model.patterns.retain(is_wanted);
            }
        }
        let models = &file.models;
        let has = |wanted: &&String| models.iter().any(|model| model.provider == **wanted);
        if let Some(missing) = self.provider.iter().find(|it| !has(it)) {
            return Err(Failure(format!("{name} has no prices of {missing}")));
        }
        let factor = self.credits_per_dollar.times(self.markup);
        let factor = factor.filter(|factor| !factor.is_zero());
        let factor = factor.ok_or_else(|| {
            Failure::new("--credits-per-dollar and --markup are above zero, with few digits")
        })?;
        let imported = Imported::new(file, factor, kept);
        let count = imported.len().saturating_add(kept.len());
        if count > MAX_RATES {
            return Err(Failure(format!(
                "{count} rates are more than the {MAX_RATES} of a card: choose by --provider and --model. There are {}",
                imported.by_provider()
            )));
        }
        Ok(imported)
    }

    /// Asks whether to make the changes, and again where prices rise or fall by more than half.
    fn confirm(&self, changes: &[RateChange]) -> Result<(), Failure> {
        let refused = |flags| Failure(format!("nothing was changed. Without questions: {flags}"));
        if !self.yes && !is_yes("Make these changes?") {
            return Err(refused("--yes"));
        }
        let large: Vec<&RateChange> = changes.iter().filter(|it| it.is_large).collect();
        if large.is_empty() || self.accept_large_changes {
            return Ok(());
        }
        print::line("These prices rise or fall by more than half:");
        for change in large {
            print::line(&line(change));
        }
        match !self.yes && is_yes("Make these changes, too?") {
            true => Ok(()),
            false => Err(refused("--yes --accept-large-changes")),
        }
    }
}

/// Whether an import leaves a rate as it is: it makes none that match otherwise, are free or have a minimum.
fn is_kept(rate: &Rate) -> bool {
    let is_by_model = rate.pattern.len() == 1 && rate.pattern.contains_key("model");
    !is_by_model || rate.free || rate.minimum.is_some()
}

/// Asks a question; no answer is a no.
fn is_yes(question: &str) -> bool {
    let mut out = std::io::stdout().lock();
    drop(write!(out, "{question} [y/N] ").and_then(|()| out.flush()));
    drop(out);
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Some names with a comma between them, and how many more there are.
fn listed<T: AsRef<str>>(names: impl ExactSizeIterator<Item = T>) -> String {
    let more = names.len().saturating_sub(MAX_PRINTED);
    let first = names.take(MAX_PRINTED);
    let first: Vec<String> = first.map(|it| visible(it.as_ref()).into_owned()).collect();
    match more {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
