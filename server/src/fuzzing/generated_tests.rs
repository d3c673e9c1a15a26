//! Every function of the fuzz targets, on inputs close to valid ones.

use std::{collections::BTreeSet, fs, path::Path};

use proptest::{
    prelude::*,
    sample::{Index, select},
    test_runner::{Config, TestRunner},
};

use super::{ENTRIES, FuzzEntry};

/// The inputs of each function.
const CASES: u32 = 400;
/// The most bytes of an input that is not made from a seed.
const LONGEST: usize = 300;

/// Pieces that a change inserts: edges of the grammars that the readers have.
const PIECES: [&[u8]; 40] = [
    b"\"",
    b"\\",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b";",
    b"=",
    b"&",
    b"?",
    b"#",
    b"@",
    b"/",
    b"%2e",
    b"%",
    b"..",
    b"\r\n",
    b"\n",
    b"\t",
    b"\0",
    b" ",
    b"\xff",
    b"\xc3\xa9",
    b"\xe2\x80\xa8",
    b"-0",
    b"1e999",
    b"00",
    b"null",
    b"true",
    b"0x7f",
    b"[::1]",
    b"127.0.0.1",
    b"q=0",
    b"*",
    b"{\"a\":1}",
    b"'",
    b"\xf0\x9f\x98\x80",
];

/// A change of a seed.
#[derive(Clone, Debug)]
enum Change {
    Byte(Index, u8),
    Insert(Index, &'static [u8]),
    Remove(Index, usize),
    Repeat(Index, usize),
    Cut(Index),
}

impl Change {
    fn any() -> impl Strategy<Value = Self> {
        let at = any::<Index>;
        prop_oneof![
            (at(), any::<u8>()).prop_map(|(at, byte)| Self::Byte(at, byte)),
            (at(), select(&PIECES[..])).prop_map(|(at, piece)| Self::Insert(at, piece)),
            (at(), 1..12_usize).prop_map(|(at, length)| Self::Remove(at, length)),
            (at(), 1..60_usize).prop_map(|(at, length)| Self::Repeat(at, length)),
            at().prop_map(Self::Cut),
        ]
    }

    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |at: &Index| at.index(bytes.len() + 1);
        match self {
            Self::Byte(at, byte) => {
                let at = place(at);
                if let Some(found) = bytes.get_mut(at) {
                    *found = *byte;
                }
            }
            Self::Insert(at, piece) => {
                let at = place(at);
                bytes.splice(at..at, piece.iter().copied());
            }
            Self::Remove(at, length) => {
                let at = place(at);
                bytes.drain(at..bytes.len().min(at + length));
            }
            Self::Repeat(at, length) => {
                let at = place(at);
                let again = bytes[at..bytes.len().min(at + length)].to_vec();
                bytes.splice(at..at, again);
            }
            Self::Cut(at) => bytes.truncate(place(at)),
        }
    }
}

fn folder(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/server").join(name)
}

/// The seeds of a function: the paragraphs of its file; none where it has no file.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(folder("seeds").join(name)).unwrap_or_default();
    text.split("\n\n").map(|seed| seed.trim_end_matches('\n').into()).collect()
}

/// Runs a function on its seeds, on seeds with a few changes, and on any bytes.
fn run((name, function): FuzzEntry) {
    let seeds = seeds(name);
    for seed in &seeds {
        function(seed);
    }
    let changed = (select(seeds), prop::collection::vec(Change::any(), 0..6)).prop_map(
        |(mut bytes, changes)| {
            changes.iter().for_each(|change| change.apply(&mut bytes));
            bytes
        },
    );
    let any = prop::collection::vec(any::<u8>(), 0..LONGEST);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&prop_oneof![3 => changed, 1 => any], |bytes| {
        function(&bytes);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{name}: {error}");
    }
}

/// Makes a test of each function.
macro_rules! tests {
    ($($name:ident),+ $(,)?) => {$(
        #[test]
        fn $name() {
            let found = all().into_iter().find(|(name, _)| *name == stringify!($name));
            run(found.expect("a function of this module"));
        }
    )+

        /// The names of the tests.
        const TESTED: &[&str] = &[$(stringify!($name)),+];
    };
}

fn all() -> Vec<FuzzEntry> {
    #[cfg(feature = "mcp")]
    let further = super::MCP_ENTRIES;
    #[cfg(not(feature = "mcp"))]
    let further: &[FuzzEntry] = &[];
    ENTRIES.iter().chain(further).copied().collect()
}

tests!(
    account_texts,
    addresses,
    arrow_columns,
    arrow_stream,
    authorization_request,
    canonical_json,
    client_document,
    credential,
    document_head,
    document_url,
    email_fields,
    entity_tags,
    forwarded,
    hosts,
    json_columns,
    json_position,
    number_list,
    operation,
    preferences,
    proof_key,
    public_address,
    query,
    receipt,
    registration,
    repeat_key,
    request_body,
    request_cookies,
    text_formats,
);

#[cfg(feature = "mcp")]
mod of_mcp {
    use super::{all, run};

    tests!(credentials, mcp_message, result_address);

    #[test]
    fn every_function_has_a_test_and_a_target() {
        let tested: super::BTreeSet<&str> = super::TESTED.iter().chain(TESTED).copied().collect();
        assert_eq!(tested, all().into_iter().map(|(name, _)| name).collect());
        let manifest = super::fs::read_to_string(super::folder("Cargo.toml")).expect("a manifest");
        for name in &tested {
            let file = super::folder("fuzz_targets").join(name).with_extension("rs");
            let target = super::fs::read_to_string(file).expect("a target");
            assert_eq!(target, format!("#![no_main]\n\nquant_server_fuzz::target!({name});\n"));
            assert!(manifest.contains(&format!("\nname = \"{name}\"\n")), "{name} is no target");
        }
        let files = super::fs::read_dir(super::folder("fuzz_targets")).expect("a folder");
        assert_eq!(files.count(), tested.len(), "each target has a function");
    }
}
