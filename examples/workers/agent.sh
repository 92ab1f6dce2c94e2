# The agent itself: put your own in its place. This one obeys the first word of what was said, as `./atp worker-check` asks it to.
# It finds what is to be done in $turn, and writes how the turn ends, as JSON: finish, ask, confirm or fail, as worker.v1 has them.

finish() { jq -n --arg content "$1" '{finish: {content: $content, uploadIds: $ARGS.positional}}' --args "${@:2}"; }

work() {
  local said word rest first second file
  said=$(jq -r '[.messages[].content] | join("\n")' <<<"$turn")
  if jq -e 'has("memo")' <<<"$turn" >/dev/null; then finish "you said $said"; return; fi # this is the answer to a question
  word=${said%% *} rest=${said#* }
  first=${rest%% *} second=${rest#* }
  case $word in
    ask) jq -n --arg content "$rest" '{ask: {content: $content, memo: "asked"}}' ;;
    confirm) # once it is decided, the same turn comes back with the decision
      case $(jq -r '.decisions[0] | if . == null then "open" else .accepted == true end' <<<"$turn") in
        open) jq -n --arg kind "$first" --arg text "$second" '{confirm: {kind: $kind, params: {text: $text}}}' ;;
        true) finish "accepted $second" ;;
        false) finish "refused $second" ;;
      esac ;;
    file) file=$(upload "$first" "$second") && finish "here is $first" "$file" ;;
    fail) jq -n --arg content "$rest" '{fail: {errorType: "internal", content: $content}}' ;;
    sleep) sleep "$rest" && finish "slept $rest" ;;
    work) steps "$rest" 0 && finish "did $rest steps" ;;
    slow) steps "$rest" 1 && finish "did $rest steps" ;;
    echo) finish "$rest" ;;
    *) finish "$said" ;;
  esac
}

# COUNT SECONDS: a plan, a tool and progress. Keys follow from the step alone: whoever goes on behind a lost run says nothing twice.
steps() {
  local step
  for ((step = 1; step <= $1; step++)); do
    jq -e --arg key "step-$step" 'any(.events[]?; .event.key == $key)' <<<"$turn" >/dev/null && continue
    append "$(jq -nc --argjson step "$step" --argjson count "$1" '[
      {key: "step-\($step).plan", planUpdate: {steps: [range(1; $count + 1) | {title: "Step \(.)", status: (if . <= $step then "done" else "todo" end)}]}},
      {key: "step-\($step).tool", toolUsed: {tool: "counter", status: "success", brief: "Counted to \($step)"}},
      {key: "step-\($step)", assistantMessage: {content: "step \($step) of \($count)"}}]')" || return
    sleep "$2"
  done
}
