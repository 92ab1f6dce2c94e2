import { describe, expect, test } from "vitest";
import { filePart } from "../../src/core/files/part.ts";
import { isLonger } from "../../src/core/json.ts";
import type { SendMessageRequest } from "../../src/gen/proto/lf/a2a/v1/a2a_pb.ts";
import { ContentPartSchema } from "../../src/gen/proto/task/v2/message_pb.ts";
import { compileReader } from "../../src/http/v2/message-reader.ts";
import { parseRequest } from "../../src/protocols/a2a/http/raw-parts.ts";
import { rpcCall } from "../../src/protocols/a2a/http/requests.ts";
import { contentOf } from "../../src/protocols/a2a/message.ts";

const content = Buffer.from(Array.from({ length: 100_001 }, (_, at) => (at * at) % 251));
const base64 = content.toString("base64");

const bodyOf = (message: object) =>
  Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }));

/** The content of v2 that a request becomes. */
function contentIn(body: Buffer) {
  const { message } = rpcCall(parseRequest(body)).request as SendMessageRequest;
  if (!message) throw new Error("there is no message");
  return contentOf(message);
}

/** The bytes of the file of a part, as they are written. */
function bytesOf(part: object): Buffer {
  const message = compileReader(ContentPartSchema)(part as never, "body");
  const { source } = filePart("part", false, message);
  if (source.kind !== "data") throw new Error("it is not data");
  const bytes = Buffer.concat([...source.uri.decode(() => new Error("it is not base64"))]);
  expect(source.uri.bytes).toBe(bytes.length);
  return bytes;
}

describe("a long raw part", () => {
  test("becomes a file from the bytes of the body: no text has its base64", () => {
    for (const cut of [0, 1, 2]) {
      const bytes = content.subarray(cut);
      const part = { raw: bytes.toString("base64"), filename: "a.bin", mediaType: "text/x-a" };
      const made = contentIn(
        bodyOf({ messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }, part, part] }),
      );
      expect(JSON.stringify(made).length).toBeLessThan(1000);
      expect(made[1]).toMatchObject({
        file_data: expect.stringMatching(/^data:text\/x-a;base64,sha256-[0-9a-f]{64}$/),
        filename: "a.bin",
      });
      for (const at of [1, 2]) expect(bytesOf(made[at] ?? {}).equals(bytes)).toBe(true);
    }
  });

  test.each([
    ["with escapes", (body: string) => body.replaceAll("/", "\\/")],
    ["in base64url", (body: string) => body.replaceAll("+", "-")],
    ["twice in one part", (body: string) => body.replace('"raw":', `"raw":"${base64}","raw":`)],
  ])("%s is read as text", (_what, change) => {
    const body = Buffer.from(
      change(bodyOf({ messageId: "m", role: "ROLE_USER", parts: [{ raw: base64 }] }).toString()),
    );
    expect(bytesOf(contentIn(body)[0] ?? {}).equals(content)).toBe(true);
  });

  test("is only the member of a part: elsewhere it stays as it is", () => {
    for (const metadata of [{ raw: base64 }, { 'x"raw': base64 }, { a: `"raw":"${base64}"` }]) {
      const json = parseRequest(bodyOf({ role: "ROLE_USER", metadata, parts: [{ raw: base64 }] }));
      expect(json).toMatchObject({ params: { message: { metadata } } });
    }
  });

  test("that is not base64 is refused when its file is written", () => {
    const made = contentIn(bodyOf({ role: "ROLE_USER", parts: [{ raw: `!${base64.slice(1)}` }] }));
    expect(() => bytesOf(made[0] ?? {})).toThrow("it is not base64");
  });

  test("has the digest of its content: a request that is sent again is the same", () => {
    const digest = (raw: string) =>
      JSON.stringify(contentIn(bodyOf({ role: "ROLE_USER", parts: [{ raw }] })));
    expect(digest(base64)).toBe(digest(base64));
    expect(digest(base64)).not.toBe(digest(`B${base64.slice(1)}`));
  });
});

describe("data", () => {
  test("is measured without a text of it, up to the limit only", () => {
    const after = Object.defineProperty({ a: "x".repeat(100) }, "b", {
      enumerable: true,
      get: () => {
        throw new Error("it was read");
      },
    });
    expect(isLonger([["x".repeat(101)], after].toReversed(), 100)).toBe(true);
    expect(isLonger({ a: [1, null, "é"] }, 100)).toBe(false);
  });

  test("above 64 KiB is refused before a message is made of it", () => {
    const data = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, at]));
    const body = bodyOf({ role: "ROLE_USER", parts: [{ data }] });
    expect(() => rpcCall(parseRequest(body))).toThrow("must be at most 5000 estimated tokens");
    expect(contentIn(bodyOf({ role: "ROLE_USER", parts: [{ data: { a: 1 } }] }))).toEqual([
      { type: "text", text: '{"a":1}' },
    ]);
  });
});
