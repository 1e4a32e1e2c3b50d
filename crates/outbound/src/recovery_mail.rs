//! The mail with lost recovery codes. It goes to the owner of the address, who may not be the person who
//! asked for it.

use std::fmt::Write as _;

use domain::{code::RecoveryCode, text::Email};
use maud::{DOCTYPE, html};

use super::mail::{Mail, MailHeaders, one_line};

/// Lists all codes of a project that were bought with this address; `project` is the project's name.
pub fn recovery_mail(project: &str, to: Email, codes: &[RecoveryCode]) -> Mail {
    let project = one_line(project);
    let (codes_are, them) = if codes.len() == 1 {
        ("Your recovery code is", "it")
    } else {
        ("Your recovery codes are", "one of them")
    };
    let how = format!(
        "Enter {them} where {project} asks for a recovery code, and your credits are back. \
         Anyone who has the code can spend the credits: keep it to yourself."
    );
    let ignore = format!(
        "Somebody asked {project} for the codes that were bought with this address. If it was not \
         you, ignore this mail: it was sent to nobody else."
    );
    mail(&project, to, codes, (codes_are, &how, &ignore))
}

/// Tells the buyer the code that replaces a former one; `project` is the project's name.
pub fn replacement_mail(project: &str, to: Email, code: RecoveryCode) -> Mail {
    let project = one_line(project);
    let how = format!(
        "Enter it where {project} asks for a recovery code, and your credits are back. Anyone who has the code can spend \
         its credits: keep it to yourself."
    );
    let former = format!("{project} replaced your former code, which does not work any more.");
    let is = ("Your new recovery code is", how.as_str(), former.as_str());
    mail(&project, to, &[code], is)
}

fn mail(
    project: &str,
    to: Email,
    codes: &[RecoveryCode],
    (codes_are, how, why): (&str, &str, &str),
) -> Mail {
    Mail {
        subject: format!("Your recovery code for {project}"),
        text: text(codes_are, codes, how, why),
        html: Some(html(codes_are, codes, how, why)),
        to,
        headers: MailHeaders::default(),
    }
}

fn text(codes_are: &str, codes: &[RecoveryCode], how: &str, why: &str) -> String {
    let mut lines = format!("{codes_are}:\n\n");
    for code in codes {
        // Writing to a string cannot fail.
        let _: std::fmt::Result = writeln!(lines, "    {}", code.reveal());
    }
    format!("{lines}\n{how}\n\n{why}\n")
}

fn html(codes_are: &str, codes: &[RecoveryCode], how: &str, why: &str) -> String {
    const CODE: &str = "font:600 20px/1.6 ui-monospace,Menlo,Consolas,monospace;\
                        letter-spacing:.04em;margin:0";
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="color-scheme" content="light dark";
            }
            body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif" {
                div style="max-width:32em;margin:0 auto" {
                    p { (codes_are) ":" }
                    div style="border:1px solid #8886;border-radius:10px;padding:12px 16px" {
                        @for code in codes { p style=(CODE) { (code.reveal()) } }
                    }
                    p { (how) }
                    p style="opacity:.7;font-size:14px" { (why) }
                }
            }
        }
    };
    page.into_string()
}

#[cfg(test)]
mod tests;
