import { type KindName, kinds } from "#core/actions/kind.ts";

/** The descriptions of the server for actions of each kind that have no other. */
const kindTexts: Readonly<Record<KindName, string>> = {
  messageAskUser: "Der Agent stellt eine Frage.",
  cascadeAskUser: "Der Agent stellt eine Frage.",
  needConnectMyBrowser: "Verbinden Sie einen Browser, oder machen Sie ohne weiter.",
  gmailSendAction: "Diese E-Mails mit Gmail senden.",
  outlookSendMailsAction: "Diese E-Mails mit Outlook senden.",
  deployAction: "Veröffentlichen.",
  terminalExecute: "Einen Befehl ausführen.",
  videoGenerate: "Wählen Sie die Qualität des Videos.",
  apiHighCreditNotice: "Der nächste Schritt kostet viel Guthaben.",
  googleCalendarCreate: "Einen Termin in Google Calendar anlegen.",
  googleCalendarUpdate: "Einen Termin in Google Calendar ändern.",
  googleCalendarDelete: "Einen Termin in Google Calendar löschen.",
  outlookCalendarCreate: "Einen Termin im Outlook-Kalender anlegen.",
  outlookCalendarUpdate: "Einen Termin im Outlook-Kalender ändern.",
  outlookCalendarDelete: "Einen Termin im Outlook-Kalender löschen.",
  metaMarketingAction: "Mit diesen Werbekonten handeln.",
  metaMarketingActionResult: "Mit diesem Ergebnis weitermachen.",
  webdevRunAction: "Die Webanwendung bauen.",
  webdevRequestSecrets: "Geben Sie die Geheimnisse ein, die die Anwendung braucht.",
  connectorOauthExpired: "Melden Sie sich erneut beim Konnektor an.",
  connectorAction: "Dieses Werkzeug eines Konnektors benutzen.",
  scheduleCreate: "Diesen Zeitplan anlegen.",
  fetchUrl: "Eine Anfrage an diese Adresse senden.",
  agentToolAction: "Dieses Werkzeug benutzen.",
  mapreduceAction: "Viele Einträge gleichzeitig bearbeiten.",
  shopifyAction: "Im Shop handeln.",
  instagramCreateResult: "Dies auf Instagram veröffentlichen.",
};

/** The states that the server describes (`src/core/tasks/lifecycle.ts`). */
const stateTexts: Readonly<Record<string, string>> = {
  "Working on it": "In Arbeit",
  "Stopped by the user": "Von der Person gestoppt",
  Done: "Fertig",
  Failed: "Fehlgeschlagen",
  "Continues with the approval": "Geht mit der Erlaubnis weiter",
  "Continues without the approval": "Geht ohne die Erlaubnis weiter",
};

/** Texts with a name or a number. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/^Waits for a subtask$/, "Wartet auf eine Teilaufgabe"],
  [/^Waits for (\d+) subtasks$/, "Wartet auf $1 Teilaufgaben"],
  [/^Waits for one of (\d+) subtasks$/, "Wartet auf eine von $1 Teilaufgaben"],
  [/^Continues: (\d+) of (\d+) subtasks ended$/, "Geht weiter: $1 von $2 Teilaufgaben beendet"],
  [
    /^Continues with your message: (\d+) of (\d+) subtasks ended$/,
    "Geht mit Ihrer Nachricht weiter: $1 von $2 Teilaufgaben beendet",
  ],
  [
    /^Continues after the time of its wait: (\d+) of (\d+) subtasks ended$/,
    "Geht nach dem Zeitlimit weiter: $1 von $2 Teilaufgaben beendet",
  ],
  [/^Use ([^.\n]+) of ([^.\n]+)\.$/, "$1 von $2 benutzen."],
];

const german: ReadonlyMap<string, string> = new Map([
  ...Object.entries(stateTexts),
  ...Object.entries(kindTexts).map(([kind, text]) => [kinds[kind as KindName].description, text] as const),
]);

/**
 * A text that the server writes, in German; null for one that is not in its catalogue: an agent or a person
 * wrote it.
 */
export function germanOf(text: string): string | null {
  const found = german.get(text);
  if (found !== undefined) return found;
  const pattern = patterns.find(([form]) => form.test(text));
  return pattern === undefined ? null : text.replace(...(pattern as [RegExp, string]));
}
