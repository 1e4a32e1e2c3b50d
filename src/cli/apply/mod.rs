//! `scrip apply`: the catalog as code, over the admin API of a running server.
//!
//! Without a state file, what the file declares is matched with what the server has:
//! - a product by its `id` where the file has one, otherwise by its name. Renaming a product therefore needs
//!   its `id`, and so do two products with the same name;
//! - a price by its terms (amount, currency, credits, interval, features, expiry, rollover, trial, repeatable, target):
//!   they never change once it is created, so other terms are another price. Only its label and whether it is
//!   active are changed in place.
//!
//! A declared product or price is applied whole: a field that the file omits takes its default. What the file
//! does not declare is left as it is and listed; nothing is deactivated unless the file says `active = false`.

mod client;
mod file;
mod plan;

use std::path::PathBuf;

use clap::Args;
use client::AdminClient;
use file::File;

use super::{
    Failure, print,
    remote::{self, ServerArgs},
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
        let client = AdminClient(args.server.administration()?);
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
    client: AdminClient,
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
            return self.done();
        };
        let mut ids = Vec::new();
        let found = self.client.products(&project).await?;
        for product in plan::products(&file.products, &found)? {
            ids.push(self.product(&project, product).await?);
        }
        let found = self.client.products(&project).await?;
        let mut steps = plan::prices(&file.products, &ids, &found)?;
        // Deactivations first: they make room for new prices.
        steps.sort_by_key(|step| !step.switches_off());
        for step in steps {
            self.price(&project, step).await?;
        }
        for left in plan::undeclared(&file.products, &ids, &found) {
            print::line(&format!("  not in the file, left as it is: {left}"));
        }
        self.done()
    }

    /// The project's id; `None` if a dry run would have created it.
    async fn project(
        &mut self,
        file: &File,
        wanted: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let projects = self.client.projects().await?;
        match plan::project(file, wanted, &projects)? {
            plan::Project::Found { project, change } => {
                if let Some(change) = change {
                    self.say(
                        '~',
                        &format!("project \"{}\": {}", project.name, fields(&change)),
                    );
                    if !self.dry_run {
                        self.client.update_project(&project.id, &change).await?;
                    }
                }
                Ok(Some(project.id.clone()))
            }
            plan::Project::Missing { create, change } => {
                let name = create.get("name").unwrap_or_default();
                self.say('+', &format!("project {name}"));
                if self.dry_run {
                    return Ok(None);
                }
                let made = self.client.create_project(&create).await?;
                print::line(&format!("  publishable key: {}", made.publishable_key));
                print::line(&format!(
                    "  secret key, shown only now: {}",
                    made.secret_key
                ));
                if let Some(change) = change {
                    self.client
                        .update_project(&made.project.id, &change)
                        .await?;
                }
                Ok(Some(made.project.id))
            }
        }
    }

    /// Creates or changes a product; returns its id, or `None` if a dry run would have created it.
    async fn product(
        &mut self,
        project: &str,
        step: plan::ProductStep,
    ) -> Result<Option<String>, Failure> {
        match step {
            plan::ProductStep::Same { id } => Ok(Some(id)),
            plan::ProductStep::Change { id, name, change } => {
                self.say('~', &format!("product \"{name}\": {}", fields(&change)));
                if !self.dry_run {
                    self.client.update_product(project, &id, &change).await?;
                }
                Ok(Some(id))
            }
            plan::ProductStep::Create { name, create } => {
                self.say('+', &format!("product \"{name}\""));
                if self.dry_run {
                    return Ok(None);
                }
                Ok(Some(self.client.create_product(project, &create).await?.id))
            }
        }
    }

    async fn price(&mut self, project: &str, step: plan::PriceStep) -> Result<(), Failure> {
        match step {
            plan::PriceStep::Change {
                product,
                id,
                name,
                change,
            } => {
                self.say('~', &format!("price {name}: {}", fields(&change)));
                if !self.dry_run {
                    self.client
                        .update_price(project, &product, &id, &change)
                        .await?;
                }
            }
            plan::PriceStep::Create {
                product,
                name,
                create,
                active,
            } => {
                self.say('+', &format!("price {name}"));
                if let (false, Some(product)) = (self.dry_run, product) {
                    let made = self.client.create_price(project, &product, &create).await?;
                    if !active {
                        let off = serde_json::json!({ "active": false });
                        self.client
                            .update_price(project, &product, &made.id, &off)
                            .await?;
                    }
                }
            }
        }
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
fn fields(change: &serde_json::Value) -> String {
    let fields = change.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| format!("{name} = {value}"))
        .collect::<Vec<_>>()
        .join(", ")
}
