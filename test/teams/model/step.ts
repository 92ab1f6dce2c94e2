import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect } from "vitest";
import { type Action, type Answer, call, methods, tidy, type Wire, wires } from "./call.ts";
import { checkStep } from "./check.ts";
import type { Team } from "./members.ts";
import { type CallerKind, callers, showing } from "./picks.ts";
import { type Model, type Real, type Side, sides } from "./rig.ts";
import * as rules from "./rules.ts";

/** What every call has. */
export interface Frame {
  readonly side: Side;
  readonly wire: Wire;
  readonly caller: CallerKind;
  readonly n: number;
  /** Time that passes before: two members may be made in one millisecond. */
  readonly seconds: number;
}

const frames: fc.Arbitrary<Frame> = fc.record({
  side: fc.constantFrom(...sides),
  wire: fc.constantFrom(...wires),
  caller: callers,
  n: fc.nat(23),
  seconds: fc.constantFrom(0, 1, 90),
});

/** A call of one operation: what is sent, and what the rules say to it. */
interface Asking {
  readonly body: JsonObject;
  readonly rule: (team: Team, power: rules.Power, answer: Answer, now: number) => rules.Expected;
}

export type Command = fc.AsyncCommand<Model, Real>;

/** Makes a command of what every call has and what this one is about. */
export type Making<A> = (frame: Frame, given: A) => Command;

/** A command that calls an operation and holds its answer, and everything after it, against the rules. */
export const commandOf =
  <A>(action: Action, asking: (given: A, model: Model, real: Real, side: Side) => Asking): Making<A> =>
  (frame, given) => ({
    check: () => true,
    toString: () => `${action} ${JSON.stringify({ ...frame, ...given })}`,
    run: async (model, real) => {
      await real.clock.advance(frame.seconds * 1000);
      await perform(model, real, frame, action, asking(given, model, real, frame.side));
    },
  });

/** Any such command. */
export const randomly = <A>(making: Making<A>, given: fc.Arbitrary<A>): fc.Arbitrary<Command> =>
  fc.tuple(frames, given).map(([frame, args]) => making(frame, args));

async function perform(model: Model, real: Real, frame: Frame, action: Action, { body, rule }: Asking): Promise<void> {
  const team = model[frame.side];
  const { headers, may, connectOnly } = showing(model, real, frame);
  const wire = connectOnly ? "connect" : frame.wire;
  const answer = await call({ url: real.service.url, wire, headers }, action, body);
  const allowed = may === "full" || may === "super";
  const expected = allowed ? rule(team, may, answer, real.clock.now()) : rules.refusing(may);
  hold(answer, expected, `${action} ${JSON.stringify(body)} by ${frame.caller}, who may ${may}, over ${wire}`);
  const subject = "body" in expected ? expected.subject : undefined;
  if (subject !== undefined) team.changes.push({ requestId: answer.requestId, method: methods[action], subject });
  count(real, action, answer);
  await checkStep(model, real, { side: frame.side, touched: subject, n: frame.n });
}

/** The answer is one that the rules allow, and nothing more or less. */
function hold({ refusal, body }: Answer, expected: rules.Expected, called: string): void {
  if ("refusals" in expected) expect(expected.refusals, `${called}: ${refusal ?? JSON.stringify(body)}`).toContain(refusal);
  else {
    expect(refusal, called).toBeUndefined();
    expect(tidy(body), called).toEqual(tidy(expected.body));
  }
}

function count({ tally }: Real, action: Action, { refusal, body }: Answer): void {
  const cascades = body["cascade_affected"];
  const told = [`${action} ${refusal ?? "done"}`, ...(Array.isArray(cascades) && cascades.length > 0 ? ["cascade"] : [])];
  for (const each of told) tally.set(each, (tally.get(each) ?? 0) + 1);
}
