//! The packaged configuration of nginx in front of a server, named in `trusted_proxies` and not.

use std::{
    net::TcpListener,
    path::Path,
    process::{Child, Command},
};

use kit::{Client, Launch, Server, deadline, launch::ADMIN_TOKEN};

struct Nginx {
    child: Child,
    base: String,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The part of the packaged configuration that passes requests on, in the clear and with the administration let
/// through; `None` where there is no nginx.
fn start(folder: &Path, server: &str) -> Option<Nginx> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/proxy/nginx.conf");
    let packaged = std::fs::read_to_string(file).unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    let address = free.unwrap().to_string();
    let (upstream, servers) = packaged.split_once("\nserver {").unwrap();
    let (_, secure) = servers.split_once("\nserver {").unwrap();
    let lines = secure.lines().filter(|line| {
        let line = line.trim();
        !["listen [::]", "ssl_", "error_log", "location ~"]
            .iter()
            .any(|start| line.starts_with(start))
    });
    let lines: Vec<&str> = lines.collect();
    let secure = lines.join("\n").replace("443 ssl", &address);
    let upstream = upstream.replace("127.0.0.1:8787", server);
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("{kind}_temp_path {kind};\n"))
        .collect();
    let whole = format!(
        "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log stderr crit;\nevents {{}}\nhttp {{\n{temporary}\n\
         {upstream}\nserver {{{secure}\n}}\n"
    );
    let conf = folder.join("nginx.conf");
    std::fs::write(&conf, whole).unwrap();
    let child = Command::new("nginx")
        .args(["-e", "stderr", "-p"])
        .arg(folder)
        .arg("-c")
        .arg(&conf)
        .spawn();
    match child {
        Ok(child) => Some(Nginx {
            child,
            base: format!("http://{address}"),
        }),
        Err(error) => {
            eprintln!("NOT CHECKED: nginx in front, since there is none (Debian's nginx): {error}");
            None
        }
    }
}

/// What the server logs about an unnamed proxy, after wrong tokens and the right one were sent through nginx.
async fn warnings_behind_nginx(launch: Launch) -> Option<Vec<String>> {
    let server = Server::launch(launch).await;
    let folder = tempfile::tempdir().unwrap();
    let own = server.instance().base().trim_start_matches("http://");
    let nginx = start(folder.path(), own)?;
    let address = nginx.base.trim_start_matches("http://").to_owned();
    deadline::until("nginx to listen", deadline::SOON, || {
        std::net::TcpStream::connect(&address).ok().map(drop)
    })
    .await;
    let path = "/api/admin/v1/projects";
    let stranger = Client::new(&nginx.base, "not-the-token");
    for _ in 0..20 {
        assert_eq!(stranger.get(path).await.status, 401);
    }
    let refused = stranger.get(path).await;
    assert_eq!(refused.code(), "rate_limited", "wrong ones are limited");
    let right = Client::new(&nginx.base, ADMIN_TOKEN).get(path).await;
    right.expect(200);
    // Nor do wrong codes keep what was bought from its buyer.
    let buyer = Client::new(&nginx.base, server.publishable());
    assert_eq!(buyer.get("/api/v1/me").await.status, 200);
    assert_eq!(buyer.get("/metrics").await.status, 404, "not for the world");
    let log = server.instance().output().into_iter();
    Some(
        log.filter(|line| line.contains("trusted_proxies"))
            .collect(),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_right_token_passes_behind_an_unnamed_proxy_which_is_logged_once() {
    if let Some(warnings) = warnings_behind_nginx(Launch::default()).await {
        assert_eq!(warnings.len(), 1, "{warnings:?}");
    }
    let named = Launch::default().env("SCRIP_TRUSTED_PROXIES", "127.0.0.1");
    if let Some(warnings) = warnings_behind_nginx(named).await {
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}
