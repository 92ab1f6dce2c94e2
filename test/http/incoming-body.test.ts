import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { defaultLimits } from "../../src/http/front-limits.ts";
import { bodyWatch, incomingBody } from "../../src/http/incoming-body.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A request whose body has begun to arrive. */
function begun() {
  const request = new IncomingMessage(new Socket());
  request.headers["content-length"] = "1000";
  const response = new ServerResponse(request);
  bodyWatch(defaultLimits, () => "192.0.2.1")(request, response);
  return { request, response, body: incomingBody(request) };
}

test("an upload has its upload timer instead of the timer of other bodies", () => {
  const { body } = begun();
  body?.allowUploadTime();
  expect(vi.getTimerCount()).toBe(1);
});

test("a request whose client has disconnected keeps no timer, even if it turns out to be an upload later", () => {
  const { request, response, body } = begun();
  request.destroy();
  response.emit("close");
  expect(vi.getTimerCount()).toBe(0);
  body?.allowUploadTime();
  expect(vi.getTimerCount()).toBe(0);
});

test("a body in more than 10,000 pieces of fewer than 64 bytes is refused, and soon cut off", () => {
  const { request, body } = begun();
  for (let pieces = 0; pieces < 10_000; pieces += 1) body?.take(63);
  expect(() => body?.take(64)).not.toThrow();
  expect(() => body?.take(1)).toThrow("more than 10000 pieces of fewer than 64 bytes");
  body?.abandon();
  for (let pieces = 1; pieces < 10_000; pieces += 1) request.emit("data", Buffer.alloc(1));
  expect(request.socket.destroyed).toBe(false);
  request.emit("data", Buffer.alloc(1));
  expect(request.socket.destroyed).toBe(true);
});

test("a body in large pieces is not refused for their number", () => {
  const { body } = begun();
  for (let pieces = 0; pieces < 100_000; pieces += 1) body?.take(64);
  expect(() => body?.take(64)).not.toThrow();
});
