// QuantLib's side of the comparison, in its own language. Prints the same lines as ours.rs.
#include <ql/quantlib.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace QuantLib;

static double sink = 0.0;

template <class Work>
void measure(const std::string& row, const std::string& who, Work work) {
    using clock = std::chrono::steady_clock;
    const auto seconds = [](auto span) { return std::chrono::duration<double>(span).count(); };
    const double result = work();
    auto start = clock::now();
    unsigned calls = 0;
    for (; seconds(clock::now() - start) < 0.02 || calls < 3; ++calls) sink += work();
    const double once = seconds(clock::now() - start) / calls;
    calls = unsigned(std::min(std::max(0.004 / once, 1.0), 1e7));
    std::vector<double> times;
    for (int sample = 0; sample < (once > 0.05 ? 5 : 21); ++sample) {
        start = clock::now();
        for (unsigned call = 0; call < calls; ++call) sink += work();
        times.push_back(seconds(clock::now() - start) * 1e9 / calls);
    }
    std::sort(times.begin(), times.end());
    std::printf("time\t%s\t%s\t%.17g\t%.17g\n", row.c_str(), who.c_str(), times[times.size() / 2], result);
    std::fflush(stdout);
}

static std::vector<double> numbers(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    std::vector<double> values(std::size_t(file.tellg()) / sizeof(double));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), std::streamsize(values.size() * sizeof(double)));
    return values;
}

static std::vector<std::vector<std::string>> golden(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    std::getline(file, line);
    std::vector<std::vector<std::string>> rows;
    while (std::getline(file, line)) {
        std::stringstream fields(line);
        std::vector<std::string> row;
        for (std::string field; std::getline(fields, field, ',');) row.push_back(field);
        rows.push_back(row);
    }
    return rows;
}

static double relative(double found, double expected) {
    const double error = expected == 0.0 ? std::abs(found) : std::abs(found / expected - 1.0);
    return std::isnan(error) ? INFINITY : error;
}

static const Date today(30, January, 2026);
static const DayCounter act365 = Actual365Fixed();

static Handle<YieldTermStructure> flat(double rate) {
    return Handle<YieldTermStructure>(ext::make_shared<FlatForward>(today, rate, act365));
}

static ext::shared_ptr<BlackScholesMertonProcess> process(Handle<Quote> spot, double q, double r, double vol) {
    auto surface = ext::make_shared<BlackConstantVol>(today, NullCalendar(), vol, act365);
    return ext::make_shared<BlackScholesMertonProcess>(spot, flat(q), flat(r), Handle<BlackVolTermStructure>(surface));
}

static void options(const std::string& folder) {
    const std::vector<double> rows = numbers(folder + "/options.f64");
    const auto each = [&](auto price) {
        double total = 0.0;
        for (std::size_t i = 0; i < rows.size(); i += 6) total += price(&rows[i]);
        return total;
    };
    const auto formula = [](const double* o) {
        const double discount = std::exp(-o[3] * o[2]);
        return blackFormula(Option::Call, o[1], o[0] * std::exp((o[3] - o[4]) * o[2]), o[5] * std::sqrt(o[2]), discount);
    };
    measure("bs_1000", "QuantLib formula", [&] { return each(formula); });
    std::vector<double> prices;
    for (std::size_t i = 0; i < rows.size(); i += 6) prices.push_back(formula(&rows[i]));
    measure("implied_volatility_1000", "QuantLib", [&] {
        std::size_t next = 0;
        return each([&](const double* o) {
            const double discount = std::exp(-o[3] * o[2]), forward = o[0] * std::exp((o[3] - o[4]) * o[2]);
            return blackFormulaImpliedStdDev(Option::Call, o[1], forward, prices[next++], discount, 0.0,
                                             Null<Real>(), 1e-12, 200) / std::sqrt(o[2]);
        });
    });
    measure("greeks_1000", "QuantLib calculator", [&] {
        return each([&](const double* o) {
            const double discount = std::exp(-o[3] * o[2]), forward = o[0] * std::exp((o[3] - o[4]) * o[2]);
            const BlackCalculator c(Option::Call, o[1], forward, o[5] * std::sqrt(o[2]), discount);
            return c.delta(o[0]) + c.gamma(o[0]) + c.vega(o[2]) + c.theta(o[0], o[2]) + c.rho(o[2]) + c.dividendRho(o[2]);
        });
    });
    auto spot = ext::make_shared<SimpleQuote>(100.0);
    VanillaOption option(ext::make_shared<PlainVanillaPayoff>(Option::Call, 105.0),
                         ext::make_shared<EuropeanExercise>(today + 365));
    option.setPricingEngine(ext::make_shared<AnalyticEuropeanEngine>(process(Handle<Quote>(spot), 0.02, 0.05, 0.25)));
    double step = 0.0;
    measure("bs_engine", "QuantLib engine", [&] {
        spot->setValue(100.0 + (step = step == 0.0 ? 1e-9 : 0.0));
        return option.NPV();
    });
}

template <class Tree>
void trees(const std::string& name) {
    auto spot = Handle<Quote>(ext::make_shared<SimpleQuote>(100.0));
    auto market = process(spot, 0.02, 0.05, 0.25);
    for (Size n : {100, 1000, 5000}) {
        const auto price = [&] {
            BarrierOption option(Barrier::DownOut, 90.0, 0.0, ext::make_shared<PlainVanillaPayoff>(Option::Call, 100.0),
                                 ext::make_shared<EuropeanExercise>(today + 365));
            option.setPricingEngine(ext::make_shared<BinomialBarrierEngine<Tree, DiscretizedBarrierOption>>(market, n, n));
            return option.NPV();
        };
        measure("barrier_" + name + "_" + std::to_string(n), "QuantLib", price);
        const auto american = [&] {
            VanillaOption option(ext::make_shared<PlainVanillaPayoff>(Option::Put, 100.0),
                                 ext::make_shared<AmericanExercise>(today, today + 365));
            option.setPricingEngine(ext::make_shared<BinomialVanillaEngine<Tree>>(market, n));
            return option.NPV();
        };
        measure("american_" + name + "_" + std::to_string(n), "QuantLib", american);
    }
}

static void continuous() {
    auto spot = Handle<Quote>(ext::make_shared<SimpleQuote>(100.0));
    auto market = process(spot, 0.02, 0.05, 0.25);
    const auto price = [&] {
        BarrierOption option(Barrier::DownOut, 90.0, 0.0, ext::make_shared<PlainVanillaPayoff>(Option::Call, 100.0),
                             ext::make_shared<EuropeanExercise>(today + 365));
        option.setPricingEngine(ext::make_shared<AnalyticBarrierEngine>(market));
        return option.NPV();
    };
    measure("barrier_continuous", "QuantLib", price);
}

static void exchange(const std::string& folder) {
    const auto price = [](const std::vector<double>& o) {
        auto first = process(Handle<Quote>(ext::make_shared<SimpleQuote>(o[0])), o[2], 0.0, o[4]);
        auto second = process(Handle<Quote>(ext::make_shared<SimpleQuote>(o[1])), o[3], 0.0, o[5]);
        MargrabeOption option(1, 1, ext::make_shared<EuropeanExercise>(today + Integer(std::lround(365 * o[7]))));
        option.setPricingEngine(ext::make_shared<AnalyticEuropeanMargrabeEngine>(first, second, o[6]));
        return option.NPV();
    };
    const std::vector<double> one = {100.0, 95.0, 0.02, 0.01, 0.3, 0.2, 0.5, 1.0};
    measure("margrabe", "QuantLib engine", [&] { return price(one); });
    double worst = 0.0;
    for (const auto& fields : golden(folder + "/pricing_margrabe.csv")) {
        std::vector<double> row;
        for (const auto& field : fields) row.push_back(std::stod(field));
        // Its engine takes dates: rows of whole days alone, with a price that is not lost to nothing.
        const double days = 365 * row[7];
        if (days != std::round(days) || row[8] < 1e-280 || row[4] == 0.0 || row[5] == 0.0) continue;
        worst = std::max(worst, relative(price(row), row[8]));
    }
    std::printf("error\tmargrabe\tQuantLib engine\t%g\trelative\n", worst);
}

static void dates() {
    measure("bond_flows", "QuantLib", [] {
        const Schedule schedule(Date(15, January, 2020), Date(15, January, 2050), Period(Semiannual), TARGET(),
                                Unadjusted, Unadjusted, DateGeneration::Backward, false);
        const FixedRateBond bond(0, 100.0, schedule, {0.05}, Thirty360(Thirty360::BondBasis), Following);
        double paid = 0.0;
        for (const auto& flow : bond.cashflows()) paid += flow->amount();
        return paid;
    });
    const Date start(31, August, 2024);
    const Period tenor(18, Months);
    measure("tenor", "QuantLib", [&] { return double((start + tenor).serialNumber() - Date(1, January, 1970).serialNumber()); });
}

template <class Traits, class Interpolator>
void bootstrap(const std::string& row) {
    std::vector<ext::shared_ptr<RateHelper>> helpers;
    std::vector<ext::shared_ptr<SimpleQuote>> quotes;
    const auto add = [&](double rate) { quotes.push_back(ext::make_shared<SimpleQuote>(rate)); return Handle<Quote>(quotes.back()); };
    const DayCounter count = Thirty360(Thirty360::BondBasis);
    for (const auto& [months, rate] : std::vector<std::pair<int, double>>{{1, .0388}, {3, .0385}, {6, .0375}, {12, .0352}})
        helpers.push_back(ext::make_shared<DepositRateHelper>(add(rate), months * Months, 0, NullCalendar(), Unadjusted, false, count));
    auto index = ext::make_shared<IborIndex>("any", 1 * Years, 0, Currency(), NullCalendar(), Unadjusted, false, count);
    for (const auto& [years, rate] : std::vector<std::pair<int, double>>{{2, .0322}, {3, .0310}, {4, .0306}, {5, .0303}, {7, .0306},
             {10, .0315}, {12, .0321}, {15, .0327}, {20, .0328}, {30, .0312}})
        helpers.push_back(ext::make_shared<SwapRateHelper>(add(rate), years * Years, NullCalendar(), Annual, Unadjusted, count, index));
    PiecewiseYieldCurve<Traits, Interpolator> curve(today, helpers, count);
    double step = 0.0;
    measure(row, "QuantLib", [&] {
        quotes[0]->setValue(0.0388 + (step = step == 0.0 ? 1e-12 : 0.0));
        return curve.discount(30.0);
    });
}

static void errors(const std::string& folder) {
    double worst = 0.0;
    for (const auto& row : golden(folder + "/pricing_european.csv")) {
        std::vector<double> o;
        for (std::size_t i = 1; i < row.size(); ++i) o.push_back(std::stod(row[i]));
        const double discount = std::exp(-o[2] * o[5]);
        const auto type = row[0] == "call" ? Option::Call : Option::Put;
        // What its formula refuses (a strike or a spot of zero) is left out.
        if (o[0] <= 0.0 || o[1] <= 0.0) continue;
        const double found = blackFormula(type, o[1], o[0] * std::exp((o[2] - o[3]) * o[5]), o[4] * std::sqrt(o[5]), discount);
        worst = std::max(worst, relative(found, o[6]));
    }
    std::printf("error\tbs_1000\tQuantLib formula\t%g\trelative\n", worst);
}

int main(int, char** arguments) {
    const std::string folder = arguments[1], rows = arguments[2];
    Settings::instance().evaluationDate() = today;
    options(folder);
    trees<CoxRossRubinstein>("crr");
    trees<JarrowRudd>("jr");
    trees<LeisenReimer>("lr");
    trees<Tian>("tian");
    continuous();
    exchange(rows);
    dates();
    bootstrap<Discount, LogLinear>("bootstrap_log_linear");
    bootstrap<ZeroYield, Linear>("bootstrap_linear");
    bootstrap<ZeroYield, Cubic>("bootstrap_cubic");
    bootstrap<ForwardRate, ConvexMonotone>("bootstrap_monotone_convex");
    errors(rows);
    return sink == 42.0;
}
