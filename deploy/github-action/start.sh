#!/bin/bash
# Starts a server in test mode that outlives this step, and writes its address and key to GITHUB_ENV.
set -euo pipefail
folder=$(mktemp -d)
[ -e "$PACKAGE" ] && PACKAGE=$(realpath "$PACKAGE")
npm install --prefix "$folder" --no-audit --no-fund --loglevel=error "$PACKAGE"
read -ra flags <<< "${FLAGS:-}"
PORT="${PORT:-0}" nohup "$folder/node_modules/.bin/atp" serve --test "${flags[@]}" > "$folder/ready" 2> "$folder/log" &
server=$!
for _ in $(seq 300); do
  if grep -q base_url "$folder/ready"; then
    read -r url key < <(node -e 'const { base_url, api_key } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")); console.log(base_url, api_key)' "$folder/ready")
    echo "::add-mask::$key"
    printf 'ATP_URL=%s\nATP_KEY=%s\n' "$url" "$key" >> "$GITHUB_ENV"
    exit 0
  fi
  kill -0 "$server" 2> /dev/null || break
  sleep 0.1
done
cat "$folder/log" >&2
exit 1
