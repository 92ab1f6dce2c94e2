import { ApiError, ConnectionError, type ListenEvent } from "../../packages/client/src/index.ts";
import { defined } from "../../src/core/defined.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { CommandError, UsageError } from "../frame/failures.ts";
import { type ClientFlags, switchFlag, textFlag } from "../frame/parameters.ts";
import { timeText } from "../frame/print.ts";
import { type Forwarded, forwarder } from "../listen/forward.ts";
import { readTarget } from "../listen/target.ts";

export const eventTypes = [
  "task_created",
  "task_progress",
  "task_stopped",
  "task_failed",
  "task_cancelled",
] as const;
type EventType = (typeof eventTypes)[number];
type Delivery = Extract<ListenEvent, { type: "delivery" }>;

/** Events that are forwarded at once. While as many are open, further ones wait at the server. */
const inFlightMax = 10;

interface ListenFlags extends ClientFlags {
  readonly "forward-to": string;
  readonly events?: string;
  readonly project?: string;
  readonly "allow-remote"?: boolean;
  readonly "print-body"?: boolean;
}

/** @throws UsageError for an unknown type */
function typesIn(text: string): EventType[] {
  return text.split(",").map((name) => {
    const type = eventTypes.find((each) => each === name.trim());
    if (type === undefined) throw new UsageError(`--events: must be one or more of ${eventTypes.join(",")}`);
    return type;
  });
}

export const listen = command({
  brief: "Forward webhook events to a receiver on this machine, without a public address",
  examples: [
    "atp webhook listen --forward-to http://localhost:3000/hooks",
    "atp webhook listen --forward-to http://localhost:3000/hooks --events task_stopped,task_failed --print-body",
  ],
  about:
    "The server sends the events over a connection that this command opens, with the bytes and signatures of real deliveries. The signing secret is shown at the start and is valid until the command ends, after 60 minutes at most. Nothing is sent again: an event that the receiver does not accept is shown with its status. With --json each event is a line of JSON.",
  parameters: {
    flags: {
      ...clientFlags,
      "forward-to": {
        kind: "parsed",
        brief: "Address of the receiver",
        placeholder: "URL",
        parse: (text: string) => text,
      },
      events: textFlag("Types of event, separated by commas; task_created,task_stopped by default", "TYPES"),
      project: textFlag("Only events of tasks of this project", "ID"),
      "allow-remote": switchFlag("Allow a receiver that is not on this machine"),
      "print-body": switchFlag("Show the body of each event"),
    },
  },
  run: async (cli: Cli, flags: ListenFlags) => {
    const target = await readTarget(flags["forward-to"], flags["allow-remote"] === true);
    const request = {
      ...(flags.events === undefined ? {} : { event_types: typesIn(flags.events) }),
      ...defined({ project_id: flags.project }),
    };
    const leaving = new AbortController();
    const stopWaiting = cli.context.onInterrupt(() => leaving.abort());
    const forward = forwarder(target, cli.context.now, leaving.signal);
    const show = viewOf(cli, flags["print-body"] === true);
    const inFlight = new Set<Promise<void>>();
    try {
      for await (const event of cli.client().webhooks.listen({ ...request, signal: leaving.signal })) {
        if (event.type === "listener") show.listener(event);
        else if (event.type === "dropped") show.dropped(event);
        if (event.type !== "delivery") continue;
        const work: Promise<void> = forward(event)
          .then((answer) => void (leaving.signal.aborted || show.delivery(event, answer)))
          .finally(() => inFlight.delete(work));
        inFlight.add(work);
        if (inFlight.size >= inFlightMax) await Promise.race(inFlight);
      }
      cli.print.note(
        "The listener has ended, because its 60 minutes are over. The next one has another signing secret.",
      );
    } catch (error) {
      if (!leaving.signal.aborted) throw endOf(error);
    } finally {
      stopWaiting();
      await Promise.all(inFlight);
      leaving.abort();
    }
  },
});

/** What is written for each event of a listener. */
function viewOf({ print }: Cli, withBody: boolean) {
  return {
    listener(listener: Extract<ListenEvent, { type: "listener" }>): void {
      print.result(listener, `Ready. Signing secret: ${listener.signing_secret}`);
      print.note(
        `Listening for ${listener.event_types.join(", ")} until ${timeText(listener.expires_at)}. Ctrl-C ends.`,
      );
    },
    delivery({ event_id, event_type, body }: Delivery, answer: Forwarded): void {
      const { status, failure = "", latency_ms } = answer;
      const text = [
        event_type,
        status === undefined ? failure : `HTTP ${status}`,
        `${latency_ms} ms`,
        event_id,
      ].join("\t");
      const shown = { type: "delivery", event_id, event_type, ...answer, ...(withBody ? { body } : {}) };
      print.result(shown, withBody ? `${text}\n${body}` : text);
    },
    dropped(dropped: Extract<ListenEvent, { type: "dropped" }>): void {
      if (print.isJson) print.json(dropped);
      else print.note(`${dropped.count} events were dropped so far, because 100 events waited.`);
    },
  };
}

/** The end of a listener that was lost says what to do. */
function endOf(error: unknown): unknown {
  const isLost =
    error instanceof ConnectionError || (error instanceof ApiError && error.code === "unavailable");
  if (!isLost) return error;
  return new CommandError(
    `the listener has ended: ${error.message}\nRun the command again: the next listener has another signing secret.`,
    "away",
  );
}
