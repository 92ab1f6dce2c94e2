import type { Feed, TaskNews } from "../core/store.ts";
import type { News } from "./news.ts";

/** The store's feed, and what it is told: after each commit of this process, and by the others. */
export interface ToldFeed {
  readonly feed: Feed;
  tell(news: News): void;
  /** News may have been missed. */
  lose(): void;
}

/** @param failed told of what a listener threw: no listener can harm a change that is committed, nor another listener. */
export function createFeed(failed: (thrown: unknown) => void): ToldFeed {
  const tasks = listeners<TaskNews>(failed);
  const jobs = listeners<string>(failed);
  const losses = listeners<void>(failed);
  return {
    feed: { onTask: tasks.add, onJob: jobs.add, onLost: losses.add },
    tell({ news, jobKinds }) {
      for (const told of news.values()) tasks.tell(told);
      for (const kind of jobKinds) jobs.tell(kind);
    },
    lose: losses.tell,
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
