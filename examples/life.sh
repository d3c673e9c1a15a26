#!/usr/bin/env bash
# The life of an account over HTTP, against a service of its own: from a guest key to the deletion,
# with a metered call and every refusal. Prints each step, and stops at the first unexpected one.
# Every operation on accounts is called; the end names one that is not, and fails.
#
#   cargo build --release && bash examples/life.sh
set -euo pipefail
cd "$(dirname "$0")/.."

server=${QUANT_SERVER:-target/release/quant-server}
folder=$(mktemp -d)
trap 'kill "$service" 2>/dev/null || true; rm -rf "$folder"' EXIT
"$server" --data-dir "$folder/data" --bind 127.0.0.1:0 --databases prices,rates >"$folder/out" 2>"$folder/log" &
service=$!
for _ in $(seq 100); do grep -q '^listening on ' "$folder/out" && break; sleep 0.1; done
url=$(sed -n 's/^listening on //p' "$folder/out")

price=/quantlib/pricing/bs/price
tenor=/quantlib/core/types/tenor/add-to-date
option='{"spot":42,"strike":40,"risk_free_rate":0.1,"volatility":0.2,"time_to_maturity":0.5}'
date='{"start_date":"2024-01-31","tenor":"1M"}'

# call STEP STATUS METHOD PATH KEY [BODY]: stores the answer in $body and its headers in a file.
# Sends the session in $session, if any.
session=
call() {
  local step=$1 expected=$2 method=$3 path=$4 key=$5 data=${6:-} status
  local options=(-s -X "$method" -D "$folder/headers" -o "$folder/body" -w '%{http_code}')
  [ -z "$session" ] || options+=(-H "X-Session-Token: $session")
  [ -z "$key" ] || options+=(-H "X-API-Key: $key")
  [ -z "$data" ] || options+=(-H 'Content-Type: application/json' -d "$data")
  status=$(curl "${options[@]}" "$url$path")
  body=$(cat "$folder/body")
  printf '%-44s %s %s\n' "$step" "$status" "${body:0:110}"
  echo "$method ${path%%\?*}" >>"$folder/called"
  [ "$status" = "$expected" ] || { echo "expected $expected" >&2; exit 1; }
}
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" <<<"$body"; }
header() { sed -n "s/^$1: \(.*\)\r$/\1/Ip" "$folder/headers"; }
same() { [ "$2" = "$3" ] || { echo "$1: $2 is not $3" >&2; exit 1; }; }
# Waits for the next unread e-mail, which a worker sends, and prints its code.
emails=0
code() {
  local folder=$folder/data/mail
  for _ in $(seq 100); do
    [ "$(find "$folder" -name '*.eml' 2>/dev/null | wc -l)" -le "$emails" ] || break
    sleep 0.1
  done
  emails=$(find "$folder" -name '*.eml' | wc -l)
  otp=$(cat "$(find "$folder" -name '*.eml' | sort | tail -n 1)" | grep -Eo '^ *[0-9]{6}\b|\b[0-9]{6}$' | head -n 1 | tr -d ' ')
}
# mailed ADDRESS PATTERN: leaves what fits in the newest e-mail to the address that has it in $found.
mailed() {
  local file
  for _ in $(seq 100); do
    for file in $(grep -ls "^To: $1" "$folder"/data/mail/*.eml | sort -r); do
      found=$(tr -d '\r' <"$file" | grep -Eo "^ {4}$2\$" | head -n 1 | tr -d ' ') || true
      [ -z "$found" ] || return 0
    done
    sleep 0.1
  done
  echo "no e-mail to $1 has $2" >&2; exit 1
}
account() { "$server" account "$@" --data-dir "$folder/data"; }

call "guest" 200 POST /guest/create "" '{"device_id":"example"}'; guest=$(field api_key)
call "guest adds a tenor" 200 POST $tenor "$guest" "$date"
call "guest may not price" 403 POST $price "$guest" "$option"
for _ in $(seq 48); do curl -s -o /dev/null -H "X-API-Key: $guest" "$url/auth/validate"; done
call "guest's day is over" 429 POST $tenor "$guest" "$date"
echo "  Retry-After: $(header retry-after)"
[ "$(header retry-after)" -ge 1 ]

call "alive" 200 GET /health ""
call "ready" 200 GET /ready ""
call "register" 200 POST /user/register "" \
  '{"username":"ada","email":"ada@example.com","password":"a long and private sentence"}'
code
call "no code for a verified or unknown address" 200 POST /user/resend-otp "" '{"email":"nobody@example.com"}'
call "verify with the code from the e-mail" 200 POST /user/verify-otp "" \
  "{\"email\":\"ada@example.com\",\"otp\":\"$otp\"}"; key=$(field api_key)
call "log in" 200 POST /user/login "" \
  '{"email":"ada@example.com","password":"a long and private sentence"}'
same "the key at login" "$(field api_key)" "$key"
call "a FREE account may not price" 403 POST $price "$key" "$option"
account set-tier ada@example.com pro; sleep 1
call "a PRO account prices" 200 POST $price "$key" "$option"
same "the balance in the header" "$(header x-credits-balance)" 345
call "the profile" 200 GET /user/profile "$key"
same "the balance in the profile" "$(field credit_balance)" 345
call "a faulty request" 422 POST $price "$key" '{"spot":"42"}'

account create --email poor@example.com --username poor --tier pro --credits 4 >"$folder/poor"
poor=$(sed -n 's/^API key: //p' "$folder/poor")
call "four credits buy nothing" 402 POST $price "$poor" "$option"
call "and stay" 200 GET /user/profile "$poor"
same "the balance" "$(field credit_balance)" 4
account grant poor@example.com 1; sleep 1
call "a fifth credit buys a price" 200 POST $price "$poor" "$option"

call "regenerate the key" 200 POST /user/regenerate-api-key "$key" '{}'; new=$(field api_key)
call "the old key is refused" 401 GET /auth/validate "$key"
call "the new key is taken" 200 GET /auth/validate "$new"
account suspend ada@example.com; sleep 1
call "suspended" 401 GET /auth/validate "$new"
account activate ada@example.com; sleep 1
call "active again" 200 GET /auth/validate "$new"

key=$new; session=
login='{"email":"ada@example.com","password":"a long and private sentence"}'
call "the second factor on" 200 POST /user/mfa/enable "$key" '{}'; sleep 0.5
emails=$(find "$folder/data/mail" -name '*.eml' | wc -l)
call "log in, first step" 200 POST /user/login "" "$login"; mfa=$(field mfa_token)
code
call "log in, second step" 200 POST /user/verify-mfa "" \
  "{\"email\":\"ada@example.com\",\"otp\":\"$otp\",\"mfa_token\":\"$mfa\"}"
same "the key after two steps" "$(field api_key)" "$key"
call "the second factor off" 200 POST /user/mfa/disable "$key" \
  '{"password":"a long and private sentence"}'
for try in 1 2 3 4 5; do
  call "wrong password $try" 401 POST /user/login "" \
    '{"email":"ada@example.com","password":"wrong wrong wrong"}'
done
call "locked" 423 POST /user/login "" "$login"
sleep 0.5; emails=$(find "$folder/data/mail" -name '*.eml' | wc -l)
call "forgot the password" 200 POST /user/forgot-password "" '{"email":"ada@example.com"}'
code
call "choose another" 200 POST /user/reset-password "" \
  "{\"email\":\"ada@example.com\",\"otp\":\"$otp\",\"new_password\":\"another private sentence\"}"
call "log in with it" 200 POST /user/login "" \
  '{"email":"ada@example.com","password":"another private sentence"}'; session=$(field session_token)
call "the session lives" 200 GET /user/session-pulse "$key"
call "the session is valid" 200 POST /user/validate-session "$key"
call "a code for a desktop program" 200 POST /user/auth/desktop-handoff "$key"; hand_off=$(field code)
call "the program signs in with it" 200 POST /user/auth/desktop-handoff/redeem "" "{\"code\":\"$hand_off\"}"
call "once only" 400 POST /user/auth/desktop-handoff/redeem "" "{\"code\":\"$hand_off\"}"
call "change the profile" 200 PUT /user/profile "$key" '{"country":"United Kingdom"}'
call "usage" 200 GET "/user/usage?days=1" "$key"
call "transactions" 200 GET /user/transactions "$key"
call "login history" 200 GET /user/login-history "$key"
call "the databases" 200 GET /user/databases "$key"; database="{\"database_name\":\"$(field database_name)\"}"
call "subscribe to one" 200 POST /user/subscribe "$key" "$database"
call "the subscriptions" 200 GET /user/subscriptions "$key"
call "unsubscribe" 200 POST /user/unsubscribe "$key" "$database"
call "no subscription is left" 404 POST /user/unsubscribe "$key" "$database"
call "log in elsewhere" 200 POST /user/login "" \
  '{"email":"ada@example.com","password":"another private sentence"}'
call "the newest session" 200 GET "/user/sessions?limit=1" "$key"; number=$(field id)
call "end one" 200 DELETE "/user/sessions/$number" "$key"
call "it has ended" 404 DELETE "/user/sessions/$number" "$key"
call "log out" 200 POST /user/logout "$key" '{}'
call "the session is over" 401 GET /user/session-pulse "$key"; session=
call "end all sessions" 200 DELETE /user/sessions "$key"
call "change the password" 200 POST /user/change-password "$key" \
  '{"password":"another private sentence","new_password":"a third private sentence"}'
call "the old one is refused" 403 POST /user/change-password "$key" \
  '{"password":"another private sentence","new_password":"a fourth private sentence"}'

account create --email grace@example.com --username grace --password-stdin \
  <<<"a sentence of hers" >"$folder/grace"
grace=$(sed -n 's/^API key: //p' "$folder/grace")
call "ask for another address" 200 POST /user/change-email "$grace" \
  '{"password":"a sentence of hers","new_email":"grace@example.org"}'
call "a taken one has the same answer" 200 POST /user/change-email "$key" \
  '{"password":"a third private sentence","new_email":"poor@example.com"}'
mailed grace@example.org '[0-9]{6}'
call "confirm it with the code from the e-mail" 200 POST /user/confirm-email "$grace" \
  "{\"new_email\":\"grace@example.org\",\"otp\":\"$found\"}"
call "the profile has it" 200 GET /user/profile "$grace"
same "the address" "$(field email)" grace@example.org
mailed grace@example.com '[A-Za-z0-9_-]{43}'
call "the former address undoes it" 200 POST /user/undo-email-change "" "{\"token\":\"$found\"}"
call "the key is refused" 401 GET /auth/validate "$grace"
call "and the password" 401 POST /user/login "" \
  '{"email":"grace@example.com","password":"a sentence of hers"}'
call "ask for another password" 200 POST /user/forgot-password "" '{"email":"grace@example.com"}'
mailed grace@example.com '[0-9]{6}'
call "choose it" 200 POST /user/reset-password "" \
  "{\"email\":\"grace@example.com\",\"otp\":\"$found\",\"new_password\":\"another of hers\"}"
call "log in with it" 200 POST /user/login "" \
  '{"email":"grace@example.com","password":"another of hers"}'; new=$(field api_key)
[ "$new" != "$grace" ] || { echo "the key was not replaced" >&2; exit 1; }

account make-admin poor@example.com --reason "writes to all"; sleep 1
call "an administrator writes to all" 200 POST /user/admin/notifications/broadcast "$poor" \
  '{"title":"Maintenance on Sunday","description":"Ten minutes at 06:00 UTC.","channels":["in_app"]}'
call "the inbox has it" 200 GET "/user/notifications?unread_only=true" "$key"; number=$(field id)
call "read it" 200 PUT "/user/notifications/$number/read" "$key"
call "read all" 200 PUT /user/notifications/read-all "$key"
call "delete it" 200 DELETE "/user/notifications/$number" "$key"
call "it is gone" 404 DELETE "/user/notifications/$number" "$key"
call "the preferences" 200 GET /user/notifications/preferences "$key"
call "no e-mails" 200 PUT /user/notifications/preferences "$key" '{"notify_email":false}'
call "no chat to test" 503 POST /user/notifications/messaging/test "$key"
# This service has no identity provider; tests/idp/run signs in by one.
call "no identity provider: a token" 503 POST /user/auth/idp "" '{"id_token":"eyJhbGciOi"}'
call "its start" 503 GET /user/auth/idp/start ""
call "its return" 503 GET /user/auth/idp/callback ""
call "no profile to complete" 400 POST /user/auth/complete-profile "" \
  '{"completion_token":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","phone":"+44 20 7946 0000","country":"United Kingdom"}'

call "delete the account" 200 DELETE /user/account "$key" '{"password":"a third private sentence"}'
call "its key is refused" 401 GET /auth/validate "$key"
call "and its password" 401 POST /user/login "" \
  '{"email":"ada@example.com","password":"a third private sentence"}'

# A line of operations.txt is id, method, path, tier, credits; `-` is the tier of what is not metered.
uncalled=$(awk '$4 == "-" && $3 ~ "^/(user|auth|guest)/" { print $1, $2, $3 }' openapi/operations.txt | while read -r id method path; do
  pattern="^$method $(sed 's/{[a-z_]*}/[^\/]*/g' <<<"$path")\$"
  grep -q "$pattern" "$folder/called" || echo "  $id $method $path"
done)
[ -z "$uncalled" ] || { printf 'not called here:\n%s\n' "$uncalled" >&2; exit 1; }
echo "every operation on accounts was called"

"$server" audit --data-dir "$folder/data"
kill -TERM "$service"
wait "$service"
echo "drained and ended"
