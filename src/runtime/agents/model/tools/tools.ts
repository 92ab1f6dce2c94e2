import type { FetchFile } from "../../../../core/files/fetch.ts";
import type { Log } from "../../../../core/log.ts";
import type { ToolsFor } from "../tool.ts";
import { askUser } from "./ask-user.ts";
import { attachResult } from "./attach-result.ts";
import { browseTask } from "./browse-task.ts";
import { deleteFile } from "./delete-file.ts";
import { fetchUrl } from "./fetch-url.ts";
import { listFiles } from "./list-files.ts";
import { readAttachment } from "./read-attachment.ts";
import { readFile } from "./read-file.ts";
import { requestConfirmation } from "./request-confirmation.ts";
import { runCommand } from "./run-command.ts";
import { commandSandbox } from "./sandbox/sandbox.ts";
import { saveSite } from "./save-site.ts";
import { skillTools } from "./use-skill.ts";
import { writeFile } from "./write-file.ts";

/** What tools need of their surroundings. */
export interface ToolParts {
  readonly fetchFile: FetchFile;
  /** The words of the operator's sandbox command; null where there is none. */
  readonly sandboxCommand: readonly string[] | null;
  readonly log: Log;
}

/** The tools of the model agent: commands only where there is a sandbox, other tasks and skills only where the task has some. */
export function modelTools({ fetchFile, sandboxCommand, log }: ToolParts): ToolsFor {
  const files = [listFiles, readFile, writeFile, deleteFile, attachResult, readAttachment, saveSite];
  const always = [...files, fetchUrl(fetchFile), askUser, requestConfirmation];
  const commands = sandboxCommand === null ? [] : [runCommand(commandSandbox(sandboxCommand, log))];
  return (turn) => {
    const { references } = turn;
    return [...always, ...(references.ids.length === 0 ? [] : [browseTask(references)]), ...commands, ...skillTools(turn)];
  };
}
