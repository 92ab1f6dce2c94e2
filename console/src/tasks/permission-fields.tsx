import { PermissionDecision } from "#proto/task/v2/permission_pb.ts";
import { CheckField, SelectField } from "../ui/fields.tsx";
import { words } from "../words.ts";

const text = words(
  {
    label: "What it may do",
    modes: {
      ask: "Ask me before each act outside",
      act: "Act on its own, within my limits",
      read: "Only read, and write its own files",
    },
    hints: {
      ask: "It reads and writes its own files. What goes outside waits for your approval, unless a rule allows it.",
      act: "It asks before everything that is not ticked here.",
      read: "It runs no command, uses no connector and no browser, publishes nothing, and does not ask for it.",
    },
    acts: {
      bash: "Run any command",
      web_fetch: "Send requests to any address",
      "connector.*": "Use every tool of its connectors, also to send, change or delete",
    },
    hintsOfActs: {
      bash: "In the sandbox of the server.",
      web_fetch: "A page that it has read can try to send data elsewhere.",
      "connector.*": "In your name.",
    },
  },
  {
    label: "Was er darf",
    modes: {
      ask: "Vor Handlungen nach außen fragen",
      act: "In Grenzen selbständig handeln",
      read: "Nur lesen und eigene Dateien",
    },
    hints: {
      ask: "Er liest und schreibt eigene Dateien. Was nach außen geht, wartet auf Ihre Freigabe, wenn keine Regel es erlaubt.",
      act: "Er fragt vor allem, was hier nicht angekreuzt ist.",
      read: "Er führt keine Befehle aus, nutzt keine Konnektoren und keinen Browser, veröffentlicht nichts und fragt auch nicht danach.",
    },
    acts: {
      bash: "Beliebige Befehle ausführen",
      web_fetch: "Anfragen an beliebige Adressen senden",
      "connector.*": "Alle Werkzeuge seiner Konnektoren nutzen, auch um zu senden, zu ändern oder zu löschen",
    },
    hintsOfActs: {
      bash: "In der Sandbox des Servers.",
      web_fetch: "Eine gelesene Seite kann versuchen, Daten anderswohin zu senden.",
      "connector.*": "In Ihrem Namen.",
    },
  },
);

type Act = keyof typeof text.acts;

/** What the agent of a new task may do: one of three modes, and the acts that the mode `act` allows. */
export interface PermissionChoice {
  readonly mode: keyof typeof text.modes;
  readonly acts: readonly Act[];
}

export const usualPermissions: PermissionChoice = { mode: "ask", acts: ["bash"] };

/** What the mode `read` denies: each tool with an effect that is not on a file of the task. */
const outside = ["bash", "connector.*", "browser_*", "publish_site", "propose_schedule"];

/** The rules of a choice (docs/guides/permissions.md). */
export function rulesOf({ mode, acts }: PermissionChoice) {
  if (mode === "read") return outside.map((tool) => ({ tool, decision: PermissionDecision.DENY }));
  return mode === "act" ? acts.map((tool) => ({ tool, decision: PermissionDecision.ALLOW })) : [];
}

const entriesOf = <T extends string>(titles: Readonly<Record<T, string>>) =>
  Object.entries(titles) as [T, string][];

/** Chooses what the agent of a new task may do. */
export const PermissionFields = ({
  value: { mode, acts },
  onValue,
}: {
  value: PermissionChoice;
  onValue: (value: PermissionChoice) => void;
}) => (
  <>
    <SelectField
      label={text.label}
      hint={text.hints[mode]}
      value={mode}
      options={entriesOf(text.modes)}
      onValue={(chosen) => onValue({ mode: chosen, acts })}
    />
    {mode === "act" && (
      <div className="card padded stack tight">
        {entriesOf(text.acts).map(([act, title]) => (
          <CheckField
            key={act}
            label={title}
            hint={text.hintsOfActs[act]}
            checked={acts.includes(act)}
            onValue={(on) => onValue({ mode, acts: on ? [...acts, act] : acts.filter((one) => one !== act) })}
          />
        ))}
      </div>
    )}
  </>
);
