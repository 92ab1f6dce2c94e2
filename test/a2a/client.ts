import { randomUUID } from "node:crypto";
import type { AgentCard, Message, Part, SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import { Role } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { credentials } from "@grpc/grpc-js";
import { eventsExtension } from "../../src/protocols/a2a/protocol.ts";

export const bindings = ["JSONRPC", "HTTP+JSON", "GRPC"] as const;
export type Binding = (typeof bindings)[number];

/** Reads the public card of an agent. */
export const readCard = (url: string, agent?: string): Promise<AgentCard> =>
  new DefaultAgentCardResolver().resolve(agent === undefined ? url : `${url}/a2a/${agent}/`);

/** A client of one binding at an address. The card of a test names another port. */
export async function a2aClient(url: string, card: AgentCard, binding: Binding): Promise<Client> {
  const { host } = new URL(url);
  const supportedInterfaces = card.supportedInterfaces
    .filter(({ protocolBinding }) => protocolBinding === binding)
    .map((of) => ({ ...of, url: binding === "GRPC" ? host : `${url}${new URL(of.url).pathname}` }));
  const transports = [
    new JsonRpcTransportFactory(),
    new RestTransportFactory(),
    new GrpcTransportFactory({ grpcChannelCredentials: credentials.createInsecure() }),
  ];
  return new ClientFactory({ transports }).createFromAgentCard({ ...card, supportedInterfaces });
}

/** Headers of a request that activates the extension with events. */
export const withEvents = (headers: Readonly<Record<string, string>>, lastSeq?: number) => ({
  serviceParameters: {
    ...headers,
    "A2A-Extensions": eventsExtension,
    ...(lastSeq !== undefined && { "Last-Event-ID": String(lastSeq) }),
  },
});

const emptyPart = { metadata: undefined, filename: "", mediaType: "" };
export const text = (value: string): Part => ({ ...emptyPart, content: { $case: "text", value } });
export const data = (value: unknown): Part => ({ ...emptyPart, content: { $case: "data", value } });

/** A request that sends a message. */
export const sending = (
  part: Part,
  { returnImmediately = false, ...more }: Partial<Message> & { readonly returnImmediately?: boolean } = {},
): SendMessageRequest => ({
  tenant: "",
  message: {
    ...{ messageId: randomUUID(), contextId: "", taskId: "", role: Role.ROLE_USER, parts: [part] },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
    ...more,
  },
  configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
  metadata: undefined,
});

/** The task of an answer. */
export const asTask = (answer: Task | Message): Task => {
  if (!("status" in answer)) throw new Error("the answer is no task");
  return answer;
};

/** The facts of the extension in the items of a stream. */
export const factsOf = (items: readonly StreamResponse[]) =>
  items.flatMap(({ payload }) => {
    const has = payload?.$case === "statusUpdate" || payload?.$case === "artifactUpdate";
    // biome-ignore lint/suspicious/noExplicitAny: facts are read as the client sees them
    const facts: any = has ? payload.value.metadata?.[eventsExtension] : undefined;
    return facts === undefined ? [] : [facts];
  });

/** The last state of a stream. */
export const stateIn = (items: readonly StreamResponse[]) => {
  const last = items.at(-1)?.payload;
  return last?.$case === "statusUpdate" ? last.value.status?.state : undefined;
};
