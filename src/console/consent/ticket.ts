import type { OAuthApp } from "../../core/oauth/app.ts";
import { hidden } from "../fields.ts";
import type { FormFields } from "../form.ts";
import type { Html } from "../html.ts";
import type { ConsoleParts } from "../parts.ts";
import { sealFor, unsealed } from "../sealed.ts";

/** What a form of the consent page was made for: it can be sent once, for exactly that. */
export interface Ticket {
  /** Makes the approval's code, and is known to nobody before: the ticket is sealed. */
  readonly nonce: string;
  /** The authorization request, as `queryOf` writes it. */
  readonly query: string;
  /** The app's, as the user saw it. */
  readonly generation: number;
  /** The whole page was shown, not only the short confirmation. */
  readonly full: boolean;
}

/** Shorter than an idempotency record is kept: no nonce is forgotten while its form is good. */
const ticketMs = 3_600_000;
const context = "consent form";
const fieldName = "ticket";

type Parts = Pick<ConsoleParts, "cipher" | "clock" | "ids">;

/** The hidden field of a new form. */
export function ticketInput({ cipher, clock, ids }: Parts, query: string, app: Pick<OAuthApp, "generation">, full: boolean): Html {
  const ticket: Ticket = { nonce: ids.short(), query, generation: app.generation, full };
  return hidden(fieldName, sealFor(cipher, clock, context, ticket, ticketMs));
}

/** The form's; null when it is none of ours, of another request, or too old. */
export function ticketIn({ cipher, clock }: Parts, form: FormFields, query: string): Ticket | null {
  const ticket = unsealed<Ticket>(cipher, clock, context, form.text(fieldName));
  return ticket?.query === query ? ticket : null;
}
