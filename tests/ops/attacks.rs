//! The lists of attacks and of faults, `tests/attacks.md`, `tests/outside/README.md` and
//! `docs/faults.md`, and the table of the OWASP ASVS, `docs/asvs.md`: every test that a list names
//! exists. One attack is here, because it needs the whole service with its storage closed.

use std::path::Path;

use quant_tests::App;

/// The text of every Rust file below a folder.
fn sources(folder: &Path, into: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push_str(&std::fs::read_to_string(&path).expect("a source"));
        }
    }
}

/// Checks the names in the last column of a list's tables, of which there are at least so many.
fn check_names(path: &str, least: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let list = std::fs::read_to_string(root.join(path)).expect("the list");
    let mut code = String::new();
    for folder in ["account-core/src", "server/src", "server/tests", "tests"] {
        sources(&root.join(folder), &mut code);
    }
    let table = list.lines().filter(|line| line.starts_with("| "));
    let cells = table.filter_map(|line| line.trim_end_matches([' ', '|']).rsplit('|').next());
    let names: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(names.len() >= least, "{} names", names.len());
    for name in names {
        let exists = if name.contains('/') {
            root.join(name).exists()
        } else {
            code.contains(&format!("fn {name}(")) || code.contains(&format!("fn {name}<"))
        };
        assert!(exists, "{path} names {name}, which does not exist: correct the name");
    }
}

#[test]
fn every_test_that_the_list_of_attacks_names_exists() {
    check_names("tests/attacks.md", 60);
}

#[test]
fn every_test_that_the_replayed_attacks_name_exists() {
    check_names("tests/outside/README.md", 20);
}

#[test]
fn every_test_that_the_list_of_faults_names_exists() {
    check_names("docs/faults.md", 20);
}

#[test]
fn every_file_and_test_that_the_table_of_the_asvs_names_exists() {
    check_names("docs/asvs.md", 150);
}

#[tokio::test]
async fn a_flood_of_malformed_keys_asks_no_storage() {
    let app = App::start().await;
    // With the storage closed, every call that needs the storage gets 503.
    app.accounts().store().clone().close().await;
    let well_formed = format!("fk_user_{}", "A".repeat(43));
    app.get("/auth/validate", Some(&well_formed)).await.expect(503);
    let random = "A".repeat(43);
    for number in 0..1_000 {
        let malformed = match number % 5 {
            0 => format!("fk_user_{number}"),
            1 => format!("fk_admin_{random}"),
            2 => format!("fk_user_{random}{number}"),
            3 => format!("fk_user_{number:0>42}B"),
            _ => number.to_string(),
        };
        app.get("/auth/validate", Some(&malformed)).await.expect(401);
    }
}
