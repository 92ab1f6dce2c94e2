import { describe, expect, test } from "vitest";
import { begin } from "./client.ts";
import { openStub } from "./stub.ts";
import { bodyWires } from "./wires.ts";

const each = Object.entries(bodyWires);
const kib = 1024;

describe.each(each)("a body of %s", (_name, wire) => {
  test("is taken when it comes in pieces", async () => {
    await using stub = await openStub({});
    const sending = begin(stub.url, wire);
    const body = wire.body(100 * kib);
    for (let at = 0; at < body.length; at += 10_000) sending.write(body.subarray(at, at + 10_000));
    sending.end();
    const { text } = await sending.answer();
    for (const [, refusal] of [wire.late, wire.full]) expect(text).not.toMatch(refusal);
  });

  test("that does not end is answered in its own form, and its connection or stream is closed", async () => {
    await using stub = await openStub({ bodyMs: 60 });
    const sending = begin(stub.url, wire);
    sending.write(wire.body(50 * kib).subarray(0, 30 * kib));
    const [status, form] = wire.late;
    const answer = await sending.answer();
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(form)]);
    await sending.closed;
  });

  test("beyond the memory for bodies is refused with Retry-After, and gives back what it held", async () => {
    await using stub = await openStub({ bodyMemory: 400 * kib, bodyShare: 100 * kib });
    const over = begin(stub.url, wire);
    over.write(wire.body(150 * kib));
    const [status, form] = wire.full;
    const answer = await over.answer();
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(form)]);
    if (status === 503) expect(answer.headers.get("retry-after")).toBe("1");
    over.destroy();
    const fits = begin(stub.url, wire);
    fits.write(wire.body(90 * kib));
    fits.end();
    expect((await fits.answer()).text).not.toMatch(form);
  });
});
