import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** A span as a collector receives it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty without a parent. */
  readonly parentSpanId: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 0 unset, 2 error. */
  readonly status: number;
}

/** A record of the log as a collector receives it. */
export interface ReceivedLine {
  readonly text: string;
  readonly severity: string;
  readonly traceId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A collector on loopback: decodes what it receives by OTLP over HTTP with protobuf. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly lines: readonly ReceivedLine[];
  /** The attributes of the service that sent them. */
  readonly resource: Readonly<Record<string, unknown>>;
  readonly requests: readonly {
    readonly url: string;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
  }[];
  /** The status of further answers, or `hang`: none. */
  answer: number | "hang";
}

type Fields = ReadonlyMap<number, readonly (Uint8Array | bigint | number)[]>;

/** Reads the fields of a message, by number. */
function fieldsOf(bytes: Uint8Array): Fields {
  const fields = new Map<number, (Uint8Array | bigint | number)[]>();
  for (const reader = new BinaryReader(bytes); reader.pos < reader.len; ) {
    const [number, type] = reader.tag();
    const value = readers[type]?.(reader);
    if (value === undefined) throw new Error(`a wire type that OTLP does not use: ${type}`);
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

const readers: Readonly<Partial<Record<WireType, (reader: BinaryReader) => Uint8Array | bigint | number>>> = {
  [WireType.Varint]: (reader) => BigInt(reader.int64()),
  [WireType.Bit64]: (reader) => BigInt(reader.fixed64()),
  [WireType.LengthDelimited]: (reader) => reader.bytes(),
  [WireType.Bit32]: (reader) => reader.fixed32(),
};

const bytesOf = (fields: Fields, number: number): Uint8Array[] =>
  (fields.get(number) ?? []).filter((value): value is Uint8Array => value instanceof Uint8Array);
const messages = (fields: Fields, number: number): Fields[] => bytesOf(fields, number).map(fieldsOf);
const text = (fields: Fields, number: number): string =>
  Buffer.from(bytesOf(fields, number)[0] ?? []).toString("utf8");
const hex = (fields: Fields, number: number): string =>
  Buffer.from(bytesOf(fields, number)[0] ?? []).toString("hex");
const number = (fields: Fields, of: number): number => Number(fields.get(of)?.[0] ?? 0);

/** AnyValue: string_value 1, bool_value 2, int_value 3, double_value 4. */
function readValue(any: Fields | undefined): unknown {
  if (any === undefined) return undefined;
  if (any.has(1)) return text(any, 1);
  if (any.has(2)) return number(any, 2) === 1;
  if (any.has(3)) return number(any, 3);
  const bits = new DataView(new ArrayBuffer(8));
  bits.setBigUint64(0, BigInt.asUintN(64, BigInt(any.get(4)?.[0] as bigint)));
  return bits.getFloat64(0);
}

const attributesOf = (fields: Fields, at: number): Readonly<Record<string, unknown>> =>
  Object.fromEntries(messages(fields, at).map((pair) => [text(pair, 1), readValue(messages(pair, 2)[0])]));

/** opentelemetry/proto/trace/v1/trace.proto: Span. */
const spanOf = (span: Fields): ReceivedSpan => ({
  ...{
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentSpanId: hex(span, 4),
    name: text(span, 5),
    kind: number(span, 6),
  },
  ...{
    attributes: attributesOf(span, 9),
    status: messages(span, 15).map((status) => number(status, 3))[0] ?? 0,
  },
});

/** opentelemetry/proto/logs/v1/logs.proto: LogRecord. */
const lineOf = (record: Fields): ReceivedLine => ({
  ...{ severity: text(record, 3), text: String(readValue(messages(record, 5)[0])), traceId: hex(record, 9) },
  attributes: attributesOf(record, 6),
});

export async function openOtlpReceiver(): Promise<OtlpReceiver> {
  const [spans, lines, requests]: [
    ReceivedSpan[],
    ReceivedLine[],
    { url: string; headers: IncomingHttpHeaders; text: string }[],
  ] = [[], [], []];
  const state: { answer: number | "hang"; resource: Readonly<Record<string, unknown>> } = {
    answer: 200,
    resource: {},
  };
  const server = createServer(async (request, response) => {
    const sent = await buffer(request);
    const bytes = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
    requests.push({ url: request.url ?? "", headers: request.headers, text: bytes.toString("latin1") });
    if (state.answer === "hang") return;
    if (state.answer === 200)
      for (const group of messages(fieldsOf(bytes), 1)) {
        state.resource = messages(group, 1).map((resource) => attributesOf(resource, 1))[0] ?? {};
        const items = messages(group, 2).flatMap((scope) => messages(scope, 2));
        if (request.url === "/v1/traces") spans.push(...items.map(spanOf));
        else lines.push(...items.map(lineOf));
      }
    response.writeHead(state.answer, { "content-type": "application/x-protobuf" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ spans, lines, requests },
    get resource() {
      return state.resource;
    },
    get answer() {
      return state.answer;
    },
    set answer(next) {
      state.answer = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
