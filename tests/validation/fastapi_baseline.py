"""The fourteen request bodies as FastAPI 0.99 with pydantic 1.10 would check them.

Only the body is checked, without a computation: a valid body is answered 200 with an
empty object. Fields, required fields, defaults and limits are those of the interface and of
docs/conventions.md; where pydantic would coerce, the types below are strict, by docs/decisions.md.

Three things differ from plain FastAPI by design, because no value is coerced here:
- a body (or a nested object) that is a list or a text is no dict, where pydantic would read
  `[]` and `""` as `{}`;
- NaN, Infinity, numbers beyond a double and text that is not UTF-8 are JSON syntax errors;
- `true` is no number, `"1"` is no number, `1.5` is no integer, `5.0` is one, `1` is no boolean, a
  number is no date.
"""

import json
import math
import re
from datetime import date
from enum import Enum
from typing import Any, Callable, Optional

from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConstrainedFloat, ConstrainedInt, conlist, errors
from pydantic.validators import number_size_validator


class Number(ConstrainedFloat):
    """A JSON number, finite."""

    @classmethod
    def __get_validators__(cls):
        yield cls.from_json
        yield number_size_validator

    @classmethod
    def from_json(cls, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise errors.FloatError()
        return float(value)


class NotNegative(Number):
    ge = 0


class Positive(Number):
    gt = 0


class Share(Number):
    ge = 0
    le = 1


class Correlation(Number):
    ge = -1
    le = 1


class BelowOne(Number):
    lt = 1


class Whole(ConstrainedInt):
    """A JSON number without a fractional part: 5 or 5.0."""

    @classmethod
    def __get_validators__(cls):
        yield cls.from_json
        yield number_size_validator

    @classmethod
    def from_json(cls, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
            raise errors.IntegerError()
        return int(value)


class Steps(Whole):
    ge = 1
    le = 100_000


class Lag(Whole):
    ge = 1
    le = 100_000


class Bins(Whole):
    ge = 1
    le = 1_000


class Frequency(Whole):
    """One of 1, 2, 3, 4, 6 and 12; the mathematics refuses the numbers between them."""

    ge = 1
    le = 12


class Truth:
    """A JSON boolean."""

    @classmethod
    def __get_validators__(cls):
        yield cls.from_json

    @classmethod
    def from_json(cls, value: Any) -> bool:
        if not isinstance(value, bool):
            raise errors.BoolError()
        return value


class IsoDate(date):
    """A text of ten characters, YYYY-MM-DD, that is a day of the years 1 to 9999."""

    @classmethod
    def __get_validators__(cls):
        yield cls.from_json

    @classmethod
    def from_json(cls, value: Any) -> date:
        if not isinstance(value, str):
            raise errors.StrError()
        if len(value) != 10 or not value.isascii() or value[4] != "-" or value[7] != "-":
            raise errors.DateError()
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise errors.DateError() from None


class TenorError(errors.PydanticValueError):
    code = "text"
    msg_template = "tenor must be counts and units of D, W, M or Y"


class Tenor(str):
    """Counts, each below 2**32, with units of D, W, M or Y in any case and an optional sign."""

    @classmethod
    def __get_validators__(cls):
        yield cls.from_json

    @classmethod
    def from_json(cls, value: Any) -> str:
        if not isinstance(value, str):
            raise errors.StrError()
        if not re.fullmatch(r"[+-]?([0-9]+[DWMYdwmy])+", value):
            raise TenorError()
        if any(int(count) >= 2**32 for count in re.findall(r"[0-9]+", value)):
            raise TenorError()
        return value


class Body(BaseModel):
    """A JSON object; unknown fields are ignored."""

    @classmethod
    def validate(cls, value: Any):
        if not isinstance(value, dict):
            raise errors.DictError()
        return super().validate(value)


class OptionType(Enum):
    CALL = "call"
    PUT = "put"


class Tree(Enum):
    CRR = "CRR"
    JR = "JR"
    LR = "LR"
    TIAN = "TIAN"


class BarrierMonitoring(Enum):
    TREE = "tree"
    CONTINUOUS = "continuous"


class Function(Enum):
    EXP = "exp"
    LOG = "log"
    SIN = "sin"
    COS = "cos"
    SQRT = "sqrt"
    TAN = "tan"
    SQUARE = "x2"
    CUBE = "x3"


class Scheme(Enum):
    CENTRAL = "central"
    FORWARD = "forward"
    BACKWARD = "backward"


class DayCount(Enum):
    THIRTY_360 = "30/360"
    THIRTY_E_360 = "30E/360"
    THIRTY_E_360_ISDA = "30E/360 ISDA"
    ACT_360 = "ACT/360"
    ACT_365 = "ACT/365"
    ACT_ACT_ICMA = "ACT/ACT ICMA"
    ACT_ACT_ISDA = "ACT/ACT ISDA"
    BUS_252 = "BUS/252"


class Calendar(Enum):
    NONE = "none"
    WEEKENDS = "weekends"
    TARGET = "TARGET"
    US = "US"
    UK = "UK"


class Convention(Enum):
    UNADJUSTED = "unadjusted"
    FOLLOWING = "following"
    MODIFIED_FOLLOWING = "modified following"
    PRECEDING = "preceding"
    MODIFIED_PRECEDING = "modified preceding"


class CurveType(Enum):
    ZERO = "zero"
    DISCOUNT = "discount"
    FORWARD = "forward"


class Interpolation(Enum):
    LINEAR = "linear"
    LOG_LINEAR = "log_linear"
    CUBIC = "cubic"
    MONOTONE_CONVEX = "monotone_convex"


class InstrumentType(Enum):
    DEPOSIT = "deposit"
    SWAP = "swap"


Pair = conlist(NotNegative, min_items=2, max_items=2)


class CobbDouglas(Body):
    alpha: Share
    income: NotNegative
    prices: Pair


class Ces(Body):
    rho: BelowOne
    weights: Pair
    income: NotNegative
    prices: Pair


class MinVariance(Body):
    expected_returns: conlist(Number, min_items=1, max_items=1_000)
    covariance_matrix: conlist(conlist(Number, max_items=1_000), min_items=1, max_items=1_000)
    rf_rate: Number = 0
    min_weights: Optional[conlist(Optional[Number], min_items=1, max_items=1_000)] = None
    max_weights: Optional[conlist(Optional[Number], min_items=1, max_items=1_000)] = None


class EuropeanOption(Body):
    spot: NotNegative
    strike: NotNegative
    risk_free_rate: Number
    dividend_yield: Number = 0
    volatility: NotNegative
    time_to_maturity: NotNegative
    option_type: OptionType = OptionType.CALL


class BarrierOption(Body):
    spot: NotNegative
    strike: NotNegative
    risk_free_rate: Number
    dividend_yield: Number = 0
    volatility: NotNegative
    time_to_maturity: NotNegative
    n_steps: Steps = 100
    option_type: OptionType = OptionType.CALL
    barrier: NotNegative
    is_knock_in: Truth
    is_down: Truth
    rebate: NotNegative = 0
    method: Tree = Tree.CRR
    barrier_monitoring: BarrierMonitoring = BarrierMonitoring.TREE


class ExchangeOption(Body):
    S1: NotNegative
    S2: NotNegative
    q1: Number = 0
    q2: Number = 0
    sigma1: NotNegative
    sigma2: NotNegative
    rho: Correlation
    time_to_maturity: NotNegative


class Derivative(Body):
    func_name: Function
    x: Number
    h: Positive = 1e-5
    method: Scheme = Scheme.CENTRAL


class Capital(Body):
    cet1_capital: Number
    tier1_capital: Number
    total_capital: Number
    risk_weighted_assets: Positive
    total_exposure: Optional[Positive] = None


class TransferEntropy(Body):
    x_history: conlist(Number, max_items=100_000)
    y_history: conlist(Number, max_items=100_000)
    lag: Lag = 1
    n_bins: Bins = 10


class ShannonEntropy(Body):
    probabilities: conlist(Share, min_items=1, max_items=1_000_000)
    base: Positive = math.e


class FixedBond(Body):
    issue_date: IsoDate
    maturity_date: IsoDate
    coupon_rate: Number
    face_value: Positive = 100
    frequency: Frequency = 2
    day_count: DayCount = DayCount.ACT_365
    end_of_month: Truth = False
    settlement_date: Optional[IsoDate] = None
    calendar: Calendar = Calendar.NONE
    convention: Convention = Convention.UNADJUSTED
    yield_rate: Optional[Number] = None
    clean_price: Optional[Number] = None


class TreasuryBill(Body):
    settlement_date: IsoDate
    maturity_date: IsoDate
    discount_rate: Optional[Number] = None
    price: Optional[Positive] = None
    face_value: Positive = 100


class CurveInstrument(Body):
    type: InstrumentType
    tenor: Tenor
    rate: Number
    frequency: Frequency = 1


class Curve(Body):
    reference_date: IsoDate
    tenors: Optional[conlist(Positive, min_items=1, max_items=1_000)] = None
    values: Optional[conlist(Number, min_items=1, max_items=1_000)] = None
    curve_type: CurveType = CurveType.ZERO
    instruments: Optional[conlist(CurveInstrument, min_items=1, max_items=1_000)] = None
    interpolation: Interpolation = Interpolation.LINEAR
    query_tenors: Optional[conlist(NotNegative, max_items=1_000)] = None


class TenorAddition(Body):
    start_date: IsoDate
    tenor: Tenor


ENDPOINTS = {
    "/quantlib/economics/equilibrium/cobb-douglas": CobbDouglas,
    "/quantlib/economics/equilibrium/ces": Ces,
    "/quantlib/portfolio/optimize/min-variance": MinVariance,
    "/quantlib/pricing/bs/price": EuropeanOption,
    "/quantlib/pricing/binomial/barrier": BarrierOption,
    "/quantlib/pricing/margrabe": ExchangeOption,
    "/quantlib/numerical/differentiation/derivative": Derivative,
    "/quantlib/regulatory/basel/capital-ratios": Capital,
    "/quantlib/physics/entropy/transfer": TransferEntropy,
    "/quantlib/physics/entropy/shannon": ShannonEntropy,
    "/quantlib/instruments/bond/fixed/cashflows": FixedBond,
    "/quantlib/instruments/money-market/tbill": TreasuryBill,
    "/quantlib/curves/build": Curve,
    "/quantlib/core/types/tenor/add-to-date": TenorAddition,
}


class StrictRequest(Request):
    """Reads JSON by RFC 8259, with numbers in the range of a double only."""

    async def json(self) -> Any:
        body = await self.body()
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise json.JSONDecodeError("Invalid UTF-8", "", error.start) from None

        def number(kind: type) -> Callable[[str], Any]:
            def read(token: str) -> Any:
                if not math.isfinite(float(token)):
                    raise json.JSONDecodeError("Number out of range", text, text.find(token))
                return kind(token)

            return read

        def constant(token: str) -> Any:
            raise json.JSONDecodeError("Expecting value", text, text.find(token))

        return json.loads(
            text, parse_float=number(float), parse_int=number(int), parse_constant=constant
        )


class StrictRoute(APIRoute):
    def get_route_handler(self) -> Callable:
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(StrictRequest(request.scope, request.receive))

        return strict


def endpoint(model: type) -> Callable:
    async def accept(body: model):
        return {"success": True, "data": {}}

    return accept


def accept_bodies(models: dict[str, type]) -> None:
    """Adds an endpoint for each model."""
    for path, model in models.items():
        app.post(path)(endpoint(model))


app = FastAPI()
app.router.route_class = StrictRoute
accept_bodies(ENDPOINTS)
