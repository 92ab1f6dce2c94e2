import {
  type ClientDuplexStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messagesMax } from "../../src/core/browsers/connection.ts";
import { systemIds } from "../../src/core/ids.ts";
import { loading } from "../languages/grpc-js-client.ts";
import { protoFolder } from "../languages/proto-files.ts";
import { pacedClock } from "../support/paced-clock.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { tokenOf } from "../support/token.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { fakeBrowser, streamingWires } from "./fake-browser.ts";

interface Payload {
  readonly attached?: object;
  readonly ping?: object;
  readonly command?: { readonly id: number; readonly method: string };
}
type Attach = ClientDuplexStream<object, Payload>;

/** A stream of grpc-js over the proto files alone, without our generated code. */
function attachBy(
  { url }: Pick<Service, "url">,
  headers: Readonly<Record<string, string>>,
): { readonly stream: Attach; close(): void } {
  const loaded = loadSync("browser/v2/browser_service.proto", {
    ...loading,
    oneofs: true,
    includeDirs: [protoFolder],
  });
  // Definitions that are loaded at run time have no types.
  const { BrowserService } = (
    loadPackageDefinition(loaded)["browser"] as unknown as {
      v2: { BrowserService: new (...args: unknown[]) => never };
    }
  ).v2;
  const client: { Attach(metadata: Metadata): Attach; close(): void } = new BrowserService(
    new URL(url).host,
    credentials.createInsecure(),
  );
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return { stream: client.Attach(metadata), close: () => client.close() };
}

/** The stream's status by name, and its text. */
const endOf = (stream: Attach): Promise<string> =>
  new Promise((resolve) => {
    stream.on("error", ({ code, details }: ServiceError) => resolve(`${status[code]}: ${details}`));
    stream.on("status", ({ code, details }: { code: status; details: string }) =>
      resolve(`${status[code]}: ${details}`),
    );
    stream.on("data", () => undefined);
  });

describe("attaching", () => {
  const clock = pacedClock();
  let service: Service;
  let ann: Person;
  beforeAll(async () => {
    service = await openService({ env: { BODY_LIMIT: "64KiB" }, clock });
    ann = await service.person();
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    clock[Symbol.dispose]();
  });
  const online = async () => (await ann.v2("browser.onlineList")).body["data"] as { client_id: string }[];
  const gone = async () => {
    while ((await online()).length > 0) await new Promise(setImmediate);
  };

  test("by grpc-js is online, answers pings and leaves when its side is closed", async () => {
    const client_id = systemIds.uuid();
    const { stream, close } = attachBy(service, ann.headers);
    const attached = new Promise<Payload>((resolve) => stream.once("data", resolve));
    stream.write({ hello: { client_id, client_name: "grpc-js", ua: "C" } });
    expect(await attached).toMatchObject({ attached: {} });
    expect(await online()).toEqual([{ client_id, client_name: "grpc-js", ua: "C", task_ids: [] }]);
    const ping = new Promise<Payload>((resolve) => stream.once("data", resolve));
    // A ping is sent every 5 s.
    clock.speed = 10;
    expect(await ping).toMatchObject({ ping: {} });
    clock.speed = 1;
    stream.write({ pong: {} });
    const end = endOf(stream);
    stream.end();
    expect(await end).toBe("OK: ");
    expect(await online()).toEqual([]);
    close();
  });

  test("by grpc-js gets a refusal with its reason", async () => {
    const { stream, close } = attachBy(service, ann.headers);
    const end = endOf(stream);
    stream.write({ hello: { client_id: "b1", client_name: "grpc-js" } });
    expect(await end).toMatch(/^INVALID_ARGUMENT: hello\.client_id/);
    close();
  });

  const by: readonly (readonly [string, () => Promise<Readonly<Record<string, string>>>, RegExp])[] = [
    ["nothing", async () => ({}), /^Unauthenticated: Invalid or missing API key/],
    [
      "an invalid key",
      async () => ({ "x-service-api-key": "sk-none" }),
      /^Unauthenticated: Invalid or missing API key/,
    ],
    [
      "an app's token with any scopes",
      async () => (await tokenOf(service, ann, { scopes: ["use_my_browsers", "manage_all_tasks"] })).headers,
      /^PermissionDenied: insufficient_scope: this operation accepts/,
    ],
    [
      "a worker's credential",
      async () => ({ "x-api-key": (await createWorker(service, ann)).secret }),
      /^(PermissionDenied|Unauthenticated)/,
    ],
    // A session is accepted on server streams only (spec/decisions.md 55).
    ["a session", async () => (await ann.session()).headers, /^Unauthenticated: Invalid or missing API key/],
    ...(["ediscovery", "siem", "team_user_mgmt", "team_asset_audit", "team_asset_mgmt"] as const).map(
      (kind) =>
        [
          `a key of the kind ${kind}`,
          async () => (await service.person({ as: ann, with: ann, kind })).headers,
          /^PermissionDenied/,
        ] as const,
    ),
  ];
  test.each(
    by.flatMap(([what, headers, expected]) =>
      streamingWires.map((wire) => [what, wire, headers, expected] as const),
    ),
  )("is refused by %s over %s", async (_, wire, headers, expected) => {
    expect(await fakeBrowser({ headers: await headers() }, { url: service.url, wire }).end).toMatch(expected);
    expect(await online()).toEqual([]);
  });

  test("over HTTP/1.1, which has no bidirectional streams, is refused", async () => {
    const answer = await fetch(`${service.url}/browser.v2.BrowserService/Attach`, {
      method: "POST",
      headers: { ...ann.headers, "content-type": "application/connect+json" },
      body: new Uint8Array(),
    });
    expect(answer.status).toBe(505);
  });

  test.each(streamingWires)("ends over %s with a message beyond BODY_LIMIT", async (wire) => {
    const browser = fakeBrowser(ann, { url: service.url, wire });
    await browser.online;
    const result = JSON.stringify({ data: "x".repeat(65 * 1024) });
    browser.send({ case: "result", value: { id: 1, outcome: { case: "result", value: result } } } as never);
    expect(await browser.end).toBe(
      "ResourceExhausted: the message is larger than 65536 bytes, the limit of browser.v2.BrowserService/Attach",
    );
    await gone();
  });

  test(`ends with more than ${messagesMax} messages between two pings`, async () => {
    const browser = fakeBrowser(ann, { url: service.url });
    await browser.online;
    for (let i = 0; i <= messagesMax; i += 1)
      browser.send({ case: "event", value: { method: "Network.dataReceived", params: "{}" } } as never);
    expect(await browser.end).toBe(`ResourceExhausted: more than ${messagesMax} messages in 5 s`);
    await gone();
  });
});
