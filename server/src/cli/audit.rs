//! `quant-server audit`: the comparison of balances and ledger.

use account_core::{AuditFault, CallerId, FaultKind};

use super::command_error::CommandError;
use crate::{
    app,
    config::{MigrateChoice, StorageArgs},
};

pub(super) async fn run(args: &StorageArgs) -> Result<(), CommandError> {
    let storage = args.locate();
    storage.require_database()?;
    let opened = app::open(&storage, MigrateChoice::Refuse).await?;
    let audit = opened.accounts.audit().await;
    opened.store.close().await;
    let audit = audit?;
    for fault in &audit.faults {
        println!("{}", line(fault));
    }
    if audit.holds() {
        println!("{} accounts: every balance is the sum of its ledger.", audit.accounts);
        Ok(())
    } else {
        Err(format!("{} of {} accounts do not add up", audit.faults.len(), audit.accounts).into())
    }
}

/// Returns the line that reports a fault.
fn line(fault: &AuditFault) -> String {
    let whose = match fault.caller {
        CallerId::Account(id) => format!("account {}", id.0),
        CallerId::Guest(id) => format!("guest {}", id.0),
    };
    let AuditFault { expected, found, .. } = fault;
    match fault.kind {
        FaultKind::Balance => {
            format!("{whose}: the ledger sums to {expected}, the balance is {found}")
        }
        FaultKind::Usage { day } => format!(
            "{whose}: on day {day} since 1970 the ledger has {expected} credits of usage, the \
             usage rows {found}"
        ),
    }
}
