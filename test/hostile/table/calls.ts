import { framed } from "../../wires/raw.ts";
import type { Attack, Sender } from "../attack.ts";
import { type Coding, codings } from "../material/codings.ts";
import { exchange } from "../send/http1.ts";
import { exchange2 } from "../send/http2.ts";

/** A request to send. */
interface Request {
  readonly http: 1 | 2;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A wire form's encoding of a body, which a coding compresses first. */
type Form = (body: Uint8Array, coding: Coding) => Request;

const post = (
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  http: 1 | 2 = 1,
): Request => ({
  ...{ http, method: "POST", path, headers, body },
});

const encoded = (name: string, coding: Coding): Record<string, string> =>
  coding === "identity" ? {} : { [name]: coding };

/** A plain body of this type. */
const plain =
  (path: string, type: string, http: 1 | 2 = 1): Form =>
  (body, coding) =>
    post(path, { "content-type": type, ...encoded("content-encoding", coding) }, codings[coding](body), http);

/** One message in an envelope. */
const enveloped =
  (
    path: string,
    type: string,
    header: string,
    http: 1 | 2 = 1,
    more: Readonly<Record<string, string>> = {},
  ): Form =>
  (body, coding) =>
    post(
      path,
      { "content-type": type, ...encoded(header, coding), ...more },
      framed(codings[coding](body), coding === "identity" ? 0 : 1),
      http,
    );

const json = "application/json";

/** The wire forms of a call, by the kind of its name: a v2 name, an RPC or a path. */
export const forms = {
  v2: (name: string) => plain(`/v2/${name}`, json),
  "v2 over HTTP/2": (name: string) => plain(`/v2/${name}`, json, 2),
  path: (path: string) => plain(path, json),
  form: (path: string) => plain(path, "application/x-www-form-urlencoded"),
  scim: (path: string) => plain(path, "application/scim+json"),
  "connect-json": (rpc: string) => plain(`/${rpc}`, json),
  "connect-proto": (rpc: string) => plain(`/${rpc}`, "application/proto"),
  "connect-proto over HTTP/2": (rpc: string) => plain(`/${rpc}`, "application/proto", 2),
  "connect-stream-json": (rpc: string) =>
    enveloped(`/${rpc}`, "application/connect+json", "connect-content-encoding"),
  "connect-stream-proto": (rpc: string) =>
    enveloped(`/${rpc}`, "application/connect+proto", "connect-content-encoding"),
  grpc: (rpc: string) =>
    enveloped(`/${rpc}`, "application/grpc+proto", "grpc-encoding", 2, { te: "trailers" }),
  "grpc-json": (rpc: string) =>
    enveloped(`/${rpc}`, "application/grpc+json", "grpc-encoding", 2, { te: "trailers" }),
  "grpc-web": (rpc: string) => enveloped(`/${rpc}`, "application/grpc-web+proto", "grpc-encoding"),
  "grpc-web over HTTP/2": (rpc: string) =>
    enveloped(`/${rpc}`, "application/grpc-web+proto", "grpc-encoding", 2),
} as const;

export type FormName = keyof typeof forms;

/** One row of a table of calls. The body is created when it is sent. */
export type Row = readonly [
  what: string,
  by: Sender,
  form: FormName,
  called: string,
  coding: Coding,
  body: () => Uint8Array | string,
  ...expected: readonly string[],
];

/** The attacks of such a table. */
export const calls = (rows: readonly Row[]): readonly Attack[] =>
  rows.map(([what, by, form, called, coding, body, ...expected]) => ({
    name: `${what}, ${coding === "identity" ? "" : `${coding}, `}by ${form} to ${called}`,
    by,
    expected,
    send(target) {
      const {
        http,
        method,
        path,
        headers,
        body: bytes,
      } = forms[form](called)(Buffer.from(body() as string), coding);
      return (http === 1 ? exchange : exchange2)(target, method, path, headers, bytes);
    },
  }));
