#!/bin/sh
# Makes what compose.yaml reads, once: tokens, passwords, and a certificate of its own for a trial.
# The folder is for its owner only; the files in it can be read by the user in the containers.
set -eu
cd "$(dirname "$0")"
[ -d secrets ] && { echo "secrets/ is there already: remove it to make others" >&2; exit 1; }
umask 077
made=$(mktemp -d secrets.XXXXXX)
# All of them or none.
trap 'rm -rf "$made"' EXIT
for name in admin-token submit-token executor-token mysql-password; do
  openssl rand -hex 24 > "$made/$name"
done
printf 'mysql://soda:%s@mysql:3306/soda\n' "$(cat "$made/mysql-password")" > "$made/database-url"
random=$(openssl rand -base64 32)
printf 'whsec_%s\n' "$random" > "$made/notify-secret"
# Whoever trusts it trusts it for these names alone.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=soda \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE \
  -keyout "$made/tls.key" -out "$made/tls.crt" 2> "$made/said" || { cat "$made/said" >&2; exit 1; }
rm "$made/said"
chmod 0644 "$made"/*
mv "$made" secrets
trap - EXIT
