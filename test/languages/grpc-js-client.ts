import {
  type CallOptions,
  type ChannelCredentials,
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type requestCallback,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import type { PackageDefinition } from "@grpc/proto-loader";
import { fromDynamic, toDynamic } from "./dynamic-json.ts";
import { type Answers, type Method, Refused, type StoryClient } from "./story.ts";

/**
 * Keeps the same names and values however a definition was loaded: a loaded descriptor keeps the names of its
 * file.
 */
export const loading = { keepCase: true, longs: String, enums: String };

type Unary = (
  request: object,
  metadata: Metadata,
  options: CallOptions,
  callback: requestCallback<unknown>,
) => void;

/** The client that grpc-js makes of the loaded definition; it has the methods in lowerCamelCase, too. */
type TaskClient = Readonly<Record<Method, Unary>> & {
  WatchTask(request: object, metadata: Metadata, options: CallOptions): ClientReadableStream<unknown>;
  close(): void;
};

/** The result of dynamically loading proto/, which is untyped. */
interface Packages {
  readonly task: {
    readonly v2: {
      readonly TaskService: new (address: string, credentials: ChannelCredentials) => TaskClient;
    };
  };
}

/** A connection and the client that uses it. */
interface GrpcJsConnection extends Disposable {
  readonly clientFor: (key: string) => StoryClient;
}

/** grpc-js over a definition that was loaded at run time. */
export function grpcJsClient(definition: PackageDefinition, url: string): GrpcJsConnection {
  const { TaskService } = (loadPackageDefinition(definition) as unknown as Packages).task.v2;
  const client = new TaskService(new URL(url).host, credentials.createInsecure());
  return { clientFor: (key) => createClient(client, key), [Symbol.dispose]: () => client.close() };
}

function createClient(client: TaskClient, key: string): StoryClient {
  const metadata = new Metadata();
  metadata.set("x-service-api-key", key);
  const within = (limitMs: number) => ({ deadline: Date.now() + limitMs });

  return {
    call: <M extends Method>(method: M, request: object) =>
      new Promise<Answers[M]>((resolve, reject) => {
        client[method](toDynamic(request), metadata, within(20_000), (error, answer) => {
          if (error) reject(refusedBy(error));
          else resolve(fromDynamic(answer) as Answers[M]);
        });
      }),

    async *watch(request, limitMs = 20_000) {
      const stream = client.WatchTask(toDynamic(request), metadata, within(limitMs));
      try {
        for await (const answer of stream) yield fromDynamic(answer) as Answers["WatchTask"];
      } catch (thrown) {
        // Streams of grpc-js throw only this type.
        throw refusedBy(thrown as ServiceError);
      } finally {
        stream.cancel();
      }
    },
  };
}

const refusedBy = ({ code, details, metadata }: ServiceError): Refused =>
  new Refused(status[code], details, metadata.get("x-request-id").join(" ") || null);
