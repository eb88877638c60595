#!/bin/sh
# Makes what compose.yaml reads, once: tokens, passwords, and a certificate of its own for a trial.
# The folder is for its owner only; the files in it can be read by the user in the containers.
set -eu
cd "$(dirname "$0")"
[ -d secrets ] && { echo "secrets/ is there already: remove it to make others" >&2; exit 1; }
umask 077
mkdir secrets
for name in admin-token submit-token executor-token mysql-password; do
  openssl rand -hex 24 > "secrets/$name"
done
printf 'mysql://soda:%s@mysql:3306/soda\n' "$(cat secrets/mysql-password)" > secrets/database-url
printf 'whsec_%s\n' "$(openssl rand -base64 32)" > secrets/notify-secret
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=soda \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout secrets/tls.key -out secrets/tls.crt 2>/dev/null
chmod 0644 secrets/*
