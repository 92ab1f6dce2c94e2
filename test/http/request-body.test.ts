import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { defaultLimits, type FrontLimits } from "../../src/http/front-limits.ts";
import { bodyWatch, incomingBody } from "../../src/http/incoming-body.ts";
import { readBodyOrNull } from "../../src/http/request-body.ts";

/**
 * When a body in one packet with its head is read: before the parser has it, before its end is known, and
 * after that.
 */
const moments = {
  "before it has arrived": null,
  "before its end": () => Promise.resolve(),
  "after its end": () => turn(),
};
const ofLength = "Content-Length: 20\r\n\r\n12345678901234567890";
const inChunks = "Transfer-Encoding: chunked\r\n\r\na\r\n1234567890\r\na\r\n1234567890\r\n0\r\n\r\n";

interface Case {
  readonly moment: (() => Promise<unknown>) | null;
  readonly maxBytes: number;
  readonly limits?: Partial<FrontLimits>;
  readonly body?: string;
}

/** The outcome of reading a body of 20 bytes, and of the next one on its connection. */
async function outcomesOf({
  moment,
  maxBytes,
  limits = {},
  body = ofLength,
}: Case): Promise<readonly unknown[]> {
  const watch = bodyWatch({ ...defaultLimits, ...limits }, () => "192.0.2.1");
  const outcomes: unknown[] = [];
  let requests = 0;
  async function read(request: IncomingMessage): Promise<unknown> {
    const bytes = await readBodyOrNull(request, { maxBytes, name: "a test" });
    return bytes === null ? null : Buffer.from(bytes).toString();
  }
  const server = createServer(async (request, response) => {
    const number = requests++;
    watch(request, response);
    incomingBody(request)?.assignTo("ann");
    if (moment) await moment();
    outcomes[number] = await read(request).catch(({ reason }) => reason);
    if (!request.readableEnded) await once(request, "end");
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const socket = connect(port, "127.0.0.1");
  socket.end(
    `POST / HTTP/1.1\r\nHost: a\r\n${body}POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok`,
  );
  const answers = (await text(socket)).match(/HTTP\/1\.1 \d+/g);
  server.close();
  expect(answers).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"]);
  return outcomes;
}

describe.each(Object.entries(moments))("a body that is read %s", (_name, moment) => {
  test.each([
    ofLength,
    inChunks,
  ])("is read to its end, and so is the next one of its connection: %j", async (body) => {
    expect(await outcomesOf({ moment, maxBytes: 20, body })).toEqual(["12345678901234567890", "ok"]);
  });

  test.each([ofLength, inChunks])("is bounded in size: %j", async (body) => {
    expect(await outcomesOf({ moment, maxBytes: 19, body })).toEqual(["too_large", "ok"]);
  });

  test.each([
    [40, 40, "12345678901234567890"],
    [40, 39, "unavailable"],
    [39, 39, "unavailable"],
  ])("counts against both limits: with %i bytes of memory for bodies, and %i for an account", async (bodyMemory, bodyShare, outcome) => {
    // The next body may arrive while this one is still in memory.
    const [first] = await outcomesOf({ moment, maxBytes: 20, limits: { bodyMemory, bodyShare } });
    expect(first).toBe(outcome);
  });
});
