import { type Answered, type Called, calledAfter } from "./called.ts";
import type { AnswerOf, Caller, RequestOf } from "./calls.ts";
import { TaskStateError } from "./errors.ts";
import { type ActionInputs, questionKinds } from "./generated/actions.ts";
import type { StatusDetail, Task, TaskEvent } from "./generated/v2.ts";
import type { JsonValue } from "./json.ts";
import { isReader, type OutputReader, readOutput } from "./output/output.ts";
import type { Paged } from "./pages.ts";
import type { Settled, WaitOptions } from "./settled.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { type WatchEvent, type WatchOptions, watchTask } from "./watch.ts";

type MessageContent = RequestOf<"task.sendMessage">["message"];
/** A message as text, or as the API takes it. */
export type MessageLike = string | MessageContent;
export const toMessage = (message: MessageLike): MessageContent =>
  typeof message === "string" ? { content: message } : message;

/** What can be done with a task that is known by its id. */
export interface TaskActions<Output = JsonValue> {
  /**
   * Yields the events of the task until it is settled: stopped, failed or waiting for its user. It continues
   * after the last event that this object has yielded.
   */
  stream(options?: WatchOptions): TaskStream;
  /**
   * Waits until the task is settled, and returns its state. `status` says whether it stopped, failed or waits
   * for its user. @throws TimeoutError
   */
  wait(options?: WaitOptions): Promise<Task>;
  /**
   * Waits until the turn has finished, and returns the agent's last message. @throws TaskStateError when the
   * task fails or waits for its user
   */
  text(options?: WaitOptions): Promise<string>;
  /**
   * Waits until the turn has finished, and returns its structured output. The task needs `output` or a
   * `structured_output_schema`.
   *
   * @param reader checks the value and gives it its type. Default: the `output` of `create`.
   * @throws TaskStateError when the task fails, waits for its user, or has no valid value; TypeError for a
   * value that the schema refuses
   */
  result(options?: WaitOptions): Promise<Output>;
  result<Other>(reader: OutputReader<Other>, options?: WaitOptions): Promise<Other>;
}

/** The events of a task. */
export interface TaskStream extends AsyncGenerator<WatchEvent> {
  /**
   * The agent's last message of the events in this stream; reads the rest first. Undefined without a message.
   */
  finalText(): Promise<string | undefined>;
}

function taskStream(events: AsyncGenerator<WatchEvent>): TaskStream {
  let text: string | undefined;
  async function* observed(): AsyncGenerator<WatchEvent> {
    for await (const event of events) {
      if (event.type === "assistant_message") text = event.assistant_message.content;
      yield event;
    }
  }
  const stream = observed();
  return Object.assign(stream, {
    async finalText() {
      for await (const _ of stream);
      return text;
    },
  });
}

/** A task. */
export interface TaskHandle<Output = JsonValue> extends TaskActions<Output> {
  readonly id: string;
  /** The present state. */
  detail(options?: CallOptions): Called<Task>;
  /** The events of the task, oldest first unless `order` says otherwise. */
  events(
    request?: Omit<RequestOf<"task.listMessages">, "task_id" | "cursor">,
    options?: CallOptions,
  ): Paged<TaskEvent, AnswerOf<"task.listMessages">>;
  /** Sends a message, which starts the next turn. */
  send(
    message: MessageLike,
    more?: Omit<RequestOf<"task.sendMessage">, "task_id" | "message">,
    options?: CallOptions,
  ): Called<void>;
  /**
   * Answers the question that the task waits for, with a text or with several of its options. @throws
   * TaskStateError when the task waits for no question
   */
  answer(answer: string | readonly string[], options?: CallOptions): Called<void>;
  /**
   * Decides the action that the task waits for; the input depends on its kind. @throws TaskStateError when
   * the task waits for no action of this kind
   */
  confirm<Kind extends keyof ActionInputs>(
    kind: Kind,
    input: ActionInputs[Kind],
    options?: CallOptions,
  ): Called<void>;
  /** What the task waits for; undefined while it waits for nothing. */
  pending(options?: CallOptions): Called<StatusDetail | undefined>;
  update(changes: Omit<RequestOf<"task.update">, "task_id">, options?: CallOptions): Called<void>;
  stop(options?: CallOptions): Called<void>;
  /** Deletes the task; `stop` ends its run first. */
  delete(request?: Omit<RequestOf<"task.delete">, "task_id">, options?: CallOptions): Called<void>;
  /** An address at which `EventSource` can watch the task without a credential. */
  watchUrl(ttlSeconds?: number, options?: CallOptions): Called<string>;
}

/** A task that is being created: a promise of it, with the methods that need no other. */
export class StartedTask<Output = JsonValue>
  extends Promise<TaskHandle<Output>>
  implements TaskActions<Output>
{
  /** `then` returns a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }
  #created: Promise<Answered<TaskHandle<Output>>>;

  constructor(created: Promise<Answered<TaskHandle<Output>>>) {
    super((resolve, reject) => {
      created.then(({ data }) => resolve(data), reject);
    });
    this.#created = created;
  }
  /** The task with the answer of `task.create`. */
  withResponse(): Promise<Answered<TaskHandle<Output>>> {
    this.catch(() => undefined);
    return this.#created;
  }
  stream(options?: WatchOptions): TaskStream {
    return taskStream(
      async function* (this: StartedTask<Output>) {
        yield* (await this).stream(options);
      }.call(this),
    );
  }
  async wait(options?: WaitOptions): Promise<Task> {
    return await (await this).wait(options);
  }
  async text(options?: WaitOptions): Promise<string> {
    return await (await this).text(options);
  }
  result(options?: WaitOptions): Promise<Output>;
  result<Other>(reader: OutputReader<Other>, options?: WaitOptions): Promise<Other>;
  async result(reader?: OutputReader<unknown> | WaitOptions, options?: WaitOptions): Promise<unknown> {
    return await (await this).result(reader as OutputReader<unknown>, options);
  }
}

/**
 * Whether a task waits for an answer to a question, which a message gives. Every other wait is for an
 * approval.
 */
export const isQuestion = ({
  waiting_for_event_type: waitingForEventType,
}: Pick<StatusDetail, "waiting_for_event_type">): boolean =>
  questionKinds.some((kind) => kind === waitingForEventType);

/** What tasks need of their client. */
export interface TaskParts extends Pick<Caller, "call" | "items"> {
  readonly http: Transport;
  readonly settled: Settled;
}

/** @param own reads the structured output when `result` has no reader. */
export function taskHandle<Output = JsonValue>(
  { http, call, items, settled }: TaskParts,
  id: string,
  own: OutputReader<Output> = (value) => value as Output,
): TaskHandle<Output> {
  let seen = 0;

  const detail = (options?: CallOptions): Called<Task> =>
    call("task.detail", { task_id: id }, options).map(({ task }) => task);
  const nothing = () => undefined;

  const wait = (options?: WaitOptions): Promise<Task> => settled(id, options);

  async function* watched(options: WatchOptions): AsyncGenerator<WatchEvent> {
    for await (const event of watchTask(http, id, { untilSettled: true, afterSeq: seen, ...options })) {
      if (event.type !== "text_delta") seen = Math.max(seen, event.seq);
      yield event;
    }
  }

  /** Waits for the end of a turn, and returns the newest event of a type in it. */
  async function lastOf<Type extends TaskEvent["type"]>(
    type: Type,
    options?: WaitOptions,
  ): Promise<Extract<TaskEvent, { type: Type }> | undefined> {
    const task = await wait(options);
    if (task.status === "waiting")
      throw new TaskStateError(
        id,
        task.status,
        `the task waits for its user: ${task.status_detail?.waiting_description ?? task.brief ?? id}`,
      );
    for await (const event of items(
      "task.listMessages",
      { task_id: id },
      { signal: options?.signal, headers: options?.headers },
    )) {
      if (event.type === "error_message" && task.status === "error")
        throw new TaskStateError(id, task.status, `the task failed: ${event.error_message.content}`);
      if (event.type === type) return event as Extract<TaskEvent, { type: Type }>;
      if (event.type === "user_message") break;
    }
    if (task.status === "error")
      throw new TaskStateError(id, task.status, `the task failed: ${task.brief ?? id}`);
    return undefined;
  }

  async function result(given?: OutputReader<unknown> | WaitOptions, more?: WaitOptions): Promise<unknown> {
    const [reader, options] = isReader(given) ? [given, more] : [own, given];
    const output = (await lastOf("structured_output_result", options))?.structured_output_result;
    if (!output)
      throw new TaskStateError(
        id,
        "stopped",
        "the turn has no structured output: create the task with output or structured_output_schema",
      );
    if (!output.success)
      throw new TaskStateError(
        id,
        "stopped",
        `the turn has no valid structured output: ${output.error ?? "unknown reason"}`,
      );
    return await readOutput(reader, output.value ?? null);
  }

  const pending = (options?: CallOptions) => detail(options).map((task) => task.status_detail);

  /** @throws TaskStateError unless the task waits, for this. */
  async function waitingFor(
    isMeant: (kind: string) => boolean,
    what: string,
    options?: CallOptions,
  ): Promise<StatusDetail> {
    const { status, status_detail: statusDetail } = await detail(options);
    if (statusDetail && isMeant(statusDetail.waiting_for_event_type)) return statusDetail;
    throw new TaskStateError(
      id,
      status,
      `the task waits for ${statusDetail ? statusDetail.waiting_for_event_type : "nothing"}, not for ${what}`,
    );
  }

  return {
    id,
    detail,
    wait,
    pending,
    result: result as TaskHandle<Output>["result"],
    stream: (options = {}) => taskStream(watched(options)),
    async text(options) {
      const event = await lastOf("assistant_message", options);
      if (!event) throw new TaskStateError(id, "stopped", "the turn has no message of the agent");
      return event.assistant_message.content;
    },
    events: (request = {}, options) =>
      items("task.listMessages", { order: "asc", ...request, task_id: id }, options),
    send: (message, more = {}, options) =>
      call("task.sendMessage", { ...more, task_id: id, message: toMessage(message) }, options).map(nothing),
    answer: (answer, options) =>
      calledAfter(async () => {
        await waitingFor((kind) => isQuestion({ waiting_for_event_type: kind }), "a question", options);
        const content = typeof answer === "string" ? answer : answer.join("\n");
        return () => call("task.sendMessage", { task_id: id, message: { content } }, options).map(nothing);
      }),
    confirm: (kind, input, options) =>
      calledAfter(async () => {
        const { waiting_for_event_id: waitingForEventId } = await waitingFor(
          (waiting) => waiting === kind,
          kind,
          options,
        );
        return () =>
          call(
            "task.confirmAction",
            { task_id: id, event_id: waitingForEventId, input: { ...input } },
            options,
          ).map(nothing);
      }),
    update: (changes, options) => call("task.update", { ...changes, task_id: id }, options).map(nothing),
    stop: (options) => call("task.stop", { task_id: id }, options).map(nothing),
    delete: (request = {}, options) => call("task.delete", { ...request, task_id: id }, options).map(nothing),
    watchUrl: (ttlSeconds, options) =>
      call(
        "task.watchUrl",
        { task_id: id, ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }) },
        options,
      ).map(({ url }) => url),
  };
}
