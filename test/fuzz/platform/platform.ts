import { keyKinds } from "../../../src/core/accounts/caller.ts";
import { startServer } from "../../support/server-process.ts";
import { takes } from "../../wires/access.ts";
import { sampleOf } from "../../wires/sample.ts";
import { type Callee, callees } from "../call-targets.ts";
import type { Keys } from "../requests/heads.ts";
import { type Known, knownValues } from "../requests/known-values.ts";
import type { RequestSources } from "../requests/requests.ts";
import { faultsAfterRun, faultsOfStop } from "./final-checks.ts";
import { addLimitedKeys, addPeople, type People } from "./people.ts";
import { populate } from "./populate.ts";
import { createPost } from "./post.ts";
import { faultsIn } from "./stderr.ts";

/** A platform in a separate process, with people and tasks on it. */
export interface Platform extends RequestSources, AsyncDisposable {
  readonly url: string;
  readonly known: Known;
  /** Of its process. */
  readonly pid: number;
  /** False once its process has ended. */
  isAlive(): boolean;
  /** Asks it to drain; returns the faults of the run: of its state, its log and its end. */
  end(): Promise<readonly string[]>;
}

const watchLimit = 100;
/** Room for the data of a run, but not for any amount of it. */
const env = {
  QUEUE_DEPTH: "2000",
  RUN_CONCURRENCY: "500",
  WATCH_LIMIT: String(watchLimit),
  DRAIN_SECONDS: "120",
};

/** Starts a platform on a free port, a temporary folder and SQLite, without rate limits. */
export async function startPlatform(): Promise<Platform> {
  const server = await startServer(env);
  const { url, dataDir, child } = server;
  if (!child.stderr) throw new Error("its log cannot be read");
  const faults = faultsIn(child.stderr);
  const people = await addPeople(dataDir);
  const known = knownValues();
  await populate(url, people, known);
  const keysFor = keysOf(people, await addLimitedKeys(dataDir, known.pick("project_id", 0) ?? ""));
  return {
    url,
    known,
    pid: child.pid ?? 0,
    keysFor,
    built: await builtOf(url, keysFor),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async end() {
      const faultsAfter = await faultsAfterRun(url, people.keys.get("general") ?? "", watchLimit);
      const faultsOfEnd = await faultsOfStop(child);
      return [
        ...faultsAfter,
        ...faultsOfEnd,
        ...[...faults].map(([text, times]) => `said ${times} times: ${text}`),
      ];
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function keysOf({ keys, beginner }: People, limited: Keys["limited"]): (callee: Callee) => Keys {
  const all = [...keys.values(), beginner];
  return ({ operation }) => {
    const kind = operation && keyKinds.find((candidate) => takes(operation, candidate, "owner"));
    return { own: keys.get(kind ?? "general") ?? "", all, limited };
  };
}

/** Operations that do not answer `unimplemented` to a valid request, tested over v2. */
async function builtOf(url: string, keysFor: (callee: Callee) => Keys): Promise<readonly Callee[]> {
  const answers = callees.map(async (callee) => {
    const { operation, method } = callee;
    if (operation === null || method.methodKind !== "unary") return callee;
    if (operation.name === null) return [];
    const { error } = await createPost(url, keysFor(callee).own)(operation.name, sampleOf(method.input));
    return (error as { readonly code?: string } | undefined)?.code === "unimplemented" ? [] : callee; // An envelope's, or none.
  });
  return (await Promise.all(answers)).flat();
}
