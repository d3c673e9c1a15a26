//! The types of the faults of a 422, each with its meaning and its remedy.
//!
//! Programs decide by the type, so that a type keeps its meaning. A test of the repository compares
//! this list with every type that the sources name.

/// A type of fault.
#[derive(Clone, Copy, Debug)]
pub struct FaultType {
    /// The value of the field `type`.
    pub name: &'static str,
    /// The meaning of the type, a sentence.
    pub meaning: &'static str,
    /// The remedy of the caller, a sentence.
    pub remedy: &'static str,
}

const fn fault(name: &'static str, meaning: &'static str, remedy: &'static str) -> FaultType {
    FaultType { name, meaning, remedy }
}

/// Every type, in groups: the form of the request, the range of values, rules of computations, rules of
/// accounts.
#[rustfmt::skip]
pub const FAULT_TYPES: &[FaultType] = &[
    fault("type_error.arrow", "A column of an Apache Arrow stream has another type.", "Send the type that `msg` names."),
    fault("type_error.bool", "The value is not a boolean.", "Send `true` or `false`."),
    fault("type_error.dict", "The value is not an object.", "Send a JSON object."),
    fault("type_error.enum", "The value is not one of the closed set.", "Send one of the values in `msg`."),
    fault("type_error.float", "The value is not a number.", "Send a JSON number, not a text."),
    fault("type_error.integer", "The value is not a whole number.", "Send a whole number, such as 5 or 5.0."),
    fault("type_error.list", "The value is not a list.", "Send a JSON array."),
    fault("type_error.none.not_allowed", "The value is null.", "Send a value, or leave an optional field out."),
    fault("type_error.str", "The value is not a text.", "Send a JSON string."),
    fault("value_error", "The input cannot be read, for the reason in `msg`.", "Correct what `msg` names."),
    fault("value_error.any_str.max_length", "The text is too long.", "Send at most as many characters as `msg` states."),
    fault("value_error.any_str.min_length", "The text is too short.", "Send at least as many characters as `msg` states."),
    fault("value_error.arrow", "The body is not a stream of Apache Arrow, or its texts are too long.", "Send the streaming format of Apache Arrow, as `msg` states."),
    fault("value_error.canonical_form", "A receipt was asked for a body that has no canonical form (RFC 8785).", "Send each name of an object once, and numbers within a double."),
    fault("value_error.columns.length", "The columns have different numbers of rows.", "Send as many rows in each column."),
    fault("value_error.columns.long", "The row takes too long for a column.", "Send the row as a single call."),
    fault("value_error.date", "The text is not a date, or the date is outside its range.", "Send a date as 2026-11-22, within the range in `msg`."),
    fault("value_error.datetime", "The text is not a time.", "Send a time as in RFC 3339, such as 2026-11-22T10:00:00Z."),
    fault("value_error.dict.max_items", "The object has too many names.", "Send at most as many names as `msg` states."),
    fault("value_error.dict.min_items", "The object has too few names.", "Send at least as many names as `msg` states."),
    fault("value_error.extra", "The field or parameter is unknown, and the request does not allow unknown ones.", "Use the name that `msg` proposes, or leave the field out."),
    fault("value_error.fields", "The parameter `fields` names a field that the answer does not have.", "Use the name that `msg` proposes."),
    fault("value_error.idempotency_key", "The `Idempotency-Key` was sent with another request.", "Make a new key for each new request."),
    fault("value_error.jsondecode", "The body is not JSON; the number in `loc` is the position in characters.", "Send one JSON value in UTF-8."),
    fault("value_error.list.max_items", "The list is too long.", "Send at most as many items as `msg` states, in several calls where needed."),
    fault("value_error.list.min_items", "The list is too short.", "Send at least as many items as `msg` states."),
    fault("value_error.missing", "A required field or parameter is absent.", "Send the field that `loc` names."),
    fault("value_error.number.not_ge", "The number is below its minimum.", "Send the minimum in `msg` or more."),
    fault("value_error.number.not_gt", "The number is not above its bound.", "Send more than the bound in `msg`."),
    fault("value_error.number.not_le", "The number is above its maximum.", "Send the maximum in `msg` or less."),
    fault("value_error.number.not_lt", "The number is not below its bound.", "Send less than the bound in `msg`."),
    fault("value_error.path", "A call of a batch names no operation that a batch may call.", "Send the path of a computation."),
    fault("value_error.str", "The header has another form than its rule allows.", "Send one header, in the form that `msg` states."),
    fault("value_error.asymmetric", "A matrix that must be symmetric is not.", "Send the same number at (i, j) and at (j, i)."),
    fault("value_error.conflict", "Two arguments contradict each other.", "Change one of the two arguments in `msg`."),
    fault("value_error.domain", "The argument is outside the range of the computation.", "Send a value that meets the requirement in `msg`."),
    fault("value_error.infeasible", "No result meets all constraints.", "Relax the constraint that `msg` names."),
    fault("value_error.no_convergence", "The iteration found no result.", "Check that a result exists, or send another start or range."),
    fault("value_error.not_positive_semi_definite", "The matrix is no covariance or correlation matrix.", "Estimate the matrix from complete data, or repair its negative eigenvalues."),
    fault("value_error.overflow", "The result is beyond the largest double.", "Send smaller numbers, or other units."),
    fault("value_error.shape", "The length of a list or a row differs from what the other arguments need.", "Send as many items as `msg` states."),
    fault("value_error.sum", "The numbers do not have the sum that they must have.", "Send numbers with the sum in `msg`."),
    fault("value_error.text", "The text is not a value of its kind, such as a tenor.", "Send a text of the form in `msg`."),
    fault("value_error.too_few", "There are fewer observations than the computation needs.", "Send at least as many as `msg` states."),
    fault("value_error.category", "The category of a notification breaks its rule.", "Follow the rule in `msg`."),
    fault("value_error.chat_id", "The chat of the messaging channel is absent or malformed.", "Set `messaging_chat_id` in the preferences."),
    fault("value_error.code_format", "The code has not six digits.", "Send the six digits of the e-mail."),
    fault("value_error.contact", "A phone number, country or address breaks its rule.", "Follow the rule in `msg`."),
    fault("value_error.credits", "The number of credits breaks its rule.", "Follow the rule in `msg`."),
    fault("value_error.description", "The description of a notification breaks its rule.", "Follow the rule in `msg`."),
    fault("value_error.device", "The description of a guest's device breaks its rule.", "Follow the rule in `msg`."),
    fault("value_error.email", "The text is not an e-mail address.", "Send an address such as ada@example.com."),
    fault("value_error.email_unchanged", "The new e-mail address is the present one.", "Send another address."),
    fault("value_error.message", "The text of a notification breaks its rule.", "Follow the rule in `msg`."),
    fault("value_error.mfa_token", "The token of the second step has another form.", "Send the `mfa_token` of the sign-in."),
    fault("value_error.password_blank", "The password has spaces alone.", "Choose a password with other characters."),
    fault("value_error.password_character", "The password has a control character.", "Choose a password without it."),
    fault("value_error.password_common", "The password is among the most common ones.", "Choose a long sentence."),
    fault("value_error.password_length", "The password has fewer than 8 characters or more than 1,024 bytes.", "Choose a password of that length."),
    fault("value_error.password_personal", "The password is the user name or the e-mail address.", "Choose a password that has neither."),
    fault("value_error.range", "The number is outside its range.", "Follow the range in `msg`."),
    fault("value_error.reason", "The reason of an operator's action breaks its rule.", "Follow the rule in `msg`."),
    fault("value_error.spend_cap", "The cap is not a whole number of credits.", "Enter a whole number, or nothing for no cap."),
    fault("value_error.title", "The title of a notification breaks its rule.", "Follow the rule in `msg`."),
    fault("value_error.token", "The token has another form.", "Send the token of the e-mail or of the answer before."),
    fault("value_error.unknown_tier", "The text is not a tier.", "Send free, basic, standard, pro or enterprise."),
    fault("value_error.username", "The user name breaks its rule.", "Send 3 to 32 letters, digits, dots, underscores or hyphens."),
];

/// Returns the type of the fault that a core reports under its stable code.
pub(crate) fn of_code(code: &str) -> String {
    format!("value_error.{code}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_type_has_one_line() {
        let names: HashSet<_> = FAULT_TYPES.iter().map(|fault| fault.name).collect();
        assert_eq!(names.len(), FAULT_TYPES.len());
    }
}
