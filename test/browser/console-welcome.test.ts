import { existsSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { createFirstLink } from "../../src/core/use-cases/first-sign-in.ts";
import { initializeInstallation } from "../../src/core/use-cases/initialize-installation.ts";
import { openTestStore } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { openModelServer } from "../support/model/server.ts";
import { openService } from "../support/service.ts";
import { hasChromium } from "./chromium.ts";
import { openWindow } from "./console-stage.ts";

describe.skipIf(!hasChromium)("the first page of the console", () => {
  test("follows the first link: a password, a key in three lines of curl, a model that was pasted, a task that it runs", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "welcome-"));
    await using database = await openTestStore("sqlite");
    const context = () => ({ now: Date.now(), ids: systemIds, random: systemRandom });
    await database.store.change((tx) => initializeInstallation(tx, context(), "owner@example.com"));
    writeFileSync(join(folder.path, "first-key"), "the first key");
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    await using _ = await openService({
      over: database,
      env: { PORT: `${port}`, BASE_URL: url, DATA_DIR: folder.path },
    });
    await using model = await openModelServer("openai", ({ tools }) =>
      tools.includes("report_colour")
        ? { calls: [{ name: "report_colour", input: { colour: "red" } }] }
        : { text: "Said by the model." },
    );
    const secret = await database.store.change((tx) => createFirstLink(tx, context()));
    const { context: window, page, faults } = await openWindow(url, null);
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();

    await page.goto(`/link/${secret}`);
    await press("Sign in");
    await page.waitForURL("**/welcome");
    await page.getByText("You are signed in as owner@example.com.").waitFor();
    expect(existsSync(join(folder.path, "first-key"))).toBe(false);

    await page.getByRole("link", { name: "Choose a password" }).click();
    await page.getByLabel("New password", { exact: true }).fill("correct horse battery staple");
    await page.getByLabel("Repeat new password").fill("correct horse battery staple");
    await press("Choose this password");
    await page.waitForURL("**/welcome");

    await press("Make a key");
    const key = (await page.getByRole("status").locator("pre").textContent()) ?? "";
    const calls = (await page.locator("pre").filter({ hasText: "task.create" }).textContent()) ?? "";
    expect(calls.split(key)).toHaveLength(4);
    const me = await fetch(`${url}/v2/user.me`, { headers: { "x-service-api-key": key } });
    expect(me.status).toBe(200);

    await page.getByRole("combobox", { name: "Provider" }).selectOption("local");
    await page.getByRole("textbox", { name: "Base URL" }).fill(model.baseUrl);
    await page.locator("input[type=password]").fill("sk-pasted-by-a-person");
    await page.getByRole("textbox", { name: "Model" }).fill("scripted");
    await press("Test");
    await page.getByText("It works.").waitFor();
    await page.getByText("More settings").click();
    await page.getByRole("checkbox", { name: "The model sees pictures", checked: true }).waitFor();
    await press("Save");
    await page.getByText("The model is ready").waitFor();

    await press("Start the task");
    await page.waitForURL("**/app/*");
    await page.getByRole("article", { name: "Agent" }).getByText("Said by the model.").waitFor();
    expect(model.requests.at(-1)?.headers["authorization"]).toBe("Bearer sk-pasted-by-a-person");
    await page.goto("/settings/models");
    await page.getByText("key …rson").waitFor();
    await page.getByRole("button", { name: "Remove: local" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByText("No model yet.").waitFor();
    await page.goto("/welcome");
    await page.getByRole("button", { name: "Make a key" }).waitFor();
    for (const step of ["Make an API key", "Create a first task"])
      await page.getByRole("heading", { name: `${step} Done` }).waitFor();
    expect(await page.title()).toBe("Welcome · Agent Task Platform");
    expect(await page.content()).not.toContain(key);
    await window.close();
    expect(faults).toEqual([]);
  });
});
