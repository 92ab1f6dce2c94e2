import { createHash } from "node:crypto";
import { Failure } from "../../../../core/failure.ts";
import { exceeds } from "../../../../core/visibility.ts";
import { checkSite, messageMax, titleMax } from "../../../../core/websites/checkpoint.ts";
import type { SiteOf, SiteVisibility } from "../../../../core/websites/website.ts";
import { baseName, type Workspace, workspacePath } from "../../../../core/workspaces/workspace.ts";
import type { NewSite } from "../../../agent.ts";
import type { Tool } from "../tool.ts";
import { createTool, errorResult, pathSchema } from "./create-tool.ts";

interface Input {
  readonly folder: string;
  readonly title: string;
  readonly message: string;
}

const homePage = "index.html";

/** Saves a folder of the workspace as the task's website, and publishes it (spec/api.md 9.12). */
export const publishSite = (siteOf: SiteOf): Tool =>
  createTool<Input>({
    name: "publish_site",
    description:
      "Publishes a folder of your workspace as the website of this task, after the user has approved it, and returns its address: static files with an index.html. Use it again after changes.",
    properties: {
      folder: pathSchema,
      title: { type: "string", minLength: 1, maxLength: titleMax },
      message: { type: "string", minLength: 1, maxLength: messageMax, description: "What has changed." },
    },
    required: ["folder", "title", "message"],
    permission: () => ({ isEffect: true }),
    asksItself: true,
    brief: ({ title }) => `Publish the website ${title}`,
    async use({ folder, title, message }, { turn, decisions: [decision], asks }) {
      const { workspace, taskId, owner } = turn;
      const { files, bytes, sha256 } = await filesIn(workspace, folder);
      checkSite({ title, message, files });
      if (!files.some(({ path }) => path === homePage))
        throw new Failure("failed_precondition", `there is no ${homePage} in the folder`);
      const facts = { title, files: files.length, bytes };
      if (asks && !decision) {
        const confirm = {
          kind: "confirm",
          action: "webdevRunAction",
          variant: "deploy",
          isChecked: true,
        } as const;
        const description = `Publish the website ${title}: ${files.length} files, ${bytes} bytes.`;
        const shown = files.map((file) => `${file.path}: ${file.bytes} bytes`);
        const params = { title, message, folder, files: shown, sha256 };
        return { kind: "end", outcome: { ...confirm, description, params } };
      }
      // Calls after this one have run before the user decided.
      if (decision && decision.params?.["sha256"] !== sha256)
        return errorResult("The folder has changed since the user was asked. Use publish_site again.");
      const { label, url, cap, hasTeam } = await siteOf({ id: taskId, spaceId: owner.spaceId });
      const wanted = visibilities[String(decision?.input["visibility"])] ?? "private";
      const visibility = wanted === "team" && !hasTeam ? "private" : wanted;
      if (exceeds(visibility, cap))
        throw new Failure("failed_precondition", `this website can at most be ${cap}`);
      const site: NewSite = {
        title,
        message,
        publish: { label, visibility },
        files: files.map(({ file }) => file),
      };
      return { kind: "result", value: { address: url, visibility, ...facts }, site };
    },
  });

/** By the words of the approval. */
const visibilities: Readonly<Record<string, SiteVisibility>> = { team: "team", public: "public" };

/** The files in a folder, by their paths below it, and a digest of their paths and contents. */
async function filesIn(workspace: Workspace, folder: string) {
  const start = `${workspacePath(folder.replace(/\/+$/, ""))}/`;
  const inFolder = await workspace.list(start);
  const digest = createHash("sha256");
  const files = inFolder.map(({ path: full, bytes, sha256 }) => {
    const path = full.slice(start.length);
    digest.update(`${sha256} ${path}\n`);
    return { path, bytes, file: { path, file: { filename: baseName(path), content: workspace.read(full) } } };
  });
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { files, bytes, sha256: digest.digest("hex") };
}
