import type { ModelConfig } from "../../../config/models.ts";
import type { Json } from "../../../core/json.ts";
import type { Log } from "../../../core/log.ts";
import type { Observe } from "../../../core/observe.ts";
import type { NewEvent } from "../../../core/tasks/event.ts";
import type { FetchPolicy } from "../../../core/tasks/fetch-policy.ts";
import { addUsage, noUsage, perCredit, priceOf, type Usage } from "../../../core/usage/price.ts";
import { withVirtualFiles } from "../../../core/workspaces/virtual.ts";
import type { AgentEvent, Hold, Person, Progress, Turn } from "../../agent.ts";
import { pageTools } from "./addresses.ts";
import { TurnError, timeoutError } from "./fault.ts";
import type { ShowImages } from "./images/source.ts";
import { planTool } from "./plan.ts";
import type { LanguageModel } from "./provider.ts";
import type { Tool, ToolsFor } from "./tool.ts";
import { definedTools } from "./tools/find-tool.ts";
import {
  countEqual,
  equalMax,
  openTranscript,
  partsOf,
  type Row,
  type Taken,
  type Transcript,
  takenBy,
  usedBy,
} from "./transcript.ts";
import { transcriptFiles, transcriptFolders } from "./transcript-files.ts";

/** The limits of a turn, and how much of them it has used. */
interface Limits {
  /** The end of the turn's time, on the monotonic clock. */
  readonly deadline: number;
  /**
   * Checks the limits before a call of the model.
   *
   * @throws TurnError `step_limit`, `timeout`, `quota_limit`, or `no_progress` for a model that repeats
   * itself.
   */
  check(): void;
  /** True when the turn's credits cover a hold. Call it after a reservation. */
  covers(hold: Hold): boolean;
  /** Adds the price of what a call has used. */
  add(hold: Hold, used: Partial<Usage>): void;
  /** What the turn has taken so far: each row says it, so that the limits hold over all runs. */
  taken(): Taken;
}

const stuckText =
  "The agent made the same call again and again, with the same result. Say how it is to continue.";

/**
 * Opens the limits of a turn, of which earlier runs have taken a part. Time in which it waits is not its
 * time.
 */
function openLimits(
  { config }: ModelParts,
  { clock, number }: Turn,
  rows: () => readonly Row[],
  before: Taken,
): Limits {
  const max = config.limits;
  const openedAt = clock.monotonic();
  const deadline = openedAt + max.minutes * 60_000 - before.activeMs;
  let { credits } = before;
  return {
    deadline,
    check() {
      const { steps, tokens } = usedBy(rows(), number);
      if (steps >= max.steps)
        throw new TurnError("step_limit", `The run reached its limit of ${max.steps} steps.`);
      if (clock.monotonic() >= deadline) throw timeoutError();
      if (countEqual(rows(), number) >= equalMax.end) throw new TurnError("no_progress", stuckText);
      if (tokens >= max.tokens) throw new TurnError("quota_limit", "The run has used up its tokens.");
    },
    covers: (hold) => max.credits === null || credits + hold.credits <= max.credits,
    add({ price }, used) {
      if (price) credits += Number(priceOf(price, addUsage(noUsage, used))) / perCredit;
    },
    taken: () => ({
      activeMs: Math.round(before.activeMs + clock.monotonic() - openedAt),
      credits: Math.ceil(credits),
    }),
  };
}

export interface ModelParts {
  readonly config: ModelConfig;
  /** The requests that its entry allows. */
  readonly policy: FetchPolicy;
  readonly model: LanguageModel;
  /** A model by its name, for a fallback; absent: there is none. */
  readonly findModel?: (name: string) => Pick<ModelParts, "config" | "model"> | undefined;
  readonly toolsFor: ToolsFor;
  readonly showImages: ShowImages;
  /** The secret name around data of a task, of letters and digits: the same each time. */
  readonly markOf: (taskId: string) => string;
  /** Random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  readonly log: Log;
  readonly observe?: Pick<Observe, "modelCalled" | "tokensUsed" | "prefixChanged">;
}

/** One run of a turn: its constants and its progress. */
export interface Run extends ModelParts {
  readonly turn: Turn;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Those whose definitions a request has. */
  readonly defined: readonly Tool[];
  /** The name around data of the task. */
  readonly mark: string;
  readonly transcript: Transcript;
  readonly limits: Limits;
  /** The images of the last request and those that were added since, by their ids, as base64. */
  readonly images: Map<number, string>;
  readonly person: Person;
  /** The events of the turn, also those that are not written so far. */
  readonly events: readonly NewEvent[];
  /**
   * Records events with the rows that were added. Returns them for a yield, with all usage since the last
   * call.
   */
  record(events: readonly AgentEvent[]): Progress;
  /** The same, without the rows: they are written with the end of the turn. */
  recordLast(events: readonly AgentEvent[]): Progress;
  /** Adds usage and an ended hold, which are reported with the next events. */
  spend(usage: Partial<Usage>, hold?: Hold): void;
  /** Marks the task as untrusted, with the next events and rows. */
  readForeign(): void;
  /**
   * Continues with the next fallback of the entry: what another model has signed is not sent
   * to it. Returns its name; undefined without one.
   */
  fallBack(): string | undefined;
  /** True while usage or ended holds are not reported. */
  hasUnreportedCosts(): boolean;
}

/** Opens a run of a turn, at the turn's start or after the rows of an earlier run. */
export async function openRun(parts: ModelParts, given: Turn): Promise<Run> {
  const workspace = withVirtualFiles(given.workspace, transcriptFolders, () =>
    transcriptFiles(transcript.rows),
  );
  const turn: Turn = { ...given, workspace };
  const events: NewEvent[] = [...turn.written];
  const [stored, person] = await Promise.all([turn.transcript(), turn.person()]);
  const limits = openLimits(parts, turn, () => transcript.rows, takenBy(stored, turn.number));
  const transcript = openTranscript(stored, turn.number, { now: turn.clock.now, taken: limits.taken });
  // A rotated key does not change it.
  const mark = partsOf(transcript.rows, "mark")[0]?.mark ?? parts.markOf(turn.taskId);
  const known = new Map(
    parts.toolsFor(turn).flatMap((tool) => (tool.name === planTool.name ? [] : [[tool.name, tool] as const])),
  );
  const defined = definedTools([...known.values()]);
  const tools = new Map([...known, ...defined.map((tool) => [tool.name, tool] as const)]);
  let usage: Usage = noUsage;
  let settles: Hold[] = [];
  let isForeign = false;

  function recordLast(added: readonly AgentEvent[]): Progress {
    events.push(...added);
    const costs = { usage, settles };
    const mark: Pick<Progress, "untrusted"> = isForeign ? { untrusted: true } : {};
    [usage, settles, isForeign] = [noUsage, [], false];
    return { events: added, ...mark, ...(hasCosts(costs) ? costs : {}) };
  }

  const untried = parts.config.fallback.filter((name) => parts.findModel?.(name));
  const run: Run = {
    ...parts,
    turn,
    tools,
    defined,
    mark,
    transcript,
    limits,
    images: new Map(),
    person,
    events,
    record: (added) => ({ ...recordLast(added), rows: transcript.take() }),
    recordLast,
    spend(used, hold) {
      usage = addUsage(usage, used);
      if (!hold) return;
      settles.push(hold);
      limits.add(hold, used);
    },
    readForeign() {
      isForeign = true;
    },
    hasUnreportedCosts: () => hasCosts({ usage, settles }),
    fallBack() {
      const name = untried.shift();
      const next = name === undefined ? undefined : parts.findModel?.(name);
      if (!next) return undefined;
      Object.assign(run, next);
      return name;
    },
  };
  // A turn that continues keeps the fallback that it has taken.
  const last = transcript.rows.findLast(({ role }) => role === "system");
  const isOther = last?.turn === turn.number && last.model !== parts.config.model;
  const taken = untried.findIndex((name) => parts.findModel?.(name)?.config.model === last?.model);
  if (isOther && taken >= 0) Object.assign(run, parts.findModel?.(untried.splice(0, taken + 1).at(-1) ?? ""));
  return run;
}

const hasCosts = ({
  usage,
  settles,
}: {
  readonly usage: Usage;
  readonly settles: readonly Hold[];
}): boolean => settles.length > 0 || Object.values(usage).some((used) => used > 0);

/** The results of pages that this turn has read. */
export const pagesOf = ({ events }: Pick<Run, "events">): readonly Json[] =>
  events.flatMap((event) =>
    event.type === "tool_used" && event.payload.status === "success" && pageTools.includes(event.payload.tool)
      ? [event.payload.result ?? null]
      : [],
  );
