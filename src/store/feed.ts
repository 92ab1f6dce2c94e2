import type { Feed } from "../core/store.ts";
import type { Change } from "./session.ts";

/** The store's feed, and what it is told after each commit. */
export interface ToldFeed {
  readonly feed: Feed;
  tell(change: Change): void;
}

/** @param failed told of what a listener threw: no listener can harm a change that is committed, nor another listener. */
export function createFeed(failed: (thrown: unknown) => void): ToldFeed {
  const tasks = listeners<Parameters<Parameters<Feed["onTask"]>[0]>[0]>(failed);
  const jobs = listeners<string>(failed);
  return {
    feed: { onTask: tasks.add, onJob: jobs.add },
    tell({ news, jobKinds }) {
      for (const told of news.values()) tasks.tell(told);
      for (const kind of jobKinds) jobs.tell(kind);
    },
  };
}

function listeners<T>(failed: (thrown: unknown) => void) {
  const known = new Set<{ readonly listener: (news: T) => void }>();
  return {
    add(listener: (news: T) => void) {
      const entry = { listener };
      known.add(entry);
      return () => void known.delete(entry);
    },
    tell(news: T) {
      for (const { listener } of [...known]) {
        try {
          listener(news);
        } catch (thrown) {
          failed(thrown);
        }
      }
    },
  };
}
