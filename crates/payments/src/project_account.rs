//! A project together with its provider, as calls take them.

use catalog::ProjectCatalog;
use payments_port::Provider;

#[derive(Clone, Copy)]
pub(crate) struct ProjectAccount<'a> {
    pub(crate) project: &'a ProjectCatalog,
    pub(crate) provider: &'a dyn Provider,
}

impl<'a> ProjectAccount<'a> {
    pub(crate) const fn new(project: &'a ProjectCatalog, provider: &'a dyn Provider) -> Self {
        Self { project, provider }
    }
}
