//! What a field of a request may hold. Each type reads itself, refuses what breaks its bounds, and
//! describes exactly these bounds in the OpenAPI document. It says in `expecting` what it wants: the
//! caller is told that, and never what was there instead.

mod choice;
mod event_type;
mod id;
mod instant;
mod interval;
mod language;
mod limit;
mod line;
mod meta;
mod number;
mod object;
mod order_status;
mod pairs;
mod reason;
mod text;

pub(crate) use choice::choice;
pub(crate) use event_type::{EVENT_TYPES, EventType, EventTypeText, EventTypesText};
pub(crate) use id::{
    CodeText, DeliveryName, EventName, Id, MalformedCode, PriceName, ProductName, TypedCode,
};
pub(crate) use instant::InstantText;
pub(crate) use interval::{GroupByText, IntervalText};
pub(crate) use language::{Language, LanguageText};
pub(crate) use limit::LimitText;
pub(crate) use line::{
    Currency, CurrencyText, DescriptionText, NameText, SearchText, UnitText, line,
};
pub(crate) use meta::MetaObject;
pub(crate) use number::{BoundedInteger, Credits, Positive, Seconds};
pub(crate) use object::Object;
pub(crate) use order_status::OrderStatusText;
pub(crate) use pairs::MetadataPairs;
pub(crate) use reason::ReasonText;
pub(crate) use text::{EmailText, FeatureText, FromText, KeyText, Text, UserText};
