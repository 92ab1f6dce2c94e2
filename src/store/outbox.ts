import type { TaskNews } from "../core/store.ts";
import { lookText, type News, textsOf } from "./news.ts";

/** News on their way to other processes. */
export interface Outbox {
  put(news: News): void;
  /** News that were on their way are gone: others are to look. */
  lose(): void;
  /** What is to be sent now, as payloads; empty when there is nothing. */
  take(): string[];
}

/** More tasks than these are not told one by one: whoever listens looks instead. */
const tasksMax = 1_000;

/** Keeps of each task its newest state, and no more than a bound, however long nothing can be sent. */
export function createOutbox(): Outbox {
  const news = new Map<string, TaskNews>();
  const jobKinds = new Set<string>();
  let lost = false;

  return {
    put(more) {
      for (const kind of more.jobKinds) jobKinds.add(kind);
      for (const [id, told] of more.news) if (isNewer(told, news.get(id))) news.set(id, told);
      if (news.size <= tasksMax) return;
      news.clear();
      lost = true;
    },
    lose() {
      lost = true;
    },
    take() {
      const texts = [...(lost ? [lookText] : []), ...textsOf({ news, jobKinds })];
      news.clear();
      jobKinds.clear();
      lost = false;
      return texts;
    },
  };
}

/** Both only grow, and changes of one task may be told in another order than they were made. */
const isNewer = (told: TaskNews, known?: TaskNews): boolean =>
  known === undefined || told.fence > known.fence || (told.fence === known.fence && told.lastSeq >= known.lastSeq);
