import { type AnswerOf, type Caller, caller, type RequestOf, type Resource, resource } from "./calls.ts";
import { type Files, files } from "./files.ts";
import type { Task } from "./generated/v2.ts";
import { type ListenEvent, type ListenOptions, listen } from "./listen.ts";
import { type OutputSchema, outputSchema } from "./output/output.ts";
import type { Paged } from "./pages.ts";
import { places } from "./places.ts";
import { settledTasks } from "./settled.ts";
import { type MessageLike, StartedTask, type TaskHandle, taskHandle, toMessage } from "./task.ts";
import { type CallOptions, type ClientOptions, type Transport, transport } from "./transport.ts";
import { type WatchEvent, type WatchOptions, watchTask } from "./watch.ts";

/** The request of `task.create`; `message` may be a text. */
export type CreateTask<Output = unknown> = Omit<RequestOf<"task.create">, "message"> & {
  readonly message: MessageLike;
  /**
   * The form of the structured output, instead of `structured_output_schema`: a validator such as zod.
   * `result` checks the value by it.
   */
  readonly output?: OutputSchema<Output> | undefined;
};

/** Tasks. */
export interface Tasks extends Omit<Resource<"task">, "create" | "list"> {
  /**
   * Creates a task. The result is a promise of the task, and has `stream`, `wait`, `text` and `result` at
   * once.
   */
  create(request: CreateTask & { readonly output?: undefined }, options?: CallOptions): StartedTask;
  /** @throws TypeError, before any call, with the path of what cannot be said of `output`. */
  create<Output>(request: CreateTask<Output>, options?: CallOptions): StartedTask<Output>;
  /** The task with this id; no call is made. */
  get(id: string): TaskHandle;
  /** The caller's tasks, newest first by default, over all pages. */
  list(
    request?: Omit<RequestOf<"task.list">, "cursor">,
    options?: CallOptions,
  ): Paged<Task, AnswerOf<"task.list">>;
  /**
   * Watches a task: every event once and in order, through lost connections. It stays open across turns
   * unless `untilSettled` is set.
   */
  watch(id: string, options?: WatchOptions): AsyncGenerator<WatchEvent>;
}

/** Webhooks. */
export interface Webhooks extends Resource<"webhook"> {
  /**
   * Receives webhook events over a stream instead of at an address, for at most 60 minutes: first the
   * listener with its secret, then deliveries. Leaving the loop ends the listener, and so does a lost
   * connection, with a ConnectionError.
   */
  listen(options?: ListenOptions): AsyncGenerator<ListenEvent>;
}

/** A client of one installation with one credential. */
export interface Client extends Caller {
  readonly tasks: Tasks;
  readonly files: Files;
  readonly schedules: Resource<"schedule">;
  readonly projects: Resource<"project">;
  readonly webhooks: Webhooks;
  readonly agents: Resource<"agent">;
  readonly agentProfiles: Resource<"agentProfile">;
  readonly skills: Resource<"skill">;
  readonly connectors: Resource<"connector">;
  readonly browsers: Resource<"browser">;
  readonly websites: Resource<"website">;
  readonly usage: Resource<"usage">;
  readonly users: Resource<"user">;
  readonly teamUsers: Resource<"team.user">;
  readonly audit: Resource<"audit">;
  readonly imports: Resource<"import">;
}

/**
 * Calls at the same time, held waits among them; others wait. So a thousand waits need fewer than 30
 * connections.
 */
const callsMax = 28;

/** @throws TypeError without an address of the installation. */
export const createClient = (options: ClientOptions = {}): Client =>
  clientOver(transport(options, { places: places(callsMax) }));

/** A client whose calls another transport carries. No environment is read. */
export function clientOver(http: Transport): Client {
  const calls = caller(http);
  const parts = { ...calls, http, settled: settledTasks(http, calls) };
  const of = <Subject extends string>(subject: Subject) => resource(calls, subject);
  const tasks: Tasks = {
    ...of("task"),
    create: <Output>({ message, output, ...request }: CreateTask<Output>, options?: CallOptions) => {
      const create = async () => {
        const schema = output && { structured_output_schema: outputSchema(output) };
        const created = calls.call(
          "task.create",
          { ...request, ...schema, message: toMessage(message) },
          options,
        );
        return await created.map(({ task_id }) => taskHandle(parts, task_id, output)).withResponse();
      };
      return new StartedTask<Output>(create());
    },
    get: (id) => taskHandle(parts, id),
    list: (request = {}, call) => calls.items("task.list", request, call),
    watch: (id, watching) => watchTask(http, id, watching),
  };
  return {
    ...calls,
    tasks,
    files: files(http, calls),
    schedules: of("schedule"),
    projects: of("project"),
    webhooks: { ...of("webhook"), listen: (options) => listen(http, options) },
    agents: of("agent"),
    agentProfiles: of("agentProfile"),
    skills: of("skill"),
    connectors: of("connector"),
    browsers: of("browser"),
    websites: of("website"),
    usage: of("usage"),
    users: of("user"),
    teamUsers: of("team.user"),
    audit: of("audit"),
    imports: of("import"),
  };
}
