#!/usr/bin/env bash
# A price, the balance and a refusal with curl. Usage: QUANT_KEY=fk_user_… bash curl.sh
set -euo pipefail
url=${QUANT_URL:-http://127.0.0.1:8080}
key=(-H "X-API-Key: $QUANT_KEY")
json=(-H 'Content-Type: application/json')

# price VOLATILITY: prints the answer, or the refusal with its status.
price() {
  curl -s -w '%{stderr}%{http_code}\n' "$url/quantlib/pricing/bs/price" "${key[@]}" "${json[@]}" \
    -d '{"spot":42,"strike":40,"risk_free_rate":0.1,"volatility":'"$1"',"time_to_maturity":0.5}'
}

echo "price: $(price 0.2 2>/dev/null)"
echo "balance: $(curl -s "$url/user/profile" "${key[@]}" | grep -Eo '"credit_balance":[0-9]+')"
# A refusal has the list of all faults, each with place, reason and type; it costs nothing.
echo "refused: $(price -0.2 2>/dev/null)"
