import type { KindName } from "../../../core/actions/kind.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Outcome } from "../../agent.ts";

/** A sample action for which the agent requests approval. */
interface Approval {
  readonly description: string;
  readonly params: JsonObject;
}

const mails: Approval = {
  description: "Send two mails.",
  params: {
    messages: [
      { to: ["ann@example.com"], subject: "Minutes of Monday", body: "Dear Ann,\nhere are the minutes." },
      { to: ["ben@example.com", "eve@example.com"], subject: "Next meeting", body: "Shall we meet on Friday at ten?" },
    ],
  },
};
const meeting = { title: "Review", start: "2030-05-06T10:00:00Z", end: "2030-05-06T11:00:00Z" };
const created: Approval = { description: "Create the event “Review”.", params: { event: { ...meeting, attendees: ["ann@example.com"] } } };
const updated: Approval = {
  description: "Move the event “Review” to eleven.",
  params: { event_id: "review", event: { start: "2030-05-06T11:00:00Z" } },
};
const deleted: Approval = { description: "Delete the event “Review”.", params: { event_id: "review" } };

/** Samples by kind, or by kind and variant. Kinds without a sample have their default description. */
const approvals: Readonly<Record<string, Approval>> = {
  needConnectMyBrowser: { description: "Open example.com in one of your browsers.", params: { url: "https://example.com/" } },
  gmailSendAction: mails,
  outlookSendMailsAction: mails,
  deployAction: { description: "Deploy “demo”.", params: { name: "demo", directory: "dist" } },
  terminalExecute: { description: "Run: make clean", params: { command: "make clean" } },
  videoGenerate: { description: "Choose the quality of a video of 8 seconds.", params: { prompt: "An owl at dusk", seconds: 8 } },
  apiHighCreditNotice: { description: "The next step takes about 500 credits.", params: { credits: 500 } },
  googleCalendarCreate: created,
  googleCalendarUpdate: updated,
  googleCalendarDelete: deleted,
  outlookCalendarCreate: created,
  outlookCalendarUpdate: updated,
  outlookCalendarDelete: deleted,
  metaMarketingAction: {
    description: "Read the figures of these advertising accounts.",
    params: {
      accounts: [
        { id: "act_1", name: "Shop" },
        { id: "act_2", name: "Magazine" },
      ],
    },
  },
  metaMarketingActionResult: { description: "Continue the campaign “Spring”.", params: { campaign: "Spring", daily_budget: 20 } },
  "webdevRunAction run": { description: "Build the web application “demo”.", params: { name: "demo" } },
  "webdevRunAction deploy": { description: "Publish the web application “demo”.", params: { name: "demo" } },
  webdevRequestSecrets: { description: "“demo” needs two secrets.", params: { keys: ["PAYMENT_KEY", "MAIL_PASSWORD"] } },
  connectorOauthExpired: { description: "Sign in to Gmail again.", params: { connector: "Gmail" } },
  connectorAction: {
    description: "Create an issue with Linear.",
    params: { connector: "Linear", tool: "create_issue", input: { title: "Review" } },
  },
  scheduleCreate: {
    description: "Create the schedule Report.",
    params: { name: "Report", cron: "0 9 * * 1", time_zone: "UTC", message: "Write the weekly report." },
  },
  fetchUrl: {
    description:
      "Send a request to example.com.\nAddress: https://example.com/search?q=green%20tea\nDecoded: https://example.com/search?q=green tea",
    params: { url: "https://example.com/search?q=green%20tea", decoded: "https://example.com/search?q=green tea" },
  },
  mapreduceAction: { description: "Work on 200 items at once.", params: { items: 200, prompt: "Sum up each page" } },
  shopifyAction: { description: "Change the price of “Tea” to 7.50.", params: { product: "Tea", price: "7.50" } },
  instagramCreateResult: {
    description: "Publish this picture on Instagram.",
    params: { caption: "Dusk", image_url: "https://example.com/owl.png" },
  },
};

/** A plausible request for approval, the same each time for a kind and variant. */
export const sampleApproval = (action: KindName, variant: string): Extract<Outcome, { kind: "confirm" }> => ({
  kind: "confirm",
  action,
  variant,
  ...approvals[variant === "" ? action : `${action} ${variant}`],
});
