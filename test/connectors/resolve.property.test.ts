import fc from "fast-check";
import { expect, test } from "vitest";
import { atCreate, atSend, type Known } from "../../src/core/connectors/resolve.ts";

const uids = ["a", "b", "c", "d", "e"];
const some = fc.uniqueArray(fc.constantFrom(...uids));
/** What is installed, default, the project's, granted to the app; null: no project, no app. */
const world = fc.record({
  installed: some,
  enabled: some,
  ofProject: fc.option(some, { nil: null }),
  grants: fc.option(some, { nil: null }),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

const knownOf = ({ installed, enabled, ofProject, grants }: World): Known => ({
  installed,
  // Only what is installed can be a default of the account's.
  enabled: enabled.filter((uid) => installed.includes(uid)),
  ofProject,
  granted: (asked) => asked.filter((uid) => grants === null || grants.includes(uid)),
});

/** The contract's table (contract/v2.md 9.9), row by row. */
const rows: readonly { readonly given: boolean; readonly project: boolean; readonly used: "those" | "project" | "enabled" }[] = [
  { given: true, project: true, used: "those" },
  { given: true, project: false, used: "those" },
  { given: false, project: true, used: "project" },
  { given: false, project: false, used: "enabled" },
];

function modelCreate(named: readonly string[], { installed, enabled, ofProject, grants }: World): readonly string[] | "refused" {
  const row = rows.find(({ given, project }) => given === named.length > 0 && project === (ofProject !== null));
  if (row?.used === "those") return named.every((uid) => installed.includes(uid)) ? named : "refused";
  const list = row?.used === "project" ? (ofProject ?? []) : enabled;
  return uids.filter((uid) => list.includes(uid) && installed.includes(uid) && (grants === null || grants.includes(uid)));
}

const outcome = (work: () => readonly string[]): readonly string[] | "refused" => {
  try {
    return [...work()].toSorted();
  } catch (thrown) {
    expect(thrown).toMatchObject({ reason: "invalid" });
    return "refused";
  }
};
const sorted = (value: readonly string[] | "refused") => (value === "refused" ? value : [...value].toSorted());

test("a new task has the connectors of the contract's table, whatever is installed, default, of the project or granted", () => {
  fc.assert(
    fc.property(some, world, (named, w) => {
      const real = outcome(() => atCreate({ connectors: named, noConnectors: false }, knownOf(w)));
      expect(real).toEqual(sorted(modelCreate(named, w)));
    }),
    { numRuns: 1000 },
  );
});

test("not even defaults, where a message says so", () => {
  fc.assert(
    fc.property(world, (w) => {
      expect(atCreate({ connectors: [], noConnectors: true }, knownOf(w))).toEqual([]);
    }),
  );
});

/** One message: what it names, and whether it clears. */
const message = fc.record({ named: some, clear: fc.boolean() });

test("messages replace, clear or reuse; defaults that change later are ignored, and nothing that is not granted is ever used by an app", () => {
  fc.assert(
    fc.property(world, fc.array(fc.record({ message, after: world }), { maxLength: 6 }), (first, steps) => {
      let real = atCreate({ connectors: [], noConnectors: false }, knownOf(first));
      let model: readonly string[] = sorted(modelCreate([], first)) as readonly string[]; // nothing is named, so nothing is refused
      for (const { message: sent, after } of steps) {
        const next = outcome(() => atSend({ connectors: sent.named }, sent.clear, real, knownOf(after)));
        if (sent.clear) model = [];
        else if (sent.named.length > 0 && !sent.named.every((uid) => after.installed.includes(uid))) {
          expect(next).toBe("refused");
          continue;
        } else if (sent.named.length > 0) model = sent.named;
        else model = model.filter((uid) => after.grants === null || after.grants.includes(uid));
        expect(next).toEqual(sorted(model));
        real = next as readonly string[]; // it was not refused
      }
    }),
    { numRuns: 1000 },
  );
});
