import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { type Project, projectsMax } from "./project.ts";

/** Projects of a caller. */
export interface Projects {
  /** @throws Failure `exhausted` when the space holds 1,000 (contract/decisions.md 19b). */
  create(tx: Tx, caller: Caller, wanted: Pick<Project, "name" | "instruction">): Promise<Project>;
  /** All of the caller's, newest first: there is no paging. */
  list(tx: Tx, caller: Caller): Promise<readonly Project[]>;
}

export function projects(clock: Clock, ids: Ids): Projects {
  return {
    async create(tx, { accountId, spaceId }, { name, instruction }) {
      await tx.accounts.lockSpace(spaceId);
      if ((await tx.projects.count(spaceId)) >= projectsMax) {
        throw new Failure("exhausted", `a space holds at most ${projectsMax} projects`);
      }
      const project: Project = { id: ids.short(), accountId, spaceId, name, instruction, createdAt: clock.now() };
      await tx.projects.insert(project);
      tx.audit.note({ subject: project.id, after: { name } });
      return project;
    },
    list: (tx, caller) => tx.projects.list(caller),
  };
}
