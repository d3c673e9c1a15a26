"""From a registration to a price, a typed 422 and the usage, by the client of openapi-generator."""

import os

from mail import code_for
from quant_client import (
    ApiClient,
    CodeRequest,
    ComputationError,
    Configuration,
    EuropeanOptionRequest,
    PricingApi,
    RegistrationApi,
    RegistrationRequest,
    UsageApi,
    ValidationError,
)
from quant_client.exceptions import ApiException

email = "pydantic@example.com"
configuration = Configuration(host=os.environ["URL"])
registration = RegistrationApi(ApiClient(configuration))
registration.register_account(
    RegistrationRequest(username="pydantic", email=email, password="a long and private sentence")
)
signed_in = registration.verify_registration(CodeRequest(email=email, otp=code_for(email)))

configuration.api_key["ApiKey"] = signed_in.data.api_key
client = ApiClient(configuration)
pricing = PricingApi(client)
option = EuropeanOptionRequest(
    spot=42.0, strike=40.0, risk_free_rate=0.1, volatility=0.2, time_to_maturity=0.5
)
answer = pricing.price_european_option(option, idempotency_key="first")
assert abs(answer.data.price - 4.76) < 0.005, answer

option.strike = 41.0
try:
    pricing.price_european_option(option, idempotency_key="first")
    raise SystemExit("a reused key was accepted")
except ApiException as refused:
    assert refused.status == 422, refused
    assert isinstance(refused.data, ValidationError), refused.data
    [fault] = refused.data.detail
    assert fault.type == "value_error.idempotency_key", fault
    assert [step.actual_instance for step in fault.loc] == ["header", "Idempotency-Key"], fault

configuration.api_key["ApiKey"] = "fk_user_unknown"
try:
    pricing.price_european_option(option)
    raise SystemExit("an unknown key was accepted")
except ApiException as refused:
    assert isinstance(refused.data, ComputationError), refused.data
    assert refused.data.detail == "Invalid API key", refused.data

configuration.api_key["ApiKey"] = signed_in.data.api_key
usage = UsageApi(client).get_usage()
assert usage.data.summary.total_credits_used == 5, usage
print(f"a price of {answer.data.price}, {usage.data.account.credit_balance} credits left")
