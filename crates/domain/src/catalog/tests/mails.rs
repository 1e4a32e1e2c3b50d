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
fn a_kind_begins_when_it_is_switched_on_and_again_after_it_was_off() {
    let decide = |old: &MailSettings, receipt, limit_reached, last_event| {
        let change = MailChange {
            receipt,
            limit_reached,
            ..MailChange::default()
        };
        let mut mails = change.decide(old.clone()).unwrap();
        mails.begin_after(last_event);
        mails
    };
    let first = decide(&MailSettings::NONE, Some(true), None, 10);
    let same = decide(&first, Some(true), None, 20);
    let both = decide(&same, None, Some(true), 30);
    assert_eq!((first.receipt, same.receipt), (Some(10), Some(10)));
    assert_eq!((both.receipt, both.limit_reached), (Some(10), Some(30)));
    assert_eq!(both.since_any(), Some(10));
    assert!(both.sends_about(MailKind::Receipt, 11) && !both.sends_about(MailKind::Receipt, 10));
    assert!(!both.sends_about(MailKind::LimitReached, 11));
    let off = decide(&both, Some(false), None, 40);
    assert!(!off.sends_about(MailKind::Receipt, 41));
    assert_eq!(decide(&off, Some(true), None, 50).receipt, Some(50));
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
