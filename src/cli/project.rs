//! `scrip projects`, and which project another command is about.

use clap::{Args, Subcommand};
use serde_json::Value;

use super::{
    Failure,
    remote::{self, ApiClient, ServerArgs},
    table::{self, OutputArgs, field, list},
};

/// What to do with projects.
#[derive(Debug, Args)]
pub(super) struct ProjectsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List all projects.
    List {
        /// Also lists archived ones.
        #[arg(long)]
        archived: bool,
        #[command(flatten)]
        output: OutputArgs,
        #[command(flatten)]
        server: ServerArgs,
    },
}

/// Lists the projects.
pub(super) fn run(args: ProjectsArgs) -> Result<(), Failure> {
    let Action::List {
        archived,
        output,
        server,
    } = args.action;
    let remote = server.administration()?;
    let path = match archived {
        true => "/projects?archived=all",
        false => "/projects",
    };
    let found: Value = remote::wait(async { Ok(remote.get(path).await?) })?;
    output.print(&found, |found| {
        let mut table = table::Table::new(&["ID", "NAME", "PROVIDER", "CREATED"]);
        for project in list(found, "projects") {
            let provider = project.get("provider").cloned().unwrap_or_default();
            table.row([
                field(project, "id"),
                field(project, "name"),
                field(&provider, "kind"),
                table::when(project, "createdAt"),
            ]);
        }
        table.print("no projects");
    });
    Ok(())
}

/// Options for a server and one of its projects.
#[derive(Debug, Args)]
pub(super) struct ProjectArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// The project [default: the only one, otherwise that of `scrip dev`].
    #[arg(long, value_name = "ID OR NAME", env = "SCRIP_PROJECT")]
    project: Option<String>,
}

/// Options for a project, and for how the answer is printed.
#[derive(Debug, Args)]
pub(super) struct RemoteArgs {
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) project: ProjectArgs,
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
                    "this server has no project yet: create one with `scrip api POST /projects name=NAME`",
                ));
            }
            (None, _) => dev().ok_or_else(|| {
                Failure(format!(
                    "there are several projects: name one by --project: {}",
                    names(projects)
                ))
            })?,
        };
        let by = |name: &str| {
            let fits = projects
                .iter()
                .filter(|&project| field(project, name) == wanted);
            fits.collect::<Vec<_>>()
        };
        match (by("id").as_slice(), by("name").as_slice()) {
            ([found], _) | ([], [found]) => Ok(found),
            (_, []) => Err(Failure(format!(
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
