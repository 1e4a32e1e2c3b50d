//! `scrip import --from stripe`: the account's running subscriptions of prices that have one of ours, taken
//! over by the admin API of a running server. It says first what it would do; what it did once it does not
//! do again.

use std::{collections::HashMap, path::PathBuf};

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use crate::{
    admin::adoptions::{Adopted, RunningSubscription, RunningSubscriptions},
    cli::{
        Failure, print,
        project::{Project, ProjectArgs},
        remote::PlaceArgs,
        table::Table,
    },
};

/// Which subscriptions, and whose they are.
#[derive(Debug, Args)]
pub(super) struct StripeArgs {
    #[command(flatten)]
    project: ProjectArgs,
    /// A price of Stripe's and ours in its place: price_1Pb…=price_01jd…; once for each.
    #[arg(long = "price", value_name = "STRIPE=OURS", requires = "from")]
    prices: Vec<String>,
    /// Whose they are: CSV with the columns customer and external_user_id.
    #[arg(long, value_name = "USERS.CSV", requires = "from")]
    users: Option<PathBuf>,
    /// Whose they are: the metadata under this key, of the subscription, else of its customer.
    #[arg(long, value_name = "KEY", requires = "from", conflicts_with = "users")]
    user_metadata: Option<String>,
    /// Does it. Without it nothing is changed.
    #[arg(long, requires = "from")]
    apply: bool,
}

impl StripeArgs {
    /// Where the server is.
    pub(super) const fn place(&self) -> &PlaceArgs {
        &self.project.server.place
    }
}

#[derive(Deserialize)]
struct User {
    customer: String,
    #[serde(alias = "externalUserId")]
    external_user_id: String,
}

pub(super) async fn run(args: StripeArgs) -> Result<(), Failure> {
    let users = Users::of(&args)?;
    let prices = args.prices.iter().map(|pair| {
        let both = pair.split_once('=');
        both.ok_or_else(|| Failure(format!("--price {pair}: it is no STRIPE=OURS")))
    });
    let prices = prices.collect::<Result<Vec<_>, _>>()?;
    if prices.is_empty() {
        return Err(Failure::new(
            "which prices? --price STRIPE=OURS, once for each",
        ));
    }
    let project = args.project.open().await?;
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
    let (mut done, mut failed) = (0_u64, 0_u64);
    for (theirs, ours) in prices {
        let mut cursor = None;
        loop {
            let page = page(&project, theirs, ours, cursor.as_deref()).await?;
            for found in page.subscriptions {
                let user = users.user(&found);
                let word = match (&found, &user) {
                    (
                        RunningSubscription {
                            order_id: Some(_), ..
                        },
                        _,
                    ) => "was taken over before".into(),
                    (RunningSubscription { runs: false, .. }, _) => {
                        "left out: it is not paid up".into()
                    }
                    (
                        RunningSubscription {
                            mismatch: Some(how),
                            ..
                        },
                        _,
                    ) => {
                        format!("left out: Stripe charges {how}")
                    }
                    (_, None) => "left out: whose it is, is not known".into(),
                    (_, Some(_)) if !args.apply => "would be taken over".into(),
                    (_, Some(user)) => match adopt(&project, &found.id, ours, user).await {
                        Ok(Adopted { adopted: true, .. }) => {
                            done = done.saturating_add(1);
                            "taken over".to_owned()
                        }
                        Ok(_) => "was taken over before".into(),
                        Err(error) => {
                            failed = failed.saturating_add(1);
                            format!("failed: {}", error.0)
                        }
                    },
                };
                table.row([
                    found.id,
                    found.customer_id,
                    found.customer_email.unwrap_or_default(),
                    theirs.to_owned(),
                    ours.to_owned(),
                    found.current_period_end.unwrap_or_default(),
                    user.unwrap_or_default(),
                    word,
                ]);
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    table.print("no subscription runs under these prices");
    if !args.apply {
        print::line("nothing was changed: --apply does it");
        return Ok(());
    }
    print::line(&format!("{done} were taken over"));
    match failed {
        0 => Ok(()),
        _ => Err(Failure(format!(
            "{failed} could not be taken over. Do it again once the cause is gone: nothing is done twice"
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
    Ok(project.remote.get_with(&path, &query).await?)
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

/// Whose subscriptions are.
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
                let mut reader = csv::ReaderBuilder::new()
                    .trim(csv::Trim::All)
                    .from_path(path)
                    .map_err(unreadable)?;
                let mut users = HashMap::new();
                for line in reader.deserialize::<User>() {
                    let User {
                        customer,
                        external_user_id,
                    } = line.map_err(unreadable)?;
                    users.insert(customer, external_user_id);
                }
                Ok(Self::Listed(users))
            }
            (None, None) => Err(Failure::new(
                "whose are they? --users USERS.CSV (customer, external_user_id) or --user-metadata KEY",
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
