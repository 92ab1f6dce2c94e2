import type { Clock } from "../clock.ts";
import type { Attachment } from "../files/attachment.ts";
import type { Ids } from "../ids.ts";
import type { Store, Tx } from "../store.ts";
import type { NewEvent } from "../tasks/event.ts";
import type { Task, TaskRows } from "../tasks/task.ts";
import { type BodyParts, bodyOf } from "./bodies.ts";
import type { Delivery, WebhookEvent } from "./delivery.ts";
import { idsAfter } from "./event-id.ts";
import type { Listener } from "./event-rows.ts";
import { isTold, type Telling, tellingsOf } from "./events.ts";

/** What telling needs of its surroundings. */
export interface TellParts extends BodyParts {
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * A store whose changes tell webhooks of what they do to tasks. A task is made and changed by two methods alone, and both
 * tell: so no operation and no run can forget to.
 */
export const tellingStore = (store: Store, parts: TellParts): Store => ({
  ...store,
  change: (work) => store.change((tx) => work({ ...tx, tasks: tellingTasks(tx, parts) })),
});

function tellingTasks(tx: Tx, parts: TellParts): TaskRows {
  return {
    ...tx.tasks,
    async insert(task, events) {
      const made = await tx.tasks.insert(task, events);
      const firstSeq = task.lastSeq + 1;
      // An agent's main task is made before there is anything to tell.
      if (events.length > 0) await tell(tx, made, [{ type: "task_created", seq: firstSeq }, ...tellingsOf(events, firstSeq)], parts);
      return made;
    },
    async advance(id, step) {
      const task = await tx.tasks.advance(id, step);
      const { events = [] } = step;
      if (task) await tell(tx, task, tellingsOf(events, task.lastSeq - events.length + 1), parts);
      return task;
    },
  };
}

/** Writes what webhooks want to know of, and wakes whoever sends it. */
async function tell(tx: Tx, task: Task, tellings: readonly Telling[], parts: TellParts): Promise<void> {
  if (tellings.length === 0 || !isTold(task)) return;
  const listeners = await tx.webhookEvents.listeners(task);
  const wanted = tellings.filter(({ type }) => listeners.some((listener) => hears(listener, type)));
  if (wanted.length === 0) return;
  const now = parts.clock.now();
  const events = await fixed(tx, task, wanted, now, parts);
  await tx.webhookEvents.insert(events, deliveriesOf(events, listeners, parts.ids));
  await tx.jobs.put({ kind: "deliver", key: task.id, runAt: now });
}

const hears = ({ eventTypes }: Listener, type: Telling["type"]): boolean => eventTypes.includes(type);

/** The events with their ids and bytes, which nothing changes any more (contract/decisions.md 41). */
async function fixed(tx: Tx, task: Task, tellings: readonly Telling[], now: number, parts: BodyParts): Promise<readonly WebhookEvent[]> {
  const nextId = idsAfter(await tx.webhookEvents.lastIds(task.id));
  const attachments = tellings.some(({ type }) => type === "task_stopped") ? await attachedIn(tx, task) : [];
  return tellings.map((telling) => {
    const { type, seq } = telling;
    const id = nextId(type, task.id, now);
    const body = bodyOf({ id, telling, task, attachments }, parts);
    return { id, type, taskId: task.id, seq, spaceId: task.spaceId, body, createdAt: now };
  });
}

/** A turn's newest messages are looked through for what they brought. */
const lookedThrough = 200;

/** What the agent has attached in the turn that has just ended, oldest first. */
async function attachedIn(tx: Tx, { id, consumedSeq }: Task): Promise<readonly Attachment[]> {
  const window = { afterSeq: consumedSeq, order: "desc", limit: lookedThrough, verbose: false } as const;
  const newest = await tx.events.list(id, window);
  return newest.toReversed().flatMap(attachmentsOf);
}

const attachmentsOf = (event: NewEvent): readonly Attachment[] =>
  event.type === "assistant_message" ? (event.payload.attachments ?? []) : [];

const deliveriesOf = (events: readonly WebhookEvent[], listeners: readonly Listener[], ids: Ids): readonly Delivery[] =>
  events.flatMap(({ id: eventId, type, taskId, seq, createdAt }) =>
    listeners
      .filter((listener) => hears(listener, type))
      .map(({ id: webhookId }) => ({
        ...{ id: ids.short(), webhookId, eventId, type, taskId, seq, createdAt },
        state: "pending",
        attempts: 0,
        nextAt: createdAt,
        settledAt: null,
      })),
  );
