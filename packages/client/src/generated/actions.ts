// Made from src/core/actions/kind.ts by `node scripts/client-types.ts --write`.

/** The kinds of questions, which a message answers. */
export const questionKinds = ["messageAskUser", "cascadeAskUser"] as const;

/** The input of a decision, by the kind of the action (`waiting_for_event_type`). */
export interface ActionInputs {
  readonly needConnectMyBrowser: { readonly action: "select" | "skip"; readonly client_id?: string };
  readonly gmailSendAction: { readonly accept: boolean; readonly save_draft?: boolean; readonly indices?: readonly number[] };
  readonly outlookSendMailsAction: { readonly accept: boolean; readonly save_draft?: boolean; readonly indices?: readonly number[] };
  readonly deployAction: { readonly accept: boolean; readonly global_allow?: boolean };
  readonly terminalExecute: { readonly accept: boolean; readonly always_allow?: boolean };
  readonly videoGenerate: { readonly choice: "standard" | "premium" };
  readonly apiHighCreditNotice: { readonly action: "accept" | "reject" | "do_not_show_again" };
  readonly googleCalendarCreate: { readonly accept: boolean };
  readonly googleCalendarUpdate: { readonly accept: boolean };
  readonly googleCalendarDelete: { readonly accept: boolean };
  readonly outlookCalendarCreate: { readonly accept: boolean };
  readonly outlookCalendarUpdate: { readonly accept: boolean };
  readonly outlookCalendarDelete: { readonly accept: boolean };
  readonly metaMarketingAction: { readonly accept: boolean; readonly selectedAccountIds?: readonly string[] };
  readonly metaMarketingActionResult: { readonly accept: boolean; readonly mode?: string };
  readonly webdevRunAction:
    | { readonly accept: boolean; readonly mode?: "quality" | "speed" | "max" }
    | { readonly accept: boolean; readonly visibility?: "owner" | "team" | "public" };
  readonly webdevRequestSecrets: {
    readonly accept: boolean;
    readonly secrets?: readonly { readonly key: string; readonly value: string }[];
  };
  readonly connectorOauthExpired: { readonly accept: boolean };
  readonly connectorAction: { readonly accept: boolean };
  readonly scheduleCreate: { readonly accept: boolean };
  readonly fetchUrl: { readonly accept: boolean; readonly always_allow?: boolean };
  readonly mapreduceAction: { readonly accept: boolean };
  readonly shopifyAction: { readonly accept: boolean };
  readonly instagramCreateResult: { readonly accept: boolean };
}
