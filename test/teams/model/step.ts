import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect } from "vitest";
import { type Action, type Answer, call, methods, tidy, type Wire, wires } from "./call.ts";
import { checkStep } from "./check.ts";
import type { Team } from "./members.ts";
import { type CallerKind, callers, presentCredential } from "./picks.ts";
import { type Model, type Real, type Side, sides } from "./rig.ts";
import * as rules from "./rules.ts";

/** The common part of every call. */
export interface Frame {
  readonly side: Side;
  readonly wire: Wire;
  readonly caller: CallerKind;
  readonly n: number;
  /** Seconds that pass before the call: two members may be made in one millisecond. */
  readonly seconds: number;
}

const frames: fc.Arbitrary<Frame> = fc.record({
  side: fc.constantFrom(...sides),
  wire: fc.constantFrom(...wires),
  caller: callers,
  n: fc.nat(23),
  seconds: fc.constantFrom(0, 1, 90),
});

/** A call of one operation: the input, and the rule for its answer. */
interface CallInput {
  readonly body: JsonObject;
  readonly rule: (team: Team, power: rules.Power, answer: Answer, now: number) => rules.Expected;
}

export type Command = fc.AsyncCommand<Model, Real>;

/** Makes a command from the common part and its input. */
export type CommandMaker<A> = (frame: Frame, input: A) => Command;

/** A command that calls an operation and checks its answer, and the state afterwards, against the rules. */
export const commandOf =
  <A>(
    action: Action,
    inputFor: (input: A, model: Model, real: Real, side: Side) => CallInput,
  ): CommandMaker<A> =>
  (frame, input) => ({
    check: () => true,
    toString: () => `${action} ${JSON.stringify({ ...frame, ...input })}`,
    run: async (model, real) => {
      await real.clock.advance(frame.seconds * 1000);
      await performCall(model, real, frame, action, inputFor(input, model, real, frame.side));
    },
  });

/** A random command of this kind. */
export const randomly = <A>(makeCommand: CommandMaker<A>, input: fc.Arbitrary<A>): fc.Arbitrary<Command> =>
  fc.tuple(frames, input).map(([frame, args]) => makeCommand(frame, args));

async function performCall(
  model: Model,
  real: Real,
  frame: Frame,
  action: Action,
  { body, rule }: CallInput,
): Promise<void> {
  const team = model[frame.side];
  const { headers, may, connectOnly } = presentCredential(model, real, frame);
  const wire = connectOnly ? "connect" : frame.wire;
  const answer = await call({ url: real.service.url, wire, headers }, action, body);
  const allowed = may === "full" || may === "super";
  const expected = allowed ? rule(team, may, answer, real.clock.now()) : rules.refusedWith(may);
  hold(
    answer,
    expected,
    `${action} ${JSON.stringify(body)} by ${frame.caller}, who may ${may}, over ${wire}`,
  );
  const subject = "body" in expected ? expected.subject : undefined;
  if (subject !== undefined)
    team.changes.push({ requestId: answer.requestId, method: methods[action], subject });
  count(real, action, answer);
  await checkStep(model, real, { side: frame.side, touched: subject, n: frame.n });
}

/** Checks that the rules allow exactly this answer. */
function hold({ refusal, body }: Answer, expected: rules.Expected, called: string): void {
  if ("refusals" in expected)
    expect(expected.refusals, `${called}: ${refusal ?? JSON.stringify(body)}`).toContain(refusal);
  else {
    expect(refusal, called).toBeUndefined();
    expect(tidy(body), called).toEqual(tidy(expected.body));
  }
}

function count({ tally }: Real, action: Action, { refusal, body }: Answer): void {
  const cascades = body["cascade_affected"];
  const outcomes = [
    `${action} ${refusal ?? "done"}`,
    ...(Array.isArray(cascades) && cascades.length > 0 ? ["cascade"] : []),
  ];
  for (const each of outcomes) tally.set(each, (tally.get(each) ?? 0) + 1);
}
