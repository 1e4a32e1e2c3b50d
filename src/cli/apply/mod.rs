//! `scrip apply`: the catalog as code, over the admin API of a running server.
//!
//! Without a state file, what the file declares is matched with what the server has:
//! - a product by its `id` where the file has one, otherwise by its name. Renaming a product therefore needs
//!   its `id`, and so do two products with the same name;
//! - a price by its terms (amount, currency, credits, interval, features, expiry, rollover, trial, repeatable, target):
//!   they never change once it is created, so other terms are another price. Only its label and whether it is
//!   active are changed in place;
//! - a rate card by its slug, its rates by what they match.
//!
//! A declared product, price or rate card is applied whole: a field that the file omits takes its default. What the file
//! does not declare is left as it is and listed; nothing is deactivated unless the file says `active = false`.

mod file;
mod plan;
pub mod pull;

use std::path::PathBuf;

use api_types::admin::{CreatedProject, Product, Products, Projects};
use clap::Args;
use file::File;
use serde_json::{Value, json};

use super::{
    Failure, print,
    rates::card::{Card, Cards},
    remote::{self, ApiClient, Error, ServerArgs},
    table::field,
};

/// What to apply, and where.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// The file; `catalog.example.toml` shows every field.
    #[arg(value_name = "CATALOG.TOML")]
    file: PathBuf,
    #[command(flatten)]
    server: ServerArgs,
    /// The project, by its id or its name [default: the name in the file, created if there is none].
    #[arg(long, value_name = "ID OR NAME")]
    project: Option<String>,
    /// Prints what would change, and changes nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Applies the file to the server.
pub(super) fn run(args: ApplyArgs) -> Result<(), Failure> {
    let text = std::fs::read_to_string(&args.file)
        .map_err(|error| Failure(format!("cannot read {}: {error}", args.file.display())))?;
    let file =
        File::parse(&text).map_err(|error| Failure(format!("{}: {error}", args.file.display())))?;
    remote::wait(async {
        let client = args.server.administration()?;
        let apply = Apply {
            client,
            dry_run: args.dry_run,
            changes: 0,
        };
        apply.all(&file, args.project.as_deref()).await
    })
}

/// One run of the command.
struct Apply {
    client: ApiClient,
    dry_run: bool,
    changes: usize,
}

impl Apply {
    async fn all(mut self, file: &File, wanted: Option<&str>) -> Result<(), Failure> {
        let Some(project) = self.project(file, wanted).await? else {
            // Only a dry run gets here without a project.
            for product in &file.products {
                self.say('+', &format!("product \"{}\" and its prices", product.name));
            }
            for card in &file.rate_cards {
                self.say('+', &format!("rate card \"{}\"", card.slug));
            }
            return self.done();
        };
        let mut ids = Vec::new();
        let path = format!("/projects/{project}/products");
        for step in plan::products(&file.products, &self.products(&path).await?)? {
            let what = format!("product \"{}\"", step.name);
            ids.push(self.save(&path, step.id, step.fields, &what).await?);
        }
        let found = self.products(&path).await?;
        let mut steps = plan::prices(&file.products, &ids, &found)?;
        // Deactivations first: they make room for new prices.
        steps.sort_by_key(|step| !step.switches_off());
        for step in steps {
            self.price(&path, step).await?;
        }
        let path = format!("/projects/{project}/rate-cards");
        let cards = self.rate_cards(&path, file).await?;
        for step in plan::rate_cards::steps(file, &ids, &found, &cards)? {
            self.rate_card(&path, step).await?;
        }
        let mut undeclared = plan::undeclared(&file.products, &ids, &found);
        let is_declared = |slug: &str| file.rate_cards.iter().any(|card| card.slug == slug);
        let cards = cards.iter().filter(|card| !is_declared(&card.slug));
        undeclared.extend(cards.map(|card| format!("rate card \"{}\"", card.slug)));
        for left in undeclared {
            print::line(&format!("  not in the file, left as it is: {left}"));
        }
        self.done()
    }

    async fn products(&self, path: &str) -> Result<Vec<Product>, Failure> {
        let Products { products } = self.client.get(path).await?;
        Ok(products)
    }

    /// The project's id; `None` if a dry run would have created it.
    async fn project(
        &mut self,
        file: &File,
        wanted: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let Projects { projects } = self.client.get("/projects").await?;
        match plan::project(file, wanted, &projects)? {
            plan::Project::Found { project, change } => {
                let what = format!("project \"{}\"", project.name);
                self.save("/projects", Some(project.id.clone()), change, &what)
                    .await
            }
            plan::Project::Missing { create, change } => {
                let name = create.get("name").unwrap_or_default();
                self.say('+', &format!("project {name}"));
                if self.dry_run {
                    return Ok(None);
                }
                let made: CreatedProject = self.client.post("/projects", &create).await?;
                print::line(&format!("  publishable key: {}", made.publishable_key));
                print::line(&format!(
                    "  secret key, shown only now: {}",
                    made.secret_key
                ));
                let id = made.project.id;
                if let Some(change) = change {
                    self.patch("/projects", &id, &change).await?;
                }
                Ok(Some(id))
            }
        }
    }

    async fn price(&mut self, products: &str, step: plan::PriceStep) -> Result<(), Failure> {
        let what = format!("price {}", step.name);
        let Some(product) = step.product else {
            self.say('+', &what);
            return Ok(());
        };
        let path = format!("{products}/{product}/prices");
        let is_new = step.id.is_none();
        let id = self.save(&path, step.id, Some(step.fields), &what).await?;
        match id.filter(|_| is_new && !step.active) {
            Some(id) => self.patch(&path, &id, &json!({ "active": false })).await,
            None => Ok(()),
        }
    }

    /// The rate cards in force, and of those that the file has from a later instant the versions in force then.
    async fn rate_cards(&self, path: &str, file: &File) -> Result<Vec<Card>, Failure> {
        let Cards { rate_cards } = self.client.get(path).await?;
        let mut cards = Vec::with_capacity(rate_cards.len());
        for mut card in rate_cards {
            let wanted = file.rate_cards.iter().find(|it| it.slug == card.slug);
            let from = wanted.and_then(|wanted| wanted.effective_from()?.parse().ok());
            let mut number = card.version;
            while let Some(from) = from {
                let from: jiff::Timestamp = from;
                number = number.saturating_add(1);
                let next = format!("{path}/{}?version={number}", card.slug);
                match self.client.get::<Card>(&next).await {
                    Ok(next) if next.effective_from <= from => {
                        if next.effective_from >= card.effective_from {
                            card = next;
                        }
                    }
                    Ok(_) => {}
                    Err(Error::Refused { status: 404, .. }) => break,
                    Err(error) => return Err(error.into()),
                }
            }
            cards.push(card);
        }
        Ok(cards)
    }

    async fn rate_card(
        &mut self,
        cards: &str,
        step: plan::rate_cards::RateCardStep,
    ) -> Result<(), Failure> {
        let sign = if step.is_new { '+' } else { '~' };
        self.say(sign, &format!("rate card \"{}\"", step.slug));
        for line in step.lines {
            print::line(&format!("    {line}"));
        }
        if let Some(fields) = step.fields.filter(|_| !self.dry_run) {
            let path = format!("{cards}/{}", step.slug);
            self.client.put::<Card>(&path, &fields).await?;
        }
        Ok(())
    }

    /// Changes what has this id, if `fields` differ, or creates it below the path; returns its id, or `None` if a dry run
    /// would have created it.
    async fn save(
        &mut self,
        path: &str,
        id: Option<String>,
        fields: Option<Value>,
        what: &str,
    ) -> Result<Option<String>, Failure> {
        let Some(fields) = fields else {
            return Ok(id);
        };
        let Some(id) = id else {
            self.say('+', what);
            if self.dry_run {
                return Ok(None);
            }
            let made: Value = self.client.post(path, &fields).await?;
            return Ok(Some(field(&made, "id")));
        };
        self.say('~', &format!("{what}: {}", described(&fields)));
        if !self.dry_run {
            self.patch(path, &id, &fields).await?;
        }
        Ok(Some(id))
    }

    async fn patch(&self, path: &str, id: &str, change: &Value) -> Result<(), Failure> {
        let changed: Value = self.client.patch(&format!("{path}/{id}"), change).await?;
        drop(changed);
        Ok(())
    }

    fn say(&mut self, sign: char, what: &str) {
        self.changes = self.changes.saturating_add(1);
        print::line(&format!("{sign} {what}"));
    }

    fn done(&self) -> Result<(), Failure> {
        print::line(&match (self.changes, self.dry_run) {
            (0, _) => "nothing to change".into(),
            (changes, true) => format!("{changes} changes, none made: this was a dry run"),
            (changes, false) => format!("{changes} changes made"),
        });
        Ok(())
    }
}

/// The fields of a change with their new values, for a line of output.
fn described(change: &Value) -> String {
    let fields = change.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| format!("{name} = {value}"))
        .collect::<Vec<_>>()
        .join(", ")
}
