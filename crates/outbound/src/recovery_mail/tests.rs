//! What the owner of an address reads.

use super::*;

fn code(text: &str) -> RecoveryCode {
    RecoveryCode::parse(text).unwrap()
}

fn to() -> Email {
    Email::new("ann@example.org").unwrap()
}

#[test]
fn it_has_every_code_and_says_what_to_do() {
    let codes = [code("APPLE-0000-1111-2222"), code("BREAD-3333-4444-5555")];
    let mail = recovery_mail("Käse & Wein", to(), &codes);
    let html = mail.html.unwrap();
    for text in [&mail.text, &html] {
        for code in &codes {
            assert!(text.contains(code.reveal()));
        }
        assert!(text.contains("Your recovery codes are:"));
        assert!(text.contains("asks for a recovery code"));
        assert!(text.contains("ignore this mail"));
    }
    assert_eq!(mail.subject, "Your recovery code for Käse & Wein");
    assert!(mail.text.contains("Käse & Wein"));
    assert!(html.contains("Käse &amp; Wein"));
    let one = recovery_mail("Shop", to(), &codes[..1]);
    assert!(one.text.contains("Your recovery code is:"));
}

#[test]
fn a_new_code_is_mailed_as_a_replacement() {
    let mail = replacement_mail("Shop", to(), code("APPLE-0000-1111-2222"));
    for text in [&mail.text, &mail.html.unwrap()] {
        assert!(text.contains("APPLE-0000-1111-2222"));
        assert!(text.contains("Your new recovery code is:"));
        assert!(text.contains("Shop replaced your former code"));
        assert!(!text.contains("ignore this mail"));
    }
}

#[test]
fn the_subject_has_no_code() {
    let mail = recovery_mail("Shop", to(), &[code("APPLE-0000-1111-2222")]);
    assert!(!mail.subject.contains("APPLE"));
}

#[test]
fn a_projects_name_is_text_on_one_line() {
    let name = "A\r\nBcc: eve@example.org\r\n\r\n<script>alert(\"1\")</script>";
    let mail = recovery_mail(name, to(), &[code("APPLE-0000-1111-2222")]);
    let line = "A Bcc: eve@example.org <script>alert(\"1\")</script>";
    assert_eq!(mail.subject, format!("Your recovery code for {line}"));
    assert!(mail.text.contains(line));
    let html = mail.html.unwrap();
    assert!(!html.contains("<script") && html.contains("&lt;script&gt;"));
}
