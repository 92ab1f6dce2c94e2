import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Project } from "#proto/project/v2/project_pb.ts";
import { ProjectService } from "#proto/project/v2/project_service_pb.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
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
    cancel: "Cancel",
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
    cancel: "Abbrechen",
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
                <small>{project.instruction}</small>
              </span>
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
            </li>
          ))}
        </ul>
      )}
      {edited && <ProjectDialog project={edited === "new" ? undefined : edited} onClose={() => setEdited(undefined)} onSaved={refresh} />}
      {removed && <RemoveDialog project={removed} onClose={() => setRemoved(undefined)} onRemoved={refresh} />}
    </main>
  );
}

function ProjectDialog({ project, onClose, onSaved }: { project: Project | undefined; onClose: () => void; onSaved: () => void }) {
  const [name, setName] = useState(project?.name ?? "");
  const [instruction, setInstruction] = useState(project?.instruction ?? "");
  const onSuccess = (): void => {
    onSaved();
    onClose();
  };
  const create = useMutation(ProjectService.method.createProject, { onSuccess });
  const update = useMutation(ProjectService.method.updateProject, { onSuccess });
  const save = (): void => (project ? update.mutate({ projectId: project.id, name, instruction }) : create.mutate({ name, instruction }));
  return (
    <Dialog title={project ? text.edit : text.create} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <label className="field">
          <span>{text.name}</span>
          <input value={name} required onChange={(event) => setName(event.target.value)} />
        </label>
        <label className="field">
          <span>{text.instruction}</span>
          <textarea value={instruction} rows={6} onChange={(event) => setInstruction(event.target.value)} />
          <small>{text.instructionHint}</small>
        </label>
        <ErrorNote error={create.error ?? update.error} />
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {text.cancel}
          </button>
          <button type="submit" className="button primary" disabled={create.isPending || update.isPending}>
            {text.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function RemoveDialog({ project, onClose, onRemoved }: { project: Project; onClose: () => void; onRemoved: () => void }) {
  const remove = useMutation(ProjectService.method.deleteProject, {
    onSuccess: () => {
      onRemoved();
      onClose();
    },
  });
  return (
    <Dialog title={text.removeTitle(project.name)} onClose={onClose}>
      <p>{text.removeText}</p>
      <ErrorNote error={remove.error} />
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          {text.cancel}
        </button>
        <button
          type="button"
          className="button danger"
          disabled={remove.isPending}
          onClick={() => remove.mutate({ projectId: project.id })}
        >
          {text.remove}
        </button>
      </div>
    </Dialog>
  );
}
