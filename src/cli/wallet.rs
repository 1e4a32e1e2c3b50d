//! `scrip wallet`: what an operator does to one wallet of a running server.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    Failure, print,
    project::{Project, RemoteArgs},
    remote, search,
    table::{self, OutputArgs, field, list, plain},
};

/// What to do to a wallet.
#[derive(Debug, Args)]
pub(super) struct WalletArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show a wallet's balances.
    Show {
        #[command(flatten)]
        wallet: NamedWallet,
    },
    /// Find wallets. The exit status is 1 where there is none.
    Find(search::FindArgs),
    /// Freeze a wallet: no credits are taken from it.
    ///
    /// Reads, grants, refunds and payments under way go on.
    Freeze {
        #[command(flatten)]
        wallet: NamedWallet,
        /// Why; a request that is refused because of it says so.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Let a frozen wallet be used again.
    #[command(alias = "thaw")]
    Unfreeze {
        #[command(flatten)]
        wallet: NamedWallet,
    },
    /// Reverse a deduction: its credits go back to the lots they came from.
    Reverse(ReverseArgs),
    /// Replace a wallet's recovery code and print the new one.
    ///
    /// The former code opens nothing any more.
    ReplaceCode {
        #[command(flatten)]
        wallet: NamedWallet,
        /// Mails the new code to this address, or without one to the buyer whose payment created the wallet, and does
        /// not print it.
        #[arg(long, value_name = "ADDRESS", num_args = 0..=1)]
        mail: Option<Option<String>>,
        /// Makes a repeated call within a day return the same code.
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<String>,
    },
    /// Erase a customer's e-mail addresses, metadata and operators' notes.
    ///
    /// Credits and amounts stay.
    Erase {
        #[command(flatten)]
        wallet: NamedWallet,
    },
}

/// The deduction to reverse, and how much of it.
#[derive(Debug, Args)]
struct ReverseArgs {
    /// The deduction's entry in the ledger, `led_…`.
    deduction: String,
    /// The most to give back [default: all that is left of it].
    #[arg(long, value_name = "CREDITS")]
    amount: Option<i64>,
    /// Why it is reversed.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Makes sure that it is reversed once, however often the command runs.
    #[arg(long, value_name = "KEY")]
    idempotency_key: String,
    #[command(flatten)]
    at: RemoteArgs,
}

/// The wallet that a command is about.
#[derive(Debug, Args)]
struct NamedWallet {
    /// A user's id, a recovery code, `wal_…`, or anything else that `scrip search` finds one wallet by.
    wallet: String,
    #[command(flatten)]
    at: RemoteArgs,
}

pub(super) fn run(args: WalletArgs) -> Result<(), Failure> {
    remote::wait(async {
        match args.action {
            Action::Find(args) => search::find(args, None, &["wallets"]).await,
            Action::Show { wallet } => wallet.request(Method::GET, "", &Value::Null, show).await,
            Action::Freeze { wallet, reason } => {
                let body = json!({ "frozen": true, "reason": reason });
                wallet
                    .request(Method::POST, "/freeze", &body, describe)
                    .await
            }
            Action::Unfreeze { wallet } => {
                let body = json!({ "frozen": false });
                wallet
                    .request(Method::POST, "/freeze", &body, describe)
                    .await
            }
            Action::Erase { wallet } => {
                let erased = |answer: &Value| {
                    let [id, orders, notes] =
                        ["walletId", "orders", "notes"].map(|name| field(answer, name));
                    print::line(&format!(
                        "{id}: erased from {orders} orders and {notes} notes"
                    ));
                };
                wallet
                    .request(Method::POST, "/erase", &Value::Null, erased)
                    .await
            }
            Action::ReplaceCode {
                wallet,
                mail,
                idempotency_key,
            } => {
                let mail = mail.map(|to| to.map_or(Value::Bool(true), Value::String));
                let body = json!({ "mail": mail, "idempotencyKey": idempotency_key });
                let replaced = |answer: &Value| match field(answer, "code") {
                    code if code.is_empty() => print::line(&plain(&format!(
                        "the new code was mailed to {}",
                        field(answer, "mailedTo")
                    ))),
                    code => print::line(&code),
                };
                wallet
                    .request(Method::POST, "/replace-code", &body, replaced)
                    .await
            }
            Action::Reverse(args) => {
                let body = json!({
                    "amount": args.amount,
                    "note": args.note,
                    "idempotencyKey": args.idempotency_key,
                });
                let project = args.at.project.open().await?;
                let path = project.path(&format!("/deductions/{}/reverse", args.deduction));
                let answer: Value = project.remote.post(&path, &body).await?;
                args.at.output.print(&answer, |answer| {
                    let [amount, balance] = ["amount", "balance"].map(|name| field(answer, name));
                    let before = match answer.get("reversed") == Some(&Value::Bool(true)) {
                        true => "",
                        false => " before",
                    };
                    print::line(&format!(
                        "{amount} credits were given back{before}; the balance is {balance}"
                    ));
                });
                Ok(())
            }
        }
    })
}

/// Prints whether a wallet is frozen.
fn describe(wallet: &Value) {
    let id = field(wallet, "walletId");
    let reason = match field(wallet, "frozenReason") {
        text if text.is_empty() => text,
        text => format!(": {text}"),
    };
    let frozen = wallet.get("frozen") == Some(&Value::Bool(true));
    let is = if frozen { "is frozen" } else { "is not frozen" };
    print::line(&plain(&format!("{id} {is}{reason}")));
}

fn show(wallet: &Value) {
    describe(wallet);
    let columns = [
        ("PRODUCT", "productId"),
        ("BALANCE", "balance"),
        ("HELD", "held"),
        ("OWED", "owed"),
        ("UNIT", "creditUnit"),
    ];
    table::rows(list(wallet, "balances"), &columns, "no credits yet");
}

impl NamedWallet {
    /// Sends a request about the wallet, and prints the answer.
    async fn request(
        &self,
        method: Method,
        rest: &str,
        body: &Value,
        for_people: impl FnOnce(&Value),
    ) -> Result<(), Failure> {
        let (project, path) = self.find().await?;
        let body = (method != Method::GET).then_some(body);
        let answer = project
            .remote
            .call(method, &format!("{path}{rest}"), body)
            .await?;
        let output: &OutputArgs = &self.at.output;
        output.print(&answer.unwrap_or_default(), for_people);
        Ok(())
    }

    /// The project, and the path of the one wallet that the text leads to.
    async fn find(&self) -> Result<(Project, String), Failure> {
        let project = self.at.project.open().await?;
        let wallets = project.path("/wallets");
        let query = [("query", self.wallet.as_str())];
        let found: Value = project
            .remote
            .get(&remote::with_query(&wallets, &query))
            .await?;
        let all = list(&found, "wallets");
        let exact = all
            .iter()
            .find(|wallet| field(wallet, "externalUserId") == self.wallet);
        match exact.map_or(all, std::slice::from_ref) {
            [only] => Ok((project, format!("{wallets}/{}", field(only, "ref")))),
            [] => Err(Failure::new("there is no such wallet in this project")),
            several => {
                let names = several.iter().map(|wallet| field(wallet, "walletId"));
                let names: Vec<_> = names.collect();
                Err(Failure(format!(
                    "this leads to several wallets; name one of them: {}",
                    names.join(", ")
                )))
            }
        }
    }
}
