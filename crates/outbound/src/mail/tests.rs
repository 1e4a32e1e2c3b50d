//! Mails over a real connection to a server on this machine, and as files.

use std::os::unix::fs::PermissionsExt as _;

use domain::text::Email;
use kit::smtp::{Behaviour, MailServer};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
};

use super::*;

/// Settings as a file has them.
fn settings(smtp_url: &str) -> MailSettings {
    settings_with(smtp_url, true)
}

fn settings_with(smtp_url: &str, files: bool) -> MailSettings {
    let from = "Käse <shop@shop.example>";
    let file = serde_json::json!({"files": files, "smtp_url": smtp_url, "from": from});
    serde_json::from_value(file).unwrap()
}

/// Without pauses, so that no test waits.
fn options() -> MailOptions {
    MailOptions {
        pauses: vec![Duration::ZERO; 3],
        ..MailOptions::default()
    }
}

fn mailer(catcher: &MailServer, options: MailOptions) -> Mailer {
    Mailer::start_with(&settings(&catcher.url()), Path::new("unused"), options).unwrap()
}

fn mail(subject: &str, text: &str) -> Mail {
    Mail {
        to: Email::new("ann@example.org").unwrap(),
        subject: subject.into(),
        text: text.into(),
        html: None,
        headers: MailHeaders::default(),
    }
}

#[tokio::test]
async fn a_mail_becomes_a_file_only_where_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings_with("", false);
    let mailer = Mailer::start_with(&settings, folder.path(), options()).unwrap();
    let error = mailer.send(mail("Code", "secret")).await.unwrap_err();
    assert!(matches!(error, Error::NoServer) && !error.is_transient());
    assert!(mailer.enqueue(mail("Code", "secret")));
    mailer.shut_down(Duration::from_secs(30)).await;
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_mail_arrives_as_it_was_written() {
    let mut catcher = MailServer::start(&[]).await;
    let mailer = mailer(&catcher, options());
    let text = "First\n.\n..two\n.three\nÄ = ö\nlong: ".to_owned() + &"x".repeat(2000) + "\n";
    mailer.send(mail("Größe → 🎉", &text)).await.unwrap();
    let caught = catcher.next().await;
    assert_eq!(caught.hello, "shop.example");
    assert_eq!(caught.from, "shop@shop.example");
    assert_eq!(caught.to, ["ann@example.org"]);
    assert_eq!(
        caught.body().replace("\r\n", "\n").trim_end(),
        text.trim_end()
    );
    let subject = caught.header("Subject").unwrap();
    assert!(
        subject.is_ascii() && subject.starts_with("=?utf-8?b?"),
        "{subject}"
    );
    assert!(
        caught
            .header("Message-ID")
            .unwrap()
            .ends_with("@shop.example>")
    );
    assert!(caught.header("Date").is_some());
    assert!(caught.data.lines().all(|line| line.len() <= 998));
}

#[tokio::test]
async fn html_comes_as_an_alternative() {
    let mut catcher = MailServer::start(&[]).await;
    let mailer = mailer(&catcher, options());
    let mail = Mail {
        html: Some("<p>Hi</p>".into()),
        ..mail("Hi", "Hi")
    };
    mailer.send(mail).await.unwrap();
    let caught = catcher.next().await;
    let kind = caught.header("Content-Type").unwrap();
    assert!(kind.starts_with("multipart/alternative"), "{kind}");
    let (plain, html) = (
        caught.data.find("text/plain"),
        caught.data.find("text/html"),
    );
    assert!(plain.unwrap() < html.unwrap());
}

#[tokio::test]
async fn no_text_adds_a_line_to_the_head() {
    let mut catcher = MailServer::start(&[]).await;
    let mailer = mailer(&catcher, options());
    for subject in [
        "A\r\nBcc: eve@example.org",
        "A\nBcc: eve@example.org",
        "A\rBcc: eve@example.org",
        "A\u{2028}Bcc: eve@example.org\0\u{85}B",
        "\r\n\r\nBcc: eve@example.org",
        "Ä\r\n Bcc: eve@example.org\r\n\r\nbody",
    ] {
        mailer.send(mail(subject, "Hi")).await.unwrap();
        let caught = catcher.next().await;
        assert_eq!(caught.header("Bcc"), None, "{subject:?}");
        assert_eq!(caught.body().trim_end(), "Hi", "{subject:?}");
        assert_eq!(caught.to, ["ann@example.org"]);
    }
}

#[tokio::test]
async fn one_click_unsubscribes_over_tls_alone_and_a_repeat_is_known_by_its_name() {
    let mut catcher = MailServer::start(&[]).await;
    let mailer = mailer(&catcher, options());
    let sent = async |headers: MailHeaders| {
        let mail = Mail {
            headers,
            ..mail("Hi", "Hi")
        };
        mailer.send(mail).await
    };
    let link = format!("https://pay.example/mails/{}", "x".repeat(300));
    let headers = MailHeaders {
        from_name: Some("Ann\r\nBcc: eve@example.org".into()),
        reply_to: Some(Email::new("help@käse.example").unwrap()),
        id: Some("evt_1.mail".into()),
        unsubscribe: Some(link.clone()),
    };
    sent(headers.clone()).await.unwrap();
    let caught = catcher.next().await;
    for (name, value) in [
        // One word, in base64.
        (
            "From",
            "=?utf-8?b?QW5uIEJjYzogZXZlQGV4YW1wbGUub3Jn?= <shop@shop.example>",
        ),
        ("Reply-To", "help@xn--kse-qla.example"),
        ("Message-ID", "<evt_1.mail@shop.example>"),
        ("List-Unsubscribe", &format!("<{link}>")),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
        ("Auto-Submitted", "auto-generated"),
    ] {
        assert_eq!(
            caught.header(name).as_deref(),
            Some(value),
            "{}",
            caught.data
        );
    }
    for (link, shown) in [
        ("http://pay.example/a", Some("<http://pay.example/a>")),
        ("https://pay.example/a>\r\nBcc: eve@example.org", None),
    ] {
        let unsubscribe = Some(link.to_owned());
        sent(MailHeaders {
            unsubscribe,
            ..headers.clone()
        })
        .await
        .unwrap();
        let caught = catcher.next().await;
        assert_eq!(caught.header("List-Unsubscribe").as_deref(), shown);
        assert_eq!(caught.header("List-Unsubscribe-Post"), None);
        assert_eq!(caught.header("Bcc"), None);
    }
    let reply_to = Some(Email::new("a>b@example.org").unwrap());
    let refused = sent(MailHeaders {
        reply_to,
        ..headers
    });
    assert!(matches!(refused.await, Err(Error::Malformed)));
}

#[tokio::test]
async fn odd_addresses_are_sent_to_as_they_are_or_not_at_all() {
    let mut catcher = MailServer::start(&[]).await;
    let mailer = mailer(&catcher, options());
    for (to, reached) in [
        ("o'neil+a@example.org", Some("o'neil+a@example.org")),
        ("ann@käse.example", Some("ann@xn--kse-qla.example")),
        ("jörg@example.org", Some("jörg@example.org")),
        ("a>b@example.org", None),
        ("<ann@example.org", None),
        ("ann@example.org>", None),
        ("ann,bob@example.org", None),
        ("a@b@example.org", None),
        ("ann@exa_mple..org", None),
        ("ann@[127.0.0.1", None),
        ("(c)ann@example.org", None),
    ] {
        let sent = mailer
            .send(Mail {
                to: Email::new(to).unwrap(),
                ..mail("Hi", "Hi")
            })
            .await;
        match reached {
            Some(reached) => {
                sent.unwrap();
                assert_eq!(catcher.next().await.to, [reached]);
            }
            None => assert!(matches!(sent, Err(Error::Malformed)), "{to}: {sent:?}"),
        }
    }
    assert_eq!(catcher.arrived(), None);
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let later = Behaviour::Refuse("451 4.7.1 <ann@example.org> later");
    let mut catcher = MailServer::start(&[later, later]).await;
    let mailer = mailer(&catcher, options());
    assert!(mailer.enqueue(mail("Hi", "Hi")));
    assert_eq!(catcher.next().await.body().trim_end(), "Hi");
    mailer.shut_down(Duration::from_secs(30)).await;
    assert_eq!((catcher.connections(), catcher.arrived()), (3, None));
}

#[tokio::test]
async fn a_server_that_refuses_is_not_asked_again_and_not_quoted() {
    let mut catcher = MailServer::start(&[Behaviour::Refuse("550 no <ann@example.org>"); 2]).await;
    let mailer = mailer(&catcher, options());
    let error = mailer.send(mail("Hi", "Hi")).await.unwrap_err();
    assert!(matches!(error, Error::Refused(550)) && !error.is_transient());
    assert!(!format!("{error} {error:?}").contains("ann"));
    mailer.enqueue(mail("Hi", "Hi"));
    mailer.shut_down(Duration::from_secs(30)).await;
    assert_eq!((catcher.connections(), catcher.arrived()), (2, None));
}

#[tokio::test]
async fn what_a_server_says_of_this_service_is_not_about_the_mail() {
    for line in [
        "421 closing",
        "454 4.7.0 later",
        "530 5.7.0 who are you",
        "534 5.7.9 too weak",
        "535 5.7.8 wrong password",
        "538 5.7.11 not encrypted",
        "550 5.4.5 quota",
    ] {
        let catcher = MailServer::start(&[Behaviour::Refuse(line)]).await;
        let mailer = mailer(&catcher, options());
        let error = mailer.send(mail("Hi", "Hi")).await.unwrap_err();
        let is_unreachable = matches!(error, Error::Unreachable(_));
        assert!(is_unreachable && error.is_transient(), "{line}: {error}");
    }
}

#[tokio::test]
async fn an_address_that_the_server_cannot_take_is_no_fault_of_the_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        stream.write_all(b"220 old\r\n").await.unwrap();
        stream.read_line(&mut String::new()).await.unwrap();
        // It has no extensions.
        stream.write_all(b"250 old\r\n").await.unwrap();
        stream.read_line(&mut String::new()).await.unwrap();
    });
    let mailer = Mailer::start_with(&settings(&url), Path::new("unused"), options()).unwrap();
    let to = Email::new("jörg@example.org").unwrap();
    let sent = mailer
        .send(Mail {
            to,
            ..mail("Hi", "Hi")
        })
        .await;
    assert!(matches!(sent, Err(Error::Malformed)), "{sent:?}");
}

#[tokio::test]
async fn a_server_that_hangs_times_out_and_is_tried_again() {
    let mut catcher = MailServer::start(&[Behaviour::Hang, Behaviour::Hang]).await;
    let options = MailOptions {
        attempt_timeout: Duration::from_millis(500),
        ..options()
    };
    let mailer = mailer(&catcher, options);
    let error = mailer.send(mail("Hi", "Hi")).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut) && error.is_transient());
    mailer.enqueue(mail("Hi", "Hi"));
    assert_eq!(catcher.next().await.to, ["ann@example.org"]);
}

#[tokio::test]
async fn a_mail_fails_in_the_end() {
    let mut catcher = MailServer::start(&[Behaviour::Refuse("421 Later"); 9]).await;
    let mailer = mailer(&catcher, options());
    mailer.enqueue(mail("Hi", "Hi"));
    while mailer.under_way() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!((catcher.connections(), catcher.arrived()), (4, None));
}

#[tokio::test]
async fn a_full_queue_drops_and_never_waits() {
    let catcher = MailServer::start(&[Behaviour::Hang; 99]).await;
    let options = MailOptions {
        queue: 2,
        at_once: 1,
        ..options()
    };
    let mailer = mailer(&catcher, options);
    // The worker has not run yet: this thread has not let go.
    let taken: Vec<bool> = (0..5).map(|_| mailer.enqueue(mail("Hi", "Hi"))).collect();
    assert_eq!(taken, [true, true, false, false, false]);
    // A stop is not held up by a server that hangs.
    mailer.shut_down(Duration::from_millis(50)).await;
    assert!(!mailer.enqueue(mail("Hi", "Hi")));
}

#[tokio::test]
async fn the_end_waits_for_what_is_queued_but_for_no_pause() {
    let mut catcher = MailServer::start(&[Behaviour::Refuse("451 Later")]).await;
    let options = MailOptions {
        pauses: vec![Duration::from_secs(3600)],
        ..MailOptions::default()
    };
    let mailer = mailer(&catcher, options);
    for number in 0..20 {
        assert!(mailer.enqueue(mail("Hi", &number.to_string())));
    }
    mailer.shut_down(Duration::from_secs(30)).await;
    assert_eq!(mailer.under_way(), 0);
    let mut arrived: Vec<u32> = std::iter::from_fn(|| catcher.arrived())
        .map(|caught| caught.body().trim().parse().unwrap())
        .collect();
    arrived.sort_unstable();
    assert_eq!(arrived, (0..20).collect::<Vec<_>>());
    mailer.shut_down(Duration::ZERO).await;
}

#[tokio::test]
async fn without_a_server_mails_are_files_for_their_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("mail");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mailer = Mailer::start(&settings(""), dir.path()).unwrap();
    for number in 0..30 {
        mailer
            .send(mail("Hi", &format!(".{number}")))
            .await
            .unwrap();
    }
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert_eq!(files.len(), 30);
    for (number, file) in files.iter().enumerate() {
        assert_eq!(file.extension().unwrap(), "eml");
        assert_eq!(mode(file), 0o600);
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("To: ann@example.org\r\n"), "{text}");
        assert!(
            text.trim_end().ends_with(&format!("\r\n\r\n.{number}")),
            "{text}"
        );
    }
}

#[tokio::test]
async fn mails_that_wait_are_in_nobodys_way() {
    let mut catcher = MailServer::start(&[Behaviour::Refuse("451 Later"); 5]).await;
    let options = MailOptions {
        pauses: vec![Duration::from_secs(3600)],
        at_once: 1,
        ..MailOptions::default()
    };
    let mailer = mailer(&catcher, options);
    for text in ["1", "2", "3", "4", "5", "last"] {
        assert!(mailer.enqueue(mail("Hi", text)));
    }
    assert_eq!(catcher.next().await.body().trim_end(), "last");
}

#[tokio::test]
async fn where_tls_is_required_nothing_is_said_in_the_open() {
    let mut catcher = MailServer::start(&[]).await;
    let url = format!(
        "{}?tls=required",
        catcher.url().replace("//", "//ann:secret@")
    );
    // On a machine without certificate authorities TLS cannot be set up at all.
    let Ok(mailer) = Mailer::start_with(&settings(&url), Path::new("unused"), options()) else {
        return;
    };
    let error = mailer.send(mail("Hi", "Hi")).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)), "{error}");
    assert_eq!((catcher.connections(), catcher.arrived()), (1, None));
}
