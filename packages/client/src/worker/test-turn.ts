import type {
  Decision,
  EndedWait,
  EventInput,
  File,
  Message,
  Run,
  WrittenEvent,
} from "../generated/worker.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { WorkerCall } from "./calls.ts";
import { type Ending, openTurn, TurnFailure, type TurnResult, toEnding } from "./turn.ts";
import type { Agent } from "./worker.ts";

/**
 * What ends a wait of the agent: a text for `ask`, a decision for `confirm`, the end of subtasks for
 * `waitForSubtasks`.
 */
export type TestAnswer = string | (Decision & { readonly accepted: boolean }) | EndedWait;

export interface TestTurnOptions {
  readonly message: string;
  /** Files of the message, which `turn.read` returns. */
  readonly files?:
    | readonly { readonly filename: string; readonly content: string | Uint8Array<ArrayBuffer> }[]
    | undefined;
  /** In the order in which the agent waits. */
  readonly answers?: readonly TestAnswer[] | undefined;
  /** More of the run, for example `profile`, `history` or `connectors`. */
  readonly run?: Run | undefined;
  /** Replaces the tools of connectors. */
  readonly callTool?: ((connectorId: string, tool: string, input: JsonObject) => JsonValue) | undefined;
}

/** What an agent did in a turn. */
export interface TestedTurn {
  /** How it ended: `finish`, or `fail` after a TurnFailure. */
  readonly ending: Ending;
  /** The answer; undefined after a TurnFailure. */
  readonly text: string | undefined;
  /** What it waited for, in order: `ask`, `confirm`, `wait`. */
  readonly waits: readonly Ending[];
  readonly events: readonly EventInput[];
  /** Files by their upload id. */
  readonly uploads: ReadonlyMap<string, { readonly filename: string; readonly content: Blob }>;
  /** Messages of the subtasks that it has started. */
  readonly subtasks: readonly string[];
}

/**
 * Runs an agent without a server, as the platform does: from its beginning after each wait.
 *
 * @throws what the agent throws, except a TurnFailure; Error when it waits and there is no further answer
 */
export async function testTurn(agent: Agent, options: TestTurnOptions): Promise<TestedTurn> {
  const platform = fakePlatform(options);
  const answers = [...(options.answers ?? [])];
  const waits: Ending[] = [];
  let run: Run = {
    taskId: "test",
    fence: 1,
    interactive: true,
    ...options.run,
    messages: [platform.message],
  };
  for (;;) {
    const ending = await runOnce(agent, run, platform);
    if ("finish" in ending || "fail" in ending) {
      const { events, uploads, subtasks } = platform;
      return {
        ending,
        text: "finish" in ending ? ending.finish.content : undefined,
        waits,
        events,
        uploads,
        subtasks,
      };
    }
    waits.push(ending);
    const answer = answers.shift();
    if (answer === undefined)
      throw new Error(`testTurn: the agent waits, and there is no further answer: ${JSON.stringify(ending)}`);
    run = nextRun(run, ending, answer, platform);
  }
}

async function runOnce(agent: Agent, run: Run, platform: FakePlatform): Promise<Ending> {
  const over = new AbortController();
  const turn = openTurn(platform, platform.call, run, over);
  try {
    const result = await agent(turn);
    return turn.suspended()?.ending ?? toEnding(result satisfies TurnResult);
  } catch (error) {
    const waits = turn.suspended();
    if (waits) return waits.ending;
    if (!(error instanceof TurnFailure)) throw error;
    return { fail: { errorType: error.errorType, content: error.message } };
  } finally {
    over.abort(new Error("testTurn: the run has ended"));
  }
}

/**
 * The run that continues after a wait. A question ends the turn, an approval and a wait for subtasks do not.
 */
function nextRun(run: Run, ending: Ending, answer: TestAnswer, platform: FakePlatform): Run {
  const isText = typeof answer === "string";
  if ("ask" in ending) {
    if (!isText) throw new TypeError("testTurn: the agent asks: its answer is a text");
    const { content = "", memo = null } = ending.ask;
    const history = [
      ...(run.history ?? []),
      ...(run.messages ?? []).map((message) => ({ role: "user", ...message })),
      { role: "assistant", content },
    ];
    platform.turnEvents.length = 0;
    return { ...run, messages: [{ content: answer }], history, events: [], decisions: [], waits: [], memo };
  }
  // The platform returns events in the form in which they were written.
  const events = platform.turnEvents.map((event) => ({ event }) as WrittenEvent);
  if ("confirm" in ending) {
    if (isText || !("accepted" in answer))
      throw new TypeError("testTurn: the agent requests an approval: its answer has `accepted`");
    const decision = { kind: ending.confirm.kind ?? "", ...answer };
    return {
      ...run,
      events,
      decisions: [...(run.decisions ?? []), decision],
      memo: ending.confirm.memo ?? null,
    };
  }
  if (isText || "accepted" in answer)
    throw new TypeError("testTurn: the agent waits for subtasks: its answer is the end of the wait");
  return {
    ...run,
    events,
    waits: [...(run.waits ?? []), answer as EndedWait],
    memo: "wait" in ending ? (ending.wait.memo ?? null) : null,
  };
}

interface FakePlatform extends Pick<TestedTurn, "events" | "uploads" | "subtasks"> {
  readonly message: Message;
  readonly call: WorkerCall;
  readonly fetch: typeof fetch;
  /** Events since the last question. */
  readonly turnEvents: EventInput[];
}

const address = "https://testturn.invalid/";

function fakePlatform({ message, files = [], callTool }: TestTurnOptions): FakePlatform {
  const [events, turnEvents, subtasks]: [EventInput[], EventInput[], string[]] = [[], [], []];
  const started = new Set<string>();
  const uploads = new Map<string, { filename: string; content: Blob }>();
  const contents = files.map(({ content }) => new Blob([content]));
  const attached = files.map(
    ({ filename }, index): File => ({
      filename,
      bytes: contents[index]?.size ?? 0,
      url: `${address}${index}`,
    }),
  );

  const answers: Readonly<Record<string, (request: never) => object>> = {
    Append({ events: more = [] }: { readonly events?: readonly EventInput[] }) {
      events.push(...more);
      turnEvents.push(...more);
      return {};
    },
    WriteText: ({ offset = 0, text = "" }: { readonly offset?: number; readonly text?: string }) => ({
      nextOffset: offset + text.length,
    }),
    Upload({ filename = "", content = "" }: { readonly filename?: string; readonly content?: string }) {
      const uploadId = `upload_${uploads.size + 1}`;
      uploads.set(uploadId, {
        filename,
        content: new Blob([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))]),
      });
      return { uploadId, uploadUrl: `${address}${uploadId}` };
    },
    // The platform starts one for each key.
    StartSubtask({ key = "", message: text = "" }: { readonly key?: string; readonly message?: string }) {
      if (!started.has(key)) subtasks.push(text);
      started.add(key);
      return { subtaskId: `subtask_${key}` };
    },
    CallTool: ({
      connectorId = "",
      tool = "",
      input = {},
    }: {
      readonly connectorId?: string;
      readonly tool?: string;
      readonly input?: JsonObject;
    }) =>
      callTool
        ? { result: callTool(connectorId, tool, input) }
        : { isError: true, result: "testTurn: give callTool" },
  };

  async function fetchFile(url: string, body: unknown): Promise<Response> {
    const name = url.slice(address.length);
    const upload = uploads.get(name);
    if (upload && body instanceof Blob) uploads.set(name, { ...upload, content: body });
    return new Response(upload ? null : contents[Number(name)]);
  }

  return {
    events,
    turnEvents,
    uploads,
    subtasks,
    message: { content: message, files: attached },
    call: (async (name: string, request: never) => answers[name]?.(request) ?? {}) as WorkerCall,
    fetch: (input, init) => fetchFile(String(input), init?.body),
  };
}
