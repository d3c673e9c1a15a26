//! The guard: key, limit, tier and credits, judged in this order before anything is read.

use std::{net::IpAddr, ops::Deref, sync::Arc, time::Duration};

use account_core::{
    Admission, ApiKey, Caller, SessionToken, StoreError, Tier,
    idempotency::{BadKey, Claim, Claimed, IdempotencyKey, IdempotencyStore as _, Slot},
};
use poem::{
    Error, Request, RequestBody, Result,
    http::{StatusCode, header},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaSecurityScheme, Registry},
};

use super::{
    Answer, Call, Refusal,
    answer::envelope,
    call::BODY_LIMIT_WITHOUT_KEY,
    faults::{Fault, Step},
};
use crate::{
    callers::Unidentified,
    failpoint,
    quantlib::{Computation, wire_name},
    service::TierGate,
};

/// The name of the security scheme in the generated document.
pub(super) const SCHEME: &str = "ApiKey";

/// The header under whose value a request may be sent again.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A caller whom another door of this service has identified, as data of a request that the
/// service makes itself. No client can send such data.
#[derive(Clone)]
pub struct Identified {
    /// Who calls.
    pub caller: Caller,
    /// From where.
    pub address: IpAddr,
}

/// A caller with a valid key, or identified by another door, within its limit.
pub struct Keyed {
    call: Arc<Call>,
    key: Option<ApiKey>,
    caller: Caller,
    session: Option<SessionToken>,
}

/// An account with a valid key, within its limit. A guest is refused before anything else that it
/// sent is looked at.
pub struct Owner(Keyed);

impl Deref for Owner {
    type Target = Keyed;

    fn deref(&self) -> &Keyed {
        &self.0
    }
}

/// An administrator with a valid key, within the limit.
pub struct Administrator(Keyed);

impl Deref for Administrator {
    type Target = Keyed;

    fn deref(&self) -> &Keyed {
        &self.0
    }
}

/// A caller who may call this metered operation and can pay for it.
pub struct Metered {
    keyed: Keyed,
    cost: u32,
}

impl Keyed {
    /// Who calls.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The call that the caller makes.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// The key that was sent, where one was.
    #[must_use]
    pub fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// The session that was sent with the key, valid.
    #[must_use]
    pub fn session(&self) -> Option<&SessionToken> {
        self.session.as_ref()
    }

    async fn identify(request: &Request) -> Result<Self, Refusal> {
        let call = Call::of(request).clone();
        if let Some(Identified { caller, .. }) = request.data() {
            admit(&call, caller).await?;
            return Ok(Self { key: None, caller: caller.clone(), session: None, call });
        }
        let key = request.header("x-api-key").and_then(ApiKey::parse).ok_or(Refusal::Key)?;
        let caller = call.service.callers.identify(&call.service.accounts, &key, call.at).await;
        let caller = caller.map_err(|reason| match reason {
            Unidentified::Unknown => Refusal::Key,
            Unidentified::GuestExpired => Refusal::GuestKeyExpired,
            Unidentified::Unavailable => Refusal::Busy { retry_after: Duration::from_secs(1) },
        })?;
        admit(&call, &caller).await?;
        let session = session(request, &call, &caller).await?;
        Ok(Self { call, key: Some(key), caller, session })
    }
}

/// A session token is checked wherever it is sent.
async fn session(
    request: &Request,
    call: &Call,
    caller: &Caller,
) -> Result<Option<SessionToken>, Refusal> {
    let Some(text) = request.header("x-session-token") else { return Ok(None) };
    let (Some(token), Caller::Account(account)) = (SessionToken::parse(text), caller) else {
        return Err(Refusal::Session);
    };
    match call.service.accounts.session(&token, account.id, call.at).await {
        Ok(true) => Ok(Some(token)),
        Ok(false) => Err(Refusal::Session),
        Err(error) => {
            tracing::error!(request_id = %call.id, %error, "no session could be read");
            Err(Refusal::Busy { retry_after: Duration::from_secs(1) })
        }
    }
}

impl Metered {
    async fn admit(request: &Request) -> Result<Self, Refusal> {
        let keyed = Keyed::identify(request).await?;
        let operation = keyed
            .call
            .operation()
            .expect("routes refuses a metered endpoint without a line in the table");
        check_tier(keyed.call.service.settings.tier_gate, &keyed.caller, operation.tier)?;
        let cost = operation.cost();
        let key = key_of_repeats(request);
        let slot = key.as_ref().ok().and_then(Option::as_ref).map(|key| {
            let call = &keyed.call;
            Slot::of(keyed.caller.id(), call.method_name(), call.route().unwrap_or_default(), key)
        });
        // Who has paid for an answer gets it again, whatever is left.
        if keyed.caller.credit_balance() < u64::from(cost)
            && !is_answered(&keyed.call, slot).await?
        {
            return Err(Refusal::Credits { cost });
        }
        key.map_err(|fault| Refusal::Faults(vec![fault]))?;
        if let Some(slot) = slot {
            keyed.call.set_once(slot);
        }
        Ok(Self { keyed, cost })
    }

    /// Computes, takes the credits, answers.
    ///
    /// # Errors
    ///
    /// A 422 where the computation refuses its arguments, a 402 where the credits went
    /// elsewhere meanwhile; nothing is charged then. Under a key of repeats also a 409 while the
    /// same request is being answered, and a 422 where the key is another request's.
    pub async fn run<C: Computation>(self, request: C) -> Result<Answer<C::Answer>> {
        failpoint::hit("guarded");
        let answered = match self.keyed.call.claim() {
            None => self.run_anew(request).await,
            Some(claim) => self.run_once(claim, request).await,
        };
        if let (Err(Refusal::Credits { .. }), Some(key)) = (&answered, self.keyed.key()) {
            // The balance that was remembered is spent: the next call is refused before its work.
            self.keyed.call.service.callers.forget(key).await;
        }
        answered
            .map_err(|refusal| Error::from_response(refusal.into_response(self.keyed.call.surface)))
    }

    async fn run_anew<C: Computation>(&self, request: C) -> Result<Answer<C::Answer>, Refusal> {
        let data = self.compute(request).await?;
        failpoint::hit("computed");
        self.keyed.call.settle(&self.keyed.caller, self.cost).await?;
        Ok(Answer::new(data))
    }

    /// Answers a request that may have come before.
    async fn run_once<C: Computation>(
        &self,
        claim: Claim,
        request: C,
    ) -> Result<Answer<C::Answer>, Refusal> {
        let call = &self.keyed.call;
        let store = call.service.accounts.store();
        let claimed = store.claim(claim, call.at).await.map_err(|error| unkept(call, &error))?;
        match claimed {
            Claimed::Yours => failpoint::hit("claimed"),
            Claimed::Answered(kept) => {
                call.replay(&kept);
                return Ok(Answer::written(kept.body));
            }
            Claimed::Running => return Err(Refusal::StillRunning),
            Claimed::OtherRequest => {
                let text = "this key was sent with another request";
                return Err(Refusal::Faults(vec![fault_of_key("idempotency_key", text)]));
            }
        }
        let answered = self.fill(claim, request).await;
        if answered.is_err()
            && let Err(error) = store.release(claim).await
        {
            // It frees itself after a while.
            tracing::warn!(request_id = %call.id, %error, "a slot was not given back");
        }
        answered
    }

    async fn fill<C: Computation>(
        &self,
        claim: Claim,
        request: C,
    ) -> Result<Answer<C::Answer>, Refusal> {
        let body = envelope(&self.compute(request).await?, None);
        let Keyed { call, caller, .. } = &self.keyed;
        call.settle_once(claim, caller, self.cost, body.clone()).await?;
        Ok(Answer::written(body))
    }

    async fn compute<C: Computation>(&self, request: C) -> Result<C::Answer, Refusal> {
        let outcome = if request.is_long() {
            let compute = move || request.compute();
            self.keyed.call.service.long_work.run(compute).await?
        } else {
            request.compute()
        };
        outcome.map_err(|error| Refusal::Faults(vec![fault(&error)]))
    }
}

/// The key under which the request may come again.
fn key_of_repeats(request: &Request) -> Result<Option<IdempotencyKey>, Fault> {
    let mut sent = request.headers().get_all(IDEMPOTENCY_KEY).into_iter();
    let (Some(key), None) = (sent.next(), sent.next()) else {
        return if request.headers().contains_key(IDEMPOTENCY_KEY) {
            Err(fault_of_key("str", "there must be one such header"))
        } else {
            Ok(None)
        };
    };
    IdempotencyKey::parse(key.as_bytes()).map(Some).map_err(|reason| match reason {
        BadKey::Empty => {
            fault_of_key("any_str.min_length", "ensure this value has at least 1 characters")
        }
        BadKey::TooLong => {
            fault_of_key("any_str.max_length", "ensure this value has at most 255 characters")
        }
        _ => fault_of_key("str", "ensure this value has visible ASCII characters only"),
    })
}

fn fault_of_key(kind: &str, text: &str) -> Fault {
    let path = [Step::name("header"), Step::name("Idempotency-Key")];
    Fault::new(&path, format!("value_error.{kind}"), text)
}

async fn is_answered(call: &Call, slot: Option<Slot>) -> Result<bool, Refusal> {
    let Some(slot) = slot else { return Ok(false) };
    let answered = call.service.accounts.store().is_answered(slot, call.at).await;
    answered.map_err(|error| unkept(call, &error))
}

fn unkept(call: &Call, error: &StoreError) -> Refusal {
    tracing::error!(request_id = %call.id, %error, "kept answers cannot be read");
    Refusal::Busy { retry_after: Duration::from_secs(1) }
}

/// Counts the call against the caller's limit.
async fn admit(call: &Call, caller: &Caller) -> Result<(), Refusal> {
    let admission = call.service.limits.admit(caller, call.at).await;
    let unavailable = |_| Refusal::Busy { retry_after: Duration::from_secs(1) };
    match admission.map_err(unavailable)? {
        Admission::Granted(standing) => {
            call.set_caller(caller.clone(), standing);
            Ok(())
        }
        Admission::Refused { retry_after, standing } => {
            let limit = standing.limit;
            call.set_caller(caller.clone(), standing);
            // A guest's own day, or the day of all guests of its network.
            let guests = [1, call.service.settings.guests_per_network.get()];
            let is_day =
                |guests: u32| limit == account_core::tier::GUEST_DAILY_LIMIT.saturating_mul(guests);
            let daily = matches!(caller, Caller::Guest(_)) && guests.into_iter().any(is_day);
            let window = if daily { "day" } else { "hour" };
            Err(Refusal::RateLimit { limit, window, retry_after })
        }
    }
}

/// Guests reach FREE endpoints only, whatever the gate; accounts by their tier, or all of them.
fn check_tier(gate: TierGate, caller: &Caller, needed: Tier) -> Result<(), Refusal> {
    let allowed = match (caller, gate) {
        (Caller::Guest(_), _) => needed == Tier::Free,
        (Caller::Account(_), TierGate::Guests) => true,
        (Caller::Account(account), TierGate::Tiers) => account.tier >= needed,
    };
    if allowed { Ok(()) } else { Err(Refusal::Tier(needed)) }
}

/// What only the mathematics could see, as a fault of the request.
fn fault(error: &quant_core::Error) -> Fault {
    let kind = format!("value_error.{}", error.code());
    let mut path = vec![Step::name("body")];
    path.extend(error.argument().map(|argument| Step::name(wire_name(argument))));
    path.extend(error.index().map(Step::Index));
    Fault::new(&path, kind, error.to_string())
}

/// Hands on who was let through, or answers the refusal.
///
/// A small body is read off first, so that the connection can go on; who waits for a go-ahead gets
/// the refusal at once, and sends nothing.
async fn or_refuse<T>(
    request: &Request,
    body: &mut RequestBody,
    judged: Result<T, Refusal>,
) -> Result<T> {
    let refusal = match judged {
        Ok(caller) => return Ok(caller),
        Err(refusal) => refusal,
    };
    let mut response = refusal.into_response(Call::of(request).surface);
    if request.header(header::EXPECT).is_some() || !drain(body).await {
        let close = header::HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    Err(Error::from_response(response))
}

/// Reads off a body that nobody asked for; `false` where it is large or slow.
async fn drain(body: &mut RequestBody) -> bool {
    let Ok(body) = body.take() else { return true };
    let read =
        tokio::time::timeout(Duration::from_secs(1), body.into_bytes_limit(BODY_LIMIT_WITHOUT_KEY));
    matches!(read.await, Ok(Ok(_)))
}

fn register_scheme(registry: &mut Registry) {
    registry.create_security_scheme(
        SCHEME,
        MetaSecurityScheme {
            ty: "apiKey",
            description: Some("The key of an account (`fk_user_…`) or of a guest (`fk_guest_…`)."),
            name: Some("X-API-Key"),
            key_in: Some("header"),
            scheme: None,
            bearer_format: None,
            flows: None,
            openid_connect_url: None,
        },
    );
}

impl<'a> ApiExtractor<'a> for Keyed {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        register_scheme(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let keyed = or_refuse(request, body, Self::identify(request).await).await?;
        if keyed.call.expects_body() || drain(body).await {
            Ok(keyed)
        } else {
            Err(Refusal::BodyTooLarge { limit: BODY_LIMIT_WITHOUT_KEY }.into_error(request))
        }
    }
}

impl<'a> ApiExtractor<'a> for Owner {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        register_scheme(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let keyed = Keyed::from_request(request, body, options).await?;
        let judged = match keyed.caller {
            Caller::Account(_) => Ok(Self(keyed)),
            Caller::Guest(_) => Err(Refusal::GuestNotAllowed),
        };
        or_refuse(request, body, judged).await
    }
}

impl<'a> ApiExtractor<'a> for Administrator {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        register_scheme(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let Owner(keyed) = Owner::from_request(request, body, options).await?;
        let judged = match &keyed.caller {
            Caller::Account(account) if account.is_admin => Ok(Self(keyed)),
            _ => Err(Refusal::Account {
                status: StatusCode::FORBIDDEN,
                message: "Admin access required",
                detail: "This needs an administrator's account.".to_owned(),
            }),
        };
        or_refuse(request, body, judged).await
    }
}

impl<'a> ApiExtractor<'a> for Metered {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        register_scheme(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        or_refuse(request, body, Self::admit(request).await).await
    }
}
