#!/bin/sh
# Makes the secrets of compose.yaml in the folder secrets/ beside it, each once: it never replaces a file. The folder is for its owner only; the files
# in it can be read, because processes of containers have another user.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets
once() { [ -s "secrets/$1" ] || { cat >"secrets/$1" && chmod 644 "secrets/$1"; }; }

openssl rand -hex 24 | once postgres-password
openssl rand -base64 32 | once encryption-key
openssl rand -hex 24 | once s3-secret-access-key
echo "postgresql://atp:$(cat secrets/postgres-password)@database:5432/atp" | once database-url
once storage.json <<JSON
{
  "identities": [
    {
      "name": "atp",
      "credentials": [{ "accessKey": "atp", "secretKey": "$(cat secrets/s3-secret-access-key)" }],
      "actions": ["Read:atp", "Write:atp", "List:atp", "Tagging:atp"]
    }
  ]
}
JSON
