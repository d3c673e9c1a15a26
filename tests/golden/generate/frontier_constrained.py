"""Writes ../frontier_constrained.csv: corners of efficient frontiers under a linear constraint and turnover.

Needs mpmath, numpy, scipy and clarabel. Returns from the least variance to the largest are halved until each
interval has the same conditions as equalities at both ends or is short; the conditions come from Clarabel and
are verified in 50 digits by `portfolio_constrained.exact_point`, which this script imports. Two portfolios
under the same conditions give a line of weights by return, and two lines meet at a corner, whose weights must
agree to 30 digits. A frontier with conditions that stay unclear is left out. All inputs are doubles taken as
they are.
"""
from pathlib import Path

import clarabel
import mpmath
import numpy as np
from mpmath import mp, mpf
from scipy.optimize import linprog

from portfolio_constrained import NEAR, clarabel_point, conditions, exact_point, market

PATH = Path(__file__).parent.parent / "frontier_constrained.csv"
STAMP = f"# mpmath {mpmath.__version__} and clarabel {clarabel.__version__}, 2026-11-22, python tests/golden/generate/frontier_constrained.py\n"
HEADER = ("expected_returns,covariance row by row,coefficients,min,max,current_weights,max_turnover,"
          "corners separated by |,volatilities\n")
mp.dps = 50
random = np.random.default_rng(20261124)
SHORT = 2.0 ** -12


class Frontier:
    """A frontier with the exact portfolios that were found on it."""

    def __init__(self, mu, sigma, coefficients, low, high, current, turnover):
        self.mu, self.sigma, self.current, self.turnover = mu, sigma, current, turnover
        self.rows = conditions(len(mu), coefficients, low, high)

    def at(self, target):
        """The exact weights of a return, with the conditions that hold; None where they are unclear."""
        equalities = [(np.ones(len(self.mu)), 1.0)] + ([(self.mu, target)] if target is not None else [])
        near = clarabel_point(self.sigma, equalities, self.rows, self.current, self.turnover, False)
        if near is None:
            return None
        exact = exact_point(self.sigma, equalities, self.rows, self.current, self.turnover, False, near)
        if exact is None:
            return None
        weights = np.array([float(x) for x in exact])
        tight = tuple(a @ weights - b < NEAR for _, a, b in self.rows)
        moved = weights - self.current
        is_limit = abs(moved).sum() > self.turnover - NEAR
        signs = tuple(0 if abs(x) < NEAR else int(np.sign(x)) for x in moved) if is_limit else ()
        return mp.fsum(mpf(float(m)) * x for m, x in zip(self.mu, exact)), exact, (tight, is_limit, signs)

    def largest_return(self):
        """The largest return by a linear programme with variables for weights and sizes of changes."""
        size = len(self.mu)
        eye = np.eye(size)
        upper = [np.append(-a, np.zeros(size)) for _, a, _ in self.rows] + [np.append(np.zeros(size), np.ones(size))]
        levels = [-b for _, _, b in self.rows] + [self.turnover]
        for sign in (1.0, -1.0):
            upper += [np.append(sign * eye[i], -eye[i]) for i in range(size)]
            levels += [sign * self.current[i] for i in range(size)]
        found = linprog(np.append(-self.mu, np.zeros(size)), A_ub=np.array(upper), b_ub=levels,
                        A_eq=[np.append(np.ones(size), np.zeros(size))], b_eq=[1.0], bounds=(None, None))
        return -found.fun if found.status == 0 else None

    def corners(self):
        start, top = self.at(None), self.largest_return()
        if start is None or top is None or top - float(start[0]) < 1e-3:
            return None
        first = float(start[0])
        part = lambda t: self.at(first + t * (top - first))
        # The ends themselves are degenerate; lines are extended to them.
        found = {}
        pending = [(k / 16 + 1e-3 * (k == 0) - 1e-3 * (k == 15), (k + 1) / 16 - 1e-3 * (k == 15)) for k in range(16)]
        for low, high in pending:
            for t in (low, high):
                if t not in found:
                    found[t] = part(t)
            if found[low] is None or found[high] is None:
                return None
            if found[low][2] == found[high][2]:
                middle = (low + high) / 2
                found[middle] = part(middle)
                if found[middle] is None or found[middle][2] != found[low][2]:
                    return None
            elif high - low > SHORT:
                pending += [(low, (low + high) / 2), ((low + high) / 2, high)]
        return self.meet([found[t] for t in sorted(found)], start, mpf(top))

    def meet(self, portfolios, start, top):
        """The points at which the lines of neighbouring conditions meet."""
        lines, corners = [], [start[1]]
        for one, other in zip(portfolios, portfolios[1:]):
            if one[2] == other[2] and (not lines or lines[-1][2] != one[2]):
                slope = [(b - a) / (other[0] - one[0]) for a, b in zip(one[1], other[1])]
                lines.append((one, slope, one[2]))
        if not lines:
            return None
        at = lambda line, m: [x + (m - line[0][0]) * s for x, s in zip(line[0][1], line[1])]
        if max(abs(a - b) for a, b in zip(at(lines[0], start[0]), start[1])) > mpf(10) ** -30:
            return None
        for one, other in zip(lines, lines[1:]):
            gaps = [(b - a, s - t) for a, b, s, t in zip(at(one, 0), at(other, 0), one[1], other[1])]
            gap, rate = max(gaps, key=lambda pair: abs(pair[1]))
            m = gap / rate
            if max(abs(a - b) for a, b in zip(at(one, m), at(other, m))) > mpf(10) ** -30:
                return None
            corners.append(at(one, m))
        # The largest return is reached where a condition of the last line ends it.
        end = min((m for m in self.ends(lines[-1]) if m > lines[-1][0][0] + mpf(10) ** -9), default=None)
        if end is None or abs(end - top) > 1e-9:
            return None
        return corners + [at(lines[-1], end)]

    def ends(self, line):
        """The returns at which a line leaves a condition."""
        (m, weights, _), slope, _ = line
        for _, a, b in self.rows:
            exact = [mpf(float(x)) for x in a]
            rate = mp.fsum(x * s for x, s in zip(exact, slope))
            room = mp.fsum(x * w for x, w in zip(exact, weights)) - mpf(float(b))
            if rate < -mpf(10) ** -20:
                yield m - room / rate
        # The size of the changes is convex along the line: its last crossing of the limit ends the line.
        moved = [w - mpf(float(c)) for w, c in zip(weights, self.current)]
        kinks = sorted(m - x / s for x, s in zip(moved, slope) if abs(s) > mpf(10) ** -20 and -x / s > 0)
        size = lambda at: mp.fsum(abs(x + (at - m) * s) for x, s in zip(moved, slope))
        limit, known = mpf(self.turnover), m
        for kink in kinks + [m + 100]:
            if size(kink) > limit + mpf(10) ** -30:
                rate = (size(kink) - size(known)) / (kink - known)
                yield known + (limit - size(known)) / rate
                return
            known = kink


def lines(count):
    for _ in range(count):
        mu, sigma, coefficients, low, high, current, turnover = market(random, 10)
        size = len(mu)
        corners = Frontier(mu, sigma, coefficients, low, high, current, turnover).corners()
        if corners is None:
            continue
        tiny = mpf(10) ** -30
        vector = lambda values: " ".join(repr(float(x)) for x in values)
        variance = lambda w: mp.fsum(w[i] * mpf(float(sigma[i][j])) * w[j] for i in range(size) for j in range(size))
        text = "|".join(vector(x if abs(x) > tiny else 0 for x in w) for w in corners)
        yield ",".join([vector(mu), vector(sigma.ravel()), vector(coefficients), repr(low), repr(high), vector(current),
                        repr(turnover), text, vector(mp.sqrt(variance(w)) for w in corners)]) + "\n"


if __name__ == "__main__":
    found = list(lines(160))
    PATH.write_text(STAMP + HEADER + "".join(found))
    print(PATH.name, len(found), "corners", sum(line.count("|") + 1 for line in found))
