import type { KindName } from "../../../core/actions/kind.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Outcome } from "../../agent.ts";

/** An action for which the agent requests approval. */
type Sample = readonly [description: string, params: JsonObject];

const mails: Sample = [
  "Send two mails.",
  {
    messages: [
      { to: ["ann@example.com"], subject: "Minutes of Monday", body: "Dear Ann,\nhere are the minutes." },
      { to: ["ben@example.com", "eve@example.com"], subject: "Next meeting", body: "Shall we meet on Friday at ten?" },
    ],
  },
];
const meeting = { title: "Review", start: "2030-05-06T10:00:00Z", end: "2030-05-06T11:00:00Z" };
const created: Sample = ["Create the event “Review”.", { event: { ...meeting, attendees: ["ann@example.com"] } }];
const updated: Sample = ["Move the event “Review” to eleven.", { event_id: "review", event: { start: "2030-05-06T11:00:00Z" } }];
const deleted: Sample = ["Delete the event “Review”.", { event_id: "review" }];

/** Samples by kind, or by kind and variant. Kinds without a sample have their default description. */
const samples: Readonly<Record<string, Sample>> = {
  needConnectMyBrowser: ["Open example.com in one of your browsers.", { url: "https://example.com/" }],
  gmailSendAction: mails,
  outlookSendMailsAction: mails,
  deployAction: ["Deploy “demo”.", { name: "demo", directory: "dist" }],
  terminalExecute: ["Run: make clean", { command: "make clean" }],
  videoGenerate: ["Choose the quality of a video of 8 seconds.", { prompt: "An owl at dusk", seconds: 8 }],
  apiHighCreditNotice: ["The next step takes about 500 credits.", { credits: 500 }],
  googleCalendarCreate: created,
  googleCalendarUpdate: updated,
  googleCalendarDelete: deleted,
  outlookCalendarCreate: created,
  outlookCalendarUpdate: updated,
  outlookCalendarDelete: deleted,
  metaMarketingAction: [
    "Read the figures of these advertising accounts.",
    {
      accounts: [
        { id: "act_1", name: "Shop" },
        { id: "act_2", name: "Magazine" },
      ],
    },
  ],
  metaMarketingActionResult: ["Continue the campaign “Spring”.", { campaign: "Spring", daily_budget: 20 }],
  "webdevRunAction run": ["Build the web application “demo”.", { name: "demo" }],
  "webdevRunAction deploy": ["Publish the web application “demo”.", { name: "demo" }],
  webdevRequestSecrets: ["“demo” needs two secrets.", { keys: ["PAYMENT_KEY", "MAIL_PASSWORD"] }],
  connectorOauthExpired: ["Sign in to Gmail again.", { connector: "Gmail" }],
  connectorAction: ["Create an issue with Linear.", { connector: "Linear", tool: "create_issue", input: { title: "Review" } }],
  scheduleCreate: [
    "Create the schedule Report.",
    { name: "Report", cron: "0 9 * * 1", time_zone: "UTC", message: "Write the weekly report." },
  ],
  fetchUrl: [
    "Send a request to example.com.\nAddress: https://example.com/search?q=green%20tea\nDecoded: https://example.com/search?q=green tea",
    { url: "https://example.com/search?q=green%20tea", decoded: "https://example.com/search?q=green tea" },
  ],
  mapreduceAction: ["Work on 200 items at once.", { items: 200, prompt: "Sum up each page" }],
  shopifyAction: ["Change the price of “Tea” to 7.50.", { product: "Tea", price: "7.50" }],
  instagramCreateResult: ["Publish this picture on Instagram.", { caption: "Dusk", image_url: "https://example.com/owl.png" }],
};

/** A plausible request for approval, the same each time for a kind and variant. */
export function sampleApproval(action: KindName, variant: string): Extract<Outcome, { kind: "confirm" }> {
  const sample = samples[variant === "" ? action : `${action} ${variant}`];
  return { kind: "confirm", action, variant, ...(sample && { description: sample[0], params: sample[1] }) };
}
