#!/bin/sh
# Makes the secrets of compose.yaml in the folder secrets/ beside it, each once: it never replaces a file. The folder is for its owner only; the files
# in it can be read, because processes of containers have another user.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets

# Writes the output of a command into a new file.
once() {
  name=secrets/$1
  shift
  [ -s "$name" ] || { "$@" >"$name" && chmod 644 "$name"; }
}

once postgres-password openssl rand -hex 24
once encryption-key openssl rand -base64 32
once s3-secret-access-key openssl rand -hex 24
once database-url printf 'postgresql://atp:%s@database:5432/atp\n' "$(cat secrets/postgres-password)"
once storage.json printf '{"identities": [{"name": "atp", "credentials": [{"accessKey": "atp", "secretKey": "%s"}], "actions": [%s]}]}\n' \
  "$(cat secrets/s3-secret-access-key)" '"Read:atp", "Write:atp", "List:atp", "Tagging:atp"'
