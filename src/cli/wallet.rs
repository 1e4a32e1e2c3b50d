//! `scrip wallet`: what an operator does to one wallet of a running server.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{
    Failure,
    project::{Project, ProjectArgs},
    remote,
    table::{self, field, list},
};

/// What to do to a wallet.
#[derive(Debug, Args)]
pub(super) struct WalletArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Puts a wallet's credits out of reach; reads, grants, refunds and payments under way go on.
    Freeze {
        #[command(flatten)]
        wallet: NamedWallet,
        /// Why. Whoever tries to use the wallet is told it.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Replaces a wallet's recovery code, whoever knows the present one, and prints the new one.
    ReplaceCode {
        #[command(flatten)]
        wallet: NamedWallet,
        /// Mails the new code to this address, or without one to the buyer whose payment made the wallet, and does not
        /// print it.
        #[arg(long, value_name = "ADDRESS", num_args = 0..=1)]
        mail: Option<Option<String>>,
        /// Names this call: repeating it within a day answers the same code.
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<String>,
    },
    /// Erases the customer's e-mail addresses and metadata from all orders, and operators' notes; credits and sums stay.
    Erase {
        #[command(flatten)]
        wallet: NamedWallet,
    },
    /// Finds wallets; the exit status is 1 where there is none.
    Find(super::search::SearchArgs),
    /// Gives back what a deduction took, to the lots that it came from.
    Reverse(ReverseArgs),
    /// Lets a frozen wallet be used again.
    Thaw {
        #[command(flatten)]
        wallet: NamedWallet,
    },
}

/// The deduction to give back, and how much of it.
#[derive(Debug, Args)]
struct ReverseArgs {
    /// The deduction's entry in the ledger, `led_…`.
    deduction: String,
    /// The most to give back [default: all that is left of it].
    #[arg(long, value_name = "CREDITS")]
    amount: Option<i64>,
    /// Why it is given back.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Names this reversal: it is made once, however often the command runs.
    #[arg(long, value_name = "KEY")]
    idempotency_key: String,
    #[command(flatten)]
    project: ProjectArgs,
}

/// The wallet that a command is about.
#[derive(Debug, Args)]
struct NamedWallet {
    /// A user's id, a recovery code, `wal_…`, or anything else that leads to one wallet.
    wallet: String,
    #[command(flatten)]
    project: ProjectArgs,
}

pub(super) fn run(args: WalletArgs) -> Result<(), Failure> {
    let (target, body) = match args.action {
        Action::Find(args) => return super::search::run_wallets(args),
        Action::Freeze { wallet, reason } => {
            let body = json!({ "frozen": true, "reason": reason });
            (Target::Wallet(wallet, "freeze"), body)
        }
        Action::Erase { wallet } => (Target::Wallet(wallet, "erase"), Value::Null),
        Action::Thaw { wallet } => {
            let body = json!({ "frozen": false });
            (Target::Wallet(wallet, "freeze"), body)
        }
        Action::ReplaceCode {
            wallet,
            mail,
            idempotency_key,
        } => {
            let mail = mail.map(|to| to.map_or(Value::Bool(true), Value::String));
            let body = json!({ "mail": mail, "idempotencyKey": idempotency_key });
            (Target::Wallet(wallet, "replace-code"), body)
        }
        Action::Reverse(args) => {
            let body = json!({
                "amount": args.amount,
                "note": args.note,
                "idempotencyKey": args.idempotency_key,
            });
            (Target::Deduction(args.project, args.deduction), body)
        }
    };
    remote::wait(async {
        let (project, path) = match target {
            Target::Wallet(wallet, rest) => {
                let (project, path) = wallet.find().await?;
                (project, format!("{path}/{rest}"))
            }
            Target::Deduction(project, id) => {
                let project = project.open().await?;
                let path = project.path(&format!("/deductions/{id}/reverse"));
                (project, path)
            }
        };
        let answer: Value = project.remote.post(&path, &body).await?;
        table::json(&answer);
        Ok(())
    })
}

/// What a request is about: a wallet and the rest of its path, or a deduction of a project.
enum Target {
    Wallet(NamedWallet, &'static str),
    Deduction(ProjectArgs, String),
}

impl NamedWallet {
    /// The project, and the path of the one wallet that the text leads to.
    async fn find(&self) -> Result<(Project, String), Failure> {
        let project = self.project.open().await?;
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
