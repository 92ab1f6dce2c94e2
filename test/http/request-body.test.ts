import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { defaultLimits, type FrontLimits } from "../../src/http/front-limits.ts";
import { bodyWatch, incomingBody } from "../../src/http/incoming-body.ts";
import { bodyOf } from "../../src/http/request-body.ts";

/** What became of a body of 20 bytes that had arrived when it was read, and the status of the next request of its connection. */
async function readLate(maxBytes: number, limits: Partial<FrontLimits> = {}, body = "Content-Length: 20\r\n\r\n12345678901234567890") {
  const watch = bodyWatch({ ...defaultLimits, ...limits }, () => "192.0.2.1");
  const outcomes: unknown[] = [];
  async function outcome(request: IncomingMessage): Promise<unknown> {
    incomingBody(request)?.belongsTo("ann");
    const bytes = await bodyOf(request, { maxBytes, of: "a test" });
    return bytes === null ? null : Buffer.from(bytes).toString();
  }
  const server = createServer(async (request, response) => {
    watch(request, response);
    // The parser has the whole packet by then.
    await turn();
    outcomes.push(await outcome(request).catch(({ reason }) => reason));
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const socket = connect(port, "127.0.0.1");
  socket.end(`POST / HTTP/1.1\r\nHost: a\r\n${body}POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok`);
  const answers = (await text(socket)).match(/HTTP\/1\.1 \d+/g);
  server.close();
  expect(answers).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"]);
  return outcomes;
}

test("a body that has arrived is read at once, with a length and in chunks, and so is the next one", async () => {
  expect(await readLate(20)).toEqual(["12345678901234567890", "ok"]);
  const chunked = "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n5\r\n67890\r\n0\r\n\r\n";
  expect(await readLate(20, {}, chunked)).toEqual(["1234567890", "ok"]);
});

test("a body that has arrived is bounded in size, whether or not it announces its length", async () => {
  expect(await readLate(19)).toEqual(["too_large", "ok"]);
  const chunked = "Transfer-Encoding: chunked\r\n\r\n14\r\n12345678901234567890\r\n0\r\n\r\n";
  expect(await readLate(19, {}, chunked)).toEqual(["too_large", "ok"]);
});

test("a body that has arrived counts twice in the memory for bodies", async () => {
  expect(await readLate(20, { bodyMemory: 40, bodyShare: 40 })).toEqual(["12345678901234567890", "ok"]);
  expect(await readLate(20, { bodyMemory: 40, bodyShare: 39 })).toEqual(["unavailable", "ok"]);
  expect(await readLate(20, { bodyMemory: 39, bodyShare: 39 })).toEqual(["unavailable", "ok"]);
});
