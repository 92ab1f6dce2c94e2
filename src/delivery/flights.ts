/** Attempts that are under way in this process. */
export interface Flights {
  readonly size: number;
  /** How many more may go to a webhook. */
  room(webhookId: string): number;
  /** Webhooks to which no more may go. */
  full(): string[];
  /** Counts an attempt until it has ended, however that was; `work` never rejects. */
  add(webhookId: string, work: Promise<void>): void;
  /** Resolves when none is under way. */
  ended(): Promise<void>;
}

/** @param perWebhook so many at once, that a receiver which hangs holds nobody up but itself. */
export function flights(perWebhook: number): Flights {
  const counts = new Map<string, number>();
  const all = new Set<Promise<void>>();
  const count = (webhookId: string) => counts.get(webhookId) ?? 0;

  function leave(webhookId: string): void {
    const rest = count(webhookId) - 1;
    if (rest > 0) counts.set(webhookId, rest);
    else counts.delete(webhookId);
  }

  return {
    get size() {
      return all.size;
    },
    room: (webhookId) => perWebhook - count(webhookId),
    full: () => [...counts.keys()].filter((id) => count(id) >= perWebhook),
    add(webhookId, work) {
      counts.set(webhookId, count(webhookId) + 1);
      const flight = work.finally(() => {
        all.delete(flight);
        leave(webhookId);
      });
      all.add(flight);
    },
    async ended() {
      while (all.size > 0) await Promise.all(all);
    },
  };
}
