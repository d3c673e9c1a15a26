-- The first schema on SQLite.
--
-- Times are microseconds since 1970 and days are whole days since 1970, both in UTC. Digests
-- and numbers of 128 bits are blobs. Names of kinds and states are those of account-core.
-- `postgres.sql` holds the same tables in the same order of columns.

-- Secrets of the vault, each encrypted (wrapped) with the master key.
CREATE TABLE secret (
  kind    varchar NOT NULL,
  id      integer NOT NULL,
  wrapped blob    NOT NULL,
  PRIMARY KEY (kind, id)
);

-- Counters. `account`: the last account number handed out. `revision`: the number of changes
-- that invalidate cached callers. `usage_since`: the first day of which no usage row was
-- removed. `calls_sorted`: the last usage row that `call_by_account` covers.
CREATE TABLE sequence (
  name  varchar NOT NULL PRIMARY KEY,
  value integer NOT NULL
);
INSERT INTO sequence (name, value) VALUES
  ('account', 0), ('revision', 0), ('usage_since', 0), ('calls_sorted', 0);

-- Accounts. An account without `verified_at` is an unverified registration. `last_grant`: the
-- credits of the latest grant. `spend_cap_per_day`: the credits that the account lets itself spend on
-- one day, and `cap_near_on` and `cap_reached_on`: the days of the latest notices of the cap.
CREATE TABLE account (
  id             integer NOT NULL PRIMARY KEY,
  email          varchar NOT NULL UNIQUE,
  username       varchar NOT NULL,
  username_key   varchar NOT NULL UNIQUE,
  password_hash  varchar,
  phone          varchar,
  country        varchar,
  country_code   varchar,
  tier           varchar NOT NULL,
  hourly_limit   integer,
  credit_balance integer NOT NULL,
  is_admin       boolean NOT NULL,
  mfa_enabled    boolean NOT NULL,
  created_at     integer NOT NULL,
  verified_at    integer,
  last_login_at  integer,
  last_grant     integer NOT NULL DEFAULT 0,
  spend_cap_per_day integer,
  cap_near_on    integer,
  cap_reached_on integer,
  CHECK (credit_balance >= 0)
);
CREATE INDEX account_form ON account (created_at) WHERE verified_at IS NULL;

-- API keys of accounts: the digest finds a key, `sealed` holds the key encrypted with the data
-- key numbered `data_key`.
CREATE TABLE api_key (
  id         blob    NOT NULL PRIMARY KEY,
  account_id integer NOT NULL,
  digest     blob    NOT NULL UNIQUE,
  sealed     blob    NOT NULL,
  data_key   integer NOT NULL,
  status     varchar NOT NULL,
  created_at integer NOT NULL,
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
);
-- At most one key of an account is not revoked.
CREATE UNIQUE INDEX api_key_in_use ON api_key (account_id) WHERE status <> 'revoked';
CREATE INDEX api_key_account ON api_key (account_id);

-- Sessions of accounts, found by the digest of their token; the owner ends one by its id. `ip` and
-- `user_agent`: the client that began the session.
CREATE TABLE session (
  id           integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  digest       blob    NOT NULL UNIQUE,
  account_id   integer NOT NULL,
  ip           varchar NOT NULL,
  user_agent   varchar NOT NULL,
  created_at   integer NOT NULL,
  last_used_at integer NOT NULL,
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE INDEX session_account ON session (account_id, id);
CREATE INDEX session_used ON session (last_used_at);
CREATE INDEX session_begun ON session (created_at);

-- Guests: callers with a key of a limited lifetime and without an account.
CREATE TABLE guest (
  id             integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  digest         blob    NOT NULL UNIQUE,
  device_id      varchar NOT NULL,
  device_name    varchar,
  platform       varchar,
  ip             varchar NOT NULL,
  credit_balance integer NOT NULL,
  created_at     integer NOT NULL,
  expires_at     integer NOT NULL,
  CHECK (credit_balance >= 0)
);
CREATE INDEX guest_expired ON guest (expires_at);

-- Codes and tokens that prove control of an e-mail address. A challenge without `account_id`
-- belongs to an address without an account, so that no response reveals whether an address has
-- an account.
CREATE TABLE challenge (
  id          blob    NOT NULL PRIMARY KEY,
  account_id  integer,
  purpose     varchar NOT NULL,
  recipient   blob    NOT NULL,
  digest      blob    NOT NULL,
  created_at  integer NOT NULL,
  tries       integer NOT NULL,
  token_tries integer NOT NULL,
  used        boolean NOT NULL,
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX challenge_recipient ON challenge (recipient, purpose);
CREATE INDEX challenge_made ON challenge (created_at);
CREATE INDEX challenge_account ON challenge (account_id, purpose);

-- The outbox of e-mails and messages. A sent row is kept without its text and without `due_at`,
-- because the sending quota of its recipient counts sent rows.
CREATE TABLE outbound_message (
  id         blob    NOT NULL PRIMARY KEY,
  recipient  blob    NOT NULL,
  purpose    varchar,
  sealed     blob    NOT NULL,
  data_key   integer NOT NULL,
  created_at integer NOT NULL,
  due_at     integer,
  failures   integer NOT NULL,
  channel    varchar NOT NULL DEFAULT 'mail'
);
CREATE INDEX outbound_message_recipient ON outbound_message (recipient, purpose, created_at);
CREATE INDEX outbound_message_due ON outbound_message (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX outbound_message_sent ON outbound_message (created_at) WHERE due_at IS NULL;
CREATE INDEX outbound_message_channel ON outbound_message (channel, due_at, created_at) WHERE due_at IS NOT NULL;

-- Failed sign-ins of a recipient: one counter for all unknown clients together, and one counter
-- for each known client.
CREATE TABLE lockout (
  recipient    blob    NOT NULL,
  counter      blob    NOT NULL,
  tries        integer NOT NULL,
  failures     integer NOT NULL,
  last_try_at  integer NOT NULL,
  locked_until integer,
  PRIMARY KEY (recipient, counter)
);
CREATE INDEX lockout_quiet ON lockout (last_try_at);

-- The sign-in history. An attempt at an unknown address has no account.
CREATE TABLE login_try (
  id         integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  account_id integer,
  ip         varchar NOT NULL,
  user_agent varchar NOT NULL,
  status     varchar NOT NULL,
  method     varchar NOT NULL,
  created_at integer NOT NULL,
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE INDEX login_try_account ON login_try (account_id, id);
CREATE INDEX login_try_status ON login_try (account_id, status);
CREATE INDEX login_try_made ON login_try (created_at);
CREATE INDEX login_try_nobody ON login_try (created_at) WHERE account_id IS NULL;

-- The ledger: append-only grants, and one usage row per account, day and endpoint. The sum of
-- an account's credits is its balance. Rows outlive their account, so there is no foreign key.
CREATE TABLE ledger (
  id            integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  account_id    integer NOT NULL,
  kind          varchar NOT NULL,
  day           integer,
  endpoint      varchar,
  credits       integer NOT NULL,
  balance_after integer NOT NULL,
  description   varchar,
  created_at    integer NOT NULL,
  updated_at    integer NOT NULL
);
-- NULLs are distinct: the index constrains usage rows and no others.
CREATE UNIQUE INDEX ledger_usage ON ledger (account_id, day, endpoint);
CREATE INDEX ledger_account ON ledger (account_id, id);

-- One row per call. Rows outlive their caller, so there is no foreign key.
CREATE TABLE usage (
  id               integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  request_id       blob    NOT NULL UNIQUE,
  account_id       integer,
  guest_id         integer,
  endpoint         varchar NOT NULL,
  method           varchar NOT NULL,
  status           integer NOT NULL,
  credits          integer NOT NULL,
  response_time_ms integer NOT NULL,
  ip               varchar NOT NULL,
  created_at       integer NOT NULL
);
CREATE INDEX usage_time ON usage (created_at);
CREATE INDEX usage_guest ON usage (guest_id) WHERE guest_id IS NOT NULL;
-- Read at start: the calls of guests since midnight.
CREATE INDEX usage_guest_time ON usage (created_at) WHERE guest_id IS NOT NULL;

-- An index of `usage` by account and time. A background task (`usage_index`) adds the rows of
-- many calls at once, because an index that every call updates would write one more page for
-- each account of a batch.
CREATE TABLE call_by_account (
  account_id bigint NOT NULL,
  created_at bigint NOT NULL,
  call_id    bigint NOT NULL,
  PRIMARY KEY (account_id, created_at, call_id)
) WITHOUT ROWID;

-- Calls summed by account, day, endpoint and method.
CREATE TABLE usage_day (
  account_id       integer NOT NULL,
  day              integer NOT NULL,
  endpoint         varchar NOT NULL,
  method           varchar NOT NULL,
  requests         integer NOT NULL,
  credits          integer NOT NULL,
  response_time_ms integer NOT NULL,
  PRIMARY KEY (account_id, day, endpoint, method)
);
CREATE INDEX usage_day_day ON usage_day (day);

-- Databases that an account subscribes to.
CREATE TABLE subscription (
  id            integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  account_id    integer NOT NULL,
  database_name varchar NOT NULL,
  is_active     boolean NOT NULL,
  created_at    integer NOT NULL,
  UNIQUE (account_id, database_name),
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
);

-- Clients that a recipient signed in with before: digests of their tokens and networks.
CREATE TABLE known_client (
  recipient blob    NOT NULL,
  mark      blob    NOT NULL,
  seen_at   integer NOT NULL,
  PRIMARY KEY (recipient, mark)
);
CREATE INDEX known_client_seen ON known_client (seen_at);

-- Deleted accounts whose usage rows are not all anonymous yet.
CREATE TABLE departed (
  account_id integer NOT NULL PRIMARY KEY,
  created_at integer NOT NULL
);

-- The rolling-hour limit of a caller as leased by several instances. There is no index on
-- `leased_at`, so that an update of a row changes no index.
CREATE TABLE shared_limit (
  is_guest  boolean NOT NULL,
  caller_id integer NOT NULL,
  shared    text    NOT NULL,
  leased_at integer NOT NULL,
  PRIMARY KEY (is_guest, caller_id)
);

-- Guest keys created per UTC day and scope. The day comes first: expired days are removed
-- whole.
CREATE TABLE guest_count (
  day    integer NOT NULL,
  scope  varchar NOT NULL,
  guests integer NOT NULL,
  PRIMARY KEY (day, scope)
);

-- Responses stored under an idempotency key. `slot` is the digest of caller, endpoint and key,
-- so no row refers to an account.
CREATE TABLE kept_answer (
  slot       blob    NOT NULL PRIMARY KEY,
  request    blob    NOT NULL,
  run        blob    NOT NULL,
  held_until integer NOT NULL,
  expires_at integer NOT NULL,
  body       text,
  cost       integer,
  balance    integer
);
CREATE INDEX kept_answer_end ON kept_answer (expires_at);

-- Clients of the OAuth server. `redirect_uris` is a JSON array.
CREATE TABLE oauth_client (
  id            varchar NOT NULL PRIMARY KEY,
  name          text    NOT NULL,
  redirect_uris text    NOT NULL,
  created_at    integer NOT NULL,
  last_used_at  integer
);
CREATE INDEX oauth_client_unused ON oauth_client (created_at) WHERE last_used_at IS NULL;
CREATE INDEX oauth_client_idle ON oauth_client (last_used_at);

-- Authorization codes. A code keeps the id of its grant, also after the end of the grant.
CREATE TABLE oauth_code (
  digest       blob    NOT NULL PRIMARY KEY,
  account_id   integer NOT NULL,
  client_id    varchar NOT NULL,
  redirect_uri text    NOT NULL,
  challenge    varchar NOT NULL,
  resource     text    NOT NULL,
  created_at   integer NOT NULL,
  grant_id     blob,
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE,
  FOREIGN KEY (client_id) REFERENCES oauth_client (id) ON DELETE CASCADE
);
CREATE INDEX oauth_code_made ON oauth_code (created_at);
CREATE INDEX oauth_code_account ON oauth_code (account_id);
CREATE INDEX oauth_code_client ON oauth_code (client_id);

-- Grants of OAuth clients. A grant expires with its last refresh token.
CREATE TABLE oauth_grant (
  id           blob    NOT NULL PRIMARY KEY,
  account_id   integer NOT NULL,
  client_id    varchar NOT NULL,
  resource     text    NOT NULL,
  created_at   integer NOT NULL,
  last_used_at integer NOT NULL,
  expires_at   integer NOT NULL,
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE,
  FOREIGN KEY (client_id) REFERENCES oauth_client (id) ON DELETE CASCADE
);
CREATE INDEX oauth_grant_account ON oauth_grant (account_id, created_at);
CREATE INDEX oauth_grant_client ON oauth_grant (client_id);
CREATE INDEX oauth_grant_expires ON oauth_grant (expires_at);

-- Access tokens and refresh tokens. A used refresh token is kept, so that its reuse is
-- detected.
CREATE TABLE oauth_token (
  digest     blob    NOT NULL PRIMARY KEY,
  grant_id   blob    NOT NULL,
  kind       varchar NOT NULL,
  created_at integer NOT NULL,
  expires_at integer NOT NULL,
  used_at    integer,
  FOREIGN KEY (grant_id) REFERENCES oauth_grant (id) ON DELETE CASCADE
);
CREATE INDEX oauth_token_grant ON oauth_token (grant_id);
CREATE INDEX oauth_token_expires ON oauth_token (expires_at);

-- Results of tool calls through the MCP gateway, kept for a day, the newest of each account. An id
-- begins with the time of its call, so that the clean-up needs no index by time.
CREATE TABLE result (
  id         blob    NOT NULL PRIMARY KEY,
  account_id integer NOT NULL,
  created_at integer NOT NULL,
  -- The size of the body, for the quota of the account.
  bytes      integer GENERATED ALWAYS AS (octet_length(body)) STORED NOT NULL,
  body       text    NOT NULL,
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX result_owner ON result (account_id, created_at, bytes);

-- Notifications of one account, and broadcasts to all accounts (without `account_id`). Both
-- share one sequence of ids.
CREATE TABLE notification (
  id          integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  account_id  integer,
  category    varchar NOT NULL,
  title       varchar NOT NULL,
  description varchar,
  message     text,
  created_at  integer NOT NULL,
  read_at     integer,
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE INDEX notification_account ON notification (account_id, id);
CREATE INDEX notification_written ON notification (created_at);
CREATE INDEX notification_broadcast ON notification (id) WHERE account_id IS NULL;
CREATE INDEX notification_unread ON notification (account_id) WHERE read_at IS NULL;

-- Delivery of a broadcast: `reached` is the last account number that was handled.
CREATE TABLE broadcast (
  notification_id integer NOT NULL PRIMARY KEY,
  in_app          boolean NOT NULL,
  email           boolean NOT NULL,
  messaging       boolean NOT NULL,
  reached         integer NOT NULL,
  is_done         boolean NOT NULL,
  FOREIGN KEY (notification_id) REFERENCES notification (id) ON DELETE CASCADE
);
CREATE INDEX broadcast_waiting ON broadcast (notification_id) WHERE is_done = FALSE;

-- The state of one broadcast in one inbox: when it was read, and whether it was deleted.
CREATE TABLE notification_mark (
  account_id      integer NOT NULL,
  notification_id integer NOT NULL,
  read_at         integer,
  deleted         boolean NOT NULL,
  PRIMARY KEY (account_id, notification_id),
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE,
  FOREIGN KEY (notification_id) REFERENCES notification (id) ON DELETE CASCADE
);
CREATE INDEX notification_mark_of ON notification_mark (notification_id);

-- The broadcast up to which an account marked its inbox as read.
CREATE TABLE inbox_mark (
  account_id integer NOT NULL,
  up_to      integer NOT NULL,
  read_at    integer NOT NULL,
  PRIMARY KEY (account_id, up_to),
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
);

-- Notification settings. An account without a row has the defaults.
CREATE TABLE preference (
  account_id        integer NOT NULL PRIMARY KEY,
  notify_email      boolean NOT NULL,
  notify_messaging  boolean NOT NULL,
  notify_in_app     boolean NOT NULL,
  messaging_chat_id varchar,
  tested_at         integer,
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
);

-- Identities at an OpenID Connect provider, known by issuer and subject and not by e-mail.
CREATE TABLE idp_identity (
  issuer     varchar NOT NULL,
  subject    varchar NOT NULL,
  account_id integer NOT NULL,
  created_at integer NOT NULL,
  PRIMARY KEY (issuer, subject),
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE INDEX idp_identity_account ON idp_identity (account_id);

-- Sign-ins that were started at a provider: digests of state and cookie. Nonce and verifier are
-- derived from the state.
CREATE TABLE idp_start (
  state      blob    NOT NULL PRIMARY KEY,
  browser    blob    NOT NULL,
  desktop    varchar,
  created_at integer NOT NULL
);
CREATE INDEX idp_start_made ON idp_start (created_at);

-- Identities of a provider whose registration waits for its completion.
CREATE TABLE idp_completion (
  digest     blob    NOT NULL PRIMARY KEY,
  issuer     varchar NOT NULL,
  subject    varchar NOT NULL,
  email      varchar NOT NULL,
  desktop    varchar,
  created_at integer NOT NULL
);
CREATE INDEX idp_completion_made ON idp_completion (created_at);

-- One-time tokens by which a sign-in in a browser starts a session in a desktop application.
CREATE TABLE hand_off (
  digest     blob    NOT NULL PRIMARY KEY,
  account_id integer NOT NULL,
  method     varchar NOT NULL,
  created_at integer NOT NULL,
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE INDEX hand_off_made ON hand_off (created_at);
CREATE INDEX hand_off_account ON hand_off (account_id);

-- Changes of an account's e-mail address that the former address can undo, in their order. `email`:
-- the former address.
CREATE TABLE email_undo (
  id         integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  digest     blob    NOT NULL UNIQUE,
  account_id integer NOT NULL,
  email      varchar NOT NULL,
  created_at integer NOT NULL,
  FOREIGN KEY (account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE INDEX email_undo_account ON email_undo (account_id, id);
CREATE INDEX email_undo_made ON email_undo (created_at);

-- Operators' actions on accounts. A row outlives its account, so there is no foreign key.
CREATE TABLE operator_action (
  id         integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  account_id integer NOT NULL,
  action     varchar NOT NULL,
  detail     varchar,
  reason     varchar,
  created_at integer NOT NULL
);
CREATE INDEX operator_action_account ON operator_action (account_id, id);
