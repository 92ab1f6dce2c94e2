import { z } from "zod";
import { agentProfiles, agentProfilesRule } from "./agent-profiles.ts";
import { rateFactor } from "./rate-factor.ts";
import { byteSize, numberSetting, switchSetting } from "./values.ts";
import { defineVariable } from "./variable.ts";

export const callLimits = {
  RATE_LIMITS: defineVariable({
    type: "factor",
    fallback: "auto",
    rule: "`auto`, `default`, `off`, or a number above 0 and below 1000000 by which every limit is multiplied",
    example: "2.5",
    description:
      "The factor on the limits of calls per minute. `default` gives the numbers of the hosted API. `off` removes every rate limit, including the limits per address. `auto` is `off` while only this machine uses the server: HOST, ADMIN_HOST, BASE_URL, CONSENT_URL, APP_URL and SITES_DOMAIN are loopback, TRUST_PROXY is unset, and every profile of AGENT_PROFILES is `offline` or `remote`. Otherwise it is `default`. The log line `ready` has the result as `rate_limits`. Sign-in attempts stay limited.",
    schema: rateFactor,
  }),
  WATCH_LIMIT: defineVariable({
    ...numberSetting(1, 100_000),
    fallback: "100",
    example: "500",
    description:
      "The maximum number of held calls and open watches of one account in one process. The next one is refused with 429 `resource_exhausted` and `Retry-After`. Calls that are answered immediately do not count.",
  }),
  WAIT_SECONDS: defineVariable({
    ...numberSetting(1, 60),
    type: "seconds",
    fallback: "50",
    example: "25",
    description:
      "The longest time that a call is held, even if `wait_seconds` is higher. Set it below the timeout of your proxy; most proxies use 60 s.",
  }),
  BODY_LIMIT: defineVariable({
    type: "bytes",
    fallback: "32MiB",
    rule: "a number of bytes from 1KiB to 1GiB, plain or with KiB, MiB or GiB",
    example: "64MiB",
    description:
      "The largest request, after decompression, of operations that accept content: `task.create`, `task.sendMessage`, `CreateSkill`, workers' events, imported events, borrowed browsers, and the same operations on other wires. Other operations have smaller limits (256 KiB, or the value in `test/golden/operations.txt`); BODY_LIMIT caps them too. A file of 20 MB in `file_data` needs about 27 MiB. FILE_LIMIT applies to uploads.",
    schema: byteSize(1024, 1024 ** 3),
  }),
  BODY_MEMORY: defineVariable({
    type: "bytes",
    fallback: "256MiB",
    rule: "a number of bytes from 2KiB to 1024GiB, plain or with KiB, MiB or GiB, and at least twice BODY_LIMIT",
    example: "1GiB",
    description:
      "The memory for all request bodies that a process is reading or parsing. After it is read, a body counts twice: its bytes, and the objects that are built from them. One account, or one address without an account, may use a quarter, or twice BODY_LIMIT if that is more. Further bodies are refused with 503 `unavailable`. Uploads of files do not count.",
    schema: byteSize(2048, 1024 * 1024 ** 3),
  }),
};

export const responses = {
  RESPONSES_STATUS: defineVariable({
    type: "form of answers",
    fallback: "auto",
    rule: "auto, openai or platform",
    example: "platform",
    description:
      "The form of answers of the Responses API (`/responses`, `/v1/responses`): `openai` is what OpenAI's SDKs expect, `platform` that of the hosted API. With `auto` a key in `Authorization: Bearer` gets `openai`, and a key in another header `platform`. The header `Prefer: status=…` of a request overrides it ([openai.md](../guides/openai.md#two-forms)).",
    schema: z.enum(["auto", "openai", "platform"]),
  }),
};

/** OAuth 2.0 apps. */
export const oauth = {
  OAUTH_REGISTRATION: defineVariable({
    ...switchSetting,
    fallback: "off",
    example: "on",
    description:
      "Whether OAuth clients can register themselves (RFC 7591), for MCP clients that do not support client ID metadata documents. Every caller who reaches the server can then register a client, 10 an hour from one address and 1,000 unused ones in all: the next one replaces the oldest. `off` ends the tokens of such clients at the next call ([oauth.md](../guides/oauth.md#mcp-clients)).",
  }),
  CLI_SIGN_IN: defineVariable({
    ...switchSetting,
    fallback: "on",
    example: "off",
    description:
      "Whether the command line `atp` can sign in with the browser. `off` ends its tokens at the next call; API keys are not affected.",
  }),
  OAUTH_REFRESH_REPLAY_SECONDS: defineVariable({
    ...numberSetting(0, 60),
    type: "seconds",
    fallback: "0",
    example: "5",
    description:
      "The time in which a repeated refresh returns the same token pair again instead of `invalid_grant`, for clients that lost the first response. A value above 0 deviates from the specification; the log warns about it at the start.",
  }),
};

/** The public cards of the Agent2Agent protocol. */
export const a2a = {
  A2A: defineVariable({
    ...switchSetting,
    fallback: "off",
    example: "on",
    description:
      "Whether callers without a credential can read the cards of the agents in A2A_PROFILES. The bindings of A2A, and cards for callers with a credential, do not depend on it ([a2a.md](../guides/a2a.md)).",
  }),
  A2A_PROFILES: defineVariable({
    type: "list of names",
    fallback: null,
    unset: "no agent is public",
    rule: "1 to 20 names of profiles, separated by commas, each once",
    example: "manus-1.6,manus-1.6-max",
    description:
      "The agent profiles that public cards name. The card of the first one is at `/.well-known/agent-card.json`. Required with `A2A=on`.",
    schema: z
      .string()
      .transform((text) => text.split(",").map((name) => name.trim()))
      .refine(
        (names) =>
          names.length <= 20 && new Set(names).size === names.length && names.every((name) => name !== ""),
      ),
  }),
};

export const agents = {
  AGENT_PROFILES: defineVariable({
    type: "list of profile=agent",
    fallback: null,
    unset: "models that operators set in the web application, otherwise `offline`",
    rule: agentProfilesRule,
    example: "manus-1.6=offline,manus-1.6-lite=offline",
    description:
      "The agent for each profile. `offline` needs no model and no network; `model:NAME` is a model of MODELS_FILE; `a2a:NAME` is an agent of another system in A2A_AGENTS_FILE; `remote` leaves the tasks to workers that poll. Names other than those of the public API are new profiles, which tasks can have as `agent_profile`. `remote;labels=gpu+eu` leaves the tasks to workers whose credential has all of these labels ([agents.md](../guides/agents.md#profiles)).",
    schema: agentProfiles,
  }),
  RUN_CONCURRENCY: defineVariable({
    ...numberSetting(1, 100_000),
    fallback: "1000",
    example: "50",
    description: "The maximum number of tasks that one process runs at the same time; other tasks wait.",
  }),
  QUEUE_DEPTH: defineVariable({
    ...numberSetting(1, 100_000_000),
    fallback: "100000",
    example: "5000",
    description:
      "The maximum number of tasks that wait for a runner. New tasks are refused with 503 `unavailable` and `Retry-After` while the queue is full.",
  }),
};

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export interface CallLog {
  /** The share of successful calls, from 0 to 1. */
  readonly successful: number;
  /** Calls that were refused, failed or were cancelled. */
  readonly others: boolean;
}

/** `all`, `errors`, `off`, or the share of successful calls in percent. */
const callLog = z
  .string()
  .regex(/^(all|errors|off|(100|\d{1,2})(\.\d{1,3})?%)$/)
  .transform((text): CallLog => {
    if (text === "off") return { successful: 0, others: false };
    const percent = text === "all" ? 100 : text === "errors" ? 0 : Number.parseFloat(text);
    return { successful: Math.min(1, percent / 100), others: true };
  });

export const processing = {
  ROLE: defineVariable({
    type: "role",
    fallback: "all",
    rule: "api, worker or all; api and worker only with PostgreSQL",
    example: "worker",
    description:
      "The role of this process: `api` answers calls, `worker` runs tasks, `all` does both. A `worker` accepts only the call `browser.v2.BrowserService/Attach`, and `api` accepts all other calls: browsers attach to the processes that run tasks ([browsers.md](../guides/browsers.md)).",
    schema: z.enum(["api", "worker", "all"]),
  }),
  NOTICE_SECONDS: defineVariable({
    ...numberSetting(0, 3600),
    type: "seconds",
    fallback: "0",
    example: "10",
    description:
      "How long the process still accepts calls after SIGTERM while `/readyz` already fails. Set it to the time that your load balancer needs to notice. DRAIN_SECONDS start after it.",
  }),
  DRAIN_SECONDS: defineVariable({
    ...numberSetting(0, 3600),
    type: "seconds",
    fallback: "25",
    example: "55",
    description:
      "How long calls in progress may finish after SIGTERM, and runs that call a model may finish the step that they are in. Remaining ones are cut off.",
  }),
  LOG_LEVEL: defineVariable({
    type: "log level",
    fallback: "info",
    rule: `one of ${logLevels.join(", ")}`,
    example: "debug",
    description: "The lowest level of log lines to write. Lines are JSON on standard error.",
    schema: z.enum(logLevels),
  }),
  SLOW_STATEMENT_MS: defineVariable({
    ...numberSetting(0, 3_600_000),
    type: "milliseconds",
    fallback: "1000",
    example: "200",
    description:
      "A statement to the database that takes longer is logged as a warning, without its values. Further ones are counted, at most one line a minute. 0 logs none.",
  }),
  CALL_LOG: defineVariable({
    type: "calls to log",
    fallback: "all",
    rule: "all, errors, off, or a share of the successful calls like 5%",
    example: "5%",
    description:
      "The calls that have a line in the log, at level `info` ([monitoring.md](../operate/monitoring.md#one-line-per-call)). `errors` are calls that were refused, failed or were cancelled; a share adds that part of the successful calls to them.",
    schema: callLog,
  }),
};
