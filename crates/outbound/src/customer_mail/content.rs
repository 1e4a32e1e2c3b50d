//! What a mail is about: which events lead to one, and the values that its templates may name, in its language.

use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    catalog::{MailKind, MailLocale},
    id::{OrderId, ProductId},
    limit::{LimitUnit, LimitWindow},
    money,
    project_event::{EventData, OrderEvent, ProjectEvent},
    text::PageUrl,
    top_up::Suspension,
};
use jiff::tz::TimeZone;
use wire::{view::word, visible::is_hidden};

use super::template::Values;

/// The most characters of a name in a mail.
const MAX_NAME: usize = 200;

/// The mail that an event leads to, if any: one for each crossing, since an event happens once for each.
pub(super) fn kind_of(data: &EventData) -> Option<MailKind> {
    match data {
        EventData::BalanceLow { .. } => Some(MailKind::LowBalance),
        EventData::Limit(alert) if alert.percent.is_none() => Some(MailKind::LimitReached),
        EventData::Order(OrderEvent::Paid, facts) if facts.order.amount_cents > 0 => {
            Some(MailKind::Receipt)
        }
        EventData::TopUpSuspended(Suspension::ActionRequired(_)) => Some(MailKind::ActionRequired),
        // One for attempts that failed in a row, once somebody has to act. Of a dispute, and of a card that they removed, the
        // customer knows.
        EventData::TopUpSuspended(
            Suspension::Declined | Suspension::CardUnusable | Suspension::PriceChanged,
        ) => Some(MailKind::TopUpFailed),
        _ => None,
    }
}

/// Writes values in a language, for a project's customers.
pub(super) struct MailWriter<'a> {
    pub(super) project: &'a ProjectCatalog,
    pub(super) locale: MailLocale,
}

impl MailWriter<'_> {
    /// The values of a mail about an event.
    pub(super) fn values(&self, event: &ProjectEvent) -> Values {
        let mut values = self.common();
        match &event.data {
            EventData::BalanceLow { product, balance } => {
                let known = self.project.product(product);
                let threshold = known.and_then(|it| it.low_balance).unwrap_or(*balance);
                values.extend([
                    ("product", self.product(product)),
                    ("unit", self.unit(Some(product))),
                    ("balance", self.number(*balance)),
                    ("threshold", self.number(threshold)),
                ]);
            }
            EventData::Limit(alert) => {
                let limit = &alert.state.limit;
                let unit = match limit.unit {
                    LimitUnit::Credits => self.unit(limit.product.as_ref()),
                    LimitUnit::Operations => self.word(["uses", "Nutzungen", "utilisations"]),
                };
                let product = limit.product.as_ref().map(|product| self.product(product));
                let member = alert.member.as_ref().map(|it| cleaned(it.as_str()));
                let resets_at = alert.state.resets_at.map(|at| self.date(at));
                values.extend([
                    ("product", product.unwrap_or_default()),
                    ("unit", unit),
                    ("limit", self.number(limit.amount)),
                    ("window", self.window(limit.window)),
                    ("member", member.unwrap_or_default()),
                    ("resets_at", resets_at.unwrap_or_default()),
                ]);
            }
            EventData::TopUpSuspended(reason) => {
                values.insert("reason", reason.name().to_owned());
                if let Suspension::ActionRequired(page) = reason {
                    values.insert("url", page.url.as_str().to_owned());
                }
            }
            EventData::Order(_, facts) => {
                let (order, wallet) = (&facts.order, event.key);
                let (terms, receipt) = (&order.terms, &order.receipt);
                let serial = facts.serial;
                let link = |url: Option<&PageUrl>| {
                    url.map(|url| url.as_str().to_owned()).unwrap_or_default()
                };
                let credits = order.granted_credits;
                let credits = (credits > 0).then(|| self.number(credits));
                values.extend([
                    ("product", self.product(&terms.product)),
                    ("unit", self.unit(Some(&terms.fills))),
                    ("quantity", order.quantity.get().to_string()),
                    ("amount", self.money(order.amount_cents, &terms.currency)),
                    ("date", self.date(order.paid_at.unwrap_or(event.at))),
                    ("order", OrderId { serial, wallet }.to_string()),
                    ("credits", credits.unwrap_or_default()),
                    ("balance", self.number(facts.balance)),
                    ("receipt_url", link(receipt.receipt_url.as_ref())),
                    ("invoice_url", link(receipt.invoice_url.as_ref())),
                ]);
            }
            _ => {}
        }
        let user = event.user.as_ref().map(|user| cleaned(user.as_str()));
        values.insert("user", user.unwrap_or_default());
        values
    }

    /// Values as a mail of this kind may have them, for a preview.
    pub(super) fn sample(&self, kind: MailKind, now: Timestamp) -> Values {
        let mut values = self.common();
        let product = self.project.products().next().map(|product| product.id);
        let named = product.map(|product| self.product(&product));
        let named = named.unwrap_or_else(|| self.word(["Credits", "Guthaben", "Crédits"]));
        let (unit, url) = (self.unit(product.as_ref()), "https://pay.example/receipt");
        let own: &[(&'static str, String)] = match kind {
            MailKind::LowBalance => &[
                ("product", named),
                ("unit", unit),
                ("balance", self.number(480)),
                ("threshold", self.number(500)),
            ],
            MailKind::TopUpFailed => &[("reason", "declined".into())],
            MailKind::ActionRequired => &[("url", "https://pay.example/confirm".into())],
            MailKind::LimitReached => &[
                ("product", named),
                ("unit", unit),
                ("limit", self.number(1000)),
                ("window", self.window(LimitWindow::Day)),
                ("member", String::new()),
                ("resets_at", self.date(now)),
            ],
            MailKind::Receipt => &[
                ("product", named),
                ("unit", unit),
                ("quantity", "2".into()),
                ("amount", self.money(123_450, "EUR")),
                ("date", self.date(now)),
                ("order", "ord_01m8h2x9k0e6r8f4t2w1y3z5a7".into()),
                ("credits", self.number(2000)),
                ("balance", self.number(2480)),
                ("receipt_url", url.into()),
                ("invoice_url", url.into()),
            ],
        };
        values.extend(own.iter().cloned());
        values.insert("user", "user_42".into());
        values
    }

    fn common(&self) -> Values {
        Values::from([("project", self.sender())])
    }

    /// What the project calls itself in mails.
    pub(super) fn sender(&self) -> String {
        let project = &self.project.project;
        cleaned(project.mails.name.as_deref().unwrap_or(&project.name))
    }

    /// The word of this language, of those in the order of [`MailLocale::ALL`].
    pub(super) fn word(&self, [en, de, fr]: [&str; 3]) -> String {
        let word = match self.locale {
            MailLocale::En => en,
            MailLocale::De => de,
            MailLocale::Fr => fr,
        };
        word.to_owned()
    }

    fn product(&self, id: &ProductId) -> String {
        let product = self.project.product(id);
        product.map(|it| cleaned(&it.name)).unwrap_or_default()
    }

    fn unit(&self, id: Option<&ProductId>) -> String {
        let product = id.and_then(|id| self.project.product(id));
        let unit = product.and_then(|product| product.credit_unit.as_deref());
        unit.map_or_else(|| self.word(["credits", "Credits", "crédits"]), cleaned)
    }

    fn window(&self, window: LimitWindow) -> String {
        self.word(match window {
            LimitWindow::Hour => ["per hour", "pro Stunde", "par heure"],
            LimitWindow::Day => ["per day", "pro Tag", "par jour"],
            LimitWindow::Week => ["per week", "pro Woche", "par semaine"],
            LimitWindow::Month => ["per month", "pro Monat", "par mois"],
            LimitWindow::Year => ["per year", "pro Jahr", "par an"],
            LimitWindow::Lifetime => ["in all", "insgesamt", "au total"],
        })
    }

    fn number(&self, number: i64) -> String {
        self.separated(&money::grouped(number))
    }

    fn money(&self, cents: i64, currency: &str) -> String {
        let amount = self.separated(&money::amount(cents, currency));
        format!("{amount}\u{a0}{}", cleaned(currency))
    }

    /// A number with this language's separators in place of English ones.
    fn separated(&self, number: &str) -> String {
        let (thousands, point) = match self.locale {
            MailLocale::En => (',', '.'),
            MailLocale::De => ('.', ','),
            MailLocale::Fr => ('\u{a0}', ','),
        };
        let separated = number.chars().map(|c| match c {
            ',' => thousands,
            '.' => point,
            c => c,
        });
        separated.collect()
    }

    fn date(&self, at: Timestamp) -> String {
        let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::MAX);
        let form = self.word([
            "%-d %B %Y, %H:%M UTC",
            "%d.%m.%Y, %H:%M UTC",
            "%d/%m/%Y, %H:%M UTC",
        ]);
        at.to_zoned(TimeZone::UTC).strftime(&form).to_string()
    }
}

/// A name without characters that cannot be seen or reorder others, and not too long.
fn cleaned(name: &str) -> String {
    let shown = name.chars().filter(|c| !is_hidden(*c));
    shown.take(MAX_NAME).collect()
}

/// The built-in subject and text.
pub(super) fn built_in(kind: MailKind, locale: MailLocale) -> (&'static str, &'static str) {
    let all = match locale {
        MailLocale::En => include_str!("built_in/en.txt"),
        MailLocale::De => include_str!("built_in/de.txt"),
        MailLocale::Fr => include_str!("built_in/fr.txt"),
    };
    let kind = word(kind);
    let mut mails = all.split("# ").map(|mail| mail.split_once('\n'));
    let found = mails.find_map(|mail| mail.filter(|(name, _)| *name == kind));
    let (_, mail) = found.unwrap_or_default();
    mail.split_once('\n').unwrap_or_default()
}
