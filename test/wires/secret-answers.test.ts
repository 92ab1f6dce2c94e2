import {
  create,
  type DescField,
  type DescMessage,
  getOption,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { secret } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { openStub } from "../http/bodies/stub.ts";
import { send } from "./raw.ts";

/** Names of fields that can hold a credential, or an address that works without one. */
const suspicious = /(secret|password|token|credential|signature|cookie|code|(^|_)key|(^|_)urls?)$/;

/** Fields with such a name that hold no secret, by the reason. */
const reviewed: Readonly<Record<string, readonly string[]>> = {
  "a name, an id or a number of an event, or of an error": [
    "audit.v2.AuditEvent.credential",
    "task.v2.TextDelta.message_key",
    "worker.v1.AppendError.code",
    "worker.v1.Appended.key",
    "worker.v1.Event.key",
  ],
  "an address of a file: it expires, and is new in each answer (spec/decisions.md 105)": [
    "file.v2.FileDetail.download_url",
    "task.v2.SharedAttachment.url",
    "task.v2.TaskAttachment.url",
    "worker.v1.File.url",
    "worker.v1.Skill.url",
  ],
  "an address that a caller has set": [
    "oauth.v2.OAuth2App.homepage_url",
    "oauth.v2.OAuth2App.webhook_url",
    "oauth.v2.OAuth2Grant.homepage_url",
    "settings.v1.InstalledConnector.url",
    "task.v2.ContentPart.file_url",
    "webhook.v2.Webhook.url",
  ],
  "an address of a page, which checks its visitor": [
    "schedule.v1.RunScheduleResponse.task_url",
    "task.v2.CreateTaskResponse.share_url",
    "task.v2.CreateTaskResponse.task_url",
    "task.v2.Task.task_url",
    "task.v2.UpdateTaskResponse.share_url",
    "task.v2.UpdateTaskResponse.task_url",
    "website.v2.GetWebsiteStatusResponse.site_urls",
    "website.v2.Website.site_urls",
  ],
  "a text that is made of the id of a listener": ["webhook.v2.WebhookListener.signed_url"],
  "a public key": [
    "webhook.v2.GetWebhookPublicKeyResponse.ed25519_public_key",
    "webhook.v2.GetWebhookPublicKeyResponse.public_key",
    "webhook.v2.WebhookPublicKey.public_key",
  ],
};

/** The fields of a message and of the messages in it. */
function fieldsOf(desc: DescMessage, seen = new Set<DescMessage>()): DescField[] {
  if (seen.has(desc)) return [];
  seen.add(desc);
  return desc.fields.flatMap((field) => [field, ...(field.message ? fieldsOf(field.message, seen) : [])]);
}

const isText = ({ scalar }: DescField): boolean => scalar === ScalarType.STRING;
const { all } = operationTable();

describe("an answer with a secret", () => {
  test("is known by its schema: each text with the name of a secret is marked, or was reviewed", () => {
    const named = all
      .flatMap(({ method }) => fieldsOf(method.output))
      .filter((field) => isText(field) && suspicious.test(field.name));
    const unmarked = named.filter((field) => !getOption(field, secret)).map(String);
    expect([...new Set(unmarked)].toSorted()).toEqual(
      Object.values(reviewed)
        .flat()
        .map((name) => `field ${name}`)
        .toSorted(),
    );
  });

  test("is that of every operation with a marked field, or with an answer that is shown once", () => {
    const expected = all.filter(
      ({ method, hasSecretAnswer }) =>
        hasSecretAnswer || fieldsOf(method.output).some((field) => getOption(field, secret)),
    );
    expect(all.filter(({ isConfidential }) => isConfidential)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(10);
  });
});

/** A message with a long text in one of its fields; null when it can have none. */
function withLongText(desc: DescMessage, depth = 0): Message | null {
  if (depth > 4 || desc.typeName.startsWith("google.")) return null;
  const made = create(desc);
  for (const { name, localName, fieldKind, scalar, message, oneof } of desc.fields) {
    if (oneof || name === "request_id" || name === "warnings" || fieldKind === "map") continue;
    const value =
      scalar === ScalarType.STRING ? "x".repeat(5000) : message ? withLongText(message, depth + 1) : null;
    if (value !== null) return Object.assign(made, { [localName]: fieldKind === "list" ? [value] : value });
  }
  return null;
}

describe("of all operations", () => {
  const unary = all.filter(
    ({ method }) => method.methodKind === "unary" && withLongText(method.output) !== null,
  );
  const openLong = () =>
    openStub(
      {},
      {
        perform: async ({ operation: { method } }) => ({
          answer: withLongText(method.output) ?? create(method.output),
          isReplayed: false,
        }),
      },
    );
  const headers = {
    "x-service-api-key": "ann",
    "accept-encoding": "gzip",
    "content-type": "application/json",
  };

  test.each([
    ["v2", {}, ({ name }: Operation) => name && `v2/${name}`],
    ["Connect", {}, ({ rpc }: Operation) => rpc],
    ["Connect with a deadline", { "connect-timeout-ms": "60000" }, ({ rpc }: Operation) => rpc],
  ] as const)("over %s exactly those whose answer can hold a secret are never compressed", async (_wire, more, pathOf) => {
    await using stub = await openLong();
    const served = unary.filter((operation) => pathOf(operation) !== null);
    const plain = await Promise.all(
      served.map(async (operation) => {
        const reply = await send(`${stub.url}/${pathOf(operation)}`, {
          headers: { ...headers, ...more },
          body: "{}",
        });
        expect([operation.rpc, reply.status]).toEqual([operation.rpc, 200]);
        return reply.headers.get("content-encoding") === null ? [operation.rpc] : [];
      }),
    );
    expect(plain.flat()).toEqual(served.filter(({ isConfidential }) => isConfidential).map(({ rpc }) => rpc));
    expect(served.length).toBeGreaterThan(plain.flat().length);
  });

  test("no answer to a page with a cookie is compressed", async () => {
    await using stub = await openLong();
    for (const more of [{}, { "connect-timeout-ms": "60000" }]) {
      const sent = { headers: { ...headers, ...more, cookie: "session=x" }, body: "{}" };
      const reply = await send(`${stub.url}/project.v2.ProjectService/ListProjects`, sent);
      expect([reply.status, reply.headers.get("content-encoding")]).toEqual([200, null]);
    }
  });

  test("exactly the reads whose answer can hold a secret are not kept by clients", async () => {
    await using stub = await openLong();
    const reads = unary.filter(({ name, isChange }) => name !== null && !isChange);
    const kept = await Promise.all(
      reads.map(async ({ name, rpc }) => {
        const reply = await send(`${stub.url}/v2/${name}`, { method: "GET", headers });
        const [etag, caching] = [reply.headers.get("etag"), reply.headers.get("cache-control")];
        expect(caching, rpc).toBe(etag === null ? "no-store" : "private, no-cache");
        return etag === null ? [] : [rpc];
      }),
    );
    expect(kept.flat()).toEqual(reads.filter(({ isConfidential }) => !isConfidential).map(({ rpc }) => rpc));
  });
});
