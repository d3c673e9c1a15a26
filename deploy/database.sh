#!/bin/sh
# Runs once, on an empty volume: makes the role of the service, which owns its database and nothing else. The
# superuser keeps no password, so that it is let in from inside the container alone.
set -e
psql --no-psqlrc -v ON_ERROR_STOP=1 -v password="$POSTGRES_PASSWORD" --username postgres <<'SQL'
CREATE ROLE quant LOGIN PASSWORD :'password';
CREATE DATABASE quant OWNER quant;
ALTER ROLE postgres PASSWORD NULL;
SQL
