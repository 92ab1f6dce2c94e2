import type { JsonObject } from "@bufbuild/protobuf";
import type { Store } from "../../src/core/store.ts";
import { eventId } from "../../src/core/tasks/event.ts";
import { confirm } from "../../src/core/tasks/lifecycle.ts";
import { AgentProfileService } from "../../src/gen/proto/agent/v2/agent_profile_service_pb.ts";
import { AgentService } from "../../src/gen/proto/agent/v2/agent_service_pb.ts";
import { AuditService } from "../../src/gen/proto/audit/v2/audit_service_pb.ts";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { SharedTaskService } from "../../src/gen/proto/task/v2/shared_task_service_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { UserService } from "../../src/gen/proto/user/v2/user_service_pb.ts";
import type { Person } from "../support/service.ts";
import { entries, noInput } from "./entry.ts";

/** A message without directives. */
export const message = { content: "Say hello." };

/** A task that waits for an agent. */
export const taskId = async (person: Person): Promise<JsonObject> => {
  const { body } = await person.v2("task.create", { message });
  return { task_id: body["task_id"] };
};

/** Makes a task without a worker request an approval, and returns the requesting event. */
async function approvalOf(store: Store, id: string): Promise<string> {
  const waits = { kind: "terminalExecute", variant: "", actionId: "a" } as const;
  const { set, events } = confirm(waits);
  return store.change(async (tx) => {
    const written = await tx.tasks.advance(id, { now: 1, set, events });
    if (!written) throw new Error("no such task");
    const { spaceId, lastSeq } = written.task;
    const seq = lastSeq - 1;
    await tx.actions.insert({ taskId: id, seq, spaceId, ...waits, state: "pending", input: null });
    return eventId(id, seq);
  });
}

/** A task with a public link, on which agents no longer work. */
const sharedTaskId = async (person: Person): Promise<JsonObject> => {
  const { body } = await person.v2("task.create", { message, share_visibility: "public" });
  await person.v2("task.stop", { task_id: body["task_id"] });
  return { task_id: body["task_id"] };
};

/** `task.v2.SharedTaskService`. */
export const sharedTaskEntries = entries(SharedTaskService, {
  getSharedTask: ["tasks/shared", sharedTaskId],
  listSharedEvents: ["tasks/shared", sharedTaskId],
  watchSharedTask: [
    "tasks/shared-watch",
    async (person) => ({ ...(await sharedTaskId(person)), until_settled: true }),
  ],
});

/** A project. */
export const projectId = async (person: Person): Promise<JsonObject> => {
  const { body } = await person.v2("project.create", { name: "Garden" });
  return { project_id: body["project"].id };
};

/** `task.v2.TaskService`. */
export const taskEntries = entries(TaskService, {
  createTask: ["tasks/create", async () => ({ message })],
  getTask: ["tasks/detail", taskId],
  listTasks: ["tasks/list", noInput],
  updateTask: ["tasks/update", async (person) => ({ ...(await taskId(person)), title: "Hello" })],
  stopTask: ["tasks/stop", taskId],
  deleteTask: [
    "tasks/delete",
    async (person) => {
      const task = await taskId(person);
      await person.v2("task.stop", task);
      return task;
    },
  ],
  sendMessage: ["tasks/send-message", async (person) => ({ ...(await taskId(person)), message })],
  listMessages: ["tasks/list-messages", taskId],
  inspectTask: ["tasks/inspect", taskId],
  getWatchUrl: ["tasks/watch-url", taskId],
  watchTask: [
    "tasks/watch",
    async (person) => {
      const task = await taskId(person);
      await person.v2("task.stop", task);
      return { ...task, until_settled: true };
    },
  ],
  watchTasks: ["tasks/watch-list", noInput],
  confirmAction: [
    "tasks/confirm-action",
    async (person, store) => {
      const { task_id } = await taskId(person);
      return {
        task_id: String(task_id),
        event_id: await approvalOf(store, String(task_id)),
        input: { accept: true },
      };
    },
  ],
  getConversation: ["http/v1/tasks-read", taskId],
  listConversations: ["http/v1/tasks-read", noInput],
});

/** `project.v2.ProjectService`. */
export const projectEntries = entries(ProjectService, {
  createProject: ["projects/create", async () => ({ name: "Garden" })],
  listProjects: ["projects/list", noInput],
  getProject: ["projects/manage", projectId],
  updateProject: ["projects/manage", async (person) => ({ ...(await projectId(person)), name: "Pond" })],
  deleteProject: ["projects/manage", projectId],
});

/** `user.v2.UserService`. */
export const userEntries = entries(UserService, {
  getCurrentUser: ["projects/user-me", noInput],
});

/** `agent.v2.AgentService`. */
export const agentEntries = entries(AgentService, {
  listAgents: ["agents/agents", noInput],
  getAgent: ["agents/agents", async () => ({ agent_id: "agent-default" })],
  updateAgent: ["agents/agents", async () => ({ agent_id: "agent-default", nickname: "Ada" })],
});

/** `agent.v2.AgentProfileService`. */
export const agentProfileEntries = entries(AgentProfileService, {
  listAgentProfiles: ["agents/profiles", noInput],
  updateAgentProfile: ["agents/profiles", async () => ({ agent_profile: "manus-1.6", concurrency: 5 })],
});

/** `audit.v2.AuditService`. */
export const auditEntries = entries(AuditService, {
  listAuditEvents: ["audit/list", noInput],
  getAuditDownloadUrl: ["audit/download-url", noInput],
});
