//! `scrip dev`: a server to try things out, under `./.scrip`. The only command that stores a secret key in
//! plain text, so that the next start can show it again.

mod demo;

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
pub(super) use demo::Demo;
use operations::data_dir::{environment::secret, secrets::ProvidedSecrets};
use uuid::Uuid;

use super::{Failure, print};
use crate::{
    compose::{self, Service},
    config::{Config, Flags, listen_address},
    server::signals::Signals,
};

/// Options of `scrip dev`.
#[derive(Debug, Args)]
pub(super) struct DevArgs {
    /// Where to listen; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen_address)]
    listen: Option<SocketAddr>,
    /// The data directory, which holds the keys, too.
    #[arg(long, value_name = "DIR", default_value = "./.scrip")]
    data_dir: PathBuf,
    /// Sell through this Stripe account instead of the sandbox: a secret key of its test mode. Nothing
    /// else has to be set up [default: SCRIP_STRIPE_KEY, or the file that SCRIP_STRIPE_KEY_FILE names].
    #[arg(long, value_name = "SK_TEST")]
    stripe_key: Option<String>,
    /// Have the sandbox behave like Stripe on an ordinary day: long responses, pages and rate limits.
    #[arg(long)]
    faults: bool,
    /// A folder with the clients' packages, to serve under /packages/ [default: the one that was installed with
    /// this program].
    #[arg(long, value_name = "DIR", env = "SCRIP_PACKAGES")]
    packages: Option<PathBuf>,
    /// A configuration file [default: ./config.toml, if there is one].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub(super) fn run(args: DevArgs) -> Result<(), Failure> {
    let data_dir = args.data_dir;
    let flags = Flags {
        config: args.config,
        listen: args.listen,
        data_dir: Some(data_dir.clone()),
    };
    let mut config = Config::read(&flags).map_err(Failure::new)?;
    // The output below is what matters here; `SCRIP_LOG` shows the log.
    if config.log == "info" {
        config.log = "warn".into();
    }
    config.sandbox.faults |= args.faults;
    config.packages = args.packages;
    // Recovery mails can be read there.
    config.mail.files = true;
    // Webhooks may go to this machine.
    config.webhooks.allow_private_networks = true;
    compose::log_to_stderr(&config).map_err(Failure::new)?;
    let stripe_key = match args.stripe_key {
        Some(key) => Some(key),
        None => secret("SCRIP_STRIPE_KEY").map_err(Failure::new)?,
    };
    let threads = config.clone();
    let served = compose::block_on(&threads, async {
        // Before recovery, which may take long: a signal must end it.
        let signals = Signals::listen().map_err(Failure::new)?;
        let mut provided = ProvidedSecrets::from_environment().map_err(Failure::new)?;
        let admin_token = match provided.admin_token.take() {
            Some(token) => token,
            None => Demo::remembered_token(&data_dir)?,
        };
        provided.admin_token = Some(admin_token.clone());
        let service = Service::start(config, provided)
            .await
            .map_err(Failure::new)?;
        // The service is closed properly even if the demo could not be set up.
        match Demo::set_up(&service, &data_dir, admin_token, stripe_key).await {
            Ok(demo) => {
                let link = service.sign_in_link().map_err(Failure::new)?;
                print::line(&welcome(&demo, &data_dir, &link));
                if let Some(advice) = compose::advice(service.address(), service.http()) {
                    print::line(&format!(
                        "{advice}. Everyone who reaches it can buy without money"
                    ));
                }
            }
            Err(failure) => {
                service.close().await.map_err(Failure::new)?;
                return Err(failure);
            }
        }
        service.run(signals).await.map_err(Failure::new)
    });
    served.map_err(Failure::new)?
}

fn welcome(demo: &Demo, data_dir: &std::path::Path, link: &str) -> String {
    let Demo {
        url: base,
        project,
        publishable_key,
        secret_key,
        product,
        price,
        tier,
        admin_token,
        stripe,
    } = demo;
    let payments = if *stripe {
        "your Stripe account, in test mode: no money moves"
    } else {
        "the sandbox: no money moves"
    };
    let (user, unit, data) = (demo::USER, demo::UNIT, data_dir.display());
    let key = Uuid::now_v7().simple();
    format!(
        "\
scrip listening on {base}

  Dashboard        {link}
  Documentation    {base}/docs
  OpenAPI          {base}/api/openapi.json
  Data             {data}

  Project          {project}
  Secret key       {secret_key}
  Publishable key  {publishable_key}
  Admin token      {admin_token}
  Product          {product}
  Price            {price}, 1,000 {unit} once
  Tier             {tier}, 500 {unit} a month
  Wallet           {user}, with {unit} to spend
  Payments         {payments}

Buy {unit}. Open the url in the response, and pay there:

curl -sS -X POST {base}/api/v1/checkout \\
  -H 'Authorization: Bearer {secret_key}' \\
  -H 'Content-Type: application/json' \\
  -d '{{\"externalUserId\":\"{user}\",\"priceId\":\"{price}\"}}'

Deduct 5 {unit}. Paste it as it is; pasted again it changes nothing, because of its idempotencyKey:

curl -sS -X POST {base}/api/v1/wallets/external/deduct \\
  -H 'Authorization: Bearer {secret_key}' \\
  -H 'Content-Type: application/json' \\
  -d '{{\"externalUserId\":\"{user}\",\"productId\":\"{product}\",\"amount\":5,\"idempotencyKey\":\"demo-{key}\"}}'
"
    )
}
