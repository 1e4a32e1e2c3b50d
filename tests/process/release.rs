//! What `scripts/release` makes, of the binary under test: each package is installed from its file in an empty folder,
//! without a network, and serves from there. Needs `node`, `npm`, `python3` with `venv`, what the script names and, without
//! SCRIP_PACKAGES, what scripts/pack-clients does.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use kit::{Demo, launch, tool::run};
use serde_json::json;
use tempfile::TempDir;

/// The folder with the packages. They are made once, in a folder of Cargo's that the next run takes again.
static PACKAGES: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("release");
    fs::create_dir_all(&folder).unwrap();
    // Four fifths of a binary that was built for tests are for debuggers.
    let mut strip = Command::new("strip");
    run(strip
        .arg("-o")
        .arg(folder.join("scrip"))
        .arg(launch::binary()));
    release(&folder.join("packages"), "022", "UTC")
});

/// Runs the script, into a folder that is empty then.
fn release(out: &Path, umask: &str, zone: &str) -> PathBuf {
    let _ = fs::remove_dir_all(out);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/release");
    let mut command = Command::new("sh");
    command.args(["-c", &format!("umask {umask}; exec \"$@\""), "sh"]);
    command.arg(script).arg("--binary");
    command.arg(out.with_file_name("scrip")).arg(out);
    run(command.env("SCRIP_RELEASE_LEVEL", "1").env("TZ", zone));
    out.to_owned()
}

/// The packages whose names end so.
fn packages(suffix: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(&*PACKAGES).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.to_string_lossy().ends_with(suffix))
        .collect()
}

/// The one package whose name ends so.
fn package(suffix: &str) -> PathBuf {
    let mut all = packages(suffix);
    assert_eq!(all.len(), 1, "{suffix}: {all:?}");
    all.remove(0)
}

/// An empty folder with what is in an archive.
fn unpacked(archive: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(Command::new("tar")
        .arg("-xf")
        .arg(archive)
        .arg("-C")
        .arg(folder.path()));
    folder
}

/// Asserts that an installed program is the one that was packed.
fn is_this_version(mut program: Command) {
    let output = run(program.arg("--version"));
    assert_eq!(output, concat!("scrip ", env!("CARGO_PKG_VERSION"), "\n"));
}

/// Starts `dev` with an installed program, deducts with the key that it prints, and ends it by SIGTERM.
async fn serves(mut program: Command, data_dir: &Path) {
    program.args(["dev", "--listen", "127.0.0.1:0", "--data-dir"]);
    program.arg(data_dir);
    program
        .env_remove("SCRIP_ADMIN_TOKEN")
        .env_remove("SCRIP_PACKAGES");
    // No test may reach the real Stripe.
    program.env("SCRIP_STRIPE_API_BASE", "http://127.0.0.1:1");
    let demo = Demo::of(program).await;
    let client = demo.client(&demo.value("Secret key"));
    client.get("/healthz").await.expect(200);
    for package in [
        "scrip-wallet-ai.tgz",
        "scrip-wallet-browser.tgz",
        "scrip-wallet-react.tgz",
        "scrip-wallet-server.tgz",
        concat!(
            "scrip_wallet-",
            env!("CARGO_PKG_VERSION"),
            "-py3-none-any.whl"
        ),
    ] {
        client
            .get(&format!("/packages/{package}"))
            .await
            .expect(200);
    }
    let user = demo.value("Wallet");
    let (user, _) = user.split_once(',').unwrap();
    let deduct = json!({
        "externalUserId": user,
        "productId": demo.value("Product"),
        "amount": 5,
        "idempotencyKey": "release",
    });
    let reply = client
        .post("/api/v1/wallets/external/deduct", &deduct)
        .await;
    assert_eq!(reply.expect(200)["deducted"], true);
    demo.terminate().await;
}

/// A program in the folder where it is to run.
fn program(path: &Path, folder: &Path) -> Command {
    let mut command = Command::new(path);
    command.current_dir(folder);
    command
}

#[test]
fn the_same_binary_gives_the_same_bytes() {
    let again = release(&PACKAGES.with_file_name("again"), "077", "Asia/Tokyo");
    let sums = |folder: &Path| fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    assert_eq!(sums(&again), sums(&PACKAGES));
    let check = ["--check", "--quiet", "--strict", "SHA256SUMS"];
    run(Command::new("sha256sum")
        .args(check)
        .current_dir(&*PACKAGES));
    let files = fs::read_dir(&*PACKAGES).unwrap().count();
    assert_eq!(sums(&PACKAGES).lines().count() + 1, files);
    fs::remove_dir_all(again).unwrap();
}

#[tokio::test]
async fn the_archive_serves() {
    let file = package("-linux.tar.gz");
    let folder = unpacked(&file);
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let top = folder.path().join(name.trim_end_matches(".tar.gz"));
    let beside = [
        "LICENSE",
        "README.md",
        "config.toml",
        "man/scrip-serve.1",
        "completions/scrip.bash",
        "scrip.service",
    ];
    for file in beside {
        assert!(fs::metadata(top.join(file)).unwrap().len() > 0, "{file}");
    }
    let scrip = top.join("scrip");
    is_this_version(program(&scrip, folder.path()));
    serves(program(&scrip, folder.path()), &folder.path().join("data")).await;
}

#[tokio::test]
async fn the_debian_package_serves() {
    let file = package(".deb");
    let folder = tempfile::tempdir().unwrap();
    let (root, control) = (folder.path().join("root"), folder.path().join("control"));
    let extract = |what: &str, to: &Path| {
        run(Command::new("dpkg-deb").arg(what).arg(&file).arg(to));
    };
    extract("-x", &root);
    extract("-e", &control);
    run(Command::new("md5sum")
        .args(["--check", "--quiet", "--strict"])
        .arg(control.join("md5sums"))
        .current_dir(&root));
    for script in ["postinst", "prerm", "postrm"] {
        run(Command::new("sh").arg("-n").arg(control.join(script)));
        let mode = fs::metadata(control.join(script)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o755, "{script}");
    }
    let fields = fs::read_to_string(control.join("control")).unwrap();
    let version = concat!("\nVersion: ", env!("CARGO_PKG_VERSION"), "-1\n");
    assert!(fields.contains(version), "{fields}");
    // What an administrator changes is asked about before an upgrade replaces it.
    let conffiles = fs::read_to_string(control.join("conffiles")).unwrap();
    assert_eq!(
        conffiles,
        "/etc/scrip/config.toml\n/etc/scrip/environment\n"
    );
    let secrets = fs::metadata(root.join("etc/scrip/environment")).unwrap();
    assert_eq!(secrets.permissions().mode() & 0o777, 0o600);
    let unit = fs::read_to_string(root.join("lib/systemd/system/scrip.service")).unwrap();
    assert!(
        unit.contains("\nExecStart=/usr/bin/scrip serve\n"),
        "{unit}"
    );
    assert!(root.join("usr/lib/sysusers.d/scrip.conf").is_file());
    let listed = run(Command::new("dpkg-deb").arg("-c").arg(&file));
    for line in listed.lines() {
        assert_eq!(line.split_whitespace().nth(1), Some("root/root"), "{line}");
        // Secrets alone are closed to others.
        let closed = line.starts_with("-rw-------");
        assert_eq!(closed, line.ends_with("/etc/scrip/environment"), "{line}");
    }
    let scrip = root.join("usr/bin/scrip");
    is_this_version(program(&scrip, folder.path()));
    serves(program(&scrip, folder.path()), &folder.path().join("data")).await;
}

#[tokio::test]
async fn the_npm_packages_serve() {
    let folder = tempfile::tempdir().unwrap();
    let npm = |name: &str, words: &[&str]| {
        let mut command = program(Path::new(name), folder.path());
        command.args(words).env("npm_config_cache", folder.path());
        command
    };
    let options = ["install", "--offline", "--no-audit", "--no-fund"];
    run(npm("npm", &options).args(packages(".tgz")));
    is_this_version(npm("npx", &["--no-install", "scrip"]));
    let scrip = folder.path().join("node_modules/.bin/scrip");
    serves(program(&scrip, folder.path()), &folder.path().join("data")).await;
    // What the program ends with is what its caller sees.
    let nonsense = program(&scrip, folder.path()).arg("nonsense").output();
    let nonsense = nonsense.unwrap();
    assert_eq!(nonsense.status.code(), Some(2), "{nonsense:?}");

    // As after `npm install --omit=optional`.
    let scope = folder.path().join("node_modules/@scrip-wallet");
    let mut others = fs::read_dir(&scope)
        .unwrap()
        .map(|other| other.unwrap().path());
    let platform = others.find(|other| !other.ends_with("cli")).unwrap();
    fs::remove_dir_all(&platform).unwrap();
    let without = program(&scrip, folder.path()).output().unwrap();
    assert_eq!(without.status.code(), Some(1), "{without:?}");
    let text = String::from_utf8(without.stderr).unwrap();
    let missing = platform.file_name().unwrap().to_string_lossy();
    assert!(
        text.contains(&format!("@scrip-wallet/{missing}, ")),
        "{text}"
    );
}

/// Compares a wheel's files with the hashes and sizes in its RECORD, which pip itself does not.
const RECORDED: &str = "
import base64, csv, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
[record] = [name for name in wheel.namelist() if name.endswith('.dist-info/RECORD')]
rows = list(csv.reader(wheel.read(record).decode().splitlines()))
assert sorted(row[0] for row in rows) == sorted(wheel.namelist()), rows
for name, digest, size in rows:
    if name == record: continue
    content = wheel.read(name)
    hashed = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
    assert (digest, int(size)) == ('sha256=' + hashed, len(content)), name
";

#[tokio::test]
async fn the_wheel_serves() {
    let wheel = package(".whl");
    run(Command::new("python3").args(["-c", RECORDED]).arg(&wheel));
    let folder = tempfile::tempdir().unwrap();
    let venv = folder.path().join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    let options = ["install", "--no-index", "--no-cache-dir", "--quiet"];
    run(Command::new(venv.join("bin/pip")).args(options).arg(&wheel));
    let scrip = venv.join("bin/scrip");
    is_this_version(program(&scrip, folder.path()));
    serves(program(&scrip, folder.path()), &folder.path().join("data")).await;
}

/// The user and group that the image names.
const NONROOT: u32 = 65532;

/// Changes the root after giving it what every container has, the machine's null and random devices.
const ENTER: &str = r#"root=$1; shift; mount --rbind /dev "$root/dev" && exec chroot "$@""#;

/// A command that runs in a root of its own; as the image's user, where this one may become another.
fn contained(root: &Path, env: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    let mut user = Vec::new();
    if rustix::process::geteuid().is_root() {
        command.arg("-m");
        user.push(format!("--userspec={NONROOT}:{NONROOT}"));
    } else {
        command.arg("-Urm");
    }
    command.args(["sh", "-c", ENTER, "sh"]);
    command.arg(root).args(user).arg(root);
    // As Docker sets it, also where `chroot` is.
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    command.env_clear().env("PATH", path);
    command.envs(env.iter().map(|set| set.split_once('=').unwrap()));
    command.arg("/usr/local/bin/scrip");
    command
}

#[tokio::test]
async fn the_container_serves() {
    let context = unpacked(&package("-container.tar.gz"));
    let file = fs::read_to_string(context.path().join("Dockerfile")).unwrap();
    let of = |instruction: &str| -> Vec<&str> {
        let lines = file.lines();
        lines
            .filter_map(|line| line.strip_prefix(instruction))
            .collect()
    };
    // Nothing is fetched, and nothing run, to build it.
    assert_eq!(of("FROM "), ["scratch"]);
    assert!(of("RUN ").is_empty() && of("ADD ").is_empty(), "{file}");
    assert_eq!(of("USER "), [format!("{NONROOT}:{NONROOT}")]);
    assert_eq!(of("ENTRYPOINT "), [r#"["/usr/local/bin/scrip"]"#]);

    let image = tempfile::tempdir().unwrap();
    let root = image.path().join("root");
    fs::create_dir_all(root.join("dev")).unwrap();
    for copy in of("COPY ") {
        let words: Vec<&str> = copy.split(' ').collect();
        let [flags @ .., from, to] = words.as_slice() else {
            panic!("{copy}");
        };
        let to = root.join(to.trim_start_matches('/'));
        let from = context.path().join(from.trim_start_matches('/'));
        fs::create_dir_all(&to).unwrap();
        run(Command::new("cp").arg("-a").arg(from.join(".")).arg(&to));
        if flags == [format!("--chown={NONROOT}:{NONROOT}")] && rustix::process::geteuid().is_root()
        {
            chown(&to, Some(NONROOT), Some(NONROOT)).unwrap();
        }
    }
    let certificates = root.join("etc/ssl/certs/ca-certificates.crt");
    assert!(fs::metadata(certificates).unwrap().len() > 0);
    let env: Vec<&str> = of("ENV ").iter().flat_map(|line| line.split(' ')).collect();
    is_this_version(contained(&root, &env));
    serves(contained(&root, &env), Path::new("/data")).await;
}
