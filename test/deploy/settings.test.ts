import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { settingNamesOf } from "../../src/config/sources.ts";
import { variableGroups } from "../../src/config/variables.ts";
import {
  compose,
  type Environment,
  imageEnvironment,
  pods,
  readDeploy,
  resources,
  unitEnvironment,
} from "./files.ts";

const names = new Set([
  ...settingNamesOf(Object.assign({}, ...Object.values(variableGroups))),
  "NODE_OPTIONS",
  "NODE_COMPILE_CACHE",
  "MALLOC_MMAP_THRESHOLD_",
]);

const server = ({ environment }: { readonly environment?: Environment }): Environment => environment ?? {};
const settings: Environment = resources.find(({ kind }) => kind === "ConfigMap")?.data ?? {};
const environments: readonly (readonly [place: string, set: Environment])[] = [
  ...["api", "worker", "migrate"].map(
    (name) => [`${name} of compose.yaml`, server(compose.services[name] ?? {})] as const,
  ),
  ...pods.map(({ name, pod }) => {
    const own = (pod.containers[0].env ?? []).map(
      (variable: { readonly name: string; readonly value: string }) => [variable.name, variable.value],
    );
    return [`${name} of Kubernetes`, { ...settings, ...Object.fromEntries(own) }] as const;
  }),
  ["atp.service", unitEnvironment("atp.service")],
  ["atp-backup.service", unitEnvironment("atp-backup.service")],
];

describe("the settings in deploy/", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "deploy-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A value as the process gets it: secrets are files, and the public host name is set. */
  function givenValue(name: string, value: string): string {
    if (!name.endsWith("_FILE"))
      return value.replace(/\$\{ATP_DOMAIN:[^}]*\}/, "tasks.example.com").replace("%S", folder);
    const path = join(folder, name);
    const texts: Environment = {
      DATABASE_URL_FILE: "postgresql://atp:secret@database:5432/atp",
      ENCRYPTION_KEY_FILE: Buffer.alloc(32, 1).toString("base64"),
    };
    writeFileSync(path, texts[name] ?? "0123456789abcdef0123456789abcdef");
    return path;
  }

  test.each(environments)("of %s are settings of the server, with values that it accepts", (_, set) => {
    expect(Object.keys(set).filter((name) => !names.has(name))).toEqual([]);
    expect(Object.keys(imageEnvironment).filter((name) => !names.has(name))).toEqual([]);
    expect(Object.keys(set).length).toBeGreaterThan(1);
    const { CONFIG_FILE, ...own } = { ...imageEnvironment, ...set };
    loadConfig(
      Object.fromEntries(Object.entries(own).map(([name, value]) => [name, givenValue(name, value)])),
    );
  });

  test("end before a process is killed", () => {
    const seconds = (set: Environment) =>
      Number(set["NOTICE_SECONDS"] ?? 0) + Number(set["DRAIN_SECONDS"] ?? 25);
    for (const name of ["api", "worker"])
      expect(Number.parseInt(compose.services[name]?.stop_grace_period ?? "", 10)).toBeGreaterThan(
        seconds(server(compose.services[name] ?? {})),
      );
    for (const { pod } of pods) expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(seconds(settings));
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(readDeploy("systemd/atp.service"))?.[1])).toBeGreaterThan(
      seconds({}),
    );
  });

  test("that are secrets are in files, and each file is one that the process has", () => {
    const secrets = [...names].filter((name) => names.has(`${name}_FILE`));
    for (const [place, set] of environments)
      expect(
        Object.keys(set).filter((name) => secrets.includes(name)),
        place,
      ).toEqual([]);
    for (const name of ["api", "worker", "migrate"]) {
      const { secrets: mounted = [], environment = {} } = compose.services[name] ?? {};
      const files = Object.values(environment).filter((value) => value.startsWith("/run/secrets/"));
      expect(files.toSorted()).toEqual(mounted.map((secret) => `/run/secrets/${secret}`).toSorted());
      for (const secret of mounted) expect(compose.secrets).toHaveProperty([secret]);
    }
    const mounts = pods.map(({ pod }) =>
      pod.containers[0].volumeMounts.map(({ mountPath }: { readonly mountPath: string }) => mountPath),
    );
    for (const paths of mounts) expect(paths).toContain("/run/secrets/atp");
  });
});
