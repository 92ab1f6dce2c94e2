import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { WatchTaskRequestSchema } from "../src/gen/proto/task/v2/task_service_pb.ts";

/** The server's maximum number of streams per connection. */
const streamsEach = 100;

/** Opens gRPC streams of tasks' events; resolves when each has received its first event. */
export async function openGrpcWatchers(
  port: number,
  taskIds: readonly string[],
  key: string,
): Promise<Disposable> {
  const sessions: ClientHttp2Session[] = [];
  for (let rest = taskIds; rest.length > 0; rest = rest.slice(streamsEach)) {
    const session = connect(`http://127.0.0.1:${port}`);
    sessions.push(session);
    await Promise.all(rest.slice(0, streamsEach).map((taskId) => openStream(session, taskId, key)));
  }
  return {
    [Symbol.dispose]() {
      for (const session of sessions) session.destroy();
    },
  };
}

async function openStream(session: ClientHttp2Session, taskId: string, key: string): Promise<void> {
  const stream = session.request({
    ":method": "POST",
    ":path": "/task.v2.TaskService/WatchTask",
    "content-type": "application/grpc+proto",
    te: "trailers",
    "x-service-api-key": key,
  });
  stream.end(envelope(toBinary(WatchTaskRequestSchema, create(WatchTaskRequestSchema, { taskId }))));
  stream.on("error", () => undefined);
  await Promise.race([
    once(stream, "data"),
    once(stream, "close").then(() => Promise.reject(new Error("the stream was closed"))),
  ]);
}

/** A gRPC message: the flag for no compression, the length, the message. */
function envelope(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
