import { keyInHeader } from "../../pipeline/credential.ts";
import { headerOf } from "../v1/serve.ts";
import { applyPreference, type Call, preferenceOf } from "../wire/wire.ts";
import { type Form, forms } from "./items.ts";

/** The longest hold of a create in seconds. WAIT_SECONDS limits it further in the hosted form. */
const holdSecondsMax: Readonly<Record<Form, number>> = { platform: 60, openai: 600 };

/** The form of callers that do not prefer one. */
export interface FormRule {
  /** `auto`: OpenAI's for a key by `Authorization: Bearer`, the platform's for a key in another header. */
  readonly responsesStatus: Form | "auto";
}

/** The form of the answers to this call (spec/v1.md 7.3). */
export function chooseForm(call: Call, { responsesStatus }: FormRule): Form {
  const wanted = forms.find((form) => form === preferenceOf(call, "status"));
  if (wanted !== undefined) applyPreference(call, `status=${wanted}`);
  const byCredential = keyInHeader(headerOf(call.request.raw)) === undefined ? "openai" : "platform";
  return wanted ?? (responsesStatus === "auto" ? byCredential : responsesStatus);
}

/** What decides whether a create is held. */
interface HoldInput {
  readonly background?: boolean | undefined;
  readonly stream: boolean;
}

/**
 * For how many seconds a create is held. By default one in the hosted form is answered at once, and one in
 * OpenAI's form when the turn is over (spec/v1.md 7.2).
 */
export function chooseHold(call: Call, { background, stream }: HoldInput, form: Form): number {
  if (stream || background === true) return 0;
  const wait = preferenceOf(call, "wait");
  const most = holdSecondsMax[form];
  if (wait === undefined || !/^\d{1,9}$/.test(wait))
    return form === "openai" || background === false ? most : 0;
  applyPreference(call, `wait=${wait}`);
  return Math.min(Number(wait), most);
}
