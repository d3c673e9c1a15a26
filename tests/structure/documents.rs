//! The checks of documents: the map names every module, and every link leads to a file or heading.

use std::{
    collections::BTreeSet,
    path::{Component, Path, PathBuf},
};

use syn::Item;

use super::repository;

const MAP: &str = "docs/ARCHITECTURE.md";

#[test]
fn the_map_names_each_module_of_each_library() {
    let map = repository::read(Path::new(MAP));
    let mut missing = Vec::new();
    for file in repository::files() {
        if !file.ends_with("src/lib.rs") {
            continue;
        }
        let package = file.iter().next().expect("a folder").to_string_lossy();
        for (name, line) in modules(&file) {
            if !names(&map, &name) {
                let file = file.display();
                missing
                    .push(format!("{file}:{line} describe `{package}/src/{name}.rs` in {MAP}\n"));
            }
        }
    }
    let missing = missing.concat();
    assert!(missing.is_empty(), "{MAP} names every module but these:\n{missing}");
}

/// The modules that a file declares outside tests, with their lines.
fn modules(file: &Path) -> Vec<(String, usize)> {
    let parsed = syn::parse_file(&repository::read(file));
    let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let modules = parsed.items.into_iter().filter_map(|item| match item {
        Item::Mod(module) => Some((module.ident.to_string(), module.ident.span().start().line)),
        _ => None,
    });
    modules.collect()
}

/// True where a text has a name in code: in backticks, as the last part of a path or the whole.
fn names(text: &str, module: &str) -> bool {
    let code = text.split('`').skip(1).step_by(2);
    let mut parts = code.flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'));
    parts.any(|part| part == module)
}

#[test]
fn no_link_of_a_document_dangles() {
    let files: BTreeSet<PathBuf> = repository::files().into_iter().collect();
    let mut dangling = Vec::new();
    let mut count = 0;
    for document in files.iter().filter(|file| repository::has_extension(file, "md")) {
        for Link { target, line } in links(&repository::read(document)) {
            count += 1;
            if let Err(reason) = follow(document, &target, &files) {
                let document = document.display();
                dangling.push(format!("{document}:{line} links to {target}: {reason}\n"));
            }
        }
    }
    assert!(count > 4, "{count} links are read; the documents have more");
    let dangling = dangling.concat();
    assert!(dangling.is_empty(), "Correct each link or remove it:\n{dangling}");
}

struct Link {
    target: String,
    line: usize,
}

/// The targets of a document's links to files and headings of the repository, outside code.
fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (line, words) in prose(text) {
        let definition = words.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        let defined = definition.map(|(_, target)| target);
        let inline = words.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in inline.chain(defined) {
            let target = target.split_whitespace().next().unwrap_or_default();
            if !target.contains("://") && !target.starts_with("mailto:") {
                links.push(Link { target: target.to_owned(), line });
            }
        }
    }
    links
}

/// The lines of a document outside fenced code, numbered from 1, without text in backticks.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push((index + 1, line.split('`').step_by(2).collect()));
        }
    }
    lines
}

/// Follows a link of a document; the error says what is missing.
fn follow(document: &Path, target: &str, files: &BTreeSet<PathBuf>) -> Result<(), String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() {
        document.to_owned()
    } else {
        normal(&document.parent().unwrap_or(Path::new("")).join(path))
    };
    let is_folder = files.iter().any(|file| file.starts_with(&path) && *file != path);
    if !files.contains(&path) && !is_folder {
        return Err(format!("{} does not exist", path.display()));
    }
    if anchor.is_empty() || !repository::has_extension(&path, "md") {
        return Ok(());
    }
    let anchors = anchors(&repository::read(&path));
    if anchors.contains(anchor) {
        Ok(())
    } else {
        Err(format!("{} has no heading for #{anchor}, but {anchors:?}", path.display()))
    }
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// The anchors that a site which renders Markdown gives to headings: lower case, spaces as hyphens,
/// punctuation dropped, and a number where a heading is repeated.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let mut unique = anchor.clone();
        for number in 1.. {
            if !anchors.contains(&unique) {
                break;
            }
            unique = format!("{anchor}-{number}");
        }
        anchors.insert(unique);
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_are_no_links() {
        let text =
            "[a](a.md) and [b](b.md#c \"title\") `[c](c.md)`\n```\n[d](d.md)\n```\n[e]: e.md";
        let found: Vec<_> = links(text).into_iter().map(|link| (link.line, link.target)).collect();
        let expected = [(1, "a.md"), (1, "b.md#c"), (5, "e.md")];
        assert_eq!(found, expected.map(|(line, target)| (line, target.to_owned())));
    }

    #[test]
    fn a_missing_file_and_a_missing_heading_are_told() {
        let files = BTreeSet::from([PathBuf::from("README.md"), PathBuf::from("docs/scaling.md")]);
        let follow = |target| follow(Path::new("docs/scaling.md"), target, &files);
        assert_eq!(follow("../README.md"), Ok(()));
        assert_eq!(follow("../docs"), Ok(()));
        assert_eq!(follow("README.md"), Err("docs/README.md does not exist".to_owned()));
        assert!(follow("../README.md#no-such-heading").is_err());
    }

    #[test]
    fn anchors_are_made_as_the_forges_make_them() {
        let text = "# A Title: `code`, and more\n## Twice\n```\n# no heading\n```\n## Twice";
        let expected = ["a-title-code-and-more", "twice", "twice-1"];
        assert_eq!(anchors(text), expected.map(ToOwned::to_owned).into());
    }

    #[test]
    fn a_module_is_named_in_code_only() {
        assert!(names("The folder `store/` and `http::pipeline`", "store"));
        assert!(names("The folder `store/` and `http::pipeline`", "pipeline"));
        assert!(!names("where to store", "store"));
        assert!(!names("`store_testing`", "store"));
    }
}
