//! What every page uses.

pub(super) use std::sync::Arc;

pub(super) use actors::Address;
pub(super) use axum::response::Response;
pub(super) use catalog::ProjectCatalog;
pub(super) use domain::{
    Timestamp,
    money::{decimals, grouped, money},
};
pub(super) use identity::Privilege;
pub(super) use maud::{Markup, html};
pub(super) use operator::NoProject;
pub(super) use wire::{Error, ErrorCode};

pub(super) use super::{
    fields::{CONFIRMED, Fields, KEY},
    form::{self, FieldLabel, Form, RejectedForm},
    form_post::FormPost,
    layout::{self, base, table},
    page_request::{PageFor, PageRequest, PageResult},
    verbatim::verbatim,
};
pub(super) use crate::state::App;
