import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import type { CountedProject, Project, ProjectEdit, Projects } from "../core/projects/project.ts";
import { deleteProject } from "../core/use-cases/delete-project.ts";
import type { ProjectSchema } from "../gen/proto/project/v2/project_pb.ts";
import { ProjectService, type UpdateProjectRequest } from "../gen/proto/project/v2/project_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { editedRules, toRules } from "./permissions.ts";
import { seconds } from "./wire-values.ts";

/** The wire form of a project: an empty instruction is omitted. */
export const toProject = ({
  id,
  name,
  instruction,
  createdAt,
  permissions,
  taskCount = null,
}: Project & Partial<CountedProject>): MessageInitShape<typeof ProjectSchema> => ({
  id,
  name,
  createdAt: seconds(createdAt),
  ...(instruction === "" ? {} : { instruction }),
  ...(taskCount === null ? {} : { taskCount }),
  permissions: toRules(permissions),
});

/** The operations of projects (spec/api.md 8.10, 8.11, 8.36). */
export function projectHandlers(projects: Projects, clock: Clock) {
  return implement(ProjectService, {
    async createProject(tx, caller, { name, instruction = "" }) {
      return { project: toProject(await projects.create(tx, caller, { name, instruction })) };
    },
    async listProjects(tx, caller, { pageSize, pageCursor, includeTaskCounts }) {
      const { items, next } = await projects.list(tx, caller, {
        limit: pageSize,
        cursor: pageCursor,
        includeTaskCounts,
      });
      const paging = pageSize === undefined ? {} : { hasMore: next !== undefined };
      return { data: items.map(toProject), ...paging, ...defined({ nextCursor: next }) };
    },
    async getProject(tx, caller, { projectId }) {
      return { project: toProject(await projects.get(tx, caller, projectId)) };
    },
    async updateProject(tx, caller, request) {
      return { project: toProject(await projects.update(tx, caller, request.projectId, edit(request))) };
    },
    async deleteProject(tx, caller, { projectId }) {
      await deleteProject(tx, caller, projectId, clock.now());
      return {};
    },
  });
}

const edit = ({ name, instruction, ...rules }: UpdateProjectRequest): ProjectEdit => ({
  ...defined({ name, instruction }),
  ...editedRules(rules),
});
