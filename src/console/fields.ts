import { type Html, html } from "./html.ts";

/** An input with its label; `hint` and the alert above the form are told to screen readers with it. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: "email" | "password" | "text";
  readonly autocomplete: "username" | "current-password" | "new-password";
  readonly value?: string;
  readonly hint?: string;
  /** The form was sent, and this is what has to be typed anew. */
  readonly wrong?: boolean;
}

const alertId = "alert";

/** The field; its id is its name, so a page has each name once. */
export function field({ name, label, type, autocomplete, value, hint, wrong = false }: Field): Html {
  const described = [hint && `${name}-hint`, wrong && alertId].filter(Boolean).join(" ");
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required${value !== undefined && html` value="${value}"`}${described !== "" && html` aria-describedby="${described}"`}${wrong && html` aria-invalid="true"`}>
${hint && html`<span class="hint" id="${name}-hint">${hint}</span>`}
</div>`;
}

/** What went wrong with a form, above it. */
export const alert = (text: string | null): Html | null =>
  text === null ? null : html`<p class="alert" id="${alertId}" role="alert">${text}</p>`;

/** A value that goes along with a form. */
export const hidden = (name: string, value: string): Html => html`<input type="hidden" name="${name}" value="${value}">`;
