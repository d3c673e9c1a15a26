//! The check for circular imports: no file of a crate imports an item of a file that imports from
//! it in turn, directly or through other files.
//!
//! A `mod` declaration is not an import, nor is a re-export of an item that the file does not use
//! itself. The children of a module and the module are different files.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::Path,
};

use super::{
    repository,
    source_crate::{Import, SourceCrate},
};

/// Files that reach each other by imports: a strongly connected component of the import graph.
struct Cycle {
    files: BTreeSet<usize>,
    /// A shortest cycle among the files, its first file repeated at the end.
    shortest: Vec<usize>,
}

/// The cycles of a crate, the one of fewest files first.
fn cycles(file_count: usize, imports: &[Import]) -> Vec<Cycle> {
    let mut imported = vec![BTreeSet::new(); file_count];
    for import in imports {
        imported[import.from].insert(import.to);
    }
    let reached: Vec<_> = (0..file_count).map(|file| reached_from(file, &imported)).collect();
    let mut cycles: Vec<Cycle> = Vec::new();
    for file in 0..file_count {
        let is_placed = cycles.iter().any(|cycle| cycle.files.contains(&file));
        if is_placed || !reached[file].contains_key(&file) {
            continue;
        }
        let others = reached[file].keys().copied();
        let files: BTreeSet<usize> =
            others.filter(|other| reached[*other].contains_key(&file)).collect();
        let through_each = files.iter().map(|start| shortest_through(*start, &reached[*start]));
        let shortest = through_each.min_by_key(Vec::len).expect("a cycle has files");
        cycles.push(Cycle { files, shortest });
    }
    cycles.sort_by_key(|cycle| cycle.files.len());
    cycles
}

/// Every file that `start` reaches by imports, with the file before it on a shortest path.
fn reached_from(start: usize, imported: &[BTreeSet<usize>]) -> BTreeMap<usize, usize> {
    let mut before = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(file) = waiting.pop_front() {
        for next in &imported[file] {
            if !before.contains_key(next) {
                before.insert(*next, file);
                waiting.push_back(*next);
            }
        }
    }
    before
}

/// The shortest cycle through a file, from the files before each on the shortest paths.
fn shortest_through(start: usize, before: &BTreeMap<usize, usize>) -> Vec<usize> {
    let mut path = vec![start];
    let mut file = before[&start];
    while file != start {
        path.push(file);
        file = before[&file];
    }
    path.push(start);
    path.reverse();
    path
}

/// The cycles of a crate in words, a paragraph each; empty where the crate has none.
fn report(source: &SourceCrate) -> String {
    let imports = source.imports();
    let name = |file: usize| source.files[file].display().to_string();
    let describe = |cycle: Cycle| {
        let shortest: Vec<_> = cycle.shortest.iter().map(|file| name(*file)).collect();
        let inside = imports.iter().filter(|import| {
            cycle.files.contains(&import.from) && cycle.files.contains(&import.to)
        });
        let inside = inside.map(|Import { from, to, item, line }| {
            format!("  {}:{line} imports `{item}` of {}\n", name(*from), name(*to))
        });
        format!(
            "{} files of the crate {} import each other in a cycle. A shortest cycle is\n  {}\n\
             All imports among these files are\n{}\n",
            cycle.files.len(),
            name(0),
            shortest.join(" -> "),
            inside.collect::<String>(),
        )
    };
    cycles(source.files.len(), &imports).into_iter().map(describe).collect()
}

#[test]
fn no_crate_has_circular_imports() {
    let read = |file: &Path| fs::read_to_string(repository::root().join(file)).ok();
    let roots = repository::crate_roots();
    let text: String = roots.iter().map(|root| report(&SourceCrate::read(root, &read))).collect();
    assert!(
        text.is_empty(),
        "{text}Break each cycle: move the item that both sides need into a file that imports \
         neither, or pass the item as an argument."
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The report about a crate of these files, of which the first is the root.
    fn report_of(files: &[(&str, &str)]) -> String {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        report(&SourceCrate::read(Path::new(files[0].0), &read))
    }

    #[test]
    fn two_files_that_import_each_other_are_a_cycle() {
        let text = report_of(&[
            ("src/lib.rs", "mod bond; mod curve;"),
            ("src/bond.rs", "use crate::curve::Curve; pub struct Bond(Curve);"),
            ("src/curve.rs", "pub struct Curve;\nfn price() -> super::bond::Bond { todo!() }"),
        ]);
        assert!(text.contains("src/bond.rs:1 imports `Curve` of src/curve.rs"), "{text}");
        assert!(text.contains("src/curve.rs:2 imports `Bond` of src/bond.rs"), "{text}");
    }

    #[test]
    fn a_cycle_of_three_files_is_found_beside_a_smaller_one_and_listed_after_it() {
        let text = report_of(&[
            ("src/lib.rs", "mod a; mod b; mod c; mod d; mod e;"),
            ("src/a.rs", "pub fn a() { crate::b::b() }"),
            ("src/b.rs", "pub fn b() { crate::c::c() }"),
            ("src/c.rs", "pub fn c() { crate::a::a() }"),
            ("src/d.rs", "pub fn d() { crate::e::e() }"),
            ("src/e.rs", "pub fn e() { crate::d::d(); crate::a::a() }"),
        ]);
        let small = text.find("2 files of").expect("the small cycle");
        let large = text.find("3 files of").expect("the large cycle");
        assert!(small < large, "{text}");
        assert!(!text.contains("src/e.rs:1 imports `a`"), "{text}");
    }

    #[test]
    fn a_parent_that_uses_what_imports_from_it_is_a_cycle() {
        let text = report_of(&[
            ("src/lib.rs", "mod tree;"),
            ("src/tree.rs", "mod leaf; use leaf::Leaf; pub struct Tree(Leaf);"),
            ("src/tree/leaf.rs", "pub struct Leaf(Option<Box<super::Tree>>);"),
        ]);
        assert!(text.contains("src/tree/leaf.rs:1 imports `Tree` of src/tree.rs"), "{text}");
    }

    #[test]
    fn a_module_declaration_and_a_re_export_are_no_import() {
        let text = report_of(&[
            ("src/lib.rs", "mod error; pub mod rate; pub use error::Error; pub use rate::Rate;"),
            ("src/error.rs", "pub struct Error;"),
            ("src/rate.rs", "use crate::Error; pub struct Rate(Result<f64, Error>);"),
        ]);
        assert_eq!(text, "");
    }

    #[test]
    fn a_re_export_that_the_file_uses_itself_is_an_import() {
        let text = report_of(&[
            ("src/lib.rs", "pub mod rate; pub use rate::Rate; pub struct Error(Rate);"),
            ("src/rate.rs", "pub struct Rate(crate::Error);"),
        ]);
        assert!(text.contains("src/lib.rs:1 imports `Rate` of src/rate.rs"), "{text}");
    }

    #[test]
    fn an_import_through_a_re_export_counts_for_the_file_that_defines_the_item() {
        let text = report_of(&[
            ("src/lib.rs", "mod curve; mod bond;"),
            ("src/curve.rs", "mod point; pub use point::Point;"),
            ("src/curve/point.rs", "pub struct Point(crate::bond::Bond);"),
            ("src/bond.rs", "use crate::curve; pub struct Bond(Box<curve::Point>);"),
        ]);
        assert!(text.contains("src/bond.rs:1 imports `Point` of src/curve/point.rs"), "{text}");
        assert!(!text.contains("curve.rs:1"), "{text}");
    }

    #[test]
    fn paths_in_macros_and_globs_and_enums_are_followed() {
        let text = report_of(&[
            ("src/lib.rs", "mod side; mod kind; mod glob;"),
            ("src/side.rs", "pub enum Side { Buy }\nfn f() { assert_eq!(1, super::kind::f(2)) }"),
            (
                "src/kind.rs",
                "pub fn f(x: u8) -> u8 { use super::side::Side::Buy; glob(); x }\nuse super::glob::*;",
            ),
            ("src/glob.rs", "pub fn glob() { crate::kind::f(1); }"),
        ]);
        assert!(text.contains("src/side.rs:2 imports `f` of src/kind.rs"), "{text}");
        assert!(text.contains("src/kind.rs:1 imports `Side` of src/side.rs"), "{text}");
        assert!(text.contains("src/kind.rs:1 imports `glob` of src/glob.rs"), "{text}");
    }

    #[test]
    fn imports_of_tests_are_ignored() {
        let text = report_of(&[
            ("src/lib.rs", "mod bond; mod curve; #[cfg(test)] mod bond_tests;"),
            ("src/bond.rs", "pub struct Bond(crate::curve::Curve);"),
            (
                "src/curve.rs",
                "pub struct Curve; #[cfg(test)] use crate::bond::Bond;
                 impl Curve { #[cfg(test)] fn bond() -> Bond { crate::bond::Bond } }
                 #[cfg(test)] mod tests { use crate::bond::Bond; }",
            ),
        ]);
        assert_eq!(text, "");
    }

    #[test]
    fn a_name_of_another_crate_is_no_import() {
        let text = report_of(&[
            ("src/lib.rs", "mod curve; mod json;"),
            ("src/curve.rs", "use serde::json; pub fn f() { json::g(); std::json::g() }"),
            ("src/json.rs", "pub fn g() { crate::curve::f() }"),
        ]);
        assert_eq!(text, "");
    }
}
