import { type KindName, kindOf } from "../../../core/actions/kind.ts";
import { Failure } from "../../../core/failure.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Outcome, Progress, Turn } from "../../agent.ts";
import { scheduleApproval } from "../../schedule-approval.ts";
import { explain, type RunState } from "./run.ts";

const mails = {
  messages: [
    { to: ["ann@example.com"], subject: "Minutes of Monday", body: "Dear Ann,\nhere are the minutes." },
    {
      to: ["ben@example.com", "eve@example.com"],
      subject: "Next meeting",
      body: "Shall we meet on Friday at ten?",
    },
  ],
};
const meeting = {
  event_id: "review",
  event: { title: "Review", start: "2030-05-06T10:00:00Z", end: "2030-05-06T11:00:00Z" },
};
const demo = { name: "demo" };

/** The arguments of the actions that the agent requests; `demo` for those without an own one. */
const samples: Partial<Record<KindName, JsonObject>> = {
  needConnectMyBrowser: { url: "https://example.com/" },
  gmailSendAction: mails,
  outlookSendMailsAction: mails,
  terminalExecute: { command: "make clean" },
  apiHighCreditNotice: { credits: 500 },
  googleCalendarCreate: meeting,
  googleCalendarUpdate: meeting,
  googleCalendarDelete: meeting,
  outlookCalendarCreate: meeting,
  outlookCalendarUpdate: meeting,
  outlookCalendarDelete: meeting,
  metaMarketingAction: { accounts: ["Shop", "Magazine"].map((name, i) => ({ id: `act_${i + 1}`, name })) },
  webdevRequestSecrets: { keys: ["PAYMENT_KEY", "MAIL_PASSWORD"] },
  connectorAction: { connector: "Linear", tool: "create_issue", input: { title: "Review" } },
  scheduleCreate: {
    name: "Report",
    cron: "0 9 * * 1",
    time_zone: "UTC",
    message: "Write the weekly report.",
  },
  fetchUrl: {
    url: "https://example.com/search?q=green%20tea",
    decoded: "https://example.com/search?q=green tea",
  },
};

/** Requests whose text names what is done; the others have the default text of their kind. */
const descriptions: Partial<Record<KindName, string>> = {
  terminalExecute: "Run: make clean",
  deployAction: "Deploy “demo”.",
};

/** A plausible request for approval, the same each time for a kind and variant. */
export function sampleApproval(action: KindName, variant: string, turn: Turn): Outcome {
  const { [action]: params = demo } = samples;
  if (action === "scheduleCreate") return propose(params, turn);
  return {
    kind: "confirm",
    action,
    variant,
    params,
    description: descriptions[action] ?? kindOf(action).description,
  };
}

/** A schedule that the platform refuses ends the turn as a malformed directive does. */
export function propose(params: JsonObject, { clock }: Turn): Outcome {
  try {
    return scheduleApproval(params, "schedule", clock.now());
  } catch (thrown) {
    if (thrown instanceof Failure)
      return { kind: "fail", errorType: "invalid_directive", content: thrown.message };
    throw thrown;
  }
}

/**
 * Requests an approval, or continues after its decision: with an event if the decision selects a browser
 * (spec/api.md 9.4).
 */
export function decide(work: RunState, request: () => Outcome): Outcome | Progress | undefined {
  const decision = work.turn.decisions[work.confirmed++];
  if (!decision) return request();
  const browser =
    decision.kind === "needConnectMyBrowser" && decision.accepted && decision.input["client_id"];
  return typeof browser === "string" ? explain(`Works in the browser ${browser}.`) : undefined;
}
