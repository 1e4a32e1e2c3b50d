//! `scrip serve`: runs the server until a signal ends it.

use std::{
    io::{self, IsTerminal as _},
    net::SocketAddr,
};

use clap::Args;
use operations::data_dir::secrets::{NEW_TOKEN_FILE, ProvidedSecrets};

use super::{Failure, local::LocalArgs, notify, print};
use crate::{
    compose::{self, ClusterProcess, Ended, Service},
    config::{Config, DatabaseUrl, listen_address},
    server::signals::Signals,
};

/// Options of `scrip serve`.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Where to listen; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen_address)]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    local: LocalArgs,
    /// Answers requests and does nothing else: no calls to payment providers, no mails, no webhooks, no scheduled
    /// backups. For a drill on a restored copy of the data.
    #[arg(long)]
    offline: bool,
}

pub(super) fn run(args: ServeArgs) -> Result<(), Failure> {
    let mut config = args.local.read_with(args.listen)?;
    if args.offline {
        go_offline(&mut config)?;
    }
    compose::log_to_stderr(&config).map_err(Failure::new)?;
    if !config.unknown_variables.is_empty() {
        let names = config.unknown_variables.join(", ");
        tracing::warn!("{names} set nothing: no setting has such a name");
    }
    let threads = config.clone();
    let served = compose::block_on(&threads, async {
        if let Some(url) = config.storage.url.clone() {
            return serve_with_others(config, &url).await;
        }
        // Before recovery, which may take long: a signal must end it.
        let signals = Signals::listen().map_err(Failure::new)?;
        let provided = ProvidedSecrets::from_environment().map_err(Failure::new)?;
        let service = Service::start(config, provided)
            .await
            .map_err(Failure::new)?;
        introduce(&service).map_err(Failure::new)?;
        if let Some(advice) = compose::advice(service.address(), service.http()) {
            print::line(&advice);
        }
        let (scheme, address) = (service.scheme(), service.address());
        if service.admin_address() != address {
            print::line(&at_admin(scheme, service.admin_address()));
        }
        print::line(&format!("scrip listening on {scheme}://{address}"));
        notify::ready();
        service.run(signals).await.map_err(Failure::new)
    });
    served.map_err(Failure::new)?
}

fn at_admin(scheme: &str, address: SocketAddr) -> String {
    format!("dashboard and admin API are at {scheme}://{address}")
}

/// Has the server answer requests and do nothing else.
fn go_offline(config: &mut Config) -> Result<(), Failure> {
    if config.storage.url.is_some() {
        return Err(Failure(
            "--offline is for a copy of the data on this machine: leave out storage.url, a log that other processes share"
                .into(),
        ));
    }
    config.offline = true;
    config.mail.smtp_url = None;
    config.mail.files = false;
    print::line(
        "this server runs offline: it calls no payment provider, sends no mails and no webhooks, and makes no scheduled \
         backups",
    );
    Ok(())
}

/// Prints what the operator should know of a service that answers now.
fn introduce(service: &Service) -> Result<(), catalog::Error> {
    if let Some(token) = service.new_admin_token() {
        let file = service.app.config.data_dir.join(NEW_TOKEN_FILE);
        print::line(&format!(
            "a new administrator token is in {}: keep it elsewhere, and delete the file",
            file.display()
        ));
        // A journal or a container's log would store it.
        if io::stdout().is_terminal() {
            print::line(&format!("administrator token, shown only once: {token}"));
            let link = service.sign_in_link()?;
            print::line(&format!(
                "dashboard, by a link that signs in once within 15 minutes: {link}"
            ));
        }
    }
    for project in service.app.catalog.current().projects() {
        if project.sandbox().is_some() {
            let project = &project.project;
            print::line(&format!(
                "warning: {} ({}) uses the sandbox: everyone can pay there without money",
                project.id, project.name
            ));
        }
    }
    Ok(())
}

/// Serves as one of several processes that share a log.
async fn serve_with_others(config: Config, url: &DatabaseUrl) -> Result<(), Failure> {
    let mut signals = Signals::listen().map_err(Failure::new)?;
    let provided = ProvidedSecrets::from_environment().map_err(Failure::new)?;
    let (scheme, http) = (compose::scheme(&config), config.http.clone());
    let process = tokio::select! {
        process = ClusterProcess::join(config, url, provided) => process,
        // A start may end at any point, as by a crash: what it has done is done again by the next one.
        () = signals.next() => return Ok(()),
    };
    let listening = |address, is_admin: bool| {
        if is_admin {
            print::line(&at_admin(scheme, address));
            return;
        }
        if let Some(advice) = compose::advice(address, &http) {
            print::line(&advice);
        }
        print::line(&format!("scrip listening on {scheme}://{address}"));
        notify::ready();
    };
    let leading = |service: &Service| {
        if let Err(error) = introduce(service) {
            print::error(&format!("scrip: {error}"));
        }
    };
    let ended = match process {
        Ok(process) => process.run(signals, listening, leading).await,
        Err(error) => Err(error),
    };
    if let Err(compose::Error::Store(persistence::Error::Fenced(why))) = &ended {
        print::error(&format!("scrip: {why}"));
        std::process::exit(compose::EXIT_RESTART);
    }
    match ended.map_err(Failure::new)? {
        Ended::Stopped => Ok(()),
        Ended::HandedOver => std::process::exit(compose::EXIT_RESTART),
    }
}
