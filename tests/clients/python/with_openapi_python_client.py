"""From a registration to a price, a typed 422 and the usage, by the client of openapi-python-client."""

import os

from mail import code_for
from quant_api import AuthenticatedClient, Client
from quant_api.api.pricing import price_european_option
from quant_api.api.registration import register_account, verify_registration
from quant_api.api.usage import get_usage
from quant_api.models import (
    CodeRequest,
    ComputationError,
    EuropeanOptionPriceAnswer,
    EuropeanOptionRequest,
    RegisteredAnswer,
    RegistrationRequest,
    SignedInAnswer,
    UsageAnswer,
    ValidationError,
)

url, email = os.environ["URL"], "attrs@example.com"
anonymous = Client(base_url=url)
account = RegistrationRequest(username="attrs", email=email, password="a long and private sentence")
registered = register_account.sync(client=anonymous, body=account)
assert isinstance(registered, RegisteredAnswer), registered
signed_in = verify_registration.sync(client=anonymous, body=CodeRequest(email=email, otp=code_for(email)))
assert isinstance(signed_in, SignedInAnswer), signed_in

client = AuthenticatedClient(base_url=url, token=signed_in.data.api_key, prefix="", auth_header_name="X-API-Key")
option = EuropeanOptionRequest(spot=42.0, strike=40.0, risk_free_rate=0.1, volatility=0.2, time_to_maturity=0.5)
answer = price_european_option.sync(client=client, body=option, idempotency_key="first")
assert isinstance(answer, EuropeanOptionPriceAnswer), answer
assert abs(answer.data.price - 4.76) < 0.005, answer

option.strike = 41.0
refused = price_european_option.sync(client=client, body=option, idempotency_key="first")
assert isinstance(refused, ValidationError), refused
assert refused.detail[0].type_ == "value_error.idempotency_key", refused
assert refused.detail[0].loc == ["header", "Idempotency-Key"], refused

unknown = AuthenticatedClient(base_url=url, token="fk_user_unknown", prefix="", auth_header_name="X-API-Key")
refusal = price_european_option.sync(client=unknown, body=option)
assert isinstance(refusal, ComputationError) and refusal.detail == "Invalid API key", refusal

usage = get_usage.sync(client=client)
assert isinstance(usage, UsageAnswer), usage
assert usage.data.summary.total_credits_used == 5, usage
print(f"a price of {answer.data.price}, {usage.data.account.credit_balance} credits left")
