//! Which project a command is about.

use clap::Args;
use domain::id::ProjectId;
use serde_json::Value;

use super::{
    Failure,
    remote::{ApiClient, ServerArgs},
    table::{field, list},
};

/// Options for a server and one of its projects.
#[derive(Debug, Args)]
pub(super) struct ProjectArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// The project [default: the only one, otherwise that of `scrip dev`].
    #[arg(long, value_name = "ID OR NAME", env = "SCRIP_PROJECT")]
    project: Option<String>,
}

/// A project of a running server.
pub(super) struct Project {
    pub(super) remote: ApiClient,
    /// Its identifier, `proj_…`.
    pub(super) id: String,
}

impl ProjectArgs {
    /// Whether a project was named.
    pub(super) const fn is_named(&self) -> bool {
        self.project.is_some()
    }

    /// Finds the project on the server.
    pub(super) async fn open(&self) -> Result<Project, Failure> {
        let remote = self.server.administration()?;
        let named = self.project.as_ref();
        if let Some(id) = named.filter(|name| name.parse::<ProjectId>().is_ok()) {
            let id = id.clone();
            return Ok(Project { remote, id });
        }
        // An archived project is meant only where it is named.
        let all: Value = match self.project {
            Some(_) => remote.get("/projects?archived=all").await?,
            None => remote.get("/projects").await?,
        };
        let id = field(self.pick(list(&all, "projects"))?, "id");
        Ok(Project { remote, id })
    }

    fn pick<'a>(&self, projects: &'a [Value]) -> Result<&'a Value, Failure> {
        let dev = || Some(self.server.place.dev()?.project);
        let wanted = match (&self.project, projects) {
            (Some(wanted), _) => wanted.clone(),
            (None, [only]) => return Ok(only),
            (None, []) => {
                return Err(Failure::new(
                    "this server has no project yet: create one with `scrip api create-project --name NAME`",
                ));
            }
            (None, _) => dev().ok_or_else(|| {
                Failure(format!(
                    "there are several projects: name one by --project: {}",
                    names(projects)
                ))
            })?,
        };
        let fits = |of: &&Value| ["id", "name"].iter().any(|name| field(of, name) == wanted);
        let found: Vec<&Value> = projects.iter().filter(fits).collect();
        match found.as_slice() {
            [found] => Ok(found),
            [] => Err(Failure(format!(
                "no project is called \"{wanted}\". There are: {}",
                names(projects)
            ))),
            _ => Err(Failure(format!(
                "several projects are called \"{wanted}\": name one by its id: {}",
                names(projects)
            ))),
        }
    }
}

impl Project {
    /// A path of the admin API below this project.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("/projects/{}{rest}", self.id)
    }
}

fn names(projects: &[Value]) -> String {
    if projects.is_empty() {
        return "none".into();
    }
    let name = |project| format!("{} ({})", field(project, "id"), field(project, "name"));
    projects.iter().map(name).collect::<Vec<_>>().join(", ")
}
