//! The check that a type name has one meaning in a crate: no two structs, enums, traits, unions or
//! type aliases of one package have the same name. Test modules are left out.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use proc_macro2::Ident;
use syn::{
    File, Item,
    visit::{self, Visit},
};

use super::repository;

/// The places that define each type name of one package, as `file:line`.
#[derive(Default)]
struct TypeNames {
    file: PathBuf,
    places: BTreeMap<String, Vec<String>>,
}

impl TypeNames {
    fn read(&mut self, file: &Path, text: &str) {
        let parsed: File =
            syn::parse_str(text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.file = file.to_owned();
        self.visit_file(&parsed);
    }

    fn define(&mut self, name: &Ident) {
        let place = format!("{}:{}", self.file.display(), name.span().start().line);
        self.places.entry(name.to_string()).or_default().push(place);
    }

    /// The names with more than one place, one to a line; empty where there is none.
    fn report(&self) -> String {
        let repeated = self.places.iter().filter(|(_, places)| places.len() > 1);
        repeated.map(|(name, places)| format!("`{name}`: {}\n", places.join(", "))).collect()
    }
}

impl<'ast> Visit<'ast> for TypeNames {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(module) if module.ident == "tests" => return,
            Item::Struct(item) => self.define(&item.ident),
            Item::Enum(item) => self.define(&item.ident),
            Item::Union(item) => self.define(&item.ident),
            Item::Trait(item) => self.define(&item.ident),
            Item::Type(item) => self.define(&item.ident),
            _ => {}
        }
        visit::visit_item(self, item);
    }
}

/// The folder of the package that a source file belongs to; `None` for a file outside of `src`.
fn package(file: &Path) -> Option<PathBuf> {
    let source = file.components().position(|part| part == Component::Normal("src".as_ref()))?;
    Some(file.components().take(source).collect())
}

#[test]
fn a_type_name_has_one_meaning_in_a_package() {
    let mut packages: BTreeMap<PathBuf, TypeNames> = BTreeMap::new();
    for file in repository::files() {
        if !repository::has_extension(&file, "rs") {
            continue;
        }
        if let Some(package) = package(&file) {
            packages.entry(package).or_default().read(&file, &repository::read(&file));
        }
    }
    assert!(packages.contains_key(Path::new("server")), "no file of the server was read");
    let report: String = packages.values().map(TypeNames::report).collect();
    assert!(report.is_empty(), "Give each of these types a name of its own:\n{report}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_two_files_define_is_reported_with_both_places() {
        let mut names = TypeNames::default();
        names.read(Path::new("src/a.rs"), "pub struct Bond;\nmod inner { enum Curve {} }");
        names.read(Path::new("src/b.rs"), "\ntype Bond = u8;\nmod tests { struct Curve; }");
        assert_eq!(names.report(), "`Bond`: src/a.rs:1, src/b.rs:2\n");
    }

    #[test]
    fn an_associated_type_is_no_definition() {
        let mut names = TypeNames::default();
        names
            .read(Path::new("src/a.rs"), "struct Error;\nimpl FromStr for A { type Err = Error; }");
        names.read(Path::new("src/b.rs"), "impl FromStr for B { type Err = Error; }");
        assert_eq!(names.report(), "");
    }
}
