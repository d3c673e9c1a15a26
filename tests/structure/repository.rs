//! The files of the repository, without what a build or a package manager writes.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Folders that no commit holds: build output, installed packages, data of a service.
const GENERATED: [&str; 6] =
    ["target", "node_modules", "__pycache__", "corpus", "artifacts", "data"];

/// The folder that holds the workspace.
pub(super) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the tests are a folder of the repository").to_owned()
}

/// Every file of the repository, as a path from its root, in alphabetical order.
pub(super) fn files() -> Vec<PathBuf> {
    let root = root();
    let mut found = Vec::new();
    collect(&root, &root, &mut found);
    found.sort();
    assert!(found.len() > 100, "{} has {} files", root.display(), found.len());
    found
}

fn collect(folder: &Path, root: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if name.starts_with('.') || GENERATED.contains(&name.as_ref()) {
            continue;
        }
        if path.is_dir() {
            collect(&path, root, into);
        } else {
            into.push(path.strip_prefix(root).expect("a path below the root").to_owned());
        }
    }
}

/// The text of a file that is named from the root.
pub(super) fn read(file: &Path) -> String {
    let text = fs::read_to_string(root().join(file));
    text.unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// True for a path with this extension.
pub(super) fn has_extension(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|found| found == extension)
}

/// The root file of every library, program, test, bench and example of the workspace and of the
/// fuzz targets.
pub(super) fn crate_roots() -> Vec<PathBuf> {
    let root = root();
    let mut found = Vec::new();
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml", "fuzz/server/Cargo.toml"] {
        let mut cargo = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
        cargo.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]);
        let output = cargo.arg(root.join(manifest)).output().expect("cargo runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo metadata of {manifest}: {error}");
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
        let packages = metadata["packages"].as_array().expect("packages");
        for target in packages.iter().flat_map(|package| package["targets"].as_array()).flatten() {
            let path = Path::new(target["src_path"].as_str().expect("a path"));
            found.push(path.strip_prefix(&root).expect("a file of the repository").to_owned());
        }
    }
    found.sort();
    found.dedup();
    found
}
