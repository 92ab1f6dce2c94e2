import type { Observe } from "../../core/observe.ts";
import type { Series } from "./series.ts";

/** Bounds of buckets in seconds: most calls take milliseconds, and held calls up to a minute. */
const callSeconds = [0.005, 0.025, 0.1, 0.5, 2.5, 10];
const modelSeconds = [0.5, 2, 5, 15, 45, 120];

type CallFunctions = Pick<Observe, "callBegan" | "callEnded" | "uploaded" | "watchers">;

export function callMetrics({ counter, histogram, gauge }: Series): CallFunctions & { refresh: () => void } {
  const duration = histogram(
    {
      name: "http_server_request_duration_seconds",
      help: "Time of admitted calls from their head to the end of their answer, by operation. Held calls and streams count with all of their time.",
      labels: ["operation"],
      most: 70,
    },
    callSeconds,
  );
  const calls = counter(
    {
      name: "atp_calls_total",
      help: "Calls by operation, wire and outcome: ok, or the reason of the refusal. The operation of a call to none is its address's template, or unknown.",
      labels: ["operation", "wire", "outcome"],
      most: 300,
    },
    // Refusals, which callers without a credential can cause, take no label sets from successful calls.
    ({ outcome }) => outcome !== "ok",
  );
  const active = gauge({
    name: "http_server_active_requests",
    help: "Calls in progress, by wire.",
    labels: ["wire"],
    most: 9,
  });
  const uploads = counter({
    name: "atp_uploads_total",
    help: "Uploads of files by outcome.",
    labels: ["outcome"],
    most: 18,
  });
  const bytes = counter({
    name: "atp_uploaded_bytes_total",
    help: "Bytes of complete uploads.",
    labels: [],
    most: 1,
  });
  const watching = gauge({
    name: "atp_watchers",
    help: "Open watches and held calls, of own or shared tasks.",
    labels: ["kind"],
    most: 2,
  });
  const open = new Map<string, number>();
  const watches = new Map<string, () => number>();
  return {
    callBegan: (wire) => void open.set(wire, (open.get(wire) ?? 0) + 1),
    callEnded({ operation, wire, outcome, seconds, isAdmitted }) {
      open.set(wire, (open.get(wire) ?? 1) - 1);
      calls({ operation, wire, outcome });
      if (isAdmitted) duration({ operation }, seconds);
    },
    uploaded(outcome, size) {
      uploads({ outcome });
      if (outcome === "ok") bytes({}, size);
    },
    watchers: (kind, count) => void watches.set(kind, count),
    refresh() {
      active([...open].map(([wire, count]) => [{ wire }, count]));
      watching([...watches].map(([kind, count]) => [{ kind }, count()]));
    },
  };
}

export function modelMetrics({
  counter,
  histogram,
}: Series): Pick<Observe, "modelCalled" | "tokensUsed" | "prefixChanged" | "budgetRefused"> {
  const duration = histogram(
    {
      name: "gen_ai_client_operation_duration_seconds",
      help: "Time of calls of a model, by the model's name at its endpoint and outcome.",
      labels: ["model", "outcome"],
      most: 20,
    },
    modelSeconds,
  );
  const tokens = counter({
    name: "gen_ai_client_tokens_total",
    help: "Tokens that calls of a model used, by model and type: input or output, and cached_input and cache_write, which are parts of input.",
    labels: ["model", "type"],
    most: 32,
  });
  const changes = counter({
    name: "atp_prefix_changes_total",
    help: "Turns that began with another system message or other tools than the turn before them, so that nothing of it was cached, by model.",
    labels: ["model"],
    most: 10,
  });
  const refused = counter({
    name: "atp_budget_refusals_total",
    help: "Runs that did not begin, and runs that ended, because a budget, or the run's own limit, has too few credits.",
    labels: [],
    most: 1,
  });
  return {
    modelCalled: ({ model, outcome, seconds }) => duration({ model, outcome }, seconds),
    tokensUsed(model, { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens }) {
      tokens({ model, type: "input" }, inputTokens);
      tokens({ model, type: "output" }, outputTokens);
      tokens({ model, type: "cached_input" }, cachedInputTokens);
      tokens({ model, type: "cache_write" }, cacheWriteTokens);
    },
    prefixChanged: (model) => changes({ model }),
    budgetRefused: () => refused({}),
  };
}
