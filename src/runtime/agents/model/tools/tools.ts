import type { SandboxSettings } from "../../../../config/sandbox.ts";
import type { FetchFile } from "../../../../core/files/fetch-files.ts";
import type { SearchWeb } from "../../../../core/files/search-web.ts";
import type { Log } from "../../../../core/log.ts";
import type { SiteOf } from "../../../../core/websites/website.ts";
import type { ToolsFor } from "../tool.ts";
import { askUser } from "./ask.ts";
import { deliver } from "./deliver.ts";
import { edit } from "./edit.ts";
import { proposeSchedule } from "./propose-schedule.ts";
import { publishSite } from "./publish-site.ts";
import { commandSandbox, runCommand, sandboxFault } from "./sandbox/sandbox.ts";
import { glob, grep } from "./search.ts";
import { skillTools } from "./skill.ts";
import { browseTask } from "./subtasks.ts";
import { webFetch } from "./web-fetch.ts";
import { webSearch } from "./web-search.ts";
import { deleteFile, read, write } from "./workspace.ts";

export interface ToolParts {
  readonly fetchFile: FetchFile;
  /** The operator's search as it is now; null without one. */
  readonly searchWeb: () => SearchWeb | null;
  /** The operator's sandbox; null without one. */
  readonly sandbox: SandboxSettings | null;
  /** The address of a task's website. */
  readonly siteOf: SiteOf;
  readonly log: Log;
}

/**
 * The tools of the model agent. Commands need a sandbox; other tasks and skills are included only when the
 * task has some.
 */
export function modelTools({ fetchFile, searchWeb, sandbox, siteOf, log }: ToolParts): ToolsFor {
  const files = [read, write, edit, grep, glob, deleteFile, deliver, publishSite(siteOf)];
  const first = [...files, webFetch(fetchFile)];
  const fault = sandbox && sandboxFault(sandbox);
  if (fault) log("error", `commands are not run: ${fault}`);
  const commands = sandbox === null || fault ? [] : [runCommand(commandSandbox(sandbox, log))];
  return (turn) => {
    const { references } = turn;
    const search = searchWeb();
    return [
      ...first,
      ...(search ? [webSearch(search)] : []),
      askUser,
      proposeSchedule,
      ...(references.ids.length === 0 ? [] : [browseTask(references)]),
      ...commands,
      ...skillTools(turn),
    ];
  };
}
