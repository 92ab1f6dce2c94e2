import { type ToolUsed, ToolUsedStatus } from "#proto/task/v2/task_event_pb.ts";
import { catalogued, words } from "../words.ts";

/** What became of the use of a tool, in a sentence with its object. */
interface Verb {
  readonly done: (object: string) => string;
  readonly failed: (object: string) => string;
}

const verb = (past: string, gerund: string, participle: string, infinitive: string): Verb => ({
  done: words(
    (object) => `${past} ${object}`,
    (object) => `${object} ${participle}`,
  ),
  failed: words(
    (object) => `${gerund} ${object} failed`,
    (object) => `${object} ${infinitive} fehlgeschlagen`,
  ),
});

const verbList: Readonly<Record<string, Verb>> = {
  "read reading": verb("Read", "Reading", "gelesen", "lesen"),
  "write writing": verb("Wrote", "Writing", "geschrieben", "schreiben"),
  "edit editing": verb("Edited", "Editing", "bearbeitet", "bearbeiten"),
  "delete deleting": verb("Deleted", "Deleting", "gelöscht", "löschen"),
  "list listing": verb("Listed", "Listing", "aufgelistet", "auflisten"),
  "attach attaching": verb("Attached", "Attaching", "angehängt", "anhängen"),
  "save saving": verb("Saved", "Saving", "gespeichert", "speichern"),
  "deliver delivering": verb("Delivered", "Delivering", "übergeben", "übergeben"),
  "publish publishing": verb("Published", "Publishing", "veröffentlicht", "veröffentlichen"),
  "propose proposing": verb("Proposed", "Proposing", "vorgeschlagen", "vorschlagen"),
  "begin beginning": verb("Began", "Beginning", "begonnen", "beginnen"),
  "fetch fetching": verb("Fetched", "Fetching", "abgerufen", "abrufen"),
  "open opening": verb("Opened", "Opening", "geöffnet", "öffnen"),
  "run running": verb("Ran", "Running", "ausgeführt", "ausführen"),
  "search searching": verb("Searched", "Searching", "durchsucht", "durchsuchen"),
  "use using": verb("Used", "Using", "benutzt", "benutzen"),
  "call calling": verb("Called", "Calling", "aufgerufen", "aufrufen"),
};

/** By both forms in which tools name what they do: `Read report.md`, `Reading report.md`. */
const verbs: ReadonlyMap<string, Verb> = new Map(
  Object.entries(verbList).flatMap(([forms, found]) =>
    forms.split(" ").map((form) => [form, found] as const),
  ),
);

const text = words(
  { failed: "failed", undone: "undone" },
  { failed: "fehlgeschlagen", undone: "rückgängig gemacht" },
);

/**
 * The use of a tool: `Read report.md` once it has ended, `Reading report.md failed`. A use that waits has its
 * short text; one whose text begins with no known verb has the name of its tool too.
 */
export function titleOfUse({ tool, message, brief, status }: ToolUsed): string {
  const said = message?.action ? `${message.action} ${message.param}` : brief;
  const [, first = "", object = ""] = /^(\p{L}+):?\s+(.+)$/su.exec(said) ?? [];
  const found = verbs.get(first.toLowerCase());
  if (found && status === ToolUsedStatus.SUCCESS) return found.done(object);
  if (found && status === ToolUsedStatus.ERROR) return found.failed(object);
  if (found && status === ToolUsedStatus.ROLLBACK) return `${found.done(object)} · ${text.undone}`;
  const plain = message?.action || found ? said : `${tool} ${catalogued(brief)}`;
  if (status === ToolUsedStatus.ERROR) return `${plain} · ${text.failed}`;
  return status === ToolUsedStatus.ROLLBACK ? `${plain} · ${text.undone}` : plain;
}
