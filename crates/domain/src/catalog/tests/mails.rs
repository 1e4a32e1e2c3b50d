//! The mails to a project's customers.

use super::*;

fn template(kind: MailKind, text: &str) -> MailTemplate {
    MailTemplate {
        kind,
        locale: MailLocale::De,
        subject: "Guthaben".into(),
        text: text.into(),
        html: None,
    }
}

fn of_templates(templates: Vec<MailTemplate>) -> MailChange {
    MailChange {
        templates: Some(templates),
        ..MailChange::default()
    }
}

#[test]
fn a_change_leaves_what_it_does_not_name_and_clears_what_it_says() {
    let change = MailChange {
        top_up_failed: Some(true),
        color: Some(Some("#1A2b3c".into())),
        footer: Some(Some("Street 1\nTown".into())),
        ..of_templates(vec![template(
            MailKind::LowBalance,
            "Nur noch {{ balance }}",
        )])
    };
    let mails = change.decide(MailSettings::NONE).unwrap();
    assert!(mails.sends(MailKind::TopUpFailed) && mails.sends(MailKind::ActionRequired));
    assert!(mails.is_on() && !mails.sends(MailKind::Receipt));
    assert!(
        mails
            .template(MailKind::LowBalance, MailLocale::De)
            .is_some()
    );
    assert!(
        mails
            .template(MailKind::LowBalance, MailLocale::Fr)
            .is_none()
    );
    let change = MailChange {
        color: Some(None),
        ..MailChange::default()
    };
    let cleared = change.decide(mails.clone()).unwrap();
    let color = None;
    assert_eq!(cleared, MailSettings { color, ..mails });
}

#[test]
fn a_setting_out_of_its_bounds_is_named() {
    let color = |color: &str| MailChange {
        color: Some(Some(color.into())),
        ..MailChange::default()
    };
    let footer = |footer: String| MailChange {
        footer: Some(Some(footer)),
        ..MailChange::default()
    };
    let receipt = |text: &str| template(MailKind::Receipt, text);
    let subject = MailTemplate {
        subject: "a\nb".into(),
        ..receipt("x")
    };
    let html = MailTemplate {
        html: Some(" ".into()),
        ..receipt("x")
    };
    for (change, at_fault) in [
        (color("red"), "mails.color"),
        (color("#12345g"), "mails.color"),
        (footer("x".repeat(1001)), "mails.footer"),
        (footer("\u{7}".into()), "mails.footer"),
        (of_templates(vec![receipt("")]), "mails.templates[0].text"),
        (of_templates(vec![subject]), "mails.templates[0].subject"),
        (of_templates(vec![html]), "mails.templates[0].html"),
        (
            of_templates(vec![receipt("a"), receipt("b")]),
            "mails.templates[1]",
        ),
        (
            of_templates(vec![receipt(&"x".repeat(32_000))]),
            "mails.templates",
        ),
    ] {
        let Err(Refusal::Invalid { param, .. }) = change.decide(MailSettings::NONE) else {
            panic!("{at_fault} is out of its bounds")
        };
        assert_eq!(param, at_fault);
    }
}

#[test]
fn a_language_is_that_of_the_tags_first_part() {
    for (tag, expected) in [
        ("de-AT", Some(MailLocale::De)),
        ("FR", Some(MailLocale::Fr)),
        ("es", None),
        ("", None),
    ] {
        assert_eq!(MailLocale::of_tag(tag), expected, "{tag}");
    }
}
