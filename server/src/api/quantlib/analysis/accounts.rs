//! The accounts of two years, as statements or as fields of one dictionary.

use poem_openapi::{Object, types::Example};
use quant_core::Error;

/// A financial statement. Each statement of a request may hold any of the accounts; of two with the same
/// account the first counts, in the order income, balance, cash flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Object)]
#[oai(rename = "FinancialStatement", nullable_all, skip_serializing_if_is_none)]
pub struct Statement {
    /// Net income of the year.
    pub net_income: Option<f64>,
    /// Revenue of the year.
    pub revenue: Option<f64>,
    /// Another name of `revenue`.
    pub sales: Option<f64>,
    /// Revenue less cost of sales of the year; from `cost_of_revenue` where absent.
    pub gross_profit: Option<f64>,
    /// Cost of sales of the year.
    pub cost_of_revenue: Option<f64>,
    /// Another name of `cost_of_revenue`.
    pub cost_of_goods_sold: Option<f64>,
    /// Selling, general and administrative expenses of the year.
    pub sga: Option<f64>,
    /// Another name of `sga`.
    pub sga_expense: Option<f64>,
    /// Depreciation of the year.
    pub depreciation: Option<f64>,
    /// Another name of `depreciation`.
    pub depreciation_and_amortization: Option<f64>,
    /// Cash flow from operations of the year.
    pub operating_cash_flow: Option<f64>,
    /// Another name of `operating_cash_flow`.
    pub operating_cashflow: Option<f64>,
    /// Total assets at the end of the year.
    pub total_assets: Option<f64>,
    /// Current assets at the end of the year.
    pub current_assets: Option<f64>,
    /// Current liabilities at the end of the year.
    pub current_liabilities: Option<f64>,
    /// Current assets over current liabilities, instead of both.
    pub current_ratio: Option<f64>,
    /// Long-term debt at the end of the year; `total_debt` where absent.
    pub long_term_debt: Option<f64>,
    /// All debt at the end of the year.
    pub total_debt: Option<f64>,
    /// Receivables at the end of the year.
    pub receivables: Option<f64>,
    /// Another name of `receivables`.
    pub accounts_receivable: Option<f64>,
    /// Net property, plant and equipment at the end of the year.
    pub ppe: Option<f64>,
    /// Another name of `ppe`.
    pub property_plant_equipment: Option<f64>,
    /// Cash at the end of the year.
    pub cash: Option<f64>,
    /// Another name of `cash`.
    pub cash_and_equivalents: Option<f64>,
    /// Number of shares at the end of the year.
    pub shares_outstanding: Option<f64>,
}

/// The accounts of the year before, of clients that send all accounts in one dictionary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Object)]
#[oai(rename = "PriorAccounts", nullable_all, skip_serializing_if_is_none)]
pub struct PriorFields {
    /// `net_income` of the year before.
    #[oai(rename = "prev_net_income")]
    pub net_income: Option<f64>,
    /// `revenue` of the year before.
    #[oai(rename = "prev_revenue")]
    pub revenue: Option<f64>,
    /// Another name of `prev_revenue`.
    #[oai(rename = "prev_sales")]
    pub sales: Option<f64>,
    /// `gross_profit` of the year before.
    #[oai(rename = "prev_gross_profit")]
    pub gross_profit: Option<f64>,
    /// `cost_of_revenue` of the year before.
    #[oai(rename = "prev_cost_of_revenue")]
    pub cost_of_revenue: Option<f64>,
    /// Another name of `prev_cost_of_revenue`.
    #[oai(rename = "prev_cost_of_goods_sold")]
    pub cost_of_goods_sold: Option<f64>,
    /// `sga` of the year before.
    #[oai(rename = "prev_sga")]
    pub sga: Option<f64>,
    /// Another name of `prev_sga`.
    #[oai(rename = "prev_sga_expense")]
    pub sga_expense: Option<f64>,
    /// `depreciation` of the year before.
    #[oai(rename = "prev_depreciation")]
    pub depreciation: Option<f64>,
    /// Another name of `prev_depreciation`.
    #[oai(rename = "prev_depreciation_and_amortization")]
    pub depreciation_and_amortization: Option<f64>,
    /// `operating_cash_flow` of the year before.
    #[oai(rename = "prev_operating_cash_flow")]
    pub operating_cash_flow: Option<f64>,
    /// Another name of `prev_operating_cash_flow`.
    #[oai(rename = "prev_operating_cashflow")]
    pub operating_cashflow: Option<f64>,
    /// `total_assets` of the year before.
    #[oai(rename = "prev_total_assets")]
    pub total_assets: Option<f64>,
    /// `current_assets` of the year before.
    #[oai(rename = "prev_current_assets")]
    pub current_assets: Option<f64>,
    /// `current_liabilities` of the year before.
    #[oai(rename = "prev_current_liabilities")]
    pub current_liabilities: Option<f64>,
    /// `current_ratio` of the year before.
    #[oai(rename = "prev_current_ratio")]
    pub current_ratio: Option<f64>,
    /// `long_term_debt` of the year before.
    #[oai(rename = "prev_long_term_debt")]
    pub long_term_debt: Option<f64>,
    /// `total_debt` of the year before.
    #[oai(rename = "prev_total_debt")]
    pub total_debt: Option<f64>,
    /// `receivables` of the year before.
    #[oai(rename = "prev_receivables")]
    pub receivables: Option<f64>,
    /// Another name of `prev_receivables`.
    #[oai(rename = "prev_accounts_receivable")]
    pub accounts_receivable: Option<f64>,
    /// `ppe` of the year before.
    #[oai(rename = "prev_ppe")]
    pub ppe: Option<f64>,
    /// Another name of `prev_ppe`.
    #[oai(rename = "prev_property_plant_equipment")]
    pub property_plant_equipment: Option<f64>,
    /// `cash` of the year before.
    #[oai(rename = "prev_cash")]
    pub cash: Option<f64>,
    /// Another name of `prev_cash`.
    #[oai(rename = "prev_cash_and_equivalents")]
    pub cash_and_equivalents: Option<f64>,
    /// `shares_outstanding` of the year before.
    #[oai(rename = "prev_shares_outstanding")]
    pub shares_outstanding: Option<f64>,
}

impl From<PriorFields> for Statement {
    fn from(prior: PriorFields) -> Self {
        Self {
            net_income: prior.net_income,
            revenue: prior.revenue,
            sales: prior.sales,
            gross_profit: prior.gross_profit,
            cost_of_revenue: prior.cost_of_revenue,
            cost_of_goods_sold: prior.cost_of_goods_sold,
            sga: prior.sga,
            sga_expense: prior.sga_expense,
            depreciation: prior.depreciation,
            depreciation_and_amortization: prior.depreciation_and_amortization,
            operating_cash_flow: prior.operating_cash_flow,
            operating_cashflow: prior.operating_cashflow,
            total_assets: prior.total_assets,
            current_assets: prior.current_assets,
            current_liabilities: prior.current_liabilities,
            current_ratio: prior.current_ratio,
            long_term_debt: prior.long_term_debt,
            total_debt: prior.total_debt,
            receivables: prior.receivables,
            accounts_receivable: prior.accounts_receivable,
            ppe: prior.ppe,
            property_plant_equipment: prior.property_plant_equipment,
            cash: prior.cash,
            cash_and_equivalents: prior.cash_and_equivalents,
            shares_outstanding: prior.shares_outstanding,
        }
    }
}

impl Statement {
    /// Returns the accounts of both, those of the first where both have one.
    fn or(self, other: Self) -> Self {
        Self {
            net_income: self.net_income.or(other.net_income),
            revenue: self.revenue.or(other.revenue),
            sales: self.sales.or(other.sales),
            gross_profit: self.gross_profit.or(other.gross_profit),
            cost_of_revenue: self.cost_of_revenue.or(other.cost_of_revenue),
            cost_of_goods_sold: self.cost_of_goods_sold.or(other.cost_of_goods_sold),
            sga: self.sga.or(other.sga),
            sga_expense: self.sga_expense.or(other.sga_expense),
            depreciation: self.depreciation.or(other.depreciation),
            depreciation_and_amortization: self
                .depreciation_and_amortization
                .or(other.depreciation_and_amortization),
            operating_cash_flow: self.operating_cash_flow.or(other.operating_cash_flow),
            operating_cashflow: self.operating_cashflow.or(other.operating_cashflow),
            total_assets: self.total_assets.or(other.total_assets),
            current_assets: self.current_assets.or(other.current_assets),
            current_liabilities: self.current_liabilities.or(other.current_liabilities),
            current_ratio: self.current_ratio.or(other.current_ratio),
            long_term_debt: self.long_term_debt.or(other.long_term_debt),
            total_debt: self.total_debt.or(other.total_debt),
            receivables: self.receivables.or(other.receivables),
            accounts_receivable: self.accounts_receivable.or(other.accounts_receivable),
            ppe: self.ppe.or(other.ppe),
            property_plant_equipment: self
                .property_plant_equipment
                .or(other.property_plant_equipment),
            cash: self.cash.or(other.cash),
            cash_and_equivalents: self.cash_and_equivalents.or(other.cash_and_equivalents),
            shares_outstanding: self.shares_outstanding.or(other.shares_outstanding),
        }
    }

    /// Returns the same accounts, each under its first name and those that follow from others computed.
    fn completed(self) -> Self {
        let revenue = self.revenue.or(self.sales);
        let cost = self.cost_of_revenue.or(self.cost_of_goods_sold);
        Self {
            revenue,
            gross_profit: self
                .gross_profit
                .or_else(|| revenue.zip(cost).map(|(revenue, cost)| revenue - cost)),
            sga: self.sga.or(self.sga_expense),
            depreciation: self.depreciation.or(self.depreciation_and_amortization),
            operating_cash_flow: self.operating_cash_flow.or(self.operating_cashflow),
            long_term_debt: self.long_term_debt.or(self.total_debt),
            receivables: self.receivables.or(self.accounts_receivable),
            ppe: self.ppe.or(self.property_plant_equipment),
            cash: self.cash.or(self.cash_and_equivalents),
            ..self
        }
    }
}

/// The accounts of two years that follow each other, in one of three forms: as statements; as one
/// dictionary, with the prefix `prev_` for the year before; or as one dictionary of a single year, which
/// then stands for every statement.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "TwoYearsRequest", example, skip_serializing_if_is_none)]
pub struct TwoYears {
    /// Income statement of this year.
    pub income: Option<Statement>,
    /// Balance sheet at the end of this year.
    pub balance: Option<Statement>,
    /// Cash-flow statement of this year.
    pub cash_flow: Option<Statement>,
    /// Income statement of the year before.
    pub prior_income: Option<Statement>,
    /// Balance sheet at the end of the year before.
    pub prior_balance: Option<Statement>,
    /// The accounts of this year without statements.
    #[oai(flatten)]
    pub current: Statement,
    /// The accounts of the year before without statements.
    #[oai(flatten)]
    pub prior: PriorFields,
}

/// The form in which the accounts of two years are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccountForm {
    /// As statements.
    Statements,
    /// As fields, with a prefix for the year before.
    Fields,
    /// As the fields of one year, which stand for every statement.
    SingleYear,
}

impl TwoYears {
    fn form(&self) -> AccountForm {
        let statements =
            [self.income, self.balance, self.cash_flow, self.prior_income, self.prior_balance];
        let is_empty = self.current == Statement::default() && self.prior == PriorFields::default();
        if is_empty || statements.iter().any(Option::is_some) {
            AccountForm::Statements
        } else if self.prior == PriorFields::default() {
            AccountForm::SingleYear
        } else {
            AccountForm::Fields
        }
    }

    /// True if the accounts of the year before were sent.
    pub(super) fn has_prior_year(&self) -> bool {
        self.form() != AccountForm::SingleYear
    }

    /// Returns the accounts of this year and of the year before.
    pub(super) fn years(&self) -> [Statement; 2] {
        let joined = |statements: &[Option<Statement>], fields: Statement| {
            let joined =
                statements.iter().flatten().copied().fold(Statement::default(), Statement::or);
            joined.or(fields).completed()
        };
        let current = joined(&[self.income, self.balance, self.cash_flow], self.current);
        match self.form() {
            AccountForm::SingleYear => [current, current],
            _ => [current, joined(&[self.prior_income, self.prior_balance], self.prior.into())],
        }
    }

    /// Returns the paths of the fields that are absent: those of the statements `required`, or the
    /// `accounts` of this year and of the year before, each with the statement and the field in which
    /// it is expected.
    pub(super) fn missing(
        &self,
        required: &[&'static str],
        accounts: &[Account],
    ) -> Vec<Vec<&'static str>> {
        let form = self.form();
        let is_sent = |statement: &str| match statement {
            "income" => self.income.is_some(),
            "balance" => self.balance.is_some(),
            "cash_flow" => self.cash_flow.is_some(),
            "prior_income" => self.prior_income.is_some(),
            _ => self.prior_balance.is_some(),
        };
        let years = self.years();
        let absent =
            |account: &&Account| (account.of)(&years[usize::from(account.is_prior)]).is_none();
        if form != AccountForm::Statements {
            let is_read = |account: &&Account| match account.need {
                Need::Always => true,
                Need::InFields => form == AccountForm::Fields,
                Need::Never => false,
            };
            let read = accounts.iter().filter(is_read);
            return read.filter(absent).map(|account| vec![account.field]).collect();
        }
        let statements = required.iter().filter(|statement| !is_sent(statement));
        let mut missing: Vec<_> = statements.map(|statement| vec![*statement]).collect();
        let is_needed =
            |account: &&Account| account.need == Need::Always && is_sent(account.statement);
        let needed = accounts.iter().filter(is_needed);
        let accounts = needed.filter(absent).map(|account| vec![account.statement, account.name]);
        missing.extend(accounts);
        missing
    }

    /// Attributes an error about an account to the field or the statement that holds the account.
    pub(super) fn in_request(&self, accounts: &[Account], error: Error) -> Error {
        let form = self.form();
        error.renamed(|argument| {
            let (name, is_prior) = match argument.strip_prefix("prior_") {
                Some(name) => (name, true),
                None => (argument, false),
            };
            let found = accounts
                .iter()
                .find(|account| account.name == name && account.is_prior == is_prior);
            match (found, form) {
                (None, _) => argument,
                (Some(account), AccountForm::Statements) => account.statement,
                (Some(account), AccountForm::Fields) => account.field,
                (Some(account), AccountForm::SingleYear) => account.name,
            }
        })
    }
}

/// An account that a score reads.
#[derive(Clone, Copy)]
pub(super) struct Account {
    /// The name in a statement.
    name: &'static str,
    /// The statement that holds the account.
    statement: &'static str,
    /// The name in a request without statements.
    field: &'static str,
    is_prior: bool,
    need: Need,
    /// Returns the account of a year.
    of: fn(&Statement) -> Option<f64>,
}

/// The requests in which an account must be present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// In every request: without the account there is no score.
    Always,
    /// In a request of the fields of two years, whose clients send the account.
    InFields,
    /// In no request.
    Never,
}

impl Account {
    /// An account of this year that every request needs.
    pub(super) const fn this_year(
        name: &'static str,
        statement: &'static str,
        field: &'static str,
        of: fn(&Statement) -> Option<f64>,
    ) -> Self {
        Self { name, statement, field, is_prior: false, need: Need::Always, of }
    }

    /// An account of the year before that every request needs.
    pub(super) const fn year_before(
        name: &'static str,
        statement: &'static str,
        field: &'static str,
        of: fn(&Statement) -> Option<f64>,
    ) -> Self {
        Self { is_prior: true, ..Self::this_year(name, statement, field, of) }
    }

    /// The same account where only a request of fields needs the account.
    pub(super) const fn in_fields(self) -> Self {
        Self { need: Need::InFields, ..self }
    }

    /// The same account where no request needs the account.
    pub(super) const fn optional(self) -> Self {
        Self { need: Need::Never, ..self }
    }
}

impl Example for TwoYears {
    fn example() -> Self {
        let none = Statement::default();
        let income = |net_income, revenue, gross_profit, sga, depreciation| Statement {
            net_income: Some(net_income),
            revenue: Some(revenue),
            gross_profit: Some(gross_profit),
            sga: Some(sga),
            depreciation: Some(depreciation),
            ..none
        };
        let balance =
            |current_assets, current_liabilities, long_term_debt, receivables| Statement {
                total_assets: Some(2_000_000.0),
                current_assets: Some(current_assets),
                current_liabilities: Some(current_liabilities),
                long_term_debt: Some(long_term_debt),
                receivables: Some(receivables),
                ppe: Some(1_200_000.0),
                shares_outstanding: Some(50_000.0),
                ..none
            };
        Self {
            income: Some(income(150_000.0, 1_000_000.0, 400_000.0, 180_000.0, 50_000.0)),
            balance: Some(balance(500_000.0, 300_000.0, 600_000.0, 110_000.0)),
            cash_flow: Some(Statement { operating_cash_flow: Some(220_000.0), ..none }),
            prior_income: Some(income(100_000.0, 900_000.0, 330_000.0, 170_000.0, 48_000.0)),
            prior_balance: Some(balance(450_000.0, 300_000.0, 700_000.0, 90_000.0)),
            current: none,
            prior: PriorFields::default(),
        }
    }
}
