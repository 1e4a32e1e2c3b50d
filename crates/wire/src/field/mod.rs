//! What a field of a request may hold. Each type reads itself, refuses what breaks its bounds, and
//! describes exactly these bounds in the OpenAPI document. It says in `expecting` what it wants: the
//! caller learns that, and never what was there instead.

mod choice;
mod digits;
mod event_type;
mod id;
mod instant;
mod language;
mod line;
mod meta;
mod number;
mod object;
mod pairs;
mod text;

pub use choice::{
    Archived, ArchivedText, FeatureActionText, GroupByText, IntervalText, LimitUnitText,
    ListFormat, ListFormatText, MailKindText, MailLocaleText, OnShortfallText, OrderStateText,
    PermissionText, ReasonText, SwitchText, UsageFormatText, WalletSort, WalletSortText,
    WindowText,
};
pub use digits::{Cents, CentsText, LimitText};
pub use event_type::{EVENT_TYPES, EventType, EventTypeText, EventTypesText};
pub use id::{
    CodeText, DeliveryName, EventName, HoldName, Id, MalformedCode, PriceName, ProductName,
    SubscriptionName, TypedCode, WalletName,
};
pub use instant::InstantText;
pub use language::{Language, LanguageText};
pub use line::{
    Currency, CurrencyText, DescriptionText, IssuerText, NameText, NoteText, SearchText,
    SubjectText, UnitText, line,
};
pub use meta::MetaObject;
pub use number::{BoundedInteger, Credits, Positive, Seconds};
pub use object::Object;
pub use pairs::MetadataPairs;
/// What [`choice!`](crate::choice) describes the values with.
pub use utoipa::openapi::ObjectBuilder;

pub(crate) use text::texts;
pub use text::{
    EmailText, FeatureText, FromText, KeyText, MemberText, RateCardName, ScopeText, Text,
    TimeZoneText, UserText,
};
