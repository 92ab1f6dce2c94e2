import { z } from "zod";
import { agentProfiles, agentProfilesRule } from "./agent-profiles.ts";
import { byteSize, rateFactor, wholeNumber } from "./values.ts";
import { variable } from "./variable.ts";

/** What callers may ask of it. */
export const callLimits = {
  RATE_LIMITS: variable({
    type: "factor",
    fallback: "default",
    rule: "`default`, `off`, or a number above 0 and below 1000000 by which every limit is multiplied",
    example: "2.5",
    description: "Calls a minute. `off` lifts every rate limit, those per address too; attempts to sign in stay limited.",
    schema: rateFactor,
  }),
  WATCH_LIMIT: variable({
    type: "number",
    fallback: "100",
    rule: "a whole number from 1 to 100000",
    example: "500",
    description:
      "Held calls and open watches of one account in one process; the next one is refused with 429 `resource_exhausted`. A call that is answered at once takes no place.",
    schema: wholeNumber(1, 100_000),
  }),
  WAIT_SECONDS: variable({
    type: "seconds",
    fallback: "50",
    rule: "a whole number from 1 to 60",
    example: "25",
    description:
      "The longest time that a call is held, also when `wait_seconds` asks for more. Set it below the time-out of your proxy, which is 60 s for most proxies.",
    schema: wholeNumber(1, 60),
  }),
  BODY_LIMIT: variable({
    type: "bytes",
    fallback: "32MiB",
    rule: "a number of bytes from 1KiB to 1GiB, plain or with KiB, MiB or GiB",
    example: "64MiB",
    description:
      "The largest request, after decompression, of operations that take content: `task.create`, `task.sendMessage`, `CreateSkill`, workers' events, lent browsers, and their forms on other wires. Others have smaller limits of their own (256 KiB, unless `test/golden/operations.txt` says otherwise), and this caps those too. A file of 20 MB in `file_data` needs about 27 MiB. Uploads of files have their own limit.",
    schema: byteSize(1024, 1024 ** 3),
  }),
  BODY_MEMORY: variable({
    type: "bytes",
    fallback: "256MiB",
    rule: "a number of bytes from 2KiB to 1024GiB, plain or with KiB, MiB or GiB, and at least twice BODY_LIMIT",
    example: "1GiB",
    description:
      "The memory for all request bodies that a process is reading or parsing. Once a body is read, it counts twice: its bytes, and the objects that are built from them. One account, or one address without an account, may have a quarter, or twice BODY_LIMIT if that is more. Further bodies are refused with 503 `unavailable`. Uploads of files do not count.",
    schema: byteSize(2048, 1024 * 1024 ** 3),
  }),
};

/** OAuth 2.0 apps. */
export const oauth = {
  OAUTH_REFRESH_REPLAY_SECONDS: variable({
    type: "seconds",
    fallback: "0",
    rule: "a whole number from 0 to 60",
    example: "5",
    description:
      "For so long a refresh that is repeated, because its answer was lost, gets the same pair once more instead of `invalid_grant`. Above 0 it departs from the contract, and the log says so at the start.",
    schema: wholeNumber(0, 60),
  }),
};

/** Agents and their runs. */
export const agents = {
  AGENT_PROFILES: variable({
    type: "list of profile=agent",
    fallback: "manus-1.6=offline,manus-1.6-lite=offline,manus-1.6-max=offline",
    rule: agentProfilesRule,
    example: "manus-1.6=offline,manus-1.6-lite=offline",
    description:
      "Which agent works on tasks of which profile. `offline` needs no model and no network; `model:NAME` is a model of MODELS_FILE; `remote` leaves them to workers that poll for them.",
    schema: agentProfiles,
  }),
  SANDBOX_COMMAND: variable({
    type: "command line",
    fallback: null,
    unset: "agents run no commands",
    rule: "an absolute path and its arguments, parted by blanks, with {workspace} among them",
    example: "/usr/local/bin/sandbox {workspace} /bin/sh -c",
    description:
      "What runs the commands of model agents: `{workspace}` stands for the folder with the files of the task, and the command becomes its last argument. It has to keep the command away from everything else: [docs/models.md](models.md) has a line for bubblewrap.",
    schema: z
      .string()
      .transform((text) => text.trim().split(/\s+/))
      .refine((words) => words[0]?.startsWith("/") && words.some((word) => word.includes("{workspace}")) && !words.join().includes("\0")),
  }),
  RUN_CONCURRENCY: variable({
    type: "number",
    fallback: "1000",
    rule: "a whole number from 1 to 100000",
    example: "50",
    description: "Tasks that one process runs at a time; the others wait.",
    schema: wholeNumber(1, 100_000),
  }),
  QUEUE_DEPTH: variable({
    type: "number",
    fallback: "100000",
    rule: "a whole number from 1 to 100000000",
    example: "5000",
    description: "Tasks that may wait for a runner; beyond that, new ones are refused until the queue is shorter.",
    schema: wholeNumber(1, 100_000_000),
  }),
};

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** The process itself. */
export const processing = {
  ROLE: variable({
    type: "role",
    fallback: "all",
    rule: "api, worker or all; other than all only with PostgreSQL",
    example: "worker",
    description:
      "What this process does: answer calls, run tasks, or both. Of all calls a `worker` takes `browser.v2.BrowserService/Attach` alone, and `api` all but that: a browser is held where tasks run ([browsers.md](browsers.md)).",
    schema: z.enum(["api", "worker", "all"]),
  }),
  NOTICE_SECONDS: variable({
    type: "seconds",
    fallback: "0",
    rule: "a whole number from 0 to 3600",
    example: "10",
    description:
      "How long after SIGTERM calls are still taken while `/readyz` says no already: as long as a load balancer needs to notice. DRAIN_SECONDS come after it.",
    schema: wholeNumber(0, 3600),
  }),
  DRAIN_SECONDS: variable({
    type: "seconds",
    fallback: "25",
    rule: "a whole number from 0 to 3600",
    example: "55",
    description: "How long SIGTERM lets calls in progress finish before what is left is cut off.",
    schema: wholeNumber(0, 3600),
  }),
  LOG_LEVEL: variable({
    type: "log level",
    fallback: "info",
    rule: `one of ${logLevels.join(", ")}`,
    example: "debug",
    description: "Which log lines are written, as JSON, to standard error.",
    schema: z.enum(logLevels),
  }),
};
