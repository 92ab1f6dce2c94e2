import type { JsonObject } from "../json.ts";

/** The decision of an input; `undecided` leaves the task waiting (spec/api.md 9.3). */
export type Decision = "accepted" | "cancelled" | "undecided";

/** A kind of action: what an agent requests, and what a user may decide. */
export interface Kind {
  /** The tool that waits; null for a question, which a message answers. */
  readonly tool: string | null;
  /** The default text, if the agent gives none. */
  readonly description: string;
  /** JSON Schema of the input by variant. The first one is the default; a single one is named `""`. */
  readonly inputs: Readonly<Record<string, JsonObject>>;
  /** True if `accept: false` cancels the action; otherwise it decides nothing. */
  readonly cancels: boolean;
  /**
   * The member of the input that decides later actions of this kind in this task too (spec/decisions.md 15).
   */
  readonly decidesLaterBy?: string;
  /** Such a decision holds only for the host of the request's `url`, or the tool that waits; absent: for all. */
  readonly laterFor?: "host" | "tool";
  /** The member whose values are never shown. */
  readonly secret?: string;
}

const boolean = { type: "boolean" };
const text = { type: "string" };
const oneOf = (values: string[], more: JsonObject = {}): JsonObject => ({
  type: "string",
  enum: values,
  ...more,
});
const listOf = (items: JsonObject): JsonObject => ({ type: "array", items });
const closed = (properties: JsonObject, required: string[]): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const accept = (more: JsonObject = {}): JsonObject => closed({ accept: boolean, ...more }, ["accept"]);

const question = (description: string): Kind => ({ tool: null, description, inputs: {}, cancels: false });
const approval = (tool: string, description: string, more: JsonObject = {}): Kind => ({
  tool,
  description,
  inputs: { "": accept(more) },
  cancels: false,
});
const mail = (tool: string, description: string): Kind => ({
  ...approval(tool, description, { save_draft: boolean, indices: listOf({ type: "integer", minimum: 0 }) }),
  cancels: true,
});

/** Every kind of action (spec/api.md 9.3), with the schemas to emit. */
export const kinds = {
  messageAskUser: question("The agent asks a question."),
  cascadeAskUser: question("The agent asks a question."),
  needConnectMyBrowser: {
    tool: "my_browser",
    description: "Connect a browser, or go on without one.",
    inputs: {
      "": closed(
        { action: oneOf(["select", "skip"]), client_id: { ...text, minLength: 1, maxLength: 128 } },
        ["action"],
      ),
    },
    cancels: true,
  },
  gmailSendAction: mail("gmail_send", "Send these mails with Gmail."),
  outlookSendMailsAction: mail("outlook_send_mails", "Send these mails with Outlook."),
  deployAction: {
    ...approval("deploy", "Deploy.", { global_allow: boolean }),
    decidesLaterBy: "global_allow",
  },
  terminalExecute: {
    ...approval("terminal", "Run a command.", { always_allow: boolean }),
    decidesLaterBy: "always_allow",
  },
  videoGenerate: {
    tool: "video_generate",
    description: "Choose the quality of the video.",
    inputs: { "": closed({ choice: oneOf(["standard", "premium"], { default: "standard" }) }, ["choice"]) },
    cancels: false,
  },
  apiHighCreditNotice: {
    tool: "credit_notice",
    description: "The next step takes many credits.",
    inputs: { "": closed({ action: oneOf(["accept", "reject", "do_not_show_again"]) }, ["action"]) },
    cancels: true,
    decidesLaterBy: "action",
  },
  googleCalendarCreate: approval("google_calendar_create", "Create a Google Calendar event."),
  googleCalendarUpdate: approval("google_calendar_update", "Change a Google Calendar event."),
  googleCalendarDelete: approval("google_calendar_delete", "Delete a Google Calendar event."),
  outlookCalendarCreate: approval("outlook_calendar_create", "Create an Outlook Calendar event."),
  outlookCalendarUpdate: approval("outlook_calendar_update", "Change an Outlook Calendar event."),
  outlookCalendarDelete: approval("outlook_calendar_delete", "Delete an Outlook Calendar event."),
  metaMarketingAction: approval("meta_marketing", "Act on these advertising accounts.", {
    selectedAccountIds: listOf(text),
  }),
  metaMarketingActionResult: approval("meta_marketing_result", "Go on with this result.", { mode: text }),
  webdevRunAction: {
    tool: "webdev",
    description: "Build the web application.",
    inputs: {
      run: accept({ mode: oneOf(["quality", "speed", "max"], { default: "speed" }) }),
      deploy: accept({ visibility: oneOf(["owner", "team", "public"], { default: "owner" }) }),
    },
    cancels: false,
  },
  webdevRequestSecrets: {
    ...approval("webdev_secrets", "Give the secrets that the application needs.", {
      secrets: listOf(closed({ key: text, value: text }, ["key", "value"])),
    }),
    cancels: true,
    secret: "secrets",
  },
  connectorOauthExpired: approval("connector_oauth", "Sign in to the connector again."),
  /**
   * A connector's tool with the policy `ask`. The platform adds this kind: the specification's set is open,
   * and none of its kinds covers arbitrary tools.
   */
  connectorAction: { ...approval("connector", "Use this tool of a connector."), cancels: true },
  /**
   * A schedule that the agent proposes; the decision creates it. It has no member that decides later ones.
   * Added by the platform as well.
   */
  scheduleCreate: { ...approval("schedule_create", "Create this schedule."), cancels: true },
  /**
   * A request to an address that the agent's model chose (docs/guides/models.md#fetch-policy). Added by the
   * platform as well.
   */
  fetchUrl: {
    ...approval("fetch_url", "Send a request to this address.", { always_allow: boolean }),
    cancels: true,
    decidesLaterBy: "always_allow",
    laterFor: "host",
  },
  /**
   * A use of a tool without a separate kind, for which a rule asks (docs/guides/permissions.md). Its event
   * has the tool's name, and its params are the tool's input. Added by the platform as well.
   */
  agentToolAction: {
    ...approval("agent_tool", "Use this tool.", { always_allow: boolean }),
    cancels: true,
    decidesLaterBy: "always_allow",
    laterFor: "tool",
  },
  mapreduceAction: approval("map_reduce", "Work on many items at once."),
  shopifyAction: approval("shopify", "Act on the shop."),
  instagramCreateResult: approval("instagram_create", "Publish this on Instagram."),
} as const satisfies Readonly<Record<string, Kind>>;

export type KindName = keyof typeof kinds;

export const isKind = (name: string): name is KindName => Object.hasOwn(kinds, name);

export const kindOf = (name: KindName): Kind => kinds[name];

/** Whether `accept: false` decides about an action of this kind; false for one that a later release has. */
export const canRefuse = (name: string): boolean => isKind(name) && kindOf(name).cancels;

/** A message answers a question; a decision answers every other kind. */
export const isQuestion = (name: KindName): boolean => kindOf(name).tool === null;

/** The names of a kind's variants; empty for a kind with one schema and for a question. */
export const variantsOf = (name: KindName): readonly string[] =>
  Object.keys(kindOf(name).inputs).filter(Boolean);

/** The schema of an action's input; undefined for a question, and for a variant that does not exist. */
export function inputSchema(name: KindName, variant: string): JsonObject | undefined {
  const { inputs } = kindOf(name);
  return Object.hasOwn(inputs, variant) ? inputs[variant] : undefined;
}
