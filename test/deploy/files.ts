import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { root } from "../support/server-process.ts";

export const readDeploy = (name: string): string => readFileSync(join(root, "deploy", name), "utf8");

/** Environment variables of a process, by name. */
export type Environment = Readonly<Record<string, string>>;

/** A service of compose.yaml, as far as the tests read it. */
interface Service {
  readonly image?: string;
  readonly environment?: Environment;
  readonly secrets?: readonly string[];
  readonly stop_grace_period?: string;
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}
export const compose: Compose = parse(readDeploy("compose/compose.yaml"), { merge: true });

/** A resource of Kubernetes. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: the types of Kubernetes check resources; the tests read single members.
  readonly spec?: any;
  readonly data?: Environment;
}

export const resources: readonly Resource[] = globSync("deploy/kubernetes/*.yaml", { cwd: root })
  .filter((name) => !name.endsWith("kustomization.yaml"))
  .toSorted()
  .flatMap((name) =>
    parseAllDocuments(readFileSync(join(root, name), "utf8")).map((document) => document.toJS()),
  );

/** The pods of Deployments and Jobs, by their names. */
export const pods = resources
  .filter(({ spec }) => spec?.template)
  .map(({ metadata, spec }) => ({ name: metadata.name, pod: spec.template.spec }));

/** What ENV of the Dockerfile sets. */
export const imageEnvironment: Environment = Object.fromEntries(
  [
    ...(/^ENV ((?:.+\\\n)*.+)$/m.exec(readDeploy("container/Dockerfile"))?.[1] ?? "").matchAll(
      /([A-Z_]+)=(\S+)/g,
    ),
  ].map(([, name = "", value = ""]) => [name, value]),
);
/** What a unit of systemd sets. */
export const unitEnvironment = (unit: string): Environment =>
  Object.fromEntries(
    [...readDeploy(`systemd/${unit}`).matchAll(/^(?:# )?Environment=([A-Z_0-9]+)=(.+)$/gm)].map(
      ([, name = "", value = ""]) => [name, value],
    ),
  );
