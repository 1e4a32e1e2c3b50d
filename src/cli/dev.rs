//! `scrip dev`: a server to try things out, under `./.scrip`. The only place where a secret key is
//! kept in the clear, so that the next start can show it again.

mod demo;

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use uuid::Uuid;

use super::{Failure, print};
use crate::{
    compose::{self, Service},
    config::{Config, Flags},
    secrets::Given,
    server::{self, signals::Signals},
};
use demo::Demo;

/// How to serve.
#[derive(Debug, Args)]
pub(super) struct DevArgs {
    /// Where to listen; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Where everything is kept, the keys too.
    #[arg(long, value_name = "DIR", default_value = "./.scrip")]
    data_dir: PathBuf,
    /// Sell through this Stripe account instead of the sandbox: a secret key of its test mode. Nothing
    /// else has to be set up.
    #[arg(
        long,
        value_name = "SK_TEST",
        env = "SCRIP_STRIPE_KEY",
        hide_env_values = true
    )]
    stripe_key: Option<String>,
    /// Have the sandbox answer as Stripe does every day: at length, in pages, and not too often.
    #[arg(long)]
    unkind: bool,
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
    // What is printed below is what matters here; `SCRIP_LOG` shows the rest.
    if config.log == "info" {
        config.log = "warn".into();
    }
    config.sandbox.unkind |= args.unkind;
    // Whoever tries recovery reads its mails there.
    config.mail.files = true;
    // Whoever tries webhooks hears them on this machine.
    config.webhooks.allow_private_networks = true;
    compose::log_to_stderr(&config).map_err(Failure::new)?;
    let threads = config.clone();
    let served = compose::block_on(&threads, async {
        // Before anything that takes long: a signal during recovery must be heard.
        let signals = Signals::listen().map_err(Failure::new)?;
        let mut given = Given::from_environment();
        let admin_token = match given.admin_token.take() {
            Some(token) => token,
            None => Demo::remembered_token(&data_dir)?,
        };
        given.admin_token = Some(admin_token.clone());
        let service = Service::start(config, given).await.map_err(Failure::new)?;
        // Closed in order even when the demo could not be set up.
        match Demo::set_up(&service, &data_dir, admin_token, args.stripe_key).await {
            Ok(demo) => {
                let link = service.sign_in_link().map_err(Failure::new)?;
                print::line(&welcome(&demo, &service, &data_dir, &link));
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

/// What the commands that talk to it may know.
pub(super) struct Known {
    /// Opens the admin API.
    pub(super) admin_token: String,
    /// Its project's.
    pub(super) secret_key: String,
    /// Its project.
    pub(super) project: String,
}

/// What the last start on this data directory left.
pub(super) fn known(data_dir: &std::path::Path) -> Option<Known> {
    let demo = Demo::read(data_dir)?;
    Some(Known {
        admin_token: demo.admin_token,
        secret_key: demo.secret_key,
        project: demo.project,
    })
}

fn welcome(demo: &Demo, service: &Service, data_dir: &std::path::Path, link: &str) -> String {
    let address = server::reachable(service.address());
    let base = format!("{}://{address}", service.scheme());
    let Demo {
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

Buy {unit}. Open the url that this answers with, and pay there:

curl -sS -X POST {base}/api/v1/checkout \\
  -H 'Authorization: Bearer {secret_key}' \\
  -H 'Content-Type: application/json' \\
  -d '{{\"externalUserId\":\"{user}\",\"priceId\":\"{price}\"}}'

Deduct 5 {unit}. Paste it as it is; pasted again, it changes nothing, by its idempotencyKey:

curl -sS -X POST {base}/api/v1/wallets/external/deduct \\
  -H 'Authorization: Bearer {secret_key}' \\
  -H 'Content-Type: application/json' \\
  -d '{{\"externalUserId\":\"{user}\",\"productId\":\"{product}\",\"amount\":5,\"idempotencyKey\":\"demo-{key}\"}}'
"
    )
}
