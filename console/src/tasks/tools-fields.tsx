import { useQuery } from "@connectrpc/connect-query";
import { ConnectorService } from "#proto/connector/v2/connector_service_pb.ts";
import { SkillService } from "#proto/skill/v2/skill_service_pb.ts";
import { CheckField, SelectField } from "../ui/fields.tsx";
import { words } from "../words.ts";

const text = words(
  {
    connectors: "Connectors",
    connectorModes: { usual: "Those of every task", none: "None", chosen: "Only these" },
    skills: "Skills",
    skillModes: { usual: "All that are on", chosen: "Only these" },
    noConnector: "You have no connector yet.",
    noSkill: "You have no skill yet.",
  },
  {
    connectors: "Konnektoren",
    connectorModes: { usual: "Die jeder Aufgabe", none: "Keine", chosen: "Nur diese" },
    skills: "Skills",
    skillModes: { usual: "Alle eingeschalteten", chosen: "Nur diese" },
    noConnector: "Sie haben noch keinen Konnektor.",
    noSkill: "Sie haben noch keinen Skill.",
  },
);

/** What the agent of a new task may use: as usual, or what the person has chosen. */
export interface ToolChoice {
  readonly connectors: keyof typeof text.connectorModes;
  readonly connectorIds: readonly string[];
  readonly skills: keyof typeof text.skillModes;
  readonly skillIds: readonly string[];
}

export const usualTools: ToolChoice = {
  connectors: "usual",
  connectorIds: [],
  skills: "usual",
  skillIds: [],
};

/** The members of a message that say what its task may use. Without a chosen connector the task has none. */
export const toolMembersOf = ({ connectors, connectorIds, skills, skillIds }: ToolChoice) => ({
  ...(connectors === "chosen" ? { connectors: [...connectorIds] } : {}),
  noConnectors: connectors === "none" || (connectors === "chosen" && connectorIds.length === 0),
  enableSkills: skills === "chosen" ? [...skillIds] : [],
});

/** Whether a choice is not made yet: a task always has the skills that are on, unless others are named. */
export const isUnfinished = ({ skills, skillIds }: ToolChoice): boolean =>
  skills === "chosen" && skillIds.length === 0;

const modesOf = <T extends string>(modes: Readonly<Record<T, string>>) =>
  Object.entries(modes) as [T, string][];

/** Chooses the connectors and the skills of a new task. */
export function ToolsFields({
  projectId,
  value,
  onValue,
}: {
  projectId: string;
  value: ToolChoice;
  onValue: (value: ToolChoice) => void;
}) {
  const connectors = useQuery(ConnectorService.method.listConnectors, {});
  const skills = useQuery(SkillService.method.listSkills, projectId === "" ? {} : { projectId });
  return (
    <>
      <SelectField
        label={text.connectors}
        value={value.connectors}
        options={modesOf(text.connectorModes)}
        onValue={(mode) => onValue({ ...value, connectors: mode })}
      />
      {value.connectors === "chosen" && (
        <Choices
          of={connectors.data?.data}
          none={text.noConnector}
          chosen={value.connectorIds}
          onChosen={(connectorIds) => onValue({ ...value, connectorIds })}
        />
      )}
      <SelectField
        label={text.skills}
        value={value.skills}
        options={modesOf(text.skillModes)}
        onValue={(mode) => onValue({ ...value, skills: mode })}
      />
      {value.skills === "chosen" && (
        <Choices
          of={skills.data?.data}
          none={text.noSkill}
          chosen={value.skillIds}
          onChosen={(skillIds) => onValue({ ...value, skillIds })}
        />
      )}
    </>
  );
}

interface ChoicesProps {
  readonly of:
    | readonly { readonly id: string; readonly name: string; readonly description?: string }[]
    | undefined;
  readonly none: string;
  readonly chosen: readonly string[];
  readonly onChosen: (ids: readonly string[]) => void;
}

function Choices({ of, none, chosen, onChosen }: ChoicesProps) {
  if (of?.length === 0) return <p className="muted">{none}</p>;
  return (
    <div className="stack tight">
      {of?.map(({ id, name, description }) => (
        <CheckField
          key={id}
          label={name}
          hint={description}
          checked={chosen.includes(id)}
          onValue={(on) => onChosen(on ? [...chosen, id] : chosen.filter((other) => other !== id))}
        />
      ))}
    </div>
  );
}
