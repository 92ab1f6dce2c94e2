import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ResolvableConnectors,
  resolveAtCreate,
  resolveAtSend,
} from "../../src/core/connectors/resolve.ts";

const uids = ["a", "b", "c", "d", "e"];
const uidSubset = fc.uniqueArray(fc.constantFrom(...uids));
/** The installed, default, project's and granted connectors; null: no project, no app. */
const setting = fc.record({
  installed: uidSubset,
  enabled: uidSubset,
  ofProject: fc.option(uidSubset, { nil: null }),
  grants: fc.option(uidSubset, { nil: null }),
});
type Setting = typeof setting extends fc.Arbitrary<infer T> ? T : never;

const setOf = ({ installed, enabled, ofProject, grants }: Setting): ResolvableConnectors => ({
  installed,
  // Only installed ones can be defaults of the account.
  enabled: enabled.filter((uid) => installed.includes(uid)),
  ofProject,
  filterGranted: (asked) => asked.filter((uid) => grants === null || grants.includes(uid)),
});

/** The specification's table (spec/api.md 9.9), row by row. */
const rows: readonly {
  readonly given: boolean;
  readonly project: boolean;
  readonly used: "those" | "project" | "enabled";
}[] = [
  { given: true, project: true, used: "those" },
  { given: true, project: false, used: "those" },
  { given: false, project: true, used: "project" },
  { given: false, project: false, used: "enabled" },
];

function modelCreate(
  named: readonly string[],
  { installed, enabled, ofProject, grants }: Setting,
): readonly string[] | "refused" {
  const row = rows.find(
    ({ given, project }) => given === named.length > 0 && project === (ofProject !== null),
  );
  if (row?.used === "those") return named.every((uid) => installed.includes(uid)) ? named : "refused";
  const list = row?.used === "project" ? (ofProject ?? []) : enabled;
  return uids.filter(
    (uid) => list.includes(uid) && installed.includes(uid) && (grants === null || grants.includes(uid)),
  );
}

const outcome = (work: () => readonly string[]): readonly string[] | "refused" => {
  try {
    return [...work()].toSorted();
  } catch (thrown) {
    expect(thrown).toMatchObject({ reason: "invalid_argument" });
    return "refused";
  }
};
const sorted = (value: readonly string[] | "refused") =>
  value === "refused" ? value : [...value].toSorted();

test("a new task gets the connectors of the specification's table, for every set of installed, default, project's and granted ones", () => {
  fc.assert(
    fc.property(uidSubset, setting, (named, w) => {
      const real = outcome(() => resolveAtCreate({ connectors: named, noConnectors: false }, setOf(w)));
      expect(real).toEqual(sorted(modelCreate(named, w)));
    }),
    { numRuns: 1000 },
  );
});

test("defaults are left out where a message says so", () => {
  fc.assert(
    fc.property(setting, (w) => {
      expect(resolveAtCreate({ connectors: [], noConnectors: true }, setOf(w))).toEqual([]);
    }),
  );
});

/** One message: the connectors it names, and whether it clears them. */
const message = fc.record({ named: uidSubset, clear: fc.boolean() });

test("messages replace, clear or reuse; later changes of defaults have no effect, and an app never uses what it was not granted", () => {
  fc.assert(
    fc.property(
      setting,
      fc.array(fc.record({ message, after: setting }), { maxLength: 6 }),
      (first, steps) => {
        let real = resolveAtCreate({ connectors: [], noConnectors: false }, setOf(first));
        let model: readonly string[] = sorted(modelCreate([], first)) as readonly string[]; // nothing is named, so nothing is refused
        for (const { message: sent, after } of steps) {
          const next = outcome(() =>
            resolveAtSend({ connectors: sent.named }, sent.clear, real, setOf(after)),
          );
          if (sent.clear) model = [];
          else if (sent.named.length > 0 && !sent.named.every((uid) => after.installed.includes(uid))) {
            expect(next).toBe("refused");
            continue;
          } else if (sent.named.length > 0) model = sent.named;
          else model = model.filter((uid) => after.grants === null || after.grants.includes(uid));
          expect(next).toEqual(sorted(model));
          real = next as readonly string[]; // it was not refused
        }
      },
    ),
    { numRuns: 1000 },
  );
});
