//! What surrounds the text of a mail: the sender's name and colour, the footer, and the way to unsubscribe.

use domain::catalog::MailSettings;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::content::MailWriter;

/// What a mail without a colour of the project's has.
const COLOR: &str = "#1f2937";

/// The plain text with its footer.
pub(super) fn plain(writer: &MailWriter<'_>, body: &str, leave: Option<&str>) -> String {
    let mut text = format!("{}\n", body.trim());
    let settings = &writer.project.project.mails;
    let leave = leave.map(|link| format!("{}: {link}", unsubscribe(writer)));
    let footer = settings.footer.as_deref().map(str::trim);
    for line in [footer, leave.as_deref()].into_iter().flatten() {
        text.push_str(&format!("\n{line}\n"));
    }
    text
}

/// A page that loads nothing, with this as its body.
pub(super) fn page(writer: &MailWriter<'_>, body: &Markup, leave: Option<&str>) -> String {
    let MailSettings { color, footer, .. } = &writer.project.project.mails;
    let color = color.as_deref().unwrap_or(COLOR);
    let language = writer.word(["en", "de", "fr"]);
    let style = format!(
        "body{{margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif}}a{{color:{color}}}"
    );
    let page = html! {
        (DOCTYPE)
        html lang=(language) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                style { (PreEscaped(style)) }
            }
            body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif" {
                div style="max-width:34em;margin:0 auto;overflow-wrap:anywhere" {
                    p style={ "margin:0 0 24px;padding:0 0 12px;font-weight:600;border-bottom:3px solid " (color) } { (writer.sender()) }
                    (body)
                    div style="margin-top:32px;font-size:13px;opacity:.7" {
                        @if let Some(footer) = footer { (paragraphs(footer)) }
                        @if let Some(link) = leave { p { a href=(link) style="color:inherit" { (unsubscribe(writer)) } } }
                    }
                }
            }
        }
    };
    page.into_string()
}

fn unsubscribe(writer: &MailWriter<'_>) -> String {
    writer.word([
        "Unsubscribe from mails of this kind",
        "Nachrichten dieser Art abbestellen",
        "Ne plus recevoir ce type de message",
    ])
}

/// A plain text as paragraphs whose addresses are links.
pub(super) fn paragraphs(text: &str) -> Markup {
    let text = text.replace("\r\n", "\n");
    let blocks = text.split("\n\n").map(str::trim);
    let blocks: Vec<&str> = blocks.filter(|block| !block.is_empty()).collect();
    html! { @for block in blocks { p style="margin:0 0 16px" {
        @for (at, line) in block.lines().enumerate() {
            @if at > 0 { br; }
            @for word in line.split_inclusive(' ') {
                @let address = word.trim_end();
                @if address.starts_with("https://") || address.starts_with("http://") {
                    a href=(address) { (address) } " "
                } @else { (word) }
            }
        }
    } } }
}
