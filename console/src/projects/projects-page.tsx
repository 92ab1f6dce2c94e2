import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Project } from "#proto/project/v2/project_pb.ts";
import { ProjectService } from "#proto/project/v2/project_service_pb.ts";
import { draftsOf, ruleEdit, ruleFaultOf } from "../rules/draft.ts";
import { RulesField } from "../rules/rules-field.tsx";
import { ruleFacts } from "../rules/rules-list.tsx";
import { CallDialog } from "../ui/call-dialog.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { AreaField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { useTitle } from "../ui/title.ts";
import { words } from "../words.ts";

const text = words(
  {
    title: "Projects",
    about: "A project gives its tasks one instruction and the same connectors.",
    create: "New project",
    edit: "Edit",
    name: "Name",
    instruction: "Instruction",
    instructionHint: "Every task of the project gets it.",
    save: "Save",
    remove: "Delete",
    removeTitle: (name: string) => `Delete ${name}?`,
    removeText: "Its tasks stay, without a project.",
    tasks: "Tasks",
    more: "More",
    empty: "You have no project yet. Make one for tasks that belong together.",
  },
  {
    title: "Projekte",
    about: "Ein Projekt gibt seinen Aufgaben eine gemeinsame Anweisung und dieselben Konnektoren.",
    create: "Neues Projekt",
    edit: "Bearbeiten",
    name: "Name",
    instruction: "Anweisung",
    instructionHint: "Jede Aufgabe des Projekts erhält sie.",
    save: "Speichern",
    remove: "Löschen",
    removeTitle: (name: string) => `${name} löschen?`,
    removeText: "Seine Aufgaben bleiben, ohne Projekt.",
    tasks: "Aufgaben",
    more: "Mehr",
    empty: "Sie haben noch kein Projekt. Legen Sie eines für Aufgaben an, die zusammengehören.",
  },
);

/** The projects of the person. */
export function ProjectsPage() {
  useTitle(text.title);
  const projects = useQuery(ProjectService.method.listProjects, {});
  const [edited, setEdited] = useState<Project | "new">();
  const [removed, setRemoved] = useState<Project>();
  const refresh = (): void => void projects.refetch();
  const make = (
    <button type="button" className="button primary" onClick={() => setEdited("new")}>
      <Icon name="plus" />
      {text.create}
    </button>
  );
  const found = projects.data?.data ?? [];
  return (
    <main className="stack narrow-page" aria-labelledby="title">
      <div className="actions">
        <h1 id="title">{text.title}</h1>
        <span className="spacer" />
        {found.length > 0 && make}
      </div>
      <p className="muted">{text.about}</p>
      <ErrorNote error={projects.error} onRetry={refresh} />
      {projects.data && found.length === 0 && (
        <Empty
          action={make}
          command={`curl -s ${location.origin}/v2/project.create -H "x-service-api-key: $KEY" -d '{"name": "Website", "instruction": "Answer in short sentences."}'`}
        >
          {text.empty}
        </Empty>
      )}
      {found.length > 0 && (
        <ul className="card rows">
          {found.map((project) => (
            <li key={project.id} className="wrap">
              <Icon name="project" />
              <span className="main">
                <strong>{project.name}</strong>
                <small>
                  {[...ruleFacts(project.permissions), project.instruction].filter(Boolean).join(" · ")}
                </small>
              </span>
              <span className="actions">
                <Link to="/" search={{ project: project.id }} className="button">
                  {text.tasks}
                </Link>
                <Menu
                  label={`${text.more}: ${project.name}`}
                  entries={[
                    { label: text.edit, icon: "file", run: () => setEdited(project) },
                    { label: text.remove, icon: "bin", danger: true, run: () => setRemoved(project) },
                  ]}
                />
              </span>
            </li>
          ))}
        </ul>
      )}
      {edited && (
        <ProjectDialog
          project={edited === "new" ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={refresh}
        />
      )}
      {removed && (
        <CallDialog
          method={ProjectService.method.deleteProject}
          input={{ projectId: removed.id }}
          title={text.removeTitle(removed.name)}
          submit={text.remove}
          onClose={() => setRemoved(undefined)}
          onDone={refresh}
        >
          {text.removeText}
        </CallDialog>
      )}
    </main>
  );
}

function ProjectDialog({
  project,
  onClose,
  onSaved,
}: {
  project: Project | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const [name, setName] = useState(project?.name ?? "");
  const [instruction, setInstruction] = useState(project?.instruction ?? "");
  const [rules, setRules] = useState(() => draftsOf(project?.permissions ?? []));
  const onSuccess = (): void => {
    onSaved();
    onClose();
  };
  const create = useMutation(ProjectService.method.createProject, { onSuccess });
  const update = useMutation(ProjectService.method.updateProject, { onSuccess });
  const save = (): void =>
    project
      ? update.mutate({ projectId: project.id, name, instruction, ...ruleEdit(rules, project.permissions) })
      : create.mutate({ name, instruction });
  return (
    <FormDialog
      title={project ? text.edit : text.create}
      submit={text.save}
      draft={`project ${project?.id ?? "new"}`}
      {...{
        onClose,
        error: ruleFaultOf(update.error) ? null : (create.error ?? update.error),
        isPending: create.isPending || update.isPending,
      }}
      onSubmit={save}
    >
      <TextField label={text.name} required value={name} onValue={setName} />
      <AreaField
        label={text.instruction}
        hint={text.instructionHint}
        rows={6}
        value={instruction}
        onValue={setInstruction}
      />
      {project && <RulesField value={rules} onValue={setRules} error={update.error} />}
    </FormDialog>
  );
}
