import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { putApp } from "../support/oauth.ts";
import { hasChromium } from "./chromium.ts";
import { consoleStage } from "./console-stage.ts";

const code = "window.taken=1";
const tags = [
  `<script>${code}</script>`,
  `<img src=x onerror="${code}">`,
  `<svg onload="${code}">`,
  `<iframe srcdoc="<script>parent.taken=1</script>"></iframe>`,
  `<a href="javascript:${code}">press</a>`,
  `<body onload=${code}>`,
  `<math><mtext><img src=x onerror=${code}></mtext></math>`,
  `<style>*{background:url(http://127.0.0.1:1/x)}</style>`,
  `<form action="javascript:${code}"><button>press</button></form>`,
  `<details open ontoggle=${code}>x</details>`,
];
/** Ways to bring a tag into HTML, or an address into Markdown. */
const wrappers: readonly ((tag: string) => string)[] = [
  (tag) => tag,
  (tag) => `">${tag}`,
  (tag) => `'>${tag}`,
  (tag) => `</textarea></title>${tag}`,
  (tag) => `&lt;/p&gt;${tag}`,
  (tag) => `\`\`\`html\n${tag}\n\`\`\``,
  (tag) => `[press](javascript:${code}) ${tag}`,
  (tag) => `![shot](data:text/html,${encodeURIComponent(tag)})`,
  (tag) => `| a |\n| - |\n| ${tag.replaceAll("|", "")} |`,
  (tag) => `<javascript:${code}> ${tag.toUpperCase()}`,
];
const payloads = tags.flatMap((tag) => wrappers.map((wrap) => wrap(tag)));

describe.skipIf(!hasChromium)("hostile texts in the console", () => {
  let page: Page;
  const stage = consoleStage((visit) => {
    ({ page } = visit);
  });

  test("100 payloads in messages, titles and names stay text on every page that shows them", async () => {
    expect(payloads).toHaveLength(100);
    const all = payloads.join("\n\n");
    const { body } = await stage.owner.v2("task.create", { message: { content: all }, title: tags[0], share_visibility: "public" });
    for (const title of tags) await stage.owner.v2("task.create", { message: { content: `[[say ${title}]]` }, title });
    for (const name of tags.slice(0, 3)) {
      await stage.owner.v2("project.create", { name, instruction: name });
      await stage.owner.v2("file.upload", { filename: name.replaceAll("/", "_") });
      await putApp(stage.service, stage.owner, { name });
    }
    await stage.owner.v2("task.detail", { task_id: body["task_id"], wait_seconds: 30 });
    for (const path of ["/", `/app/${body["task_id"]}`, `/share/${body["task_id"]}`, "/projects", "/settings/apps", "/settings/files"]) {
      await page.goto(path);
      await page.getByText("window.taken=1").filter({ visible: true }).first().waitFor();
      expect(await page.evaluate("typeof taken"), path).toBe("undefined");
      expect(await page.locator(":is(main, dialog) :is(script, iframe, svg[onload], img, form[action], style)").count(), path).toBe(0);
      const addresses = await page.locator("main a").evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
      expect(
        addresses.filter((address) => /^\s*(javascript|data):/i.test(address)),
        path,
      ).toEqual([]);
    }
  });
});
