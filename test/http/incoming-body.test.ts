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

test("an upload has its own timer, in place of the one of other bodies", () => {
  const { body } = begun();
  body?.isUpload();
  expect(vi.getTimerCount()).toBe(1);
});

test("a request whose client has left keeps no timer, also when it turns out to be an upload after that", () => {
  const { request, response, body } = begun();
  request.destroy();
  response.emit("close");
  expect(vi.getTimerCount()).toBe(0);
  body?.isUpload();
  expect(vi.getTimerCount()).toBe(0);
});
