import {
  create,
  type DescMessage,
  type DescMethod,
  isMessage,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { failureOf, invalidArgument } from "../../../core/failure.ts";
import type { PushConfigs, PushInput } from "../../../core/push/push-configs.ts";
import type { Tx } from "../../../core/store.ts";
import { A2AService, type TaskPushNotificationConfig } from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import type { Admission, Request } from "../../../pipeline/admission.ts";
import type { Admit } from "../../../pipeline/admit.ts";
import type { Handler, HandlerTable } from "../../../pipeline/handlers.ts";
import { type Operation, type OperationTable, rpcName } from "../../../pipeline/operations.ts";
import type { Performer } from "../../../pipeline/perform.ts";
import { errorOf } from "../../shared/calls.ts";
import { A2aFailure } from "../problem.ts";
import { configOf, type PushUse, secretsOf } from "../push/use.ts";

/** The parts of the call path that configurations of push notifications use. */
export interface PushEntranceParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  /** Performs calls of other operations than those of the table. */
  readonly performWith: (handlers: HandlerTable) => Performer;
  readonly pushes: PushConfigs;
  readonly store: Tx;
}

const {
  createTaskPushNotificationConfig,
  getTaskPushNotificationConfig,
  listTaskPushNotificationConfigs,
  deleteTaskPushNotificationConfig,
} = A2AService.method;

/**
 * The operation of the platform whose callers may call a method: who may write to a task, and who may read
 * it. The scopes of a key are others.
 */
const accessOf = new Map<DescMethod, string>([
  [createTaskPushNotificationConfig, "task.sendMessage"],
  [deleteTaskPushNotificationConfig, "task.sendMessage"],
  [getTaskPushNotificationConfig, "task.detail"],
  [listTaskPushNotificationConfigs, "task.detail"],
]);

/** A method as an operation: admitted, limited, audited and performed as all others, under its own name. */
function operationOf(table: OperationTable, method: DescMethod): Operation {
  const like = table.byName(accessOf.get(method) ?? "");
  if (!like) throw new Error(`${method.name} is not a method of push notifications`);
  const rpc = rpcName(method);
  const rateClass = like.isChange ? "write" : "read";
  return {
    ...like,
    rpc,
    name: null,
    method,
    rateClass,
    countedAs: rpc,
    countedWith: [rpc],
    hasSecretAnswer: false,
    access: like.access && { ...like.access, keyScope: like.isChange ? "webhook:write" : "task:read" },
  };
}

/** The methods of push notifications for one request. */
export function pushUse(
  parts: PushEntranceParts,
  { request, caller }: Admission,
  hasEvents: boolean,
  signal: AbortSignal,
): PushUse {
  const { pushes, store } = parts;
  const { body: _, observed, ...rest } = request;
  const head: Request = { ...rest, idempotencyKey: null };

  async function perform<M extends DescMethod>(
    method: M,
    message: Message,
    handler: Handler<M>,
    isOwnCall = true,
  ) {
    const operation = operationOf(parts.operations, method);
    // The call of SendMessage counts as the operation that it was first.
    const own: Handler<DescMethod> = (tx, by, of) => handler(tx, by, messageOf<M["input"]>(method.input, of));
    return refusing(operation.rpc, request.requestId, async () => {
      const admission = await parts.admit(operation, isOwnCall && observed ? { ...head, observed } : head);
      const performer = parts.performWith(new Map([[operation.rpc, own]]));
      return messageOf<M["output"]>(
        method.output,
        (await performer.perform(admission, message, signal)).answer,
      );
    });
  }

  const inputOf = (config: TaskPushNotificationConfig, afterSeq?: number): PushInput => ({
    taskId: config.taskId,
    url: config.url,
    configId: config.id,
    secrets: secretsOf(config),
    hasEvents,
    afterSeq,
  });

  return {
    check: (config) =>
      refusing(rpcName(createTaskPushNotificationConfig), request.requestId, async () =>
        pushes.check(store, caller, inputOf(config)),
      ),
    async create(config, afterSeq) {
      const input = inputOf(config, afterSeq);
      const handler = async (tx: Tx, by: Admission["caller"]) =>
        configOf(await pushes.create(tx, by, { ...input, taskId: taskIn(config) }));
      return perform(createTaskPushNotificationConfig, config, handler, afterSeq === undefined);
    },
    get: ({ taskId, id }) =>
      perform(
        getTaskPushNotificationConfig,
        create(getTaskPushNotificationConfig.input, { taskId, id }),
        async (tx, by, of) => configOf(await pushes.get(tx, by, taskIn(of), of.id)),
      ),
    list: (request) =>
      perform(listTaskPushNotificationConfigs, request, async (tx, by, of) => {
        const { items, next } = await pushes.list(tx, by, taskIn(of), {
          size: of.pageSize,
          token: of.pageToken,
        });
        return { configs: items.map(configOf), nextPageToken: next ?? "" };
      }),
    async remove(of) {
      await perform(
        deleteTaskPushNotificationConfig,
        create(deleteTaskPushNotificationConfig.input, of),
        async (tx, by, { id }) => {
          await pushes.remove(tx, by, taskIn(of), id);
          return create(EmptySchema) as MessageInitShape<typeof EmptySchema>;
        },
      );
    },
  };
}

function messageOf<Of extends DescMessage>(schema: Of, message: Message): MessageShape<Of> {
  if (!isMessage(message, schema)) throw new Error(`${message.$typeName} is not ${schema.typeName}`);
  return message;
}

function taskIn({ taskId }: { readonly taskId: string }): string {
  if (taskId === "") throw invalidArgument("task_id", "is required");
  return taskId;
}

/**
 * Refuses as the calls of a client do. A configuration that is not found has the error of a task (A2A 1.0,
 * 3.1.8).
 */
async function refusing<T>(operation: string, requestId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const failure = failureOf(thrown);
    if (failure.reason === "internal") throw thrown;
    if (failure.reason === "not_found") throw new A2aFailure("TASK_NOT_FOUND", failure.message);
    throw errorOf(failure, operation, requestId);
  }
}
