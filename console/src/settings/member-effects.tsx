import type { CascadeAffected, MembershipEffects } from "#proto/team/v2/team_user_pb.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { formatNumber } from "../ui/time.tsx";
import { words } from "../words.ts";

const text = words(
  {
    ends: "What ends",
    nothing: "Nothing ends: no session, key, app or running task.",
    counts: {
      runningTasks: "Running tasks",
      sessions: "Sessions",
      tokens: "Tokens of apps",
      keys: "API keys",
      grants: "Apps with access",
      webhooks: "Webhooks",
      connectors: "Connectors",
      skills: "Skills",
      links: "Sign-in links",
    },
    orphans: "Delegated profiles that become inactive",
  },
  {
    ends: "Was endet",
    nothing: "Nichts endet: keine Sitzung, kein Schlüssel, keine App, keine laufende Aufgabe.",
    counts: {
      runningTasks: "Laufende Aufgaben",
      sessions: "Sitzungen",
      tokens: "Token von Apps",
      keys: "API-Schlüssel",
      grants: "Apps mit Zugriff",
      webhooks: "Webhooks",
      connectors: "Konnektoren",
      skills: "Skills",
      links: "Anmeldelinks",
    },
    orphans: "Übertragene Profile, die inaktiv werden",
  },
);

const names = [
  "runningTasks",
  "sessions",
  "tokens",
  "keys",
  "grants",
  "webhooks",
  "connectors",
  "skills",
  "links",
] as const;

/** The answer of a dry run, as all changes of a member give it. */
interface Answer {
  readonly effects?: MembershipEffects | undefined;
  readonly cascadeAffected?: readonly CascadeAffected[];
}

/** Options of a query that is a dry run: every dialog asks the server again. */
export const fresh = { staleTime: 0, gcTime: 0 } as const;

/** What a change would end, before it is made. */
export function Effects({ of: { data, error } }: { of: { data: Answer | undefined; error: unknown } }) {
  if (error) return <ErrorNote error={error} />;
  if (data === undefined) return null;
  const { effects, cascadeAffected = [] } = data;
  const ending = names.filter((name) => (effects?.[name] ?? 0) > 0);
  if (ending.length === 0 && cascadeAffected.length === 0)
    return <p className="notice good">{text.nothing}</p>;
  return (
    <div className="notice" role="status">
      <div className="stack tight">
        {ending.length > 0 && <strong>{text.ends}</strong>}
        <ul>
          {ending.map((name) => (
            <li key={name}>
              {text.counts[name]}: {formatNumber(effects?.[name] ?? 0)}
            </li>
          ))}
        </ul>
        {cascadeAffected.length > 0 && (
          <p>
            {text.orphans}: {cascadeAffected.map(({ displayName }) => displayName).join(", ")}
          </p>
        )}
      </div>
    </div>
  );
}
