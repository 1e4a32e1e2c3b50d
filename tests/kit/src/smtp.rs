//! A mail server for tests: it accepts and keeps mails, or refuses or falls silent where a test says so. It
//! speaks enough SMTP for any client, on loopback only.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};

/// How long a mail may take on a busy machine.
const SOON: Duration = Duration::from_secs(300);

/// How the server treats a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Accepts its mails.
    Accept,
    /// Replies to `MAIL FROM` with this line, such as `451 4.7.1 Later`.
    Refuse(&'static str),
    /// Replies to `RCPT TO` with this line, such as `550 5.1.1 Nobody here`.
    Reject(&'static str),
    /// Takes a mail, and ends the connection before it says so.
    Cut,
    /// Greets, and then is silent.
    Hang,
}

/// A mail as it arrived, with dot-stuffing undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMail {
    /// The name in `EHLO`.
    pub hello: String,
    /// The address in `MAIL FROM`.
    pub from: String,
    /// The address in each `RCPT TO`.
    pub to: Vec<String>,
    /// Head and body, with CR LF line ends.
    pub data: String,
}

impl ReceivedMail {
    /// The value of a header field, unfolded.
    pub fn header(&self, name: &str) -> Option<String> {
        let (head, _) = self.data.split_once("\r\n\r\n")?;
        let head = head.replace("\r\n ", " ").replace("\r\n\t", " ");
        let start = format!("{}:", name.to_lowercase());
        head.split("\r\n")
            .find(|line| line.to_lowercase().starts_with(&start))
            .map(|line| line[start.len()..].trim().to_owned())
    }

    /// The body, with quoted-printable decoded.
    pub fn body(&self) -> String {
        let (_, body) = self.data.split_once("\r\n\r\n").unwrap();
        let mut bytes = Vec::new();
        let mut rest = body.replace("=\r\n", "").into_bytes().into_iter();
        while let Some(byte) = rest.next() {
            if byte != b'=' {
                bytes.push(byte);
                continue;
            }
            let pair: Vec<u8> = rest.by_ref().take(2).collect();
            let pair = String::from_utf8(pair).unwrap();
            // What is not an escape is kept as it is.
            match u8::from_str_radix(&pair, 16) {
                Ok(byte) => bytes.push(byte),
                Err(_) => bytes.extend(format!("={pair}").bytes()),
            }
        }
        String::from_utf8(bytes).unwrap()
    }
}

/// The server. Dropping it closes it.
pub struct MailServer {
    address: SocketAddr,
    mails: mpsc::UnboundedReceiver<ReceivedMail>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl MailServer {
    /// Treats the first connections in these manners, one by one, and accepts the mails of all others.
    pub async fn start(manners: &[Behaviour]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (caught, mails) = mpsc::unbounded_channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&connections);
        let manners = manners.to_vec();
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let number = seen.fetch_add(1, Ordering::SeqCst);
                let manner = manners.get(number).copied().unwrap_or(Behaviour::Accept);
                let caught = caught.clone();
                // A client that disconnects in the middle is not an error of the server.
                open.spawn(async move { drop(serve(stream, manner, &caught).await) });
            }
        });
        Self {
            address,
            mails,
            connections,
            task,
        }
    }

    /// Its address as a value for `mail.smtp_url`.
    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    /// Number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The next mail; panics when none comes.
    pub async fn next(&mut self) -> ReceivedMail {
        tokio::time::timeout(SOON, self.mails.recv())
            .await
            .expect("a mail arrives")
            .expect("the server runs")
    }

    /// A mail that has already arrived.
    pub fn arrived(&mut self) -> Option<ReceivedMail> {
        self.mails.try_recv().ok()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    stream: TcpStream,
    manner: Behaviour,
    caught: &mpsc::UnboundedSender<ReceivedMail>,
) -> std::io::Result<()> {
    let (input, mut output) = stream.into_split();
    let mut lines = BufReader::new(input);
    output.write_all(b"220 catcher ESMTP\r\n").await?;
    let (mut hello, mut from, mut to) = (String::new(), String::new(), Vec::new());
    loop {
        let Some(line) = next_line(&mut lines).await? else {
            return Ok(());
        };
        if manner == Behaviour::Hang {
            // Until the client disconnects.
            while next_line(&mut lines).await?.is_some() {}
            return Ok(());
        }
        let (verb, argument) = line.split_once(' ').unwrap_or((&line, ""));
        let reply = match (verb.to_uppercase().as_str(), manner) {
            ("EHLO" | "HELO", _) => {
                argument.trim_end().clone_into(&mut hello);
                "250-catcher\r\n250-8BITMIME\r\n250 SMTPUTF8"
            }
            ("MAIL", Behaviour::Refuse(line)) => line,
            ("MAIL", _) => {
                from = between(argument);
                "250 OK"
            }
            ("RCPT", Behaviour::Reject(line)) => line,
            ("RCPT", _) => {
                to.push(between(argument));
                "250 OK"
            }
            ("DATA", _) => {
                output.write_all(b"354 Go on\r\n").await?;
                let Some(data) = data(&mut lines).await? else {
                    return Ok(());
                };
                drop(caught.send(ReceivedMail {
                    hello: hello.clone(),
                    from: std::mem::take(&mut from),
                    to: std::mem::take(&mut to),
                    data,
                }));
                if manner == Behaviour::Cut {
                    return Ok(());
                }
                "250 Taken"
            }
            ("QUIT", _) => {
                output.write_all(b"221 Bye\r\n").await?;
                return Ok(());
            }
            _ => "502 What?",
        };
        output.write_all(format!("{reply}\r\n").as_bytes()).await?;
    }
}

async fn next_line(
    lines: &mut BufReader<tokio::net::tcp::OwnedReadHalf>,
) -> std::io::Result<Option<String>> {
    let mut line = String::new();
    let read = lines.read_line(&mut line).await?;
    Ok((read > 0).then(|| line.trim_end_matches("\r\n").to_owned()))
}

async fn data(
    lines: &mut BufReader<tokio::net::tcp::OwnedReadHalf>,
) -> std::io::Result<Option<String>> {
    let mut data = String::new();
    while let Some(line) = next_line(lines).await? {
        if line == "." {
            return Ok(Some(data));
        }
        data.push_str(line.strip_prefix('.').unwrap_or(&line));
        data.push_str("\r\n");
    }
    Ok(None)
}

fn between(argument: &str) -> String {
    let inner = argument.split_once('<').map_or("", |(_, inner)| inner);
    inner
        .split_once('>')
        .map_or("", |(inner, _)| inner)
        .to_owned()
}
