import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/config.ts";
import { createMetrics } from "../../src/observability/metrics/metrics.ts";
import { compose } from "../deploy/files.ts";
import { namesIn } from "../metrics/metrics-rig.ts";
import { need } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { blocksIn, readPage } from "./page.ts";

const page = readPage("docs/operate/install.md");

/** A folder for the test, which removes it. */
function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "install-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

test("the settings of docs/operate/install.md start a server, and are where the unit of systemd reads them", () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "atp.toml");
  writeFileSync(file, blocksIn(page, "toml")[0] ?? "");
  expect(loadConfig({ CONFIG_FILE: file, DATA_DIR: folder.path }).baseUrl).toBe("https://tasks.example.com");
  expect(readFileSync(join(root, "deploy/systemd/atp.service"), "utf8")).toContain(
    "serve --config /etc/atp/atp.toml",
  );
});

test("the secrets of docs/operate/install.md are those that compose.yaml reads, and are made only once", () => {
  need("openssl", "bash");
  using folder = temporaryFolder();
  cpSync(join(root, "deploy"), join(folder.path, "deploy"), { recursive: true });
  const line = page.split("\n").find((one) => one.startsWith("deploy/compose/secrets.sh")) ?? "";
  const make = () =>
    expect(spawnSync("bash", ["-ec", line], { cwd: folder.path, encoding: "utf8" })).toMatchObject({
      status: 0,
      stderr: "",
    });
  const path = (name: string) => join(folder.path, "deploy/compose", name);
  const all = () => Object.values(compose.secrets).map(({ file }) => readFileSync(path(file), "utf8"));
  make();
  const made = all();
  make();
  expect(all()).toEqual(made);
  expect(statSync(path("secrets")).mode & 0o777).toBe(0o700);
  const files = {
    DATABASE_URL_FILE: path("secrets/database-url"),
    ENCRYPTION_KEY_FILE: path("secrets/encryption-key"),
  };
  loadConfig({ ...files, DATA_DIR: folder.path });
  const store = parse(readFileSync(path("secrets/storage.json"), "utf8"));
  expect(store.identities[0].credentials[0].secretKey).toBe(
    readFileSync(path("secrets/s3-secret-access-key"), "utf8").trim(),
  );
});

test("the metrics of docs/operate/scale.md are served", async () => {
  const metrics = createMetrics({ agentProfiles: {} }, { version: "1.0.0", commit: "" });
  const served = new Set(namesIn(await metrics.text("prometheus", null)));
  metrics.stop();
  const named = [
    ...readPage("docs/operate/scale.md").matchAll(/`((?:atp|http_server|db_client|nodejs)_\w+)`/g),
  ].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !served.has(name))).toEqual([]);
});
