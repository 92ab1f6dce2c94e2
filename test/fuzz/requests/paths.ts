import fc from "fast-check";

/** Ways to misspell a path, or to write it unusually. */
const bends: readonly ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => `${path}x`,
  (path) => path.slice(0, -1),
  (path) => path.toUpperCase(),
  (path) => path.replaceAll(".", "%2E"),
  // A path that begins with another character is none.
  (path) => path.replace(/(?<=.)\/(?!.*\/)/, "%2F"),
  (path) => path.replace(/\/(?!.*\/)/, "//"),
  (path) => path.replace(/\/(?!.*\/)/, "/./"),
  (path) => `/..${path}`,
  (path) => `/%2e%2e${path}`,
  (path) => `${path}?`,
  (path) => `${path}?a=b&a=c&__proto__=x&%=%zz`,
  (path) => `${path}?message=%7B%7D&encoding=json&connect=v1`,
  (path) => `${path};a=b`,
  (path) => `${path}%00`,
  (path) => `${path}%`,
  (path) => `${path}%zz`,
  (path) => `${path}%ff`,
  (path) => `${path}%ED%A0%80`,
  (path) => `${path}/${"x/".repeat(2_000)}`,
  (path) => `${path}?${"x".repeat(6_000)}`,
  (path) => `/v3${path}`,
  (path) => `/v2${path}`,
];

const places = [
  "/",
  "/v2",
  "/v2/",
  "/v2/.",
  "/v2/no.such",
  "/v2/task",
  "/v2/__proto__",
  "/v2/constructor",
  "/livez",
  "/readyz",
  "/livez/",
  "/app/x",
  "/share/x",
  "/settings",
  "/console/assets/x",
  "/no/such",
];
const rpcs = [
  "task.v2.TaskService",
  "task.v2.TaskService/",
  "task.v2.TaskService/NoSuch",
  "no.such.Service/Call",
  "__proto__/constructor",
  "/",
];

/** Only HTTP/1.1 has these. */
const absolutes = [
  "http://platform.test",
  "http://platform.test:99999",
  "http://[",
  "https://a@b:c",
  "ftp://x",
  "http://",
];

/** Changes a path so that it is mostly unknown. */
export const oddPaths = (http: 1 | 2): fc.Arbitrary<(path: string) => string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...bends) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(...places, ...rpcs.map((rpc) => `/${rpc}`)).map((place) => () => place),
    },
    ...(http === 1
      ? [
          {
            weight: 1,
            arbitrary: fc.constantFrom(...absolutes).map((origin) => (path: string) => origin + path),
          },
        ]
      : []),
  );
