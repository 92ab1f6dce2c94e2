import { projects } from "../core/projects/project.ts";
import { projectHandlers } from "../rpc/project.ts";
import type { CreateModule } from "./module.ts";

export const createProjects: CreateModule = ({ clock, ids }) => ({
  handlers: [projectHandlers(projects(clock, ids), clock)],
});
