import type { MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { type KeyScope, keyScopes } from "#core/accounts/key-scopes.ts";
import { ProjectService } from "#proto/project/v2/project_service_pb.ts";
import {
  ApiKeyKind,
  type ApiKeyRestrictions,
  type ApiKeyRestrictionsSchema,
} from "#proto/settings/v1/api_key_pb.ts";
import { AreaField, CheckField, SelectField } from "../ui/fields.tsx";
import { words } from "../words.ts";
import styles from "./key-limits.module.css";

const text = words(
  {
    may: "May do",
    everything: "Everything that you can do",
    chosen: "Only what you choose",
    scopes: "Scopes",
    projects: "Only in these projects",
    projectsHint:
      "Without a choice, in all of them. A key with projects reaches their tasks and files, and nothing else.",
    addresses: "Only from these addresses",
    addressesHint: "One on each line, for example 192.0.2.10, 10.0.0.0/8 or 2001:db8::/32. Empty for all.",
    actions: { read: "Read", write: "Write", approve: "Approve", use: "Use" },
    subjects: {
      task: "Tasks",
      project: "Projects",
      file: "Files",
      schedule: "Schedules",
      skill: "Skills",
      connector: "Connectors",
      agent: "Agents",
      browser: "Browsers",
      website: "Websites",
      webhook: "Webhooks",
      usage: "Usage",
      budget: "Budgets",
      key: "API keys",
      app: "OAuth apps",
      team: "Team members",
      worker: "Workers",
      audit: "Audit log",
      export: "Exports",
      import: "Imports",
    },
    inProjects: (count: number) => (count === 1 ? "1 project" : `${count} projects`),
  },
  {
    may: "Darf",
    everything: "Alles, was Sie können",
    chosen: "Nur, was Sie wählen",
    scopes: "Rechte",
    projects: "Nur in diesen Projekten",
    projectsHint:
      "Ohne Auswahl in allen. Ein Schlüssel mit Projekten erreicht deren Aufgaben und Dateien und sonst nichts.",
    addresses: "Nur von diesen Adressen",
    addressesHint: "Eine je Zeile, zum Beispiel 192.0.2.10, 10.0.0.0/8 oder 2001:db8::/32. Leer für alle.",
    actions: { read: "Lesen", write: "Schreiben", approve: "Genehmigen", use: "Nutzen" },
    subjects: {
      task: "Aufgaben",
      project: "Projekte",
      file: "Dateien",
      schedule: "Zeitpläne",
      skill: "Skills",
      connector: "Konnektoren",
      agent: "Agenten",
      browser: "Browser",
      website: "Websites",
      webhook: "Webhooks",
      usage: "Verbrauch",
      budget: "Budgets",
      key: "API-Schlüssel",
      app: "OAuth-Apps",
      team: "Teammitglieder",
      worker: "Worker",
      audit: "Audit-Protokoll",
      export: "Exporte",
      import: "Importe",
    },
    inProjects: (count: number) => (count === 1 ? "1 Projekt" : `${count} Projekte`),
  },
);

/** The limits of a key as its form has them. */
export interface Limits {
  /** Undefined: not limited to scopes. */
  readonly scopes: readonly string[] | undefined;
  readonly projectIds: readonly string[];
  /** One address or range on each line. */
  readonly addresses: string;
}

/** The form's values of a key. */
export const limitsOf = (restrictions: ApiKeyRestrictions | undefined): Limits => ({
  scopes: restrictions && restrictions.scopes.length > 0 ? restrictions.scopes : undefined,
  projectIds: restrictions?.projectIds ?? [],
  addresses: restrictions?.addressRanges.join("\n") ?? "",
});

/** What is sent for the form's values; only general keys have scopes and projects. */
export function restrictionsOf(
  { scopes = [], projectIds, addresses }: Limits,
  kind: ApiKeyKind,
): MessageInitShape<typeof ApiKeyRestrictionsSchema> {
  const addressRanges = addresses.split(/[\s,]+/).filter((range) => range !== "");
  return kind === ApiKeyKind.GENERAL
    ? { scopes: [...scopes], projectIds: [...projectIds], addressRanges }
    : { addressRanges };
}

/** False for a choice of no scope: it would be a key without limits. */
export const isComplete = ({ scopes }: Limits): boolean => scopes === undefined || scopes.length > 0;

/** What limits a key, in a few words. */
export const limitText = ({ scopes, projectIds, addressRanges }: ApiKeyRestrictions): string =>
  [
    scopes.join(", "),
    projectIds.length > 0 ? text.inProjects(projectIds.length) : "",
    addressRanges.join(", "),
  ]
    .filter((part) => part !== "")
    .join(" · ");

interface FieldsProps {
  readonly kind: ApiKeyKind;
  readonly limits: Limits;
  readonly onLimits: (limits: Limits) => void;
}

/** The fields of a key's limits. */
export function LimitFields({ kind, limits, onLimits }: FieldsProps) {
  const { scopes, addresses } = limits;
  return (
    <>
      {kind === ApiKeyKind.GENERAL && (
        <>
          <SelectField
            label={text.may}
            value={scopes === undefined ? 0 : 1}
            options={[
              [0, text.everything],
              [1, text.chosen],
            ]}
            onValue={(isLimited) => onLimits({ ...limits, scopes: isLimited === 1 ? [] : undefined })}
          />
          {scopes !== undefined && (
            <Scopes scopes={scopes} onScopes={(next) => onLimits({ ...limits, scopes: next })} />
          )}
          <Projects limits={limits} onLimits={onLimits} />
        </>
      )}
      <AreaField
        label={text.addresses}
        hint={text.addressesHint}
        rows={2}
        maxLength={2048}
        value={addresses}
        onValue={(next) => onLimits({ ...limits, addresses: next })}
      />
    </>
  );
}

type Subject = keyof typeof text.subjects;
type Action = keyof typeof text.actions;

/** The scopes by subject, in the order of the list. */
const bySubject = Object.entries(Object.groupBy(keyScopes, (name) => name.slice(0, name.indexOf(":"))));
const actionOf = (name: KeyScope): Action => name.slice(name.indexOf(":") + 1) as Action;

const toggled = (all: readonly string[], one: string, isIn: boolean): readonly string[] =>
  isIn ? [...all, one] : all.filter((other) => other !== one);

const Scopes = ({
  scopes,
  onScopes,
}: {
  scopes: readonly string[];
  onScopes: (scopes: readonly string[]) => void;
}) => (
  <fieldset>
    <legend className="legend">{text.scopes}</legend>
    <div className={styles["scopes"]}>
      {bySubject.map(([subject, names = []]) => (
        <fieldset key={subject} className={styles["row"]} aria-label={text.subjects[subject as Subject]}>
          <span>{text.subjects[subject as Subject]}</span>
          {names.map((name) => (
            <CheckField
              key={name}
              label={text.actions[actionOf(name)]}
              checked={scopes.includes(name)}
              onValue={(checked) => onScopes(toggled(scopes, name, checked))}
            />
          ))}
        </fieldset>
      ))}
    </div>
  </fieldset>
);

function Projects({ limits, onLimits }: Omit<FieldsProps, "kind">) {
  const projects = useQuery(ProjectService.method.listProjects, {});
  if (!projects.data || projects.data.data.length === 0) return null;
  const { projectIds } = limits;
  return (
    <fieldset className="stack tight">
      <legend className="legend">{text.projects}</legend>
      <div className={`stack tight ${styles["projects"]}`}>
        {projects.data.data.map(({ id, name }) => (
          <CheckField
            key={id}
            label={name}
            checked={projectIds.includes(id)}
            onValue={(checked) => onLimits({ ...limits, projectIds: toggled(projectIds, id, checked) })}
          />
        ))}
      </div>
      <small className="muted">{text.projectsHint}</small>
    </fieldset>
  );
}
