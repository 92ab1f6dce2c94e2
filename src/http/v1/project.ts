import { z } from "zod";
import type { Project } from "../../gen/proto/project/v2/project_pb.ts";
import { ProjectService } from "../../gen/proto/project/v2/project_service_pb.ts";
import { whole } from "./fields.ts";
import { route } from "./route.ts";

const project = ({ id, name, instruction, createdAt }: Project) => ({
  id,
  object: "project",
  name,
  ...(instruction === "" ? {} : { instruction }),
  created_at: Number(createdAt),
});

/** Projects of v1 (contract/v1.md 3). */
export const projectRoutes = [
  route(
    "POST /v1/projects",
    ProjectService.method.createProject,
    z.object({ name: z.string().max(200), instruction: z.string().optional() }),
    {
      request: (input) => input,
      response: ({ project: made }) => (made ? project(made) : {}),
    },
  ),
  route("GET /v1/projects", ProjectService.method.listProjects, z.object({ limit: whole.pipe(z.int().min(1).max(1000)).default(100) }), {
    request: () => ({}),
    response: ({ data }, { limit }) => ({ object: "list", data: data.slice(0, limit).map(project) }),
  }),
];
