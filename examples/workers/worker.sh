#!/usr/bin/env bash
# A worker for the Agent Task Platform, in bash with curl and jq: all that there is between the platform and agent.sh.
# ATP_URL=http://localhost:8080 WORKER_KEY=wk-… bash worker.sh (docs/guides/worker-rules.md has the rules)
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/agent.sh"
lost=10 # exit code: the run is another's now, or the user stopped it

# METHOD, body on standard input: sends it again, as it was, until it is answered; whatever it is, it is done once.
call() {
  local body answer status
  body=$(cat)
  while :; do
    # The key does not go with the arguments, which everybody on the machine may read.
    answer=$(curl -s -m 40 -w '\n%{http_code}' -H @<(echo "x-api-key: $WORKER_KEY") -H 'content-type: application/json' \
      --data-binary @- "$ATP_URL/worker.v1.WorkerService/$1" <<<"$body")
    status=${answer##*$'\n'}
    answer=${answer%$'\n'*}
    case $status in
      200) jq -ce . <<<"$answer" && return ;;
      000 | 429 | 5??) ;; # no answer, or not now
      *) [[ $answer == *failed_precondition* ]] && return $lost
        echo "$1: $answer" >&2
        return 1 ;;
    esac
    sleep 1
  done
}

# What the agent may do in its turn; they fail when the run is over.
append() { jq --argjson events "$1" '. + {events: $events}' <<<"$run" | call Append >/dev/null; }
upload() { jq --arg name "$1" --arg text "$2" '. + {filename: $name, content: ($text | @base64)}' <<<"$run" | call Upload | jq -r .uploadId; }

# PID: keeps its run while nothing else is said in it, and ends it when the run is stopped.
beat() {
  while sleep "$(jq '.leaseSeconds / 3' <<<"$turn")" && kill -0 $$; do
    [ -z "$(call Heartbeat <<<"$run" | jq -r '.stop // ""')" ] || kill "$1"
  done 2>/dev/null
}

# Does one turn, and leaves the next one in `turn` where the platform has it already.
serve() {
  local working beating status outcome='{"fail": {"errorType": "internal", "content": "It did not work."}}'
  run=$(jq -c '{taskId, fence}' <<<"$turn")
  work >"$scratch/outcome" & working=$!
  beat $working & beating=$!
  trap 'kill $working $beating; call Release <<<"$run" >/dev/null; exit' TERM # told to stop: another goes on at once
  wait $working
  status=$?
  trap 'leaving=1' TERM
  kill $beating
  turn=
  [ $status = $lost ] || [ $status -gt 128 ] && return # it is another's, or `beat` has ended it
  [ $status = 0 ] && outcome=$(cat "$scratch/outcome")
  turn=$(jq --argjson outcome "$outcome" '. + $outcome' <<<"$run" | call Finish | jq -c '.run // empty')
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
leaving= turn=
trap 'leaving=1' TERM
while [ -z "$leaving" ] || [ -n "$turn" ]; do
  # bash hears of a signal when curl is done: so a Poll is short.
  [ -n "$turn" ] || turn=$(jq -n --arg names "${PROFILES:-}" '{waitSeconds: 5, profiles: ($names | split(","))}' | call Poll | jq -c '.run // empty') || exit
  [ -z "$turn" ] || serve
done
