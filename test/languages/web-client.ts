import { type DescMethodUnary, fromJson, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { type CallOptions, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { type Answers, type Method, Refused, type StoryClient } from "./story.ts";

/** A Connect client of the generated code, over one of a browser's transports. */
export function webClient(transport: Transport, key: string): StoryClient {
  const client = createClient(TaskService, transport);
  const headers = { "x-service-api-key": key };

  return {
    async call<M extends Method>(method: M, request: object) {
      const { input, output }: DescMethodUnary = TaskService.method[localNames[method]];
      // The request has this method's own type, which the compiler cannot see.
      const send = client[localNames[method]] as unknown as (
        request: Message,
        options: CallOptions,
      ) => Promise<Message>;
      const answer = await send(fromJson(input, request as JsonValue), { headers, timeoutMs: 20_000 }).catch(
        refuse,
      );
      return toJson(output, answer) as unknown as Answers[M];
    },

    async *watch(request, limitMs = 20_000) {
      const { input, output } = TaskService.method.watchTask;
      const left = new AbortController();
      try {
        const options = { headers, timeoutMs: limitMs, signal: left.signal };
        for await (const answer of client.watchTask(fromJson(input, request as JsonValue), options))
          yield toJson(output, answer) as unknown as Answers["WatchTask"];
      } catch (thrown) {
        refuse(thrown);
      } finally {
        left.abort();
      }
    },
  };
}

const localNames = {
  CreateTask: "createTask",
  SendMessage: "sendMessage",
  ConfirmAction: "confirmAction",
  StopTask: "stopTask",
  GetTask: "getTask",
  ListTasks: "listTasks",
  ListMessages: "listMessages",
} as const satisfies Record<Method, keyof typeof TaskService.method>;

function refuse(thrown: unknown): never {
  const { code, rawMessage, metadata } = ConnectError.from(thrown);
  const name = Code[code].replace(/(?<!^)[A-Z]/g, "_$&").toUpperCase();
  throw new Refused(name, rawMessage, metadata.get("x-request-id"));
}
