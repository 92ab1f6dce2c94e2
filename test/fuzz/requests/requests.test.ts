import { describe, expect, test } from "vitest";
import { callees, has } from "../call-targets.ts";
import { type FuzzRequest, kinds, wires } from "../request.ts";
import { knownValues } from "./known-values.ts";
import { moreRuns, type NthRequest, requestsFrom } from "./requests.ts";

const ownKey = `sk-${"o".repeat(49)}`;
const keys = {
  own: ownKey,
  all: [ownKey, `sk-${"p".repeat(49)}`],
  limited: { reader: "r", project: "p", network: "n", expired: "e" },
};

/**
 * Creates a generator. Its first request of each operation and wire form compiles what the later ones use.
 */
const newGenerator = (): NthRequest =>
  requestsFrom({ known: knownValues(), keysFor: () => keys, built: callees.slice(0, 2) });
const shared = newGenerator();

const firstOf = (seed: number, count: number, nthRequest = shared): FuzzRequest[] =>
  Array.from({ length: count }, (_, nth) => nthRequest(seed, nth));

/** All parts of a request, for comparison. */
const textOf = ({ body, ...rest }: FuzzRequest): string =>
  JSON.stringify({ ...rest, body: Buffer.from(body).toString("base64") });

/** Every call on every wire, and those of two callees two more times. */
const round = [...callees, ...callees.slice(0, 2), ...callees.slice(0, 2), ...moreRuns].flatMap((callee) =>
  wires.filter((wire) => has(wire, callee)),
);

describe("generated requests", () => {
  test("call every operation and service on every wire form that it has, in each round", () => {
    const called = new Set(firstOf(1, round.length).map(({ wire, rpc }) => `${wire} ${rpc}`));
    const expectedCalls = callees.flatMap((callee) =>
      wires.flatMap((wire) => (has(wire, callee) ? [`${wire} ${callee.rpc}`] : [])),
    );
    expect([...called].toSorted()).toEqual(expectedCalls.toSorted());
  });

  test("are of every kind on every wire form", () => {
    const generated = new Set(firstOf(1, 4_000).map(({ wire, kind }) => `${wire}: ${kind}`));
    const impossible = [
      "v2: frames",
      "v2-get: frames",
      "v2-get: compression",
      "connect-get: frames",
      "mcp: frames",
      "ag-ui: frames",
      "a2a-rpc: frames",
      "a2a-rest: frames",
    ];
    const expectedPairs = wires
      .flatMap((wire) => kinds.map((kind) => `${wire}: ${kind}`))
      .filter((pair) => !impossible.includes(pair));
    expect([...generated].toSorted()).toEqual(expectedPairs.toSorted());
  });

  test("are the same for the same seed, and others for another", () => {
    const [once, others] = [7, 8].map((seed) => firstOf(seed, 300).map(textOf));
    expect(firstOf(7, 300, newGenerator()).map(textOf), "by another generator").toEqual(once);
    expect(others).not.toEqual(once);
  });

  test("differ from round to round", () => {
    const requests = firstOf(1, 4 * round.length);
    const bodies = new Set(
      requests.map(({ path, headers, body }) =>
        JSON.stringify([path, headers, Buffer.from(body).toString("base64")]),
      ),
    );
    expect(bodies.size).toBeGreaterThan(requests.length / 2);
  });

  test("have no head beyond what Node accepts, and no body where none is allowed", () => {
    const requests = firstOf(1, 4_000);
    const long = requests.filter(
      ({ path, headers }) => path.length + JSON.stringify(headers).length > 16_000,
    );
    const strange = requests.filter(
      ({ method, body }) => ["GET", "HEAD", "TRACE"].includes(method) && body.length > 0,
    );
    expect([...long, ...strange]).toEqual([]);
  });
});

describe("values from answers", () => {
  test("are reused: ids of tasks, cursors, and the event that a task waits with", () => {
    const known = knownValues();
    known.learn(
      '{"task_id":"AAAAAAAAAAAAAAAAAAAAAA","messages":[{"status_detail":{"waiting_for_event_id":"ev_1"}}],"next_cursor":"c-1_x"}',
    );
    known.learn('{"taskId":"BBBBBBBBBBBBBBBBBBBBBB","nextCursor":"c-2"}');
    expect([known.pick("task_id", 0), known.pick("task_id", 1), known.pick("task_id", 2)]).toEqual(
      ["A", "B", "A"].map((letter) => letter.repeat(22)),
    );
    expect([known.pick("cursor", 0), known.pick("cursor", 1)]).toEqual(["c-1_x", "c-2"]);
    expect(known.waitingEvent("A".repeat(22))).toBe("ev_1");
    expect(known.pick("project_id", 0)).toBeUndefined();
  });

  test("are replaced by newer ones, except those of the start of the run", () => {
    const known = knownValues();
    known.found("task_id", "kept");
    for (let i = 0; i < 100; i++) known.learn(`{"task_id":"${String(i).padStart(22, "0")}"}`);
    const all = new Set(Array.from({ length: 200 }, (_, nth) => known.pick("task_id", nth)));
    expect(all.has("kept")).toBe(true);
    expect(all.has("99".padStart(22, "0"))).toBe(true);
    expect(all.has("0".repeat(22))).toBe(false);
  });
});
