import { ConnectError } from "@connectrpc/connect";
import type { AgentProfile, AgentProfileFetch } from "#proto/agent/v2/agent_profile_pb.ts";
import { AreaField, SelectField } from "../ui/fields.tsx";
import { words } from "../words.ts";

const text = words(
  {
    requests: "Requests to addresses",
    modes: {
      "": "As the model has it",
      allow: "Allowed",
      ask: "Ask for unnamed addresses",
      off: "Off",
    } as Readonly<Record<string, string>>,
    onlyStricter: "Only stricter than the model's entry on the server.",
    hosts: "Hosts that need no approval",
    hostsHint: "One per line, also *.example.com. Empty: as the model has them.",
    fact: { allow: "requests allowed", ask: "asks before requests", off: "no requests" } as Readonly<
      Record<string, string>
    >,
    noHost: (host: string) => `${host} is not a host. Write one as docs.example.com or *.example.com.`,
    modeHeld: (mode: string) => `Saved, but the model's entry is stricter. This holds: ${mode}.`,
    hostsHeld: (hosts: string) => `Saved. With the model's entry these hold: ${hosts}`,
  },
  {
    requests: "Anfragen an Adressen",
    modes: {
      "": "Wie beim Modell",
      allow: "Erlaubt",
      ask: "Bei ungenannten Adressen fragen",
      off: "Aus",
    } as Readonly<Record<string, string>>,
    onlyStricter: "Nur strenger als der Eintrag des Modells auf dem Server.",
    hosts: "Hosts ohne Freigabe",
    hostsHint: "Je Zeile einer, auch *.example.com. Leer: wie beim Modell.",
    fact: { allow: "Anfragen erlaubt", ask: "fragt vor Anfragen", off: "keine Anfragen" } as Readonly<
      Record<string, string>
    >,
    noHost: (host: string) => `${host} ist kein Host wie docs.example.com oder *.example.com.`,
    modeHeld: (mode: string) => `Gespeichert, aber der Eintrag des Modells ist strenger. Es gilt: ${mode}.`,
    hostsHeld: (hosts: string) => `Gespeichert. Mit dem Eintrag des Modells gelten: ${hosts}`,
  },
);

/** What the form has: a mode, empty for that of the model's entry, and hosts, one a line. */
export interface FetchDraft {
  readonly mode: string;
  readonly hosts: string;
}

export const draftOf = ({ mode, hosts }: AgentProfileFetch): FetchDraft => ({
  mode,
  hosts: hosts.join("\n"),
});

const hostsIn = ({ hosts }: FetchDraft): readonly string[] =>
  hosts.split(/\s+/).filter((host) => host !== "");

/** The member of an update; absent when nothing was changed, so that a later entry of the model counts. */
export function fetchEdit(draft: FetchDraft, { fetch }: Pick<AgentProfile, "fetch">) {
  const { mode, hosts } = fetch ? draftOf(fetch) : draft;
  return mode === draft.mode && hosts === draft.hosts
    ? {}
    : { fetch: { mode: draft.mode, hosts: [...hostsIn(draft)] } };
}

export interface FetchFaults {
  readonly mode?: string;
  readonly hosts?: string;
}

/** Where the model's entry is stricter than what was saved. */
export function stricterThan(draft: FetchDraft, held: AgentProfileFetch): FetchFaults {
  const isCut =
    held.mode !== "off" && hostsIn(draft).some((host) => !held.hosts.includes(host.toLowerCase()));
  return {
    ...(draft.mode !== "" && draft.mode !== held.mode
      ? { mode: text.modeHeld(text.modes[held.mode] ?? held.mode) }
      : {}),
    ...(isCut ? { hosts: text.hostsHeld(held.hosts.join(", ") || "–") } : {}),
  };
}

/** The fault of the field that a refusal names. */
export function refusedHosts(error: unknown, draft: FetchDraft): FetchFaults | null {
  const [, at] = /^fetch\.hosts\[(\d+)\]/.exec(ConnectError.from(error).rawMessage) ?? [];
  return error === null || at === undefined ? null : { hosts: text.noHost(hostsIn(draft)[Number(at)] ?? "") };
}

/** The rule for requests, as a fact of a profile. */
export const fetchFact = ({ mode, hosts }: AgentProfileFetch): string =>
  [text.fact[mode] ?? mode, ...(mode === "ask" && hosts.length > 0 ? [`(${hosts.join(", ")})`] : [])].join(
    " ",
  );

interface FetchFieldsProps {
  readonly draft: FetchDraft;
  readonly faults: FetchFaults;
  readonly onDraft: (draft: FetchDraft) => void;
}

/** The requests that agents of a profile may send. */
export function FetchFields({ draft, faults, onDraft }: FetchFieldsProps) {
  const modes = ["", ...(draft.mode === "allow" ? ["allow"] : []), "ask", "off"];
  return (
    <>
      <SelectField
        label={text.requests}
        hint={text.onlyStricter}
        fault={faults.mode}
        value={draft.mode}
        options={modes.map((mode) => [mode, text.modes[mode] ?? mode] as const)}
        onValue={(mode) => onDraft({ ...draft, mode })}
      />
      {draft.mode !== "off" && (
        <AreaField
          label={text.hosts}
          hint={text.hostsHint}
          rows={3}
          fault={faults.hosts}
          value={draft.hosts}
          onValue={(hosts) => onDraft({ ...draft, hosts })}
        />
      )}
    </>
  );
}
