//! What wins over what, and what is refused.

use super::*;

mod oidc;

fn env(pairs: &[(&str, &str)]) -> Vec<(String, OsString)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).into()))
        .collect()
}

fn merged(file: &str, pairs: &[(&str, &str)], flags: &Flags) -> Result<Config, Error> {
    Config::merge(Some((Path::new("own.toml"), file)), &env(pairs), flags)
}

fn refused(file: &str, pairs: &[(&str, &str)]) -> String {
    merged(file, pairs, &Flags::default()).unwrap_err().0
}

#[test]
fn the_built_in_defaults_are_complete_and_valid() {
    let config = Config::merge(None, &[], &Flags::default()).unwrap();
    assert_eq!(config.listen, "127.0.0.1:8787".parse().unwrap());
    assert_eq!(
        (
            config.limits.publishable_burst,
            config.limits.publishable_per_second
        ),
        (30, 5)
    );
    assert_eq!(
        (config.limits.secret_burst, config.metrics.listen),
        (None, None)
    );
    assert_eq!(
        (config.http.max_body_bytes, config.http.max_batch_body_bytes),
        (65_536, 1 << 20)
    );
    assert_eq!(config.stripe.api_base.as_str(), "https://api.stripe.com/");
}

#[test]
fn mails_go_into_a_folder_until_a_server_is_named() {
    let config = Config::merge(None, &[], &Flags::default()).unwrap();
    assert_eq!(config.mail.smtp_url, None);
    assert_eq!(config.mail.from.to_string(), "Scrip <noreply@localhost>");
    let file = "[mail]\nfrom = \"\\\"Käse, Wein\\\" <shop@käse.example>\"";
    let pairs = [("SCRIP_MAIL_SMTP_URL", "smtps://ann:p%40ss@mx.example")];
    let mail = merged(file, &pairs, &Flags::default()).unwrap().mail;
    assert_eq!(mail.from.email.domain(), "käse.example");
    assert_eq!(
        mail.smtp_url.unwrap().reveal(),
        "smtps://ann:p%40ss@mx.example"
    );
}

#[test]
fn the_password_of_the_mail_server_is_never_shown() {
    let pairs = [("SCRIP_MAIL_SMTP_URL", "smtps://mailuser:hunter2@mx.example")];
    let config = merged("", &pairs, &Flags::default()).unwrap();
    let shown = format!("{config:?}");
    assert!(shown.contains("mx.example"), "{shown}");
    assert!(
        !shown.contains("hunter2") && !shown.contains("mailuser"),
        "{shown}"
    );
    for refused_url in [
        "smtp://mailuser:hunter2@mx.example",
        "smtps://mailuser:hunter2@",
        "hunter2",
        "https://mailuser:hunter2@mx.example",
        "smtp://mailuser:hunter2@mx.example?tls=hunter2",
        "smtp://mailuser:hunter2@mx.example:hunter2",
    ] {
        let message = refused("", &[("SCRIP_MAIL_SMTP_URL", refused_url)]);
        assert!(
            message.contains("mail.smtp_url") && !message.contains("hunter2"),
            "{message}"
        );
    }
}

#[test]
fn a_password_goes_over_tls_or_stays_on_the_machine() {
    for (url, fits) in [
        ("smtps://ann:x@mx.example", true),
        ("smtp://ann:x@mx.example:587?tls=required", true),
        ("smtp://ann:x@localhost:2525", true),
        ("smtp://ann:x@127.0.0.1:2525", true),
        ("smtp://ann:x@[::1]:2525", false),
        ("smtp://mx.example", true),
        ("smtp://mx.example?tls=opportunistic", true),
        ("smtp://ann:x@mx.example", false),
        ("smtp://ann:x@mx.example?tls=opportunistic", false),
        ("smtps://ann@mx.example", false),
        ("smtps://:x@mx.example", false),
        ("smtps://mx.example/path", false),
        ("smtps://mx.example?tls=none", false),
        ("smtps://mx.example?tsl=required", false),
        ("smtps://mx.example#a", false),
        ("smtps:mx.example", false),
    ] {
        let pairs = [("SCRIP_MAIL_SMTP_URL", url)];
        let merged = merged("", &pairs, &Flags::default());
        assert_eq!(merged.is_ok(), fits, "{url}");
    }
}

#[test]
fn the_public_address_has_no_path_and_no_slash_at_its_end() {
    let public = |url: &str| {
        let merged = merged("", &[("SCRIP_PUBLIC_URL", url)], &Flags::default());
        merged.map(|config| config.public_url.map(|url| url.to_string()))
    };
    assert_eq!(public(""), Ok(None));
    for (url, kept) in [
        ("https://pay.shop.example", "https://pay.shop.example"),
        ("https://Pay.Shop.example:443/", "https://pay.shop.example"),
        ("http://localhost:8787/", "http://localhost:8787"),
        ("http://[::1]:1", "http://[::1]:1"),
    ] {
        assert_eq!(public(url), Ok(Some(kept.to_owned())), "{url}");
    }
    for url in [
        "pay.shop.example",
        "https://",
        "https:pay.shop.example",
        "//pay.shop.example",
        "ftp://pay.shop.example",
        "https://pay.shop.example/scrip",
        "https://pay.shop.example//",
        "https://pay.shop.example?a",
        "https://pay.shop.example/#a",
        "https://ann@pay.shop.example",
        "https://@pay.shop.example",
        "https://pay.shop.example\\",
        " https://pay.shop.example",
    ] {
        let message = public(url).unwrap_err().0;
        assert!(message.contains("public_url"), "{url}: {message}");
    }
}

#[test]
fn without_a_public_address_this_machine_is_the_way() {
    for (address, url) in [
        ("127.0.0.1:8787", "http://127.0.0.1:8787"),
        ("192.168.1.7:80", "http://192.168.1.7"),
        ("0.0.0.0:8787", "http://127.0.0.1:8787"),
        ("[::]:8787", "http://[::1]:8787"),
    ] {
        let local = PublicUrl::local(address.parse().unwrap());
        assert_eq!(local.to_string(), url);
    }
}

#[test]
fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
    let file = "listen = \"127.0.0.1:1\"\ndata_dir = \"file\"\nlog = \"debug\"";
    let pairs = [
        ("SCRIP_LISTEN", "127.0.0.1:2"),
        ("SCRIP_DATA_DIR", "environment"),
    ];
    let flags = Flags {
        listen: Some("127.0.0.1:3".parse().unwrap()),
        ..Flags::default()
    };
    let config = merged(file, &pairs, &flags).unwrap();
    assert_eq!(config.listen.port(), 3);
    assert_eq!(config.data_dir, Path::new("environment"));
    assert_eq!(config.log, "debug");
    assert_eq!(config.shutdown_seconds, 30);
}

#[test]
fn a_section_in_the_file_keeps_its_other_keys() {
    let config = merged("[journal]\ncache_mb = 7", &[], &Flags::default()).unwrap();
    assert_eq!(config.journal.cache_mb, 7);
    assert_eq!(config.journal.backlog_limit, 1_000_000);
}

#[test]
fn the_environment_reaches_every_type_of_key() {
    let pairs = [
        ("SCRIP_TRUSTED_PROXIES", "10.0.0.0/8, ::1"),
        ("SCRIP_JOURNAL_ALLOW_UNSYNCED", "true"),
        ("SCRIP_JOURNAL_MIN_FREE_BYTES", "1024"),
        ("SCRIP_METRICS_LISTEN", "127.0.0.1:9"),
        ("SCRIP_LIMITS_SECRET_BURST", "100"),
        ("SCRIP_LIMITS_SECRET_PER_SECOND", "50"),
        ("SCRIP_LOG_FORMAT", "json"),
        ("SCRIP_STRIPE_API_BASE", "http://127.0.0.1:12111/sandbox"),
        ("SCRIP_STRIPE_BACKGROUND_PER_SECOND", "7"),
    ];
    let config = merged("", &pairs, &Flags::default()).unwrap();
    let proxies: Vec<IpNet> = vec!["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()];
    assert_eq!(config.trusted_proxies, proxies);
    assert_eq!(config.stripe.background_per_second, 7);
    assert!(config.journal.allow_unsynced);
    assert_eq!(config.journal.min_free_bytes, 1024);
    assert_eq!(config.metrics.listen, Some("127.0.0.1:9".parse().unwrap()));
    assert_eq!(config.limits.secret_burst, Some(100));
    assert_eq!(config.log_format, LogFormat::Json);
    assert_eq!(
        config.stripe.api_base.as_str(),
        "http://127.0.0.1:12111/sandbox"
    );
}

#[test]
fn the_short_name_of_the_checkpoint_works_and_the_long_one_wins() {
    let entries = |pairs: &[_]| {
        merged("", pairs, &Flags::default())
            .unwrap()
            .journal
            .checkpoint_entries
    };
    assert_eq!(entries(&[("SCRIP_CHECKPOINT_ENTRIES", "300")]), 300);
    let both = [
        ("SCRIP_CHECKPOINT_ENTRIES", "300"),
        ("SCRIP_JOURNAL_CHECKPOINT_ENTRIES", "400"),
    ];
    assert_eq!(entries(&both), 400);
}

#[test]
fn variables_of_others_are_passed_over() {
    let pairs = [
        ("SCRIP_PORT", "tcp://10.0.0.1:80"),
        ("SCRIP_ADMIN_TOKEN", "x"),
        ("PATH", "/"),
    ];
    assert!(merged("", &pairs, &Flags::default()).is_ok());
}

#[test]
fn a_variable_that_sets_nothing_is_reported() {
    let pairs = [
        ("SCRIP_TRUSTED_PROXY", "10.0.0.1"),
        ("SCRIP_LOG_FILE", "x"),
        // Set by platforms, or read elsewhere.
        ("SCRIP_PORT_8787_TCP_ADDR", "10.0.0.1"),
        ("SCRIP_SERVICE_HOST", "10.0.0.1"),
        ("SCRIP_SERVER_KEY_FILE", "/run/key"),
        ("SCRIP_CHECKPOINT_ENTRIES", "300"),
    ];
    let config = merged("", &pairs, &Flags::default()).unwrap();
    let unknown = ["SCRIP_TRUSTED_PROXY", "SCRIP_LOG_FILE"];
    assert_eq!(config.unknown_variables, unknown);
}

#[test]
fn a_secret_may_be_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("smtp");
    std::fs::write(&file, "smtps://ann:p@mx.example\n").unwrap();
    let in_file = ("SCRIP_MAIL_SMTP_URL_FILE", file.to_str().unwrap());
    let url = |pairs: &[_]| {
        let mail = merged("[mail]\nsmtp_url = \"\"", pairs, &Flags::default());
        mail.map(|config| config.mail.smtp_url.unwrap().reveal().to_owned())
    };
    assert_eq!(url(&[in_file]).unwrap(), "smtps://ann:p@mx.example");
    let both = [in_file, ("SCRIP_MAIL_SMTP_URL", "smtps://b:p@mx.example")];
    let message = url(&both).unwrap_err().0;
    assert!(
        message.contains("SCRIP_MAIL_SMTP_URL and SCRIP_MAIL_SMTP_URL_FILE"),
        "{message}"
    );
    for name in ["SCRIP_METRICS_TOKEN_FILE", "SCRIP_STORAGE_URL_FILE"] {
        let message = refused("", &[(name, "/nowhere")]);
        assert!(
            message.starts_with(&format!("{name}: /nowhere")),
            "{message}"
        );
    }
}

#[test]
fn a_value_that_does_not_fit_is_refused_by_its_key_and_by_the_variable_that_set_it() {
    for (file, pairs, message) in [
        ("listen = \"localhost\"", vec![], "configuration: listen: "),
        (
            "[http]\nworkers = -1",
            vec![],
            "configuration: http.workers: ",
        ),
        (
            "",
            vec![("SCRIP_LISTEN", "0.0.0.0")],
            "configuration: SCRIP_LISTEN: ",
        ),
        (
            "",
            vec![("SCRIP_HTTP_WORKERS", "-1")],
            "configuration: SCRIP_HTTP_WORKERS: ",
        ),
        (
            "",
            vec![("SCRIP_LOG_FORMAT", "xml")],
            "configuration: SCRIP_LOG_FORMAT: ",
        ),
    ] {
        let refused = refused(file, &pairs);
        assert!(refused.starts_with(message), "{refused}");
    }
}

#[test]
fn an_address_may_be_named() {
    let config = merged("listen = \"localhost:80\"", &[], &Flags::default()).unwrap();
    assert_eq!(config.listen, "127.0.0.1:80".parse().unwrap());
    assert_eq!(listen_address("[::1]:80").unwrap().to_string(), "[::1]:80");
}

#[test]
fn unknown_keys_and_wrong_types_are_refused_by_name() {
    for (file, message) in [
        (
            "lisen = \"x\"",
            "own.toml: line 1: unknown key `lisen`, did you mean `listen`?",
        ),
        (
            "# Mine\n[journal]\ncache = 1",
            "own.toml: line 3: unknown key `journal.cache`, did you mean `journal.cache_mb`?",
        ),
        (
            "[jurnal]\ncache_mb = 1",
            "own.toml: line 1: unknown key `jurnal`, did you mean `journal`?",
        ),
        ("x = 1", "own.toml: line 1: unknown key `x`"),
        (
            "shutdown_seconds = \"30\"",
            "own.toml: `shutdown_seconds` is integer, not string",
        ),
        ("journal = 3", "own.toml: `journal` is table, not integer"),
        ("listen", "own.toml is not valid TOML"),
    ] {
        assert!(
            refused(file, &[]).starts_with(message),
            "{file}: {}",
            refused(file, &[])
        );
    }
    let message = refused("", &[("SCRIP_SHUTDOWN_SECONDS", "soon")]);
    assert_eq!(message, "SCRIP_SHUTDOWN_SECONDS: `soon` is no integer");
}

#[test]
fn open_holds_of_a_wallet_are_one_to_ten_thousand() {
    let config = merged("", &[], &Flags::default()).unwrap();
    assert_eq!(config.limits.open_holds, 1000);
    let most = merged("limits.open_holds = 10000", &[], &Flags::default());
    assert_eq!(most.unwrap().limits.open_holds, 10_000);
    for outside in ["0", "10001"] {
        let message = refused(&format!("limits.open_holds = {outside}"), &[]);
        assert!(message.contains("limits.open_holds"), "{message}");
    }
}

#[test]
fn what_does_not_fit_together_is_refused_after_merging() {
    for (file, key) in [
        ("listen = \"localhost\"", "`localhost` is not ADDRESS:PORT"),
        ("trusted_proxies = [\"nobody\"]", "trusted_proxies"),
        ("[limits]\nsecret_burst = 5", "limits.secret_per_second"),
        (
            "[limits]\npublishable_burst = 0",
            "limits.publishable_burst",
        ),
        ("[journal]\nbacklog_limit = 10", "journal.backlog_limit"),
        ("[actors]\nmax_in_flight = 1", "actors.max_in_flight"),
        ("shutdown_seconds = -1", "configuration"),
        ("[stripe]\napi_base = \"\"", "https://HOST"),
        ("[stripe]\napi_base = \"api.stripe.com\"", "https://HOST"),
        ("[stripe]\napi_base = \"file:///etc\"", "https://HOST"),
        ("[stripe]\napi_base = \"https://x/?a=b\"", "https://HOST"),
        ("[stripe]\napi_base = \"https://k@x/\"", "https://HOST"),
        (
            "[webhooks]\ntimeout_seconds = 0",
            "webhooks.timeout_seconds",
        ),
        (
            "[webhooks]\ntimeout_seconds = 61",
            "webhooks.timeout_seconds",
        ),
        ("[mail]\nfrom = \"\"", "mail.from"),
        ("[mail]\nfrom = \"Scrip\"", "mail.from"),
        ("[mail]\nfrom = \"a@b\\r\\nBcc: c@d\"", "mail.from"),
        ("[mail]\nfrom = \"A\\nB <a@b>\"", "mail.from"),
    ] {
        assert!(
            refused(file, &[]).contains(key),
            "{file}: {}",
            refused(file, &[])
        );
    }
}

#[test]
fn backups_are_made_by_themselves_where_it_is_said_how_often_and_where() {
    let config = Config::merge(None, &[], &Flags::default()).unwrap();
    assert_eq!((&config.backup.to, config.backup.every), (&None, None));
    let file = "[backup]\nto = \"/mnt/scrip\"\nevery = \"90m\"\nkeep = 0";
    let backup = merged(file, &[], &Flags::default()).unwrap().backup;
    assert_eq!(backup.to, Some("/mnt/scrip".into()));
    assert_eq!(backup.every, Some(std::time::Duration::from_secs(5400)));
    assert_eq!((backup.kept(), config.backup.kept()), (None, Some(7)));
    assert!(refused("[backup]\nevery = \"24h\"", &[]).contains("needs backup.to"));
    for bad in ["daily", "24", "-1h", "0s", "9000h"] {
        let refused = refused("", &[("SCRIP_BACKUP_EVERY", bad)]);
        assert!(refused.contains("is not a duration"), "{refused}");
    }
}
