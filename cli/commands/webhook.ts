import { buildRouteMap } from "@stricli/core";
import type { Delivery, DeliveryAttempt, Webhook } from "../../packages/client/src/index.ts";
import { defined } from "../../src/core/defined.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { CommandError, UsageError } from "../frame/failures.ts";
import { needChange } from "../frame/json-input.ts";
import { argument, type ClientFlags, choiceFlag, countFlag, exactly, textFlag } from "../frame/parameters.ts";
import { timeText } from "../frame/print.ts";
import { eventTypes, listen } from "./webhook-listen.ts";

type EventType = (typeof eventTypes)[number];
const states = ["pending", "delivered", "failed", "cancelled"] as const;

const webhookColumns = [
  { title: "ID", text: ({ id }: Webhook) => id },
  {
    title: "STATUS",
    text: ({ status, inactive_reason: inactiveReason }: Webhook) =>
      inactiveReason ? `${status} (${inactiveReason})` : status,
  },
  { title: "EVENTS", text: ({ event_types }: Webhook) => event_types.join(" ") },
  { title: "URL", text: ({ url }: Webhook) => url },
];

const outcomeOf = ({ status, failure = "no answer" }: DeliveryAttempt): string =>
  status === undefined ? failure : `HTTP ${status}`;

const list = command({
  brief: "List your webhooks",
  examples: ["atp webhook list"],
  parameters: { flags: clientFlags },
  run: async (cli: Cli, _flags: ClientFlags) => {
    cli.print.list((await cli.client().call("webhook.list")).data, webhookColumns, "There are no webhooks.");
  },
});

interface CreateFlags extends ClientFlags {
  readonly event?: readonly EventType[];
  readonly name?: string;
  readonly project?: string;
}
const webhookFlags = {
  event: {
    kind: "enum",
    brief: `Event to send, one of ${eventTypes.join(", ")}; may be given several times`,
    values: eventTypes,
    placeholder: "EVENT",
    optional: true,
    variadic: true,
  },
  name: textFlag("Name of the webhook"),
  project: textFlag("Only events of tasks of this project", "ID"),
} as const;
const webhookId = argument("Id of the webhook", "ID");

const settingsOf = ({ event, name, project }: CreateFlags) => ({
  ...(event === undefined || event.length === 0 ? {} : { event_types: event }),
  ...defined({ name, project_id: project }),
});

const create = command({
  brief: "Register an address that receives events; its secret is shown once",
  examples: ["atp webhook create https://hooks.example.com/in --event task_stopped --event task_failed"],
  parameters: {
    flags: {
      ...clientFlags,
      ...webhookFlags,
    },
    positional: exactly(argument("Address that receives the events", "URL")),
  },
  run: async (cli: Cli, flags: CreateFlags, url: string) => {
    const answer = await cli.client().call("webhook.create", { url, ...settingsOf(flags) });
    cli.print.result(answer, `${answer.webhook.id}\t${answer.signing_secret ?? ""}`);
  },
});

interface UpdateFlags extends CreateFlags {
  readonly url?: string;
  readonly status?: "active" | "inactive";
}
const update = command({
  brief: "Change a webhook; what is not named stays",
  examples: [
    "atp webhook update whk_8wErT5yUi2oP --event task_stopped --event task_failed",
    "atp webhook update whk_8wErT5yUi2oP --url https://hooks.example.com/new --status active",
  ],
  about: "A new address gets a test request, which it must accept. The signing secret stays.",
  parameters: {
    flags: {
      ...clientFlags,
      ...webhookFlags,
      url: textFlag("New address", "URL"),
      status: choiceFlag("Whether events are sent", ["active", "inactive"]),
    },
    positional: exactly(webhookId),
  },
  run: async (cli: Cli, flags: UpdateFlags, id: string) => {
    needChange(flags);
    const { url, status } = flags;
    const changes = { ...settingsOf(flags), ...defined({ url, status }) };
    cli.print.result(await cli.client().call("webhook.update", { webhook_id: id, ...changes }), id);
  },
});

const rotate = command({
  brief: "Replace the signing secret of a webhook, and show the new one once",
  examples: ["atp webhook rotate whk_8wErT5yUi2oP"],
  parameters: { flags: clientFlags, positional: exactly(webhookId) },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    const answer = await cli.client().call("webhook.rotateSecret", { webhook_id: id });
    cli.print.result(answer, `${id}\t${answer.signing_secret}`);
  },
});

const remove = command({
  brief: "Delete a webhook",
  examples: ["atp webhook delete whk_8wErT5yUi2oP"],
  parameters: { flags: clientFlags, positional: exactly(webhookId) },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    cli.print.result(
      { webhook_id: id, ...(await cli.client().call("webhook.delete", { webhook_id: id })) },
      id,
    );
  },
});

const ping = command({
  brief: "Send a test event to a webhook, and show what it answers",
  examples: ["atp webhook ping whk_8wErT5yUi2oP"],
  parameters: { flags: clientFlags, positional: exactly(webhookId) },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    const answer = await cli.client().call("webhook.ping", { webhook_id: id });
    if (!answer.delivered)
      throw new CommandError(`the webhook did not accept the event: ${outcomeOf(answer.attempt)}`);
    cli.print.result(answer, `${outcomeOf(answer.attempt)}\t${answer.attempt.latency_ms} ms`);
  },
});

interface TriggerFlags extends ClientFlags {
  readonly webhook?: string;
}
const trigger = command({
  brief: "Send a sample of an event to your webhooks that subscribe to it",
  examples: [
    "atp webhook trigger task_stopped",
    "atp webhook trigger task_failed --webhook 8wErT5yUi2oPaS1dFgHjKl",
  ],
  about:
    "The sample has the form and the signatures of a real delivery. Its event_id begins with webhook_test_, and its task does not exist.",
  parameters: {
    flags: {
      ...clientFlags,
      webhook: textFlag("Only this webhook; it need not subscribe to the event", "ID"),
    },
    positional: exactly(argument(`Event: ${eventTypes.join(", ")}`, "EVENT", () => eventTypes)),
  },
  run: async (cli: Cli, { webhook }: TriggerFlags, event: string) => {
    const type = eventTypes.find((each) => each === event);
    if (type === undefined) throw new UsageError(`EVENT: must be one of ${eventTypes.join(", ")}`);
    const client = cli.client();
    const isMeant = ({ status, event_types }: Webhook) => status === "active" && event_types.includes(type);
    const ids =
      webhook === undefined
        ? (await client.call("webhook.list")).data.filter(isMeant).map(({ id }) => id)
        : [webhook];
    if (ids.length === 0) throw new CommandError(`none of your active webhooks subscribes to ${type}`);
    const sent: {
      readonly webhook_id: string;
      readonly delivered: boolean;
      readonly attempt: DeliveryAttempt;
    }[] = [];
    for (const id of ids) {
      const { delivered, attempt } = await client.call("webhook.ping", { webhook_id: id, event_type: type });
      sent.push({ webhook_id: id, delivered, attempt });
    }
    const columns = [
      { title: "WEBHOOK", text: ({ webhook_id }: (typeof sent)[number]) => webhook_id },
      { title: "ANSWER", text: ({ attempt }: (typeof sent)[number]) => outcomeOf(attempt) },
      { title: "TIME", text: ({ attempt }: (typeof sent)[number]) => `${attempt.latency_ms} ms` },
    ];
    cli.print.list(sent, columns, "");
    if (sent.some(({ delivered }) => !delivered))
      throw new CommandError("not every webhook accepted the event");
  },
});

interface LogFlags extends ClientFlags {
  readonly webhook?: string;
  readonly task?: string;
  readonly state?: (typeof states)[number];
  readonly limit?: number;
}
const log = command({
  brief: "List deliveries, newest first",
  examples: [
    "atp webhook log --state failed",
    "atp webhook log --webhook whk_8wErT5yUi2oP --limit 100 --json",
  ],
  parameters: {
    flags: {
      ...clientFlags,
      webhook: textFlag("Only deliveries to this webhook", "ID"),
      task: textFlag("Only deliveries about this task", "ID"),
      state: choiceFlag("Only deliveries in this state", states),
      limit: countFlag("Number of deliveries, 20 by default"),
    },
  },
  run: async (cli: Cli, { webhook, task, state, limit = 20 }: LogFlags) => {
    const client = cli.client();
    const filters = {
      limit: Math.min(limit, 100),
      ...defined({ state, task_id: task }),
    };
    const newest = async (one: { readonly webhook_id?: string }) =>
      await client.items("webhook.deliveries", { ...filters, ...one }).all(limit);
    async function ofAll(): Promise<readonly Delivery[]> {
      // A call lists the deliveries of one webhook, or those about one task.
      const lists = (await client.call("webhook.list")).data.map(({ id }) => newest({ webhook_id: id }));
      return (await Promise.all(lists)).flat().toSorted((a, b) => b.created_at - a.created_at);
    }
    const one = webhook === undefined ? {} : { webhook_id: webhook };
    const deliveries =
      webhook === undefined && task === undefined ? (await ofAll()).slice(0, limit) : await newest(one);
    const columns = [
      { title: "ID", text: ({ id }: Delivery) => id },
      { title: "STATE", text: (delivery: Delivery) => delivery.state },
      { title: "ATTEMPTS", text: ({ attempts }: Delivery) => attempts },
      { title: "CREATED", text: ({ created_at }: Delivery) => timeText(created_at) },
      { title: "EVENT", text: ({ event_type }: Delivery) => event_type },
      { title: "TASK", text: ({ task_id }: Delivery) => task_id },
    ];
    cli.print.list(deliveries, columns, "There are no such deliveries.");
  },
});

const resend = command({
  brief: "Send a delivery again",
  examples: ["atp webhook resend 5uB2nCw8rVtY1kLmQe7XhA"],
  parameters: { flags: clientFlags, positional: exactly(argument("Id of the delivery", "ID")) },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    cli.print.result(await cli.client().call("webhook.resend", { delivery_id: id }), id);
  },
});

export const webhookRoutes = buildRouteMap({
  docs: { brief: "Webhooks and their deliveries" },
  routes: { list, create, update, rotate, delete: remove, ping, listen, trigger, log, resend },
});
