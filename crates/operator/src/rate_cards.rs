//! Rate cards: what things cost in credits. Who may change them may change prices.

use catalog::VersionRates;
use domain::rate_card::{PutRateCard, RateCardSlug};
use edge::audit::AuditEvent;
use wire::{Error, ErrorCode};

use crate::{Action, Confirmation, ConfirmationResult, Execution, Operator};

needs!(Manage: SaveRateCard, CloseRateCard);

/// Makes a rate card or its next version.
#[derive(Debug, Clone)]
pub struct SaveRateCard(pub PutRateCard);

/// Closes a rate card.
#[derive(Debug, Clone)]
pub struct CloseRateCard(pub RateCardSlug);

impl Action for SaveRateCard {
    type Answer = VersionRates;

    async fn execute(self, by: &Operator<'_>) -> Execution<VersionRates> {
        let slug = self.0.slug.clone();
        let before = by.project.any_rate_card(&slug);
        let before = before.map_or(0, |found| found.card.last_version);
        let saved = by.catalog().put_rate_card(by.id(), self.0).await?;
        let event = match saved.version.number > before {
            true => AuditEvent::Did(format!(
                "Saved version {} of rate card {} of {}",
                saved.version.number,
                slug.as_str(),
                by.id()
            )),
            false => AuditEvent::DidNothing,
        };
        Ok((saved, event))
    }
}

impl Action for CloseRateCard {
    type Answer = ();

    async fn confirmation(&self, by: &Operator<'_>) -> ConfirmationResult {
        let found = by.project.rate_card(&self.0);
        let found = found.ok_or_else(|| Error::new(ErrorCode::RateCardNotFound))?;
        let facts = vec![
            ("What stops", "What names it is refused, and nothing is charged for it.".into()),
            (
                "What goes on",
                "Holds that it placed are drawn from and settled by it. Saving it again opens it again.".into(),
            ),
        ];
        let title = format!("Close rate card {}?", found.card.slug.as_str());
        Confirmation::ask(title, facts)
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<()> {
        let what = format!("Closed rate card {} of {}", self.0.as_str(), by.id());
        by.catalog().close_rate_card(by.id(), self.0).await?;
        Ok(((), AuditEvent::Did(what)))
    }
}
