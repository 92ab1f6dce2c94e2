import { ensureDefaultAgents } from "../../src/core/agents/agent.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { createKey } from "../../src/core/keys/api-key.ts";
import type { Store, Tx } from "../../src/core/store.ts";

/** A person who has acted, with a key of a personal space. */
export interface Person {
  readonly accountId: string;
  readonly key: string;
  /** Ids of acknowledged tasks. */
  readonly tasks: string[];
}

const batch = 100;

/** Adds the rows of people who act for the first time; the others exist only as numbers. */
export async function addPeople(
  store: Store,
  known: Map<number, Person>,
  numbers: Iterable<number>,
): Promise<void> {
  const missing = [...new Set(numbers)].filter((number) => !known.has(number));
  for (let first = 0; first < missing.length; first += batch) {
    const some = missing.slice(first, first + batch);
    const made = await store.change(async (tx) => {
      const people: (readonly [number, Person])[] = [];
      for (const number of some) people.push([number, await addPerson(tx, number)]);
      return people;
    });
    for (const [number, person] of made) known.set(number, person);
  }
  const parts = { now: systemClock.now(), ids: systemIds };
  await store.change((tx) => ensureDefaultAgents(tx, parts));
}

async function addPerson(tx: Tx, number: number): Promise<Person> {
  const context = { now: systemClock.now(), ids: systemIds, random: systemRandom };
  const [accountId, spaceId] = [context.ids.uuid(), context.ids.short()];
  await tx.accounts.insertAccount({
    id: accountId,
    email: `person-${number}@example.com`,
    name: null,
    locale: "en",
    createdAt: context.now,
  });
  await tx.accounts.insertSpace({ id: spaceId, kind: "personal", createdAt: context.now, accountId });
  const { text } = await createKey(tx, context, { accountId, spaceId, kind: "general", name: "simulation" });
  return { accountId, key: text, tasks: [] };
}
