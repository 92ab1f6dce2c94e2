import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import type { Project, Projects } from "../core/projects/project.ts";
import type { ProjectSchema } from "../gen/proto/project/v2/project_pb.ts";
import type { ProjectService } from "../gen/proto/project/v2/project_service_pb.ts";
import { seconds } from "./wire-values.ts";

/** The wire form of a project: an empty instruction is omitted. */
export const toProject = ({ id, name, instruction, createdAt }: Project): MessageInitShape<typeof ProjectSchema> => ({
  id,
  name,
  createdAt: seconds(createdAt),
  ...(instruction === "" ? {} : { instruction }),
});

/** project.create and project.list (spec/api.md 8.10, 8.11). */
export function projectHandlers(projects: Projects): Handlers<typeof ProjectService> {
  return {
    async createProject(tx, caller, { name, instruction = "" }) {
      return { project: toProject(await projects.create(tx, caller, { name, instruction })) };
    },
    async listProjects(tx, caller) {
      return { data: (await projects.list(tx, caller)).map(toProject) };
    },
  };
}
