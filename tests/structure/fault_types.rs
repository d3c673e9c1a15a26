//! The check that the catalogue of errors has every type of fault that the sources can emit, and no
//! other: the types that the server writes, and the codes of both cores, from which it makes types.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use quant_server::http::fault_types::FAULT_TYPES;
use syn::{
    Expr, ExprCall, ImplItemFn, Lit, LitStr,
    visit::{self, Visit},
};

use super::repository;

/// The list itself, which also makes types of codes.
const LIST: &str = "server/src/http/fault_types.rs";

/// The source files of a crate, without their tests.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let files = repository::files().into_iter().filter(|file| {
        file.starts_with(folder)
            && repository::has_extension(file, "rs")
            && !file.to_string_lossy().contains("test")
    });
    let with_text = files.map(|file| {
        let text = repository::read(&file);
        let end = text.find("#[cfg(test)]\nmod").unwrap_or(text.len());
        (file, text[..end].to_owned())
    });
    with_text.collect()
}

/// Collects the texts of a file that begin as a type of fault does, also those within macros.
fn collect_types(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect_types(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = syn::parse_str::<LitStr>(&literal.to_string()).map(|text| text.value());
                let is_type = |text: &String| {
                    text.starts_with("value_error") || text.starts_with("type_error")
                };
                found.extend(text.ok().filter(is_type));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// The types that the server writes out.
fn types_of_the_server() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (file, text) in sources("server/src") {
        if file != Path::new(LIST) {
            let tokens = text.parse::<TokenStream>();
            collect_types(
                tokens.unwrap_or_else(|error| panic!("{}: {error}", file.display())),
                &mut found,
            );
        }
    }
    found
}

/// The third argument of every `Error::invalid`, and the texts of `fn code` where they are read.
#[derive(Default)]
struct Codes {
    found: BTreeSet<String>,
    reads_fn_code: bool,
    is_in_code: bool,
}

impl<'ast> Visit<'ast> for Codes {
    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.is_in_code = self.reads_fn_code && function.sig.ident == "code";
        // The documentation of the function is an attribute, whose texts are no codes.
        visit::visit_block(self, &function.block);
        self.is_in_code = false;
    }

    fn visit_lit_str(&mut self, text: &'ast LitStr) {
        if self.is_in_code {
            self.found.insert(text.value());
        }
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(function) = &*call.func
            && function.path.segments.last().is_some_and(|name| name.ident == "invalid")
        {
            let Some(Expr::Lit(code)) = call.args.iter().nth(2) else {
                panic!("a code that is no literal is not found here")
            };
            let Lit::Str(code) = &code.lit else { panic!("a code is a text") };
            self.found.insert(code.value());
        }
        visit::visit_expr_call(self, call);
    }
}

/// The codes that the files of a folder make, as types.
fn codes(files: Vec<(PathBuf, String)>, reads_fn_code: bool) -> BTreeSet<String> {
    let mut codes = Codes { reads_fn_code, ..Codes::default() };
    for (file, text) in files {
        let parsed = syn::parse_str(&text);
        codes.visit_file(&parsed.unwrap_or_else(|error| panic!("{}: {error}", file.display())));
    }
    codes.found.into_iter().map(|code| format!("value_error.{code}")).collect()
}

/// The codes of invalid fields; the other codes of accounts are refusals and no faults.
fn codes_of_accounts() -> BTreeSet<String> {
    codes(sources("account-core/src"), false)
}

fn codes_of_computations() -> BTreeSet<String> {
    codes(sources("quant-core/src/error.rs"), true)
}

#[test]
fn the_catalogue_has_every_type_of_fault_and_no_other() {
    let listed: BTreeSet<String> = FAULT_TYPES.iter().map(|fault| fault.name.to_owned()).collect();
    let mut emitted = types_of_the_server();
    assert!(emitted.len() > 20, "{emitted:?}");
    for codes in [codes_of_accounts(), codes_of_computations()] {
        assert!(codes.len() > 10, "{codes:?}");
        emitted.extend(codes);
    }
    let missing: Vec<_> = emitted.difference(&listed).collect();
    assert!(missing.is_empty(), "add to {LIST}, with meaning and remedy: {missing:?}");
    let unused: Vec<_> = listed.difference(&emitted).collect();
    assert!(unused.is_empty(), "no source emits, remove from {LIST}: {unused:?}");
}

#[test]
fn a_type_within_a_macro_and_a_composed_type_are_found() {
    let mut found = BTreeSet::new();
    let text = r#"fn f() { json!({ "a": ["type_error.x", 1] }); g(&format!("value_error.{y}")) }"#;
    collect_types(text.parse().expect("tokens"), &mut found);
    assert_eq!(Vec::from_iter(&found), ["type_error.x", "value_error.{y}"]);
}
