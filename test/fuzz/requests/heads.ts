import fc from "fast-check";
import type { LimitName } from "../request.ts";

/** Headers that replace or extend the valid head; null removes a header. */
export interface Head {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | null>>;
}

/** The keys for a call. */
export interface Keys {
  /** Has access. */
  readonly own: string;
  /** Keys of every kind, and of other accounts: most of them have no access. */
  readonly all: readonly string[];
  /** Keys of the owner with limits. */
  readonly limited: Readonly<Record<LimitName, string>>;
}

const keyHeaders = ["x-service-api-key", "x-manus-api-key", "x-api-key"] as const;
const noKey = { "x-service-api-key": null };
const unknownKey = `sk-${"x".repeat(49)}`;

const values = (name: string, ...texts: readonly (string | readonly string[])[]): Head[] =>
  texts.map((text) => ({ headers: { [name]: text } }));

/** Credentials: none, unknown ones, too many, and keys of other kinds. */
const credentials = ({ own, all }: Keys): Head[] => [
  { headers: noKey },
  ...all.map((key) => ({ headers: { "x-service-api-key": key } })),
  ...all.map((key) => ({ headers: { "x-api-key": key } })),
  { headers: Object.fromEntries(keyHeaders.map((name) => [name, own])) },
  ...[
    "",
    " ",
    unknownKey,
    "sk-",
    `${own} `,
    `${own},${own}`,
    `${own},${unknownKey}`,
    "ÿ".repeat(52),
    "x".repeat(4_000),
    "'; DROP TABLE api_key; --",
  ].map((key) => ({ headers: { "x-service-api-key": key } })),
  ...[
    `Bearer ${own}`,
    "Bearer",
    "Bearer  ",
    "Bearer a.b.c",
    "Bearer ÿ",
    "Basic eDp5",
    "Negotiate",
    "",
  ].flatMap((authorization) => [{ headers: { authorization } }, { headers: { ...noKey, authorization } }]),
];

const types = [
  ...[
    "application/json; charset=utf-8",
    "application/json;charset=latin1",
    "application/json;;",
    "APPLICATION/JSON",
    "text/plain",
    "text/html",
  ],
  ...[
    "application/proto",
    "application/x-protobuf",
    "application/connect+json",
    "application/connect+proto",
    "application/connect+xml",
  ],
  ...[
    "application/grpc",
    "application/grpc+proto",
    "application/grpc+json",
    "application/grpc+thrift",
    "application/grpc-web",
  ],
  ...[
    "application/grpc-web+json",
    "application/grpc-web-text",
    "application/grpc-web-text+proto",
    "multipart/form-data",
    "multipart/mixed; boundary=x",
  ],
  ...[
    "application/x-www-form-urlencoded",
    "application/octet-stream",
    "nonsense",
    "/",
    "",
    " ",
    ";",
    'a/b; c="',
    "ÿ/ÿ",
    "application/json, text/plain",
  ],
];

const timeouts = [
  "0",
  "1",
  "500",
  "-1",
  "1e3",
  "0x10",
  "",
  " ",
  "soon",
  "9999999999",
  "99999999999",
  "2147483648",
  "1.5",
  "ÿ",
];
const grpcTimeouts = [
  "0m",
  "1n",
  "1u",
  "5m",
  "500m",
  "5S",
  "1M",
  "1H",
  "99999999H",
  "99999999n",
  "999999999S",
  "1x",
  "1",
  "S",
  "-1S",
  "1 S",
  "",
  "ÿ",
];

/** Headers that the service reads, with invalid values. */
const read: readonly Head[] = [
  ...values("content-type", ...types),
  { headers: { "content-type": null } },
  ...values("connect-timeout-ms", ...timeouts),
  ...values("grpc-timeout", ...grpcTimeouts),
  ...values("connect-protocol-version", "1", "2", "", "one", "ÿ"),
  ...values(
    "idempotency-key",
    "",
    " ",
    "k",
    "k",
    "k",
    "again",
    "again",
    "ÿ",
    '"quoted"',
    "a,b",
    "x".repeat(255),
    "x".repeat(256),
    "x".repeat(4_000),
    ["k", "l"],
  ),
  ...values(
    "last-event-id",
    "",
    "0",
    "1",
    "-1",
    "2147483647",
    "2147483648",
    "99999999999999999999",
    "1.5",
    "x",
    "ÿ",
    ["1", "2"],
  ),
];

/** Headers that the service ignores. */
const passed: readonly Head[] = [
  ...values("accept", "", "*/*", "text/event-stream", "application/xml", "ÿ", ";q="),
  ...values("accept-encoding", "", "*", "gzip;q=x", "ÿ"),
  ...values("x-request-id", "mine", "ÿ", "req_2222222222222222222222", "x".repeat(4_000)),
  ...values("x-forwarded-for", "1.2.3.4", "not an address", "::1, ,", "ÿ"),
  ...values("origin", "null", "https://app.example.com", "ÿ"),
  ...values("access-control-request-method", "POST", "ÿ"),
  ...values("range", "bytes=0-0", "bytes=-", "x"),
  ...values("if-none-match", "*", '"x"'),
  ...values("cookie", "a=b", "=; ;;", "__proto__=x", "x".repeat(4_000)),
  ...values("x-http-method-override", "DELETE"),
  ...values("user-agent", "", "ÿ"),
  ...values("grpc-message-type", "x", ""),
  ...values("x-bin", "AAAA"),
  ...values("some-key-bin", "not base64!", "AA==", ""),
  ...values("accept-language", "*", "xx-invalid-ÿ"),
  ...values("__proto__", "x"),
  ...values("constructor", "x"),
  ...values("expect", "100-continue"),
  ...values("upgrade", "h2c", "websocket").map(({ headers }) => ({
    headers: { ...headers, connection: "upgrade" },
  })),
  ...values("te", "trailers"),
  ...values("connection", "close", "keep-alive"),
];

const methods: readonly Head[] = [
  "GET",
  "HEAD",
  "PUT",
  "DELETE",
  "PATCH",
  "OPTIONS",
  "PROPFIND",
  "QUERY",
  "TRACE",
  "POST",
].map((method) => ({
  method,
  headers: {},
}));

/** Heads that are well-formed HTTP, but that no supported client sends. */
export const oddHeads = (keys: Keys): fc.Arbitrary<Head> =>
  fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...credentials(keys)) },
        { weight: 8, arbitrary: fc.constantFrom(...read) },
        { weight: 4, arbitrary: fc.constantFrom(...passed) },
        { weight: 1, arbitrary: fc.constantFrom(...methods) },
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((heads) =>
      Object.assign({}, ...heads, { headers: Object.assign({}, ...heads.map(({ headers }) => headers)) }),
    );
