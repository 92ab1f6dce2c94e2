// `npm run mutate`: breaks one guarantee of `src` at a time, in a copy of the checkout, and says which breaks
// no test catches.
//
//   npm run mutate                       60 of list.yml, drawn by seed 1
//   npm run mutate -- --seed 7 --count 20 npm run mutate -- --only "fences 3" one mutation, or all of a
//   guarantee
//   npm run mutate -- --nightly          also the files that npm test leaves to the nightly run
//   npm run mutate -- --near             only the files that import the changed one: a survivor does not run the whole suite
//
// `node test/mutations/main.ts --places` only checks that each mutation has its place.
import { parseArgs } from "node:util";
import { isNightly } from "../deep/nightly.ts";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { type Copy, copyCheckout } from "./copy.ts";
import { type Importers, readImporters, testsOf } from "./importers.ts";
import { placeOf, readMutations, readSources } from "./mutation.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "60" },
    only: { type: "string" },
    near: { type: "boolean", default: false },
    nightly: { type: "boolean", default: false },
    places: { type: "boolean", default: false },
  },
});

const sources = readSources();
const placed = readMutations().map((mutation) => ({ mutation, place: placeOf(mutation, sources) }));
type Placed = (typeof placed)[number];

/** How many files run at first, then, and last: most mutations fail in the nearest ones. */
const stages = [6, 30, Number.POSITIVE_INFINITY];

function drawn(): readonly Placed[] {
  if (values.only !== undefined)
    return placed.filter(
      ({ mutation: { name } }) => name === values.only || name.startsWith(`${values.only} `),
    );
  const random = seededRandom(`mutations ${values.seed}`);
  const order = placed.map((one) => ({ one, at: random.below(2 ** 30) })).toSorted((a, b) => a.at - b.at);
  return order.slice(0, Number(values.count)).map(({ one }) => one);
}

/** The test that fails, null where all pass. */
function catching(copy: Copy, { mutation, place }: Placed, importers: Importers): string | null {
  const near = testsOf(place.path, `${mutation.in} ${mutation.name}`, importers);
  const files = values.nightly ? near : near.filter((file) => !isNightly(file));
  for (let [from, stage] = [0, 0]; from < files.length; stage += 1) {
    const end = stages[stage] ?? files.length;
    const failure = copy.firstFailure(files.slice(from, end));
    if (failure !== null) return failure;
    from = end;
  }
  return values.near ? null : copy.firstFailure([]);
}

/** The outcome as it is printed; `true` for a caught mutation. */
function tried(copy: Copy, one: Placed, importers: Importers): readonly [caught: boolean, text: string] {
  const { mutation, place } = one;
  const restore = copy.apply(mutation, place);
  try {
    const complaint = copy.complaint();
    if (complaint !== null) return [false, `does not compile: ${complaint}`];
    const failure = catching(copy, one, importers);
    return failure === null ? [false, "MISSED"] : [true, `caught by ${failure}`];
  } finally {
    restore();
  }
}

function mutate(): void {
  using copy = copyCheckout();
  const importers = readImporters(copy.folder);
  const chosen = drawn();
  const missed: string[] = [];
  for (const one of chosen) {
    const { mutation, place } = one;
    const [isCaught, text] = tried(copy, one, importers);
    console.log(`${mutation.name}, ${mutation.in} in ${place.path}: ${text}`);
    if (!isCaught) missed.push(mutation.name);
  }
  console.log(
    `seed ${values.seed}: ${chosen.length - missed.length} of ${chosen.length} caught${missed.map((name) => `\nmissed: ${name}`).join("")}`,
  );
  process.exitCode = missed.length > 0 ? 1 : 0;
}

if (values.places) console.log(`${placed.length} mutations have their places`);
else mutate();
