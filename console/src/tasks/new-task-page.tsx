import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { AgentProfileService } from "#proto/agent/v2/agent_profile_service_pb.ts";
import { ProjectService } from "#proto/project/v2/project_service_pb.ts";
import { ScheduleService } from "#proto/schedule/v1/schedule_service_pb.ts";
import { ContentPartType, type Message } from "#proto/task/v2/message_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { useDraft } from "../ui/draft.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { CheckField, SelectField, TextField } from "../ui/fields.tsx";
import { useTitle } from "../ui/title.ts";
import { words } from "../words.ts";
import { Composer } from "./composer.tsx";
import styles from "./new-task.module.css";
import { PermissionFields, rulesOf, usualPermissions } from "./permission-fields.tsx";
import { ScheduleFields } from "./schedule-fields.tsx";
import { newWhen, readWhen } from "./schedule-timing.ts";
import { readTyped, SchemaField } from "./schema-field.tsx";
import { isUnfinished, ToolsFields, toolMembersOf, usualTools } from "./tools-fields.tsx";

const text = words(
  {
    title: "New task",
    placeholder: "What should the agent do?",
    project: "Project",
    noProject: "No project",
    profile: "Profile",
    ask: "The agent may ask me questions",
    ownTools: "Choose its connectors and skills",
    structured: "The result is JSON of a schema",
    later: "Start at times instead of now",
    scheduleName: "Name of the schedule",
    textOnly: "A schedule takes a text without files. Remove the files, or start the task now.",
    hint: "Press Ctrl+Enter to start. The agent works on its own and shows every step.",
    scheduleHint:
      "Sending creates the schedule. It starts one task at each time; you find it in the settings.",
  },
  {
    title: "Neue Aufgabe",
    placeholder: "Was soll der Agent tun?",
    project: "Projekt",
    noProject: "Kein Projekt",
    profile: "Profil",
    ask: "Der Agent darf mir Fragen stellen",
    ownTools: "Konnektoren und Skills wählen",
    structured: "Das Ergebnis ist JSON nach einem Schema",
    later: "Zu bestimmten Zeiten statt jetzt starten",
    scheduleName: "Name des Zeitplans",
    textOnly:
      "Ein Zeitplan hat einen Text ohne Dateien. Entfernen Sie die Dateien, oder starten Sie die Aufgabe jetzt.",
    hint: "Strg+Eingabe startet. Der Agent arbeitet selbständig und zeigt jeden Schritt.",
    scheduleHint:
      "Senden erstellt den Zeitplan. Er startet zu jeder Zeit eine Aufgabe; Sie finden ihn in den Einstellungen.",
  },
);

const nameMax = 80;

/** A form for a new task, or for a schedule of tasks. */
export function NewTaskPage() {
  useTitle(text.title);
  const navigate = useNavigate();
  const { project } = useSearch({ strict: false });
  const projects = useQuery(ProjectService.method.listProjects, {});
  const profiles = useQuery(AgentProfileService.method.listAgentProfiles, {});
  const create = useMutation(TaskService.method.createTask);
  const schedule = useMutation(ScheduleService.method.createSchedule);
  const [projectId, setProjectId] = useState(project ?? "");
  const [agentProfile, setProfile] = useState("");
  const [interactiveMode, setInteractive] = useState(true);
  const [typedSchema, setTypedSchema] = useDraft("new-schema");
  const [choice, setStructured] = useState<boolean>();
  const isStructured = choice ?? typedSchema !== "";
  const [choosesTools, setChoosesTools] = useState(false);
  const [typedTools, setTools] = useState(usualTools);
  const tools = choosesTools ? typedTools : usualTools;
  const [permissions, setPermissions] = useState(usualPermissions);
  const [isLater, setLater] = useState(false);
  const [when, setWhen] = useState(() => newWhen("weekdays"));
  const [name, setName] = useState("");
  const [hasFiles, setHasFiles] = useState(false);
  const schema = isStructured ? readTyped(typedSchema) : { kind: "none" as const };
  const isBlocked =
    schema.kind === "invalid" || isUnfinished(tools) || (isLater && "fault" in readWhen(when, Date.now()));

  const taskOf = (message: Message) => ({
    message: { ...message, ...toolMembersOf(tools) },
    agentProfile,
    interactiveMode,
    permissions: rulesOf(permissions),
    ...(projectId === "" ? {} : { projectId }),
    ...(schema.kind === "valid" ? { structuredOutputSchema: schema.schema } : {}),
  });
  const start = async (message: Message): Promise<void> => {
    const { taskId } = await create.mutateAsync(taskOf(message));
    setTypedSchema("");
    await navigate({ to: "/app/$taskId", params: { taskId } });
  };
  const startLater = async (message: Message): Promise<void> => {
    const withFiles = message.content.some(({ type }) => type !== ContentPartType.TEXT);
    setHasFiles(withFiles);
    const read = readWhen(when, Date.now());
    if (withFiles || "fault" in read) throw new Error("the form has a fault, which it shows");
    const settings = { name: name.trim() || nameOf(message), ...read.settings, task: taskOf(message) };
    await schedule.mutateAsync({ schedule: settings });
    setTypedSchema("");
    await navigate({ to: "/settings/$page", params: { page: "schedules" } });
  };

  return (
    <main className={styles.page} aria-labelledby="title">
      <h1 id="title">{text.title}</h1>
      <Composer
        draft="new"
        placeholder={text.placeholder}
        isBusy={create.isPending || schedule.isPending || isBlocked}
        autoFocus
        onSend={isLater ? startLater : start}
      />
      <ErrorNote error={create.error ?? schedule.error} />
      {isLater && hasFiles && (
        <div className="notice bad" role="alert">
          {text.textOnly}
        </div>
      )}
      <div className={styles.choices}>
        {(projects.data?.data.length ?? 0) > 0 && (
          <SelectField
            label={text.project}
            value={projectId}
            options={[
              ["", text.noProject],
              ...(projects.data?.data ?? []).map(({ id, name: title }) => [id, title] as const),
            ]}
            onValue={setProjectId}
          />
        )}
        <SelectField
          label={text.profile}
          value={agentProfile}
          options={(profiles.data?.data ?? []).map(
            ({ id, title, isDefault }) => [isDefault ? "" : id, title] as const,
          )}
          onValue={setProfile}
        />
      </div>
      <PermissionFields value={permissions} onValue={setPermissions} />
      <div className="stack tight">
        <CheckField label={text.ask} checked={interactiveMode} onValue={setInteractive} />
        <CheckField label={text.ownTools} checked={choosesTools} onValue={setChoosesTools} />
        {choosesTools && (
          <div className={`card padded stack ${styles.more}`}>
            <ToolsFields projectId={projectId} value={typedTools} onValue={setTools} />
          </div>
        )}
        <CheckField label={text.structured} checked={isStructured} onValue={setStructured} />
        {isStructured && (
          <div className={`card padded ${styles.more}`}>
            <SchemaField typed={typedSchema} onTyped={setTypedSchema} />
          </div>
        )}
        <CheckField label={text.later} checked={isLater} onValue={setLater} />
        {isLater && (
          <div className={`card padded stack ${styles.more}`}>
            <TextField label={text.scheduleName} maxLength={255} value={name} onValue={setName} />
            <ScheduleFields when={when} onWhen={setWhen} />
          </div>
        )}
      </div>
      <p className="muted">{isLater ? text.scheduleHint : text.hint}</p>
    </main>
  );
}

/** The first line of a message names its schedule. */
const nameOf = ({ content }: Message): string =>
  (content.find(({ type }) => type === ContentPartType.TEXT)?.text ?? "")
    .trim()
    .split("\n")[0]
    ?.slice(0, nameMax) || text.title;
