"""Writes ../g_spreads.csv: differences of yields as decimals. Needs Python alone."""
import platform
import random
from decimal import Decimal
from pathlib import Path

draw = random.Random(20261123)
rows = []
for _ in range(200):
    digits = draw.choice([2, 4, 5, 7, 10])
    government = Decimal(draw.randint(-10 ** digits // 50, 10 ** digits // 5)).scaleb(-digits)
    step = draw.choice([Decimal(draw.randint(-10 ** digits // 20, 10 ** digits // 5)), Decimal(draw.randint(-3, 3))])
    bond = government + step.scaleb(-digits)
    rows.append(f"{bond:f},{government:f},{bond - government:f}")
head = f"# Python {platform.python_version()}, module decimal, 2026-11-23, python tests/golden/generate/g_spreads.py"
text = "\n".join([head, "bond_yield,govt_yield,g_spread", *rows]) + "\n"
(Path(__file__).parent.parent / "g_spreads.csv").write_text(text)
