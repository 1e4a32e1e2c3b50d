//! `scrip import --from stripe`: takes over the Stripe account's running subscriptions whose prices are mapped
//! to prices of this project, by the admin API of a running server. Without `--apply` it only says what it
//! would do; a subscription is taken over once.

use std::{collections::HashMap, path::PathBuf};

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use web::admin::adoptions::{Adopted, RunningSubscription, RunningSubscriptions};

use super::file::delimiter;
use crate::cli::{
    Failure, print,
    project::{Project, ProjectArgs},
    remote::{self, ServerUrlArgs},
    table::{OutputArgs, Table, field},
};

/// Which subscriptions to take over, and for which users.
#[derive(Debug, Args)]
pub(super) struct StripeArgs {
    #[command(flatten)]
    project: ProjectArgs,
    /// Maps a price of Stripe's to a price of the project: price_1Pb…=price_01jd…; may be repeated.
    #[arg(long = "price", value_name = "STRIPE=OURS", requires = "from")]
    prices: Vec<String>,
    /// The users of the subscriptions: CSV with the columns customer and external_user_id.
    #[arg(long, value_name = "USERS.CSV", requires = "from")]
    users: Option<PathBuf>,
    /// The users of the subscriptions: this metadata key of the subscription, or else of its customer.
    #[arg(long, value_name = "KEY", requires = "from", conflicts_with = "users")]
    user_metadata: Option<String>,
    /// Takes the subscriptions over. Without it nothing is changed.
    #[arg(long, requires = "from")]
    apply: bool,
}

impl StripeArgs {
    /// The server's address.
    pub(super) const fn place(&self) -> &ServerUrlArgs {
        &self.project.server.place
    }
}

#[derive(Deserialize)]
struct User {
    customer: String,
    #[serde(alias = "externalUserId")]
    external_user_id: String,
}

pub(super) async fn run(args: StripeArgs, output: &OutputArgs) -> Result<(), Failure> {
    let users = Users::of(&args)?;
    let prices = args.prices.iter().map(|pair| {
        let both = pair.split_once('=');
        both.ok_or_else(|| Failure(format!("--price {pair}: must be STRIPE=OURS")))
    });
    let prices = prices.collect::<Result<Vec<_>, _>>()?;
    if prices.is_empty() {
        return Err(Failure::new(
            "name the prices by --price STRIPE=OURS, once for each",
        ));
    }
    let project = args.project.open().await?;
    let mut all: Vec<Value> = Vec::new();
    let (mut done, mut failed) = (0_u64, 0_u64);
    for (theirs, ours) in prices {
        let mut cursor = None;
        loop {
            let page = page(&project, theirs, ours, cursor.as_deref()).await?;
            for found in page.subscriptions {
                let user = users.user(&found);
                let word = match &user {
                    _ if found.order_id.is_some() => "already taken over".to_owned(),
                    _ if !found.active => "skipped: it is not paid up".to_owned(),
                    _ if found.mismatch.is_some() => format!(
                        "skipped: Stripe charges {}",
                        found.mismatch.unwrap_or_default()
                    ),
                    None => "skipped: its user is unknown".to_owned(),
                    Some(_) if !args.apply => "would be taken over".to_owned(),
                    Some(user) => match adopt(&project, &found.id, ours, user).await {
                        Ok(Adopted { adopted: true, .. }) => {
                            done += 1;
                            "taken over".to_owned()
                        }
                        Ok(_) => "already taken over".to_owned(),
                        Err(error) => {
                            failed += 1;
                            format!("failed: {error}")
                        }
                    },
                };
                all.push(json!({
                    "subscription": found.id,
                    "customer": found.customer_id,
                    "email": found.customer_email,
                    "price": theirs,
                    "priceId": ours,
                    "currentPeriodEnd": found.current_period_end,
                    "externalUserId": user,
                    "result": word,
                }));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    let report =
        json!({ "subscriptions": all, "applied": args.apply, "takenOver": done, "failed": failed });
    output.print(&report, |_| {
        let mut table = Table::new(&[
            "subscription",
            "customer",
            "e-mail",
            "price",
            "ours",
            "period ends",
            "user",
            "",
        ]);
        for row in &all {
            let columns = [
                "subscription",
                "customer",
                "email",
                "price",
                "priceId",
                "currentPeriodEnd",
                "externalUserId",
                "result",
            ];
            table.row(columns.map(|name| field(row, name)));
        }
        table.print("no running subscription has these prices");
        print::line(&match args.apply {
            true => format!("{done} were taken over"),
            false => "nothing was changed: use --apply to take them over".to_owned(),
        });
    });
    match failed {
        0 => Ok(()),
        _ => Err(Failure(format!(
            "{failed} could not be taken over. Run it again once the cause is fixed: nothing is taken over twice"
        ))),
    }
}

async fn page(
    project: &Project,
    price: &str,
    ours: &str,
    cursor: Option<&str>,
) -> Result<RunningSubscriptions, Failure> {
    let mut query = vec![("price", price), ("priceId", ours)];
    query.extend(cursor.map(|cursor| ("cursor", cursor)));
    let path = project.path("/provider/subscriptions");
    let path = remote::with_query(&path, &query);
    Ok(project.remote.get(&path).await?)
}

async fn adopt(
    project: &Project,
    subscription: &str,
    price: &str,
    user: &str,
) -> Result<Adopted, Failure> {
    let body = json!({
        "subscriptionId": subscription, "priceId": price, "externalUserId": user,
    });
    let path = project.path("/provider/subscriptions");
    Ok(project.remote.post(&path, &body).await?)
}

/// How a subscription's user is found: by a list of customers, or by a metadata key.
enum Users {
    Listed(HashMap<String, String>),
    Written(String),
}

impl Users {
    fn of(args: &StripeArgs) -> Result<Self, Failure> {
        match (&args.users, &args.user_metadata) {
            (_, Some(key)) => Ok(Self::Written(key.clone())),
            (Some(path), None) => {
                let unreadable =
                    |error: csv::Error| Failure(format!("{}: {error}", path.display()));
                let file = std::fs::read(path);
                let file = file.map_err(|error| unreadable(error.into()))?;
                let mut reader = csv::ReaderBuilder::new()
                    .trim(csv::Trim::Headers)
                    .delimiter(delimiter(&file))
                    .from_reader(file.as_slice());
                let mut users = HashMap::new();
                for line in reader.deserialize::<User>() {
                    let User {
                        customer,
                        external_user_id,
                    } = line.map_err(unreadable)?;
                    users.insert(customer.trim().to_owned(), external_user_id);
                }
                Ok(Self::Listed(users))
            }
            (None, None) => Err(Failure::new(
                "name their users by --users USERS.CSV (customer, external_user_id) or --user-metadata KEY",
            )),
        }
    }

    fn user(&self, of: &RunningSubscription) -> Option<String> {
        let user = match self {
            Self::Listed(users) => users.get(&of.customer_id),
            Self::Written(key) => of
                .metadata
                .get(key)
                .or_else(|| of.customer_metadata.get(key)),
        };
        user.filter(|user| !user.is_empty()).cloned()
    }
}
