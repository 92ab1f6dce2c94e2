import { framed } from "../../wires/raw.ts";

/** How a wire refuses: the status, and what the answer's body or trailers contain. */
interface Refusal {
  readonly late: readonly [status: number, text: RegExp];
  readonly full: readonly [status: number, text: RegExp];
}

/** A kind of request with a separate body reader. */
export interface BodyWire extends Refusal {
  readonly path: string;
  readonly type: string;
  readonly http2: boolean;
  /** A valid body of about this many bytes. */
  body(size: number): Buffer;
}

const json = (size: number): Buffer => Buffer.from(JSON.stringify({ name: "x".repeat(size) }));
const message = (size: number): Buffer => {
  const text = Buffer.alloc(size, "x");
  const length = [];
  for (let rest = size; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) return Buffer.concat([Buffer.from([10, ...length]), text]);
  }
};

const v2: Omit<BodyWire, "http2"> = {
  path: "/v2/project.create",
  type: "application/json",
  body: json,
  late: [408, /"code":"invalid_argument","message":"the body did not arrive within 0.06 s"/],
  full: [503, /"code":"unavailable","message":"too many request bodies in memory/],
};
const v1: Omit<BodyWire, "http2"> = {
  path: "/v1/projects",
  type: "application/json",
  body: json,
  late: [408, /"code":4,"message":"the body did not arrive within 0.06 s"/],
  full: [503, /"code":14,"message":"too many request bodies in memory/],
};
const responses = {
  ...v1,
  path: "/v1/responses",
  full: [503, /"type":"server_error".*"code":"unavailable"/] as const,
};
const connect: Omit<BodyWire, "http2"> = {
  path: "/project.v2.ProjectService/CreateProject",
  type: "application/proto",
  body: message,
  late: [504, /"code":"deadline_exceeded","message":"the body did not arrive/],
  full: [503, /"code":"unavailable","message":"too many request bodies in memory/],
};
const grpc: Omit<BodyWire, "http2"> = {
  ...connect,
  type: "application/grpc+proto",
  body: (size) => framed(message(size)),
  late: [200, /grpc-status: 4\r\n/],
  full: [200, /grpc-status: 14\r\n[\s\S]*retry-after: 1\r\n|retry-after: 1\r\n[\s\S]*grpc-status: 14\r\n/],
};
const watch: Omit<BodyWire, "http2"> = {
  ...connect,
  path: "/task.v2.TaskService/WatchTask",
  type: "application/connect+proto",
  body: (size) => framed(message(size)),
  late: [200, /"code":"deadline_exceeded"/],
  full: [200, /"code":"unavailable"/],
};

export const bodyWires: Readonly<Record<string, BodyWire>> = {
  "v2 over HTTP/1.1": { ...v2, http2: false },
  "v2 over HTTP/2": { ...v2, http2: true },
  "v1 over HTTP/1.1": { ...v1, http2: false },
  "v1 over HTTP/2": { ...v1, http2: true },
  "Responses over HTTP/1.1": { ...responses, http2: false },
  "Responses over HTTP/2": { ...responses, http2: true },
  "Connect over HTTP/1.1": { ...connect, http2: false },
  "Connect over HTTP/2": { ...connect, http2: true },
  "a Connect stream over HTTP/1.1": { ...watch, http2: false },
  "a Connect stream over HTTP/2": { ...watch, http2: true },
  "gRPC over HTTP/2": { ...grpc, http2: true },
  "gRPC-Web over HTTP/1.1": { ...grpc, type: "application/grpc-web+proto", http2: false },
  "gRPC-Web over HTTP/2": { ...grpc, type: "application/grpc-web+proto", http2: true },
};
