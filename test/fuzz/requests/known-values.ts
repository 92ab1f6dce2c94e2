/** Values of the platform under test that requests reuse, so that they pass the first checks. */
export interface Known {
  /** Keeps a value permanently: the values at the start of the run. */
  found(name: string, value: string): void;
  /** Collects values from an answer for later requests; the newest replace the oldest. */
  learn(answer: string): void;
  /** The nth value of a name, modulo their number; undefined when there is none. */
  pick(name: string, nth: number): string | undefined;
  /** The event that a task waits with, if an answer contained it. */
  waitingEvent(taskId: string): string | undefined;
}

/** Values kept per name in addition to those at the start of the run. */
const newestMax = 24;

/** Values in answers of either JSON form, by the field of a request that accepts them. */
const sightings: Readonly<Record<string, RegExp>> = {
  task_id: /"task_?id":"([0-9A-Za-z]{22})"/gi,
  cursor: /"next_?cursor":"([\w-]+)"/gi,
  skill_id: /"skill":\{"id":"(\w+)"/g,
  project_id: /"project":\{"id":"(\w+)"/g,
  start_event_id: /\{"id":"([^"]{1,64})","(?:seq|type)"/g,
};
const waiting = /"waiting_?for_?event_?id":"([^"]+)"/i;

export function knownValues(): Known {
  const kept = new Map<string, string[]>();
  const newest = new Map<string, Set<string>>();
  const events = new Map<string, string>();

  function note(name: string, value: string): void {
    const values = newest.get(name) ?? new Set();
    newest.set(name, values.add(value));
    const [oldest] = values;
    if (values.size > newestMax && oldest !== undefined) values.delete(oldest);
  }

  return {
    found: (name, value) => void kept.set(name, [...(kept.get(name) ?? []), value]),
    learn(answer) {
      for (const [name, pattern] of Object.entries(sightings))
        for (const [, value = ""] of answer.matchAll(pattern)) note(name, value);
      const event = waiting.exec(answer)?.[1];
      const [, taskId] = /"task_?id":"([0-9A-Za-z]{22})"/i.exec(answer) ?? [];
      if (event !== undefined && taskId !== undefined) events.set(taskId, event);
    },
    pick(name, nth) {
      const values = [...(kept.get(name) ?? []), ...(newest.get(name) ?? [])];
      return values[nth % values.length];
    },
    waitingEvent: (taskId) => events.get(taskId),
  };
}
