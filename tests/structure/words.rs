//! The check for refused words: identifiers and file names use the standard terms of the field, which
//! a newcomer can search for. The name of a test is an identifier as well.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use proc_macro2::{TokenStream, TokenTree};

use super::repository;

/// The refused words, each with terms to choose from. Their plurals are refused too.
const REFUSED: [(&str, &str); 12] = [
    ("belief", "`cache`, `freshness`"),
    ("bell", "`notify`, `listener`"),
    ("desk", "`ledger`, `backend`"),
    ("distrust", "`error`, and the reason"),
    ("door", "`sign-in`, `route`, `context`"),
    ("house", "`state`, `service`"),
    ("keepsake", "`stored result`"),
    ("news", "`revision`, `listener`"),
    ("passage", "`outcome`"),
    ("postage", "`quota`"),
    ("road", "`pipeline`"),
    ("turn", "`lock`, `leader`, `generation`"),
];

/// The terms to choose from where a name holds a refused word.
fn advice(name: &str) -> Option<(&'static str, &'static str)> {
    words(name).into_iter().find_map(|word| {
        let is_meant = |refused: &str| {
            word == refused || word.strip_suffix('s').is_some_and(|word| word == refused)
        };
        REFUSED.iter().copied().find(|(refused, _)| is_meant(refused))
    })
}

/// The words of a name in lower case: a name is split at characters that are no letters, and where
/// its case changes.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (place, letter) in letters.iter().copied().enumerate() {
        let before = place.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(place + 1);
        let ends_acronym =
            before.is_some_and(char::is_uppercase) && after.is_some_and(|c| c.is_lowercase());
        let begins_word = before.is_some_and(char::is_lowercase) || ends_acronym;
        if !letter.is_alphabetic() || (letter.is_uppercase() && begins_word) {
            words.push(String::new());
        }
        if letter.is_alphabetic() {
            words.last_mut().expect("there is a word").extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The refused identifiers of a file's text, one to a line of the report.
fn refused_in(file: &Path, text: &str) -> Vec<String> {
    let parsed = text.parse::<TokenStream>();
    let tokens = parsed.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut lines = BTreeMap::new();
    collect(tokens, &mut lines);
    report(file, lines)
}

/// The report of refused identifiers with their lines.
fn report(file: &Path, lines: BTreeMap<String, BTreeSet<usize>>) -> Vec<String> {
    let report = lines.into_iter().filter_map(|(name, lines)| {
        let (word, terms) = advice(&name)?;
        let first = lines.first()?;
        let file = file.display();
        let rest =
            if lines.len() > 1 { format!(", all its lines: {lines:?}") } else { String::new() };
        Some(format!("{file}:{first} `{name}` holds \"{word}\": try {terms}{rest}\n"))
    });
    report.collect()
}

/// The lines of each refused identifier.
fn collect(tokens: TokenStream, into: &mut BTreeMap<String, BTreeSet<usize>>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                let line = name.span().start().line;
                let name = name.to_string();
                if advice(&name).is_some() {
                    into.entry(name).or_default().insert(line);
                }
            }
            TokenTree::Group(group) => collect(group.stream(), into),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// The comments and the long strings of a language.
struct Script {
    /// The text before a comment to the end of its line.
    comment: &'static str,
    /// The marks around a text of several lines, which holds no identifiers.
    long_text: &'static [(&'static str, &'static str)],
    /// The marks around a text within a line.
    quotes: &'static [char],
}

impl Script {
    fn of(file: &Path) -> Option<Self> {
        let triple: &[_] = &[("\"\"\"", "\"\"\""), ("'''", "'''")];
        let template: &[_] = &[("/*", "*/"), ("`", "`")];
        let (comment, long_text, quotes): (_, _, &[char]) = match file.extension()?.to_str()? {
            "py" => ("#", triple, &['"', '\'']),
            "mjs" | "js" => ("//", template, &['"', '\'']),
            "sh" => ("#", &[][..], &['"', '\'']),
            "sql" => ("--", &[][..], &['\'']),
            _ => return None,
        };
        Some(Self { comment, long_text, quotes })
    }
}

/// The refused identifiers of a script, one to a line of the report. Texts and comments hold none.
fn refused_of_script(file: &Path, script: &Script, text: &str) -> Vec<String> {
    let mut lines = BTreeMap::<String, BTreeSet<usize>>::new();
    let mut end_of_text = None;
    for (number, line) in (1..).zip(text.lines()) {
        for name in identifiers(script, line, &mut end_of_text) {
            if advice(&name).is_some() {
                lines.entry(name).or_default().insert(number);
            }
        }
    }
    report(file, lines)
}

/// The identifiers of a line. `end_of_text` is the mark that ends the text which the line begins in.
fn identifiers(script: &Script, line: &str, end_of_text: &mut Option<&'static str>) -> Vec<String> {
    let (mut names, mut rest) = (vec![String::new()], line);
    while let Some(first) = rest.chars().next() {
        if let Some(end) = *end_of_text {
            let Some(at) = rest.find(end) else { break };
            (*end_of_text, rest) = (None, &rest[at + end.len()..]);
            continue;
        }
        if rest.starts_with(script.comment) {
            break;
        }
        if let Some((start, end)) =
            script.long_text.iter().copied().find(|(start, _)| rest.starts_with(start))
        {
            (*end_of_text, rest) = (Some(end), &rest[start.len()..]);
        } else if script.quotes.contains(&first) {
            rest = after_quoted(rest, first);
        } else {
            rest = &rest[first.len_utf8()..];
            if first.is_alphanumeric() || first == '_' {
                names.last_mut().expect("there is a name").push(first);
                continue;
            }
        }
        names.push(String::new());
    }
    names
}

/// The rest of a line after the text that the line begins with.
fn after_quoted(line: &str, quote: char) -> &str {
    let mut characters = line.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            end if end == quote => return &line[at + quote.len_utf8()..],
            _ => {}
        }
    }
    ""
}

#[test]
fn no_identifier_or_file_name_holds_a_refused_word() {
    let mut report = Vec::new();
    for file in repository::files() {
        let name = file.to_string_lossy();
        if let Some((word, terms)) = advice(&name) {
            report.push(format!("{name} holds \"{word}\": rename the file, try {terms}\n"));
        }
        if repository::has_extension(&file, "rs") {
            report.extend(refused_in(&file, &repository::read(&file)));
        } else if let Some(script) = Script::of(&file) {
            report.extend(refused_of_script(&file, &script, &repository::read(&file)));
        }
    }
    assert!(
        report.is_empty(),
        "Rename these, each to a standard term of the field:\n{}",
        report.concat()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_underscores_digits_and_changes_of_case() {
        assert_eq!(words("MailTurn"), ["mail", "turn"]);
        assert_eq!(words("HTTPServer2_one"), ["http", "server", "one"]);
        assert_eq!(words("store/mail_turn.rs"), ["store", "mail", "turn", "rs"]);
        assert_eq!(words("MAX_STEPS"), ["max", "steps"]);
    }

    #[test]
    fn every_kind_of_identifier_is_looked_at() {
        let text = "mod news {}\nstruct Doors { road: u8 }\nfn bell(house: u8) { let desk = 1; }\n\
                    macro_rules! passage { ($postage:expr) => { a_belief_of!() } }\n\
                    /// A turn of the door.\nfn returns_turned_indoors() -> &'static str { \"turn\" }";
        let report = refused_in(Path::new("a.rs"), text).concat();
        for word in ["news", "Doors", "road", "bell", "house", "desk", "passage", "postage"] {
            assert!(report.contains(&format!("`{word}`")), "{word}: {report}");
        }
        assert!(report.contains("a.rs:4 `a_belief_of` holds \"belief\""), "{report}");
        assert_eq!(report.lines().count(), 9, "{report}");
    }

    #[test]
    fn identifiers_of_scripts_are_looked_at_and_their_texts_are_not() {
        #[rustfmt::skip]
        let rows: [(&str, &str, &[&str]); 4] = [
            ("a.py", "\"\"\"News of a\nhouse.\"\"\"\nclass House:  # a door\n    bell = 'desk'", &["House", "bell"]),
            ("a.mjs", "/* a house */ let news = \"door\" // a bell\nlet x = `road\ndesk` + turn", &["news", "turn"]),
            ("a.sh", "house=1 # a bell\necho \"the door \\\" desk\" $road", &["house", "road"]),
            ("a.sql", "-- a house\nCREATE TABLE news (turns integer DEFAULT 'door');", &["news", "turns"]),
        ];
        for (name, text, expected) in rows {
            let file = Path::new(name);
            let script = Script::of(file).expect("a language");
            let report = refused_of_script(file, &script, text);
            let expected: Vec<_> = expected.iter().map(|name| format!("`{name}`")).collect();
            assert_eq!(report.len(), expected.len(), "{report:?}");
            for name in expected {
                assert!(report.iter().any(|line| line.contains(&name)), "{name}: {report:?}");
            }
        }
        assert!(Script::of(Path::new("a.md")).is_none());
    }
}
