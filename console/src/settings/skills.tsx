import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { ProjectService } from "#proto/project/v2/project_service_pb.ts";
import { type Skill, SkillOwnerType } from "#proto/settings/v1/skill_pb.ts";
import { SkillService } from "#proto/settings/v1/skill_service_pb.ts";
import { useRole } from "../api/me.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { SelectField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Ago, formatBytes, fromSeconds } from "../ui/time.tsx";
import { titleOf, words } from "../words.ts";
import { ListPage } from "./list-page.tsx";

const text = words(
  {
    about:
      "A skill is a folder with instructions, and files if it needs them. Agents read it when a task calls for it.",
    create: "Add skill",
    archive: "ZIP file",
    archiveHint: "With a SKILL.md that begins with a name and a description. At most 10 MB.",
    owner: "Who has it",
    owners: { 1: "Only me", 2: "The whole team", 3: "A project" },
    project: "Project",
    kinds: { 0: "", 1: "yours", 2: "team", 3: "project", 4: "official", 5: "app" },
    on: "On",
    changed: "changed",
    remove: "Delete",
    removeTitle: (name: string) => `Delete ${name}?`,
    removeText: "Tasks that run keep it. This cannot be undone.",
    empty: "You have no skill yet.",
  },
  {
    about:
      "Ein Skill ist ein Ordner mit Anweisungen und, wenn nötig, mit Dateien. Agenten lesen ihn, wenn eine Aufgabe ihn braucht.",
    create: "Skill hinzufügen",
    archive: "ZIP-Datei",
    archiveHint: "Mit einer SKILL.md, die mit Name und Beschreibung beginnt. Höchstens 10 MB.",
    owner: "Wer ihn hat",
    owners: { 1: "Nur ich", 2: "Alle im Team", 3: "Ein Projekt" },
    project: "Projekt",
    kinds: { 0: "", 1: "eigener", 2: "Team", 3: "Projekt", 4: "offiziell", 5: "App" },
    on: "An",
    changed: "geändert",
    remove: "Löschen",
    removeTitle: (name: string) => `${name} löschen?`,
    removeText: "Laufende Aufgaben behalten ihn. Das lässt sich nicht rückgängig machen.",
    empty: "Sie haben noch keinen Skill.",
  },
);

/** The skills that the person's tasks can use: added, switched and deleted. */
export default function SkillsPage() {
  const skills = useQuery(SkillService.method.listSkills, {});
  return (
    <ListPage
      about={text.about}
      list={skills}
      items={skills.data?.data}
      row={(skill, onRemove) => (
        <SkillRow key={skill.id} {...{ skill, onRemove }} onChanged={() => skills.refetch()} />
      )}
      empty={text.empty}
      command={`curl -s ${location.origin}/v2/skill.list -H "x-service-api-key: $KEY"`}
      add={{
        label: text.create,
        dialog: ({ onClose, onDone }) => <AddDialog onClose={onClose} onAdded={onDone} />,
      }}
      removal={{
        method: SkillService.method.deleteSkill,
        input: ({ id }) => ({ id }),
        title: ({ name }) => text.removeTitle(name),
        submit: text.remove,
        text: text.removeText,
      }}
    />
  );
}

/** The switch changes at once; the call counts as pending until the list has its result. */
function SkillRow({
  skill,
  onChanged,
  onRemove,
}: {
  skill: Skill;
  onChanged: () => Promise<unknown>;
  onRemove: () => void;
}) {
  const update = useMutation(SkillService.method.updateSkill, { onSuccess: onChanged });
  return (
    <li className="wrap">
      <Icon name="spark" />
      <span className="main">
        <strong>{skill.name}</strong>
        <span>{skill.description}</span>
        <small>
          {titleOf(text.kinds, skill.ownerType)} · {formatBytes(skill.bytes)} · {text.changed}{" "}
          <Ago at={fromSeconds(skill.updatedAt)} />
        </small>
        <ErrorNote error={update.error} />
      </span>
      <span className="actions">
        <label className="check">
          <input
            type="checkbox"
            checked={update.isPending ? update.variables.enabled === true : skill.enabled}
            aria-label={`${text.on}: ${skill.name}`}
            onChange={(event) => update.mutate({ id: skill.id, enabled: event.target.checked })}
          />
          {text.on}
        </label>
        {skill.ownerType !== SkillOwnerType.OFFICIAL && (
          <button
            type="button"
            className="button danger"
            aria-label={`${text.remove}: ${skill.name}`}
            onClick={onRemove}
          >
            {text.remove}
          </button>
        )}
      </span>
    </li>
  );
}

function AddDialog({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const { isTeam } = useRole();
  const projects = useQuery(ProjectService.method.listProjects, {});
  const [archive, setArchive] = useState<Uint8Array>();
  const [ownerType, setOwnerType] = useState<SkillOwnerType>(SkillOwnerType.PERSONAL);
  const [projectId, setProjectId] = useState("");
  const create = useMutation(SkillService.method.createSkill, {
    onSuccess: () => {
      onAdded();
      onClose();
    },
  });
  const choices = ([SkillOwnerType.PERSONAL, SkillOwnerType.TEAM, SkillOwnerType.PROJECT] as const).filter(
    (type) =>
      (type !== SkillOwnerType.TEAM || isTeam) &&
      (type !== SkillOwnerType.PROJECT || projects.data?.data.length),
  );
  const found = projects.data?.data.map(({ id, name }) => [id, name] as const) ?? [];
  const ofProject =
    ownerType === SkillOwnerType.PROJECT ? { projectId: projectId || found[0]?.[0] || "" } : {};
  return (
    <FormDialog
      title={text.create}
      submit={text.create}
      onClose={onClose}
      error={create.error}
      isPending={create.isPending}
      isReady={archive !== undefined}
      onSubmit={() => archive && create.mutate({ archive, ownerType, ...ofProject })}
    >
      <label className="field">
        <span>{text.archive}</span>
        <input
          type="file"
          accept=".zip"
          required
          onChange={({ target }) => void bytesOf(target.files?.[0]).then(setArchive)}
        />
        <small>{text.archiveHint}</small>
      </label>
      <SelectField
        label={text.owner}
        value={ownerType}
        options={choices.map((type) => [type, text.owners[type]] as const)}
        onValue={setOwnerType}
      />
      {ownerType === SkillOwnerType.PROJECT && (
        <SelectField label={text.project} value={projectId} options={found} onValue={setProjectId} />
      )}
    </FormDialog>
  );
}

const bytesOf = async (file: File | undefined): Promise<Uint8Array | undefined> =>
  file && new Uint8Array(await file.arrayBuffer());
