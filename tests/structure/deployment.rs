//! The files for operators, in `deploy/`.

use std::path::Path;

use super::repository::read;

fn deployed(file: &str) -> String {
    read(&Path::new("deploy").join(file))
}

#[test]
fn the_deployment_logs_every_request() {
    assert!(deployed("compose.yaml").contains("\n    QS_LOG: json\n"));
    assert!(deployed("quant-server.service").contains(" QS_LOG=json\n"));
}

#[test]
fn the_proxy_binds_browsers_to_https_for_a_year() {
    let header = "header Strict-Transport-Security \"max-age=31536000; includeSubDomains\"";
    assert!(deployed("Caddyfile").contains(header));
}

#[test]
fn the_service_is_not_the_superuser_of_its_database() {
    let compose = deployed("compose.yaml");
    assert!(compose.contains("DATABASE_URL: postgres://quant:"));
    // The image makes the role of this variable its superuser.
    assert!(!compose.contains("POSTGRES_USER"));
    assert!(compose.contains("./database.sh:/docker-entrypoint-initdb.d/"));
    let script = deployed("database.sh");
    assert!(script.contains("CREATE ROLE quant LOGIN PASSWORD") && !script.contains("SUPERUSER"));
    assert!(script.contains("ALTER ROLE postgres PASSWORD NULL"));
}
