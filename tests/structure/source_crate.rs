//! The modules of one crate, as its source files declare the modules, and the definition of each
//! name.
//!
//! Names are resolved as the compiler resolves names, from the text alone: a path goes through
//! child modules, `use` declarations and globs until it reaches the file that defines the item.
//! Items that a macro or a derive generates are not seen, and items behind `#[cfg(test)]` are
//! omitted.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Attribute, Field, File, ImplItemFn, Item, ItemUse, Meta, Path as SynPath, UseTree, Variant,
    Visibility,
    visit::{self, Visit},
};

/// The crate that a root file and the modules below it make.
#[derive(Default)]
pub(super) struct SourceCrate {
    /// The files in the order in which they were read, the root first.
    pub(super) files: Vec<PathBuf>,
    modules: Vec<Module>,
    mentions: Vec<Mention>,
}

#[derive(Default)]
struct Module {
    file: usize,
    parent: Option<usize>,
    children: HashMap<String, usize>,
    items: HashSet<String>,
    /// The paths that `use` brings in under a name. A name can stand for several where functions
    /// have imports of their own.
    imports: HashMap<String, Vec<Vec<String>>>,
    globs: Vec<Vec<String>>,
}

/// A path that the code of a module names.
struct Mention {
    module: usize,
    path: Vec<String>,
    line: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Definition {
    Module(usize),
    Item { file: usize, name: String },
}

/// The dependency of one file on an item of another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Import {
    /// The file that names the item, an index into [`SourceCrate::files`].
    pub(super) from: usize,
    /// The file that defines the item.
    pub(super) to: usize,
    /// The item's name.
    pub(super) item: String,
    /// The first line of `from` that names the item.
    pub(super) line: usize,
}

impl SourceCrate {
    /// Reads the crate of a root file. `read` returns the text of a file, or nothing where there is
    /// no such file.
    pub(super) fn read(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut result = Self::default();
        result.modules.push(Module::default());
        let folder = root.parent().expect("a root file is in a folder").to_owned();
        let text = read(root).unwrap_or_else(|| panic!("{} does not exist", root.display()));
        result.read_file(root, &text, 0, folder, read);
        result
    }

    fn read_file(
        &mut self,
        file: &Path,
        text: &str,
        module: usize,
        folder: PathBuf,
        read: &dyn Fn(&Path) -> Option<String>,
    ) {
        let parsed: File =
            syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.modules[module].file = self.files.len();
        self.files.push(file.to_owned());
        let mut reader = Reader { source: self, module, folder, read, is_in_function: false };
        reader.visit_file(&parsed);
    }

    /// Every import of one file from another, each item once.
    pub(super) fn imports(&self) -> Vec<Import> {
        let mut first_lines = HashMap::new();
        for Mention { module, path, line } in &self.mentions {
            let from = self.modules[*module].file;
            let found = self.resolve(*module, path, &mut Vec::new());
            let Some(Definition::Item { file: to, name: item }) = found else { continue };
            if to != from {
                let first = first_lines.entry((from, to, item)).or_insert(*line);
                *first = (*first).min(*line);
            }
        }
        let import = |((from, to, item), line)| Import { from, to, item, line };
        let mut imports: Vec<Import> = first_lines.into_iter().map(import).collect();
        imports.sort();
        imports
    }

    /// The definition that a path of a module leads to; nothing where the path is another crate's.
    /// `seen` ends the search where declarations refer to each other in a cycle.
    fn resolve(
        &self,
        module: usize,
        path: &[String],
        seen: &mut Vec<(usize, String)>,
    ) -> Option<Definition> {
        let mut start = module;
        let mut rest = path;
        while let Some((first, others)) = rest.split_first() {
            start = match first.as_str() {
                "crate" => 0,
                "self" => start,
                "super" => self.modules[start].parent?,
                _ => break,
            };
            rest = others;
        }
        self.resolve_in(start, rest, seen)
    }

    /// The definition that a path leads to from inside a module.
    fn resolve_in(
        &self,
        module: usize,
        path: &[String],
        seen: &mut Vec<(usize, String)>,
    ) -> Option<Definition> {
        let Some((name, rest)) = path.split_first() else {
            return Some(Definition::Module(module));
        };
        let here = &self.modules[module];
        let child = here.children.get(name).copied();
        if let (Some(child), false) = (child, rest.is_empty()) {
            return self.resolve_in(child, rest, seen);
        }
        if here.items.contains(name) {
            return Some(Definition::Item { file: here.file, name: name.clone() });
        }
        if let Some(child) = child {
            return Some(Definition::Module(child));
        }
        let place = (module, name.clone());
        if seen.contains(&place) {
            return None;
        }
        seen.push(place);
        for import in here.imports.get(name).into_iter().flatten() {
            match self.resolve(module, import, seen) {
                Some(Definition::Module(found)) => return self.resolve_in(found, rest, seen),
                Some(item) => return Some(item),
                None => {}
            }
        }
        for glob in &here.globs {
            if let Some(Definition::Module(found)) = self.resolve(module, glob, seen)
                && let Some(definition) = self.resolve_in(found, path, seen)
            {
                return Some(definition);
            }
        }
        None
    }
}

/// Walks through the items of one file.
struct Reader<'a> {
    source: &'a mut SourceCrate,
    module: usize,
    /// The folder of the files of the module's children.
    folder: PathBuf,
    read: &'a dyn Fn(&Path) -> Option<String>,
    is_in_function: bool,
}

impl Reader<'_> {
    fn mention(&mut self, path: Vec<String>, line: usize) {
        self.source.mentions.push(Mention { module: self.module, path, line });
    }

    fn declare(&mut self, name: &Ident) {
        if !self.is_in_function {
            self.source.modules[self.module].items.insert(name_of(name));
        }
    }

    fn enter_module(&mut self, item: &syn::ItemMod) {
        let name = name_of(&item.ident);
        let child = self.source.modules.len();
        let here = &mut self.source.modules[self.module];
        here.children.insert(name.clone(), child);
        let file = here.file;
        self.source.modules.push(Module { file, parent: Some(self.module), ..Module::default() });
        let folder = self.folder.join(&name);
        if let Some((_, items)) = &item.content {
            let outer = (self.module, std::mem::replace(&mut self.folder, folder));
            self.module = child;
            for item in items {
                self.visit_item(item);
            }
            (self.module, self.folder) = outer;
            return;
        }
        let candidates = [folder.with_extension("rs"), folder.join("mod.rs")];
        let found = candidates.iter().find_map(|path| Some((path, (self.read)(path)?)));
        let (path, text) = found.unwrap_or_else(|| {
            panic!("{}: no file for `mod {name}`", self.source.files[file].display())
        });
        self.source.read_file(path, &text, child, folder, self.read);
    }

    fn read_use(&mut self, item: &ItemUse) {
        let mut declared = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut declared);
        for declaration in declared {
            let Declared { path, name, line } = declaration;
            // A re-export names the item for others; the file itself may have no need of the item.
            let is_reexport = !matches!(item.vis, Visibility::Inherited);
            let here = &mut self.source.modules[self.module];
            match name {
                Some(name) if name == "*" => here.globs.push(path),
                Some(name) => {
                    here.imports.entry(name).or_default().push(path.clone());
                    if !is_reexport {
                        self.mention(path, line);
                    }
                }
                None => self.mention(path, line),
            }
        }
    }

    /// Reads the paths in the input of a macro or an attribute, whose grammar is unknown: names that
    /// are joined by `::`, except the names of fields and methods.
    fn read_tokens(&mut self, tokens: &TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        let mut colons = 0;
        let mut is_after_dot = false;
        for token in tokens.clone() {
            match &token {
                TokenTree::Ident(name) if colons == 2 && !path.is_empty() => {
                    path.push(name_of(name));
                }
                TokenTree::Ident(name) => {
                    self.end_path(&mut path, line);
                    if !is_after_dot {
                        path.push(name_of(name));
                        line = name.span().start().line;
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => {
                    self.end_path(&mut path, line);
                    self.read_tokens(&group.stream());
                }
                _ => self.end_path(&mut path, line),
            }
            colons = 0;
            is_after_dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
        }
        self.end_path(&mut path, line);
    }

    fn end_path(&mut self, path: &mut Vec<String>, line: usize) {
        if !path.is_empty() {
            self.mention(std::mem::take(path), line);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = attributes_and_name(item);
        if is_for_tests(attributes) {
            return;
        }
        if let Some(name) = name {
            self.declare(name);
        }
        match item {
            Item::Mod(module) => self.enter_module(module),
            Item::Use(declaration) => self.read_use(declaration),
            Item::Fn(_) | Item::Impl(_) | Item::Trait(_) | Item::Const(_) | Item::Static(_) => {
                let outer = std::mem::replace(&mut self.is_in_function, true);
                visit::visit_item(self, item);
                self.is_in_function = outer;
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if !is_for_tests(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        if !is_for_tests(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_path(&mut self, path: &'ast SynPath) {
        let names = path.segments.iter().map(|segment| name_of(&segment.ident)).collect();
        if let (None, Some(first)) = (path.leading_colon, path.segments.first()) {
            self.mention(names, first.ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.visit_path(&called.path);
        self.read_tokens(&called.tokens);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.read_tokens(&list.tokens);
        }
    }
}

/// A name that a `use` declaration brings in. No name: `as _`. The name `*`: everything.
struct Declared {
    path: Vec<String>,
    name: Option<String>,
    line: usize,
}

fn flatten(tree: &UseTree, prefix: &mut Vec<String>, into: &mut Vec<Declared>) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(name_of(&path.ident));
            flatten(&path.tree, prefix, into);
            prefix.pop();
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, prefix, into);
            }
        }
        UseTree::Name(name) => into.push(declared(prefix, &name.ident, &name.ident)),
        UseTree::Rename(rename) => into.push(declared(prefix, &rename.ident, &rename.rename)),
        UseTree::Glob(glob) => into.push(Declared {
            path: prefix.clone(),
            name: Some("*".to_owned()),
            line: glob.star_token.spans[0].start().line,
        }),
    }
}

fn declared(prefix: &[String], original: &Ident, name: &Ident) -> Declared {
    let mut path = prefix.to_vec();
    let is_module_itself = original == "self";
    if !is_module_itself {
        path.push(name_of(original));
    }
    let name = if is_module_itself && name == "self" {
        path.last().cloned()
    } else {
        Some(name_of(name)).filter(|name| name != "_")
    };
    Declared { path, name, line: original.span().start().line }
}

/// The text of a name, without the `r#` that makes a keyword one.
fn name_of(name: &Ident) -> String {
    let text = name.to_string();
    text.strip_prefix("r#").map_or_else(|| text.clone(), ToOwned::to_owned)
}

/// True for `#[cfg(test)]` and for each condition that only a test build can meet.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else { return false };
        let condition = list.tokens.to_string().replace(' ', "");
        let asks_for_tests = ["test", "doctest"].contains(&condition.as_str());
        list.path.is_ident("cfg") && (asks_for_tests || condition.starts_with("all(test,"))
    })
}

/// The attributes of an item, and its name in its module.
fn attributes_and_name(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::Impl(item) => (&item.attrs, None),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Mod(item) => (&item.attrs, None),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::TraitAlias(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}
