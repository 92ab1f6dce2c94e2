import { checkSite, messageMax, type SiteShape, titleMax } from "../../../../core/websites/snapshot.ts";
import { nameIn, workspacePath } from "../../../../core/workspaces/path.ts";
import type { Tool } from "../tool.ts";
import { refused, toolOf } from "./tool-of.ts";

interface Input {
  readonly folder: string;
  readonly title: string;
  readonly message: string;
}

const homePage = "index.html";

/** Saves a folder of the workspace as a checkpoint of the task's website (contract/v2.md 9.12). */
export const saveSite: Tool = toolOf<Input>({
  name: "save_site",
  description:
    "Saves a folder of your workspace, with all that is below it, as the website of this task: plain files as a browser is to get them, with an index.html as the home page. Do so when the site is done, and again after each change: each time the whole folder is kept as a new version. It is not on the web by that: the user publishes it.",
  properties: {
    folder: { type: "string", minLength: 1, maxLength: 1_000, description: "Path of the folder in the workspace: site for instance." },
    title: { type: "string", minLength: 1, maxLength: titleMax, description: "What the site is called." },
    message: { type: "string", minLength: 1, maxLength: messageMax, description: "What is new in this version, in a sentence." },
  },
  required: ["folder", "title", "message"],
  brief: ({ title }) => `Save the website ${title}`,
  async use({ folder, title, message }, { turn: { workspace } }) {
    const start = `${workspacePath(folder.replace(/\/+$/, ""))}/`;
    const found = (await workspace.list()).filter(({ path }) => path.startsWith(start));
    const files = found.map(({ path, bytes }) => ({ path: path.slice(start.length), bytes }));
    const site: SiteShape = { title, message, files };
    checkSite(site);
    if (!files.some(({ path }) => path === homePage)) return refused(`there is no ${homePage} in the folder`);
    const content = files.map(({ path }) => ({ path, file: { filename: nameIn(path), content: workspace.read(start + path) } }));
    const value = { title, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
    return { kind: "result", value: { saved: value }, site: { title, message, files: content } };
  },
});
