import type { ActionInputs } from "../generated/actions.ts";
import type {
  AskInput,
  CallToolResponse,
  ConfirmInput,
  Decision,
  EndedWait,
  EventInput,
  FailInput,
  File,
  FinishInput,
  FinishRequest,
  HistoryEntry,
  Message,
  PlanStepInput,
  Run,
  ToolUsedInput,
  UsageInput,
  WaitInput,
} from "../generated/worker.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { toBase64 } from "../runtime.ts";
import type { Transport } from "../transport.ts";
import { RunLostError, type WorkerCall } from "./calls.ts";
import { memoOf, type Past, pastAfter, replayOf } from "./replay.ts";
import { type WriteOptions, writer } from "./writer.ts";

/** How a turn ends: a text, an answer with files and output, or an ending of `worker.v1`. */
export type TurnResult = string | FinishInput | Ending;
/** An ending of `worker.v1`, exactly as FinishRequest has it. */
export type Ending =
  | { readonly finish: FinishInput }
  | { readonly ask: AskInput }
  | { readonly confirm: ConfirmInput }
  | { readonly fail: FailInput }
  | { readonly wait: WaitInput };

/**
 * Ends the turn in `error`, with a category and a text for the user. Of any other error users see only a
 * reference to the worker's log.
 */
export class TurnFailure extends Error {
  override readonly name = "TurnFailure";
  readonly errorType: string;

  constructor(errorType: string, message: string) {
    super(message);
    this.errorType = errorType;
  }
}

/**
 * Ends the run where the agent waits for its user or for subtasks. Do not catch it: the function runs again
 * when the wait is over.
 */
export class Suspended extends Error {
  override readonly name = "Suspended";
  readonly ending: Ending;

  constructor(ending: Ending) {
    super("the run ends here, and continues when the wait is over");
    this.ending = ending;
  }
}

/** A decision of the user. `input` has the form of the kind. */
export interface Decided<Kind extends keyof ActionInputs = keyof ActionInputs>
  extends Omit<Decision, "input"> {
  readonly accepted: boolean;
  readonly input?: ActionInputs[Kind];
}

/**
 * The work of one turn. An agent that runs again for the same turn, after a crash, a question or an approval,
 * gets what was done before.
 */
export interface Turn {
  /** The run as the platform sent it. */
  readonly run: Run;
  readonly taskId: string;
  /** The messages to answer, with their files; after `ask` still those that began the work. */
  readonly messages: readonly Message[];
  /** Their texts, joined by line feeds. */
  readonly text: string;
  /** Earlier turns, oldest first: messages, and uses of tools. */
  readonly history: readonly HistoryEntry[];
  /** What the agent kept with its last question, approval or wait. */
  readonly memo: JsonValue | undefined;
  /** Messages of the user that have arrived since the run began; the next turn answers them. */
  readonly newMessages: readonly Message[];
  /** Aborted when the run is over: stopped, lost, or released because the worker stops. */
  readonly signal: AbortSignal;

  /** Writes events. An event whose key the turn has already is not written again. */
  append(...events: readonly (EventInput & { readonly key: string })[]): Promise<void>;
  say(key: string, content: string, uploadIds?: readonly string[]): Promise<void>;
  think(key: string, content: string): Promise<void>;
  plan(key: string, steps: readonly PlanStepInput[]): Promise<void>;
  tool(key: string, use: ToolUsedInput): Promise<void>;
  /**
   * Runs a step once in the turn: its result is recorded as a use of a tool, and a run that follows returns
   * it. The result is JSON, at most 64 KiB.
   */
  once<Result extends JsonValue>(
    key: string,
    use: Omit<ToolUsedInput, "result" | "status">,
    step: () => Promise<Result> | Result,
  ): Promise<Result>;
  /**
   * Shows a piece of text to watchers while it is written; the answer or event that follows has the whole
   * text.
   */
  write(piece: string, options?: WriteOptions): void;
  /** The bytes of a file of a message. */
  read(file: File): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Uploads a file, and returns its id for `say` and the answer. Larger content than 1 MiB is sent
   * separately.
   */
  upload(
    filename: string,
    content: string | Uint8Array<ArrayBuffer> | Blob,
    contentType?: string,
  ): Promise<string>;
  /** Counts resources, which are reported with the next events or the ending. */
  use(usage: UsageInput): void;

  /**
   * Asks the user, and returns the answer. The agent's function runs again from its beginning with the
   * answer.
   */
  ask(content: string, more?: Omit<AskInput, "content">): Promise<string>;
  /**
   * Requests an approval, and returns the decision. The agent's function runs again from its beginning with
   * the decision.
   */
  confirm<Kind extends keyof ActionInputs>(
    kind: Kind,
    more?: Omit<ConfirmInput, "kind">,
  ): Promise<Decided<Kind>>;
  /** Starts a subtask, once per key, and returns its id. */
  startSubtask(key: string, message: string): Promise<string>;
  /** Waits for subtasks, and returns their results. The agent's function runs again from its beginning. */
  waitForSubtasks(wait?: WaitInput): Promise<EndedWait>;
  /** Uses a tool of a connector. It requests the user's approval first where the tool needs one. */
  callTool(connectorId: string, tool: string, input: JsonObject): Promise<CallToolResponse>;
}

/** A turn with what the worker needs of it. */
export interface OpenTurn extends Turn {
  /** The request that ends the run. */
  endingOf(result: TurnResult): FinishRequest;
  /** The wait at which the agent has stopped, even when the agent has caught it. */
  suspended(): Suspended | undefined;
  receive(messages: readonly Message[]): void;
}

const inlineBytes = 1_048_576;
const endings = ["finish", "ask", "confirm", "fail", "wait"] as const;

const isEnding = (result: FinishInput | Ending): result is Ending => endings.some((name) => name in result);
export const toEnding = (result: TurnResult): Ending => {
  if (typeof result === "string") return { finish: { content: result } };
  return isEnding(result) ? result : { finish: result };
};

export function openTurn(
  http: Pick<Transport, "fetch">,
  call: WorkerCall,
  run: Run,
  over: AbortController,
): OpenTurn {
  const name = { taskId: run.taskId ?? "", fence: run.fence ?? 0 };
  const replay = replayOf(run);
  const written = (run.events ?? []).flatMap(({ event }) => event ?? []);
  const keys = new Set(written.flatMap(({ key }) => key || []));
  /**
   * Keys of lost runs and of the turns before a question. A model may write another text the second time: the
   * first one stays.
   */
  const before: ReadonlySet<string> = new Set([...keys, ...replay.past.keys]);
  const results: Record<string, JsonValue> = Object.fromEntries(
    written.flatMap(({ key = "", toolUsed }) =>
      toolUsed?.result === undefined ? [] : [[key, toolUsed.result]],
    ),
  );
  const newMessages: Message[] = [];
  const live = writer(call, name, over.signal);
  const asked = { questions: 0, decisions: 0, waits: 0 };
  let usage: UsageInput | undefined;
  let suspended: Suspended | undefined;

  /**
   * A call of the run. A lost run aborts the signal, because frameworks report errors of tools to the model
   * and continue.
   */
  const own: WorkerCall = async (method, request) => {
    over.signal.throwIfAborted();
    if (suspended) throw suspended;
    try {
      return await call(method, request, { signal: over.signal });
    } catch (error) {
      if (error instanceof RunLostError) over.abort(error);
      throw error;
    }
  };

  function takeUsage(): { readonly usage?: UsageInput } {
    const taken = usage;
    usage = undefined;
    return taken === undefined ? {} : { usage: taken };
  }

  async function append(...events: readonly (EventInput & { readonly key: string })[]): Promise<void> {
    const fresh = events.filter(({ key }) => !before.has(key));
    if (fresh.length === 0) return;
    const { stop = "" } = await own("Append", { ...name, events: fresh, ...takeUsage() });
    for (const { key } of fresh) keys.add(key);
    if (stop === "") return;
    over.abort(new RunLostError(`the run has ended: ${stop}`));
    over.signal.throwIfAborted();
  }

  async function once<Result extends JsonValue>(
    key: string,
    use: Omit<ToolUsedInput, "result" | "status">,
    step: () => Promise<Result> | Result,
  ): Promise<Result> {
    const known = results[key] ?? replay.past.results[key];
    // A run before this one has written the result of the same step.
    if (known !== undefined || keys.has(key)) return (known ?? null) as Result;
    over.signal.throwIfAborted();
    const result = await step();
    await append({ key, toolUsed: { ...use, status: "success", result } });
    results[key] = result;
    return result;
  }

  async function upload(
    filename: string,
    content: string | Uint8Array<ArrayBuffer> | Blob,
    contentType?: string,
  ): Promise<string> {
    const blob = content instanceof Blob ? content : new Blob([content]);
    const type = contentType ?? blob.type;
    const request = { ...name, filename, ...(type === "" ? {} : { contentType: type }) };
    if (blob.size <= inlineBytes) {
      const bytes = new Uint8Array(await blob.arrayBuffer());
      return (await own("Upload", { ...request, content: toBase64(bytes) })).uploadId ?? "";
    }
    const { uploadId = "", uploadUrl = "" } = await own("Upload", request);
    const reply = await http.fetch(uploadUrl, { method: "PUT", body: blob, signal: over.signal });
    if (!reply.ok) throw new Error(`HTTP ${reply.status}: upload of ${filename}`);
    await reply.body?.cancel();
    return uploadId;
  }

  async function read({ url = "", filename = "" }: File): Promise<Uint8Array<ArrayBuffer>> {
    const reply = await http.fetch(url, { signal: over.signal });
    if (!reply.ok) throw new Error(`HTTP ${reply.status}: download of ${filename}`);
    return new Uint8Array(await reply.arrayBuffer());
  }

  function suspend(ending: Ending): never {
    suspended = new Suspended(ending);
    throw suspended;
  }

  /** The memo of a wait: the agent's own, or that of the run. */
  function memoWith(past: Past, memo: JsonValue | undefined): { readonly memo?: JsonValue } {
    const kept = memoOf(past, memo ?? replay.memo);
    return kept === undefined ? {} : { memo: kept };
  }

  async function ask(content: string, { memo, ...more }: Omit<AskInput, "content"> = {}): Promise<string> {
    const answer = replay.answers[asked.questions];
    asked.questions += 1;
    if (answer !== undefined) return answer;
    const past = pastAfter(replay, run, keys, results);
    return suspend({ ask: { content, ...more, ...memoWith(past, memo) } });
  }

  async function confirm<Kind extends keyof ActionInputs>(
    kind: Kind,
    { memo, ...more }: Omit<ConfirmInput, "kind"> = {},
  ): Promise<Decided<Kind>> {
    const decision = [...replay.past.decisions, ...(run.decisions ?? [])][asked.decisions];
    asked.decisions += 1;
    // The server has checked the input by the schema of the kind.
    if (decision) return { ...decision, accepted: decision.accepted ?? false } as Decided<Kind>;
    return suspend({ confirm: { kind, ...more, ...memoWith(replay.past, memo) } });
  }

  async function waitForSubtasks({ memo, ...more }: WaitInput = {}): Promise<EndedWait> {
    const ended = [...replay.past.waits, ...(run.waits ?? [])][asked.waits];
    asked.waits += 1;
    return ended ?? suspend({ wait: { ...more, ...memoWith(replay.past, memo) } });
  }

  async function callTool(connectorId: string, tool: string, input: JsonObject): Promise<CallToolResponse> {
    const connector = run.connectors?.find(({ id }) => id === connectorId);
    if (connector?.tools?.find((each) => each.name === tool)?.asks) {
      const { accepted } = await confirm("connectorAction", {
        params: { connector: connectorId, tool, input },
      });
      if (!accepted) return { isError: true, result: "the user has refused this use" };
    }
    return await own("CallTool", { ...name, connectorId, tool, input });
  }

  return {
    run,
    taskId: name.taskId,
    messages: replay.messages,
    text: replay.messages.map(({ content = "" }) => content).join("\n"),
    history: replay.history,
    memo: replay.memo,
    newMessages,
    signal: over.signal,
    append,
    say: (key, content, uploadIds = []) => append({ key, assistantMessage: { content, uploadIds } }),
    think: (key, content) => append({ key, explanation: { content } }),
    plan: (key, steps) => append({ key, planUpdate: { steps } }),
    tool: (key, toolUsed) => append({ key, toolUsed }),
    once,
    write: (piece, options) => live.write(piece, options),
    read,
    upload,
    use(more) {
      const sum = (member: keyof UsageInput) => (usage?.[member] ?? 0) + (more[member] ?? 0);
      usage = {
        inputTokens: sum("inputTokens"),
        cachedInputTokens: sum("cachedInputTokens"),
        cacheWriteTokens: sum("cacheWriteTokens"),
        outputTokens: sum("outputTokens"),
        toolCalls: sum("toolCalls"),
      };
    },
    ask,
    confirm,
    async startSubtask(key, message) {
      const known = replay.past.results[key];
      if (typeof known === "string") return known;
      const { subtaskId = "" } = await own("StartSubtask", { ...name, key, message });
      results[key] = subtaskId;
      return subtaskId;
    },
    waitForSubtasks,
    callTool,
    endingOf: (result) => ({ ...name, ...toEnding(result), ...takeUsage() }),
    suspended: () => suspended,
    receive: (messages) => void newMessages.push(...messages),
  };
}
