import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { AgentProfileService } from "#proto/agent/v2/agent_profile_service_pb.ts";
import { ProjectService } from "#proto/project/v2/project_service_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { words } from "../words.ts";
import { Composer } from "./composer.tsx";
import styles from "./new-task.module.css";

const text = words(
  {
    title: "New task",
    placeholder: "What should the agent do?",
    project: "Project",
    noProject: "No project",
    profile: "Profile",
    ask: "The agent may ask me questions",
    hint: "Press Ctrl+Enter to start. The agent works on its own and shows every step.",
  },
  {
    title: "Neue Aufgabe",
    placeholder: "Was soll der Agent tun?",
    project: "Projekt",
    noProject: "Kein Projekt",
    profile: "Profil",
    ask: "Der Agent darf mir Fragen stellen",
    hint: "Strg+Eingabe startet. Der Agent arbeitet selbständig und zeigt jeden Schritt.",
  },
);

/** A form for a new task. */
export function NewTaskPage() {
  const navigate = useNavigate();
  const { project } = useSearch({ strict: false });
  const projects = useQuery(ProjectService.method.listProjects, {});
  const profiles = useQuery(AgentProfileService.method.listAgentProfiles, {});
  const create = useMutation(TaskService.method.createTask);
  const [projectId, setProjectId] = useState(project ?? "");
  const [agentProfile, setProfile] = useState("");
  const [interactiveMode, setInteractive] = useState(true);
  return (
    <main className={styles.page} aria-labelledby="title">
      <h1 id="title">{text.title}</h1>
      <Composer
        draft="new"
        placeholder={text.placeholder}
        isBusy={create.isPending}
        autoFocus
        onSend={async (message) => {
          const { taskId } = await create.mutateAsync({
            message,
            agentProfile,
            interactiveMode,
            ...(projectId === "" ? {} : { projectId }),
          });
          await navigate({ to: "/app/$taskId", params: { taskId } });
        }}
      />
      <ErrorNote error={create.error} />
      <div className={styles.choices}>
        {(projects.data?.data.length ?? 0) > 0 && (
          <label className="field">
            <span>{text.project}</span>
            <select value={projectId} onChange={(event) => setProjectId(event.target.value)}>
              <option value="">{text.noProject}</option>
              {projects.data?.data.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <label className="field">
          <span>{text.profile}</span>
          <select value={agentProfile} onChange={(event) => setProfile(event.target.value)}>
            {profiles.data?.data.map(({ id, title, isDefault }) => (
              <option key={id} value={isDefault ? "" : id}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label className="check">
          <input type="checkbox" checked={interactiveMode} onChange={(event) => setInteractive(event.target.checked)} />
          {text.ask}
        </label>
      </div>
      <p className="muted">{text.hint}</p>
    </main>
  );
}
