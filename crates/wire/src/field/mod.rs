//! What a field of a request may hold. Each type reads itself, refuses what breaks its bounds, and
//! describes exactly these bounds in the OpenAPI document. It says in `expecting` what it wants: the
//! caller learns that, and never what was there instead.

mod cents;
mod choice;
mod event_type;
mod feature_action;
mod id;
mod instant;
mod interval;
mod language;
mod limit;
mod line;
mod list;
mod meta;
mod number;
mod object;
mod on_shortfall;
mod order_status;
mod pairs;
mod permission;
mod reason;
mod text;

pub use cents::{Cents, CentsText};
pub use event_type::{EVENT_TYPES, EventType, EventTypeText, EventTypesText};
pub use feature_action::FeatureActionText;
pub use id::{
    CodeText, DeliveryName, EventName, Id, MalformedCode, PriceName, ProductName, SubscriptionName,
    TypedCode, WalletName,
};
pub use instant::InstantText;
pub use interval::{GroupByText, IntervalText};
pub use language::{Language, LanguageText};
pub use limit::LimitText;
pub use line::{
    Currency, CurrencyText, DescriptionText, IssuerText, NameText, NoteText, SearchText,
    SubjectText, UnitText, line,
};
pub use list::{
    Archived, ArchivedText, ListFormat, ListFormatText, SwitchText, WalletSort, WalletSortText,
};
pub use meta::MetaObject;
pub use number::{BoundedInteger, Credits, Positive, Seconds};
pub use object::Object;
pub use on_shortfall::OnShortfallText;
pub use order_status::OrderStateText;
pub use pairs::MetadataPairs;
pub use permission::PermissionText;
pub use reason::ReasonText;
/// What [`choice!`](crate::choice) describes the values with.
pub use utoipa::openapi::ObjectBuilder;

pub use text::{EmailText, FeatureText, FromText, KeyText, Text, UserText};
