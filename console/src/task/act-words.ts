import { words } from "../words.ts";

/** Texts of the cards that ask for a decision. */
export const text = words(
  {
    allow: "Allow",
    refuse: "Refuse",
    instead: "Say what to do instead",
    tooLarge:
      "This is too large to be shown whole here, so it cannot be allowed here. Ask the agent for smaller parts.",
    notHere: "What the agent wants to do is not known here, so it cannot be allowed here.",
    fillIn: "Fill this in, or refuse.",
    chooseOne: "Choose at least one, or refuse.",
    noBrowser: "No browser of yours is online.",
    browser: "Browser",
    addRow: "Add a row",
    secretName: (number: number) => `Name ${number}`,
    secretValue: (number: number) => `Value ${number}`,
    lines: "One entry in each line",
    indices: "Only these mails",
    indicesLines: "Only these mails: their numbers from 0, one in each line",
    mail: (number: number) => `Mail ${number}`,
    accounts: "Only these accounts",
    emptyLines: (count: number) => `(${count} empty lines)`,
    blanks: (count: number) => `(${count} blanks)`,
  },
  {
    allow: "Erlauben",
    refuse: "Ablehnen",
    instead: "Sagen, was stattdessen zu tun ist",
    tooLarge:
      "Das ist zu groß, um hier ganz gezeigt zu werden, und kann hier deshalb nicht erlaubt werden. Bitten Sie den Agenten um kleinere Teile.",
    notHere: "Was der Agent tun will, ist hier nicht bekannt und kann hier deshalb nicht erlaubt werden.",
    fillIn: "Füllen Sie das aus, oder lehnen Sie ab.",
    chooseOne: "Wählen Sie mindestens eines, oder lehnen Sie ab.",
    noBrowser: "Keiner Ihrer Browser ist online.",
    browser: "Browser",
    addRow: "Zeile hinzufügen",
    secretName: (number: number) => `Name ${number}`,
    secretValue: (number: number) => `Wert ${number}`,
    lines: "Ein Eintrag je Zeile",
    indices: "Nur diese Mails",
    indicesLines: "Nur diese Mails: ihre Nummern ab 0, eine je Zeile",
    mail: (number: number) => `Mail ${number}`,
    accounts: "Nur diese Konten",
    emptyLines: (count: number) => `(${count} leere Zeilen)`,
    blanks: (count: number) => `(${count} Leerzeichen)`,
  },
);

/** Names of members and of their choices. */
const known = words<Readonly<Record<string, string>>>(
  {
    always_allow: "Always allow this in this task",
    global_allow: "Always allow deployments in this task",
    save_draft: "Save as a draft instead of sending",
    select: "Use this browser",
    skip: "Continue without one",
    accept: "Allow",
    reject: "Refuse",
    do_not_show_again: "Allow, and do not ask again",
    choice: "Quality",
    owner: "Only me",
    team: "The team",
    public: "Everyone",
    max: "Maximum",
  },
  {
    always_allow: "In dieser Aufgabe immer erlauben",
    global_allow: "Veröffentlichungen in dieser Aufgabe immer erlauben",
    save_draft: "Als Entwurf speichern statt senden",
    select: "Diesen Browser benutzen",
    skip: "Ohne Browser weitermachen",
    accept: "Erlauben",
    reject: "Ablehnen",
    do_not_show_again: "Erlauben und nicht mehr fragen",
    choice: "Qualität",
    standard: "Standard",
    premium: "Premium",
    mode: "Modus",
    quality: "Qualität",
    speed: "Tempo",
    max: "Maximum",
    visibility: "Sichtbarkeit",
    owner: "Nur ich",
    team: "Das Team",
    public: "Alle",
  },
);

/** The words of a member: a known text, or its name in words. */
export const labelOf = (name: string): string =>
  (Object.hasOwn(known, name) ? known[name] : undefined) ?? inWords(name);

/** A name of a member with blanks and a capital: `event_id` as `Event id`. */
export const inWords = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .replace(/^./u, (first) => first.toUpperCase());

/** What the button that allows does, by the kind of action. */
const acts = words<Readonly<Record<string, string>>>(
  {
    gmailSendAction: "Send",
    outlookSendMailsAction: "Send",
    deployAction: "Deploy",
    terminalExecute: "Run command",
    videoGenerate: "Make the video",
    googleCalendarCreate: "Create event",
    googleCalendarUpdate: "Change event",
    googleCalendarDelete: "Delete event",
    outlookCalendarCreate: "Create event",
    outlookCalendarUpdate: "Change event",
    outlookCalendarDelete: "Delete event",
    webdevRequestSecrets: "Give the secrets",
    connectorOauthExpired: "I have signed in",
    connectorAction: "Use this tool",
    scheduleCreate: "Create schedule",
    instagramCreateResult: "Publish",
    fetchUrl: "Fetch this address",
    agentToolAction: "Use this tool",
  },
  {
    gmailSendAction: "Senden",
    outlookSendMailsAction: "Senden",
    deployAction: "Veröffentlichen",
    terminalExecute: "Befehl ausführen",
    videoGenerate: "Video erstellen",
    googleCalendarCreate: "Termin anlegen",
    googleCalendarUpdate: "Termin ändern",
    googleCalendarDelete: "Termin löschen",
    outlookCalendarCreate: "Termin anlegen",
    outlookCalendarUpdate: "Termin ändern",
    outlookCalendarDelete: "Termin löschen",
    webdevRequestSecrets: "Geheimnisse geben",
    connectorOauthExpired: "Ich habe mich angemeldet",
    connectorAction: "Werkzeug benutzen",
    scheduleCreate: "Zeitplan anlegen",
    instagramCreateResult: "Veröffentlichen",
    fetchUrl: "Adresse abrufen",
    agentToolAction: "Werkzeug benutzen",
  },
);

const saveDraft = words<string>("Save draft", "Entwurf speichern");

/** The words of the button that allows. */
export const actOf = (kind: string, savesDraft: boolean): string =>
  savesDraft ? saveDraft : ((Object.hasOwn(acts, kind) ? acts[kind] : undefined) ?? text.allow);
