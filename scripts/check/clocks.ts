import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Reads of a clock, and timers, that a test cannot move. `setImmediate` waits for no time. */
const ownTime =
  /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bprocess\.hrtime\b|(?<![.\w])set(?:Timeout|Interval)\(|\bAbortSignal\.timeout\(|import \{[^}]*\bsetTimeout\b[^}]*\} from "node:timers\/promises"/;
/** Times that a database makes. */
const ownTimeOfSql =
  /\b(?:current_timestamp|clock_timestamp|statement_timestamp|unixepoch|julianday|strftime)\b|(?:SELECT|,|\(|>|<|=|")\s*now\(\)/i;

const connections = "limits of a connection, by the machine's time";
const measures = "measures how long work takes";
const threads = "limits another process or thread, which has no clock";

/** The files that use the machine's time or the database's, each with its reason. */
const allowed: Readonly<Record<string, string>> = {
  "src/core/clock.ts": "is the clock",
  "src/core/observe.ts": measures,
  "src/pipeline/observation.ts": measures,
  "src/runtime/agents/model/step.ts": measures,
  "src/store/change.ts": "measures how long work takes, and limits a change of the database",
  "src/store/group-commit.ts": measures,
  "src/store/round-trips.ts": measures,
  "src/store/migrate.ts": "measures migrations, and their table has the database's time",
  "src/store/postgresql-migrate.ts": "waits for other processes that migrate, which may have other clocks",
  "src/store/postgresql-transactions.ts": "measures, and limits a rollback in the database",
  "src/store/replica.ts": "the delay of a standby, by the database's time",
  "src/store/relay.ts": "repeats a lost connection to the database",
  "src/store/compact.ts": "waits for other processes, before a server runs",
  "src/store/rows/installation.ts": "compares the database's time with the clock, for `atp doctor`",
  "src/observability/log.ts": "writes counts of repeated lines, also while a clock is stopped",
  "src/observability/metrics/process.ts": "the start of the process, for its metrics",
  "src/start/process/ending.ts": "the end of the process",
  "src/start/process/output.ts": "output of the process",
  "src/start/process/watchdog-worker.ts": threads,
  "src/modules/audit.ts": "limits the end of the process",
  "src/async/thread.ts": threads,
  "src/protocols/shared/transport.ts": "limits an open call, by the machine's time",
  "src/http/connection.ts": connections,
  "src/http/ending.ts": connections,
  "src/http/front.ts": connections,
  "src/http/front-http2.ts": connections,
  "src/http/incoming-body.ts": connections,
  "src/runtime/agents/model/tools/sandbox/execute.ts": threads,
  "src/runtime/agents/model/tools/reading/thread.ts": threads,
  "src/modules/test-mode/advance.ts": "waits until the process has nothing to do",
};

/**
 * The lines of `src` that read another time than that of `core/clock.ts`, and entries of the table that are
 * not needed.
 */
export function ownClocks(project: string): string[] {
  const paths = globSync("src/**/*.ts", { cwd: project }).filter((path) => !path.startsWith("src/gen/"));
  const found = paths.toSorted().flatMap((path) =>
    readFileSync(join(project, path), "utf8")
      .split("\n")
      .flatMap((line, i) => (isOwnTime(line) ? [{ path, text: `${path}:${i + 1}: ${line.trim()}` }] : [])),
  );
  const used = new Set(found.map(({ path }) => path));
  return [
    ...found
      .filter(({ path }) => !Object.hasOwn(allowed, path))
      .map(
        ({ text }) =>
          `${text}: use the clock of core/clock.ts, or state the reason in scripts/check/clocks.ts`,
      ),
    ...Object.keys(allowed)
      .filter((path) => !used.has(path))
      .map((path) => `${path}: no longer reads another time; remove it from scripts/check/clocks.ts`),
  ];
}

/** Whether a line of code, not of a comment, reads another time than that of the clock. */
export function isOwnTime(line: string): boolean {
  const code = line.replace(/^\s*(?:\/\/|\/?\*).*$/, "");
  return (
    ownTime.test(code) ||
    (/sql`|SELECT|UPDATE|INSERT|DEFAULT|AS INTEGER|EXTRACT|FROM|"now\(\)"/.test(code) &&
      ownTimeOfSql.test(code))
  );
}
