import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";

/** A bill of materials in CycloneDX 1.5, as far as it is read here. */
interface Bom {
  serialNumber: string;
  metadata: { timestamp: string; component: { name: string } };
}

/** The commit of a release: what is derived from it is the same in every build. */
export interface Moment {
  /** The full hash. */
  readonly commit: string;
  /** Of the commit, in seconds since 1970. */
  readonly seconds: number;
}

/**
 * The bill of materials of an npm package: its dependencies by the lock file of the folder, or by its
 * package.json where it has none.
 */
export function npmBom(folder: string, name: string, moment: Moment): object {
  const words = ["sbom", "--sbom-format", "cyclonedx", "--omit=dev"];
  if (existsSync(join(folder, "package-lock.json"))) words.push("--package-lock-only");
  const bom: Bom = JSON.parse(
    execFileSync("npm", words, { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 27 }),
  );
  // npm names the component by the folder.
  bom.metadata.component.name = name;
  return fixed(bom, name, moment);
}

/**
 * The bill of materials of a Python package, by its metadata (Core metadata specifications, `Requires-Dist`).
 */
export function pythonBom(metadata: string, moment: Moment): object {
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(metadata)?.[1] ?? "";
  const [name, version] = [field("Name"), field("Version")];
  const required = [
    ...metadata.matchAll(/^Requires-Dist: ([\w.-]+)(?:\[[^\]]*\])?\s*([^;\n]*?)\s*(;.*)?$/gm),
  ];
  const components = required.map(([, dependency = "", range = "", marker]) => ({
    "bom-ref": dependency,
    type: "library",
    name: dependency,
    scope: marker?.includes("extra") ? "optional" : "required",
    purl: `pkg:pypi/${dependency.toLowerCase()}`,
    properties: [{ name: "python:requires", value: range }],
  }));
  const ref = `${name}@${version}`;
  const component = {
    "bom-ref": ref,
    type: "library",
    name,
    version,
    purl: `pkg:pypi/${name.toLowerCase()}@${version}`,
  };
  const licensed = {
    ...component,
    licenses: [{ license: { id: field("License-Expression") || field("License") } }],
  };
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    serialNumber: "",
    version: 1,
    metadata: { timestamp: "", lifecycles: [{ phase: "build" }], component: licensed },
    components,
    dependencies: [{ ref, dependsOn: components.map((each) => each["bom-ref"]) }],
  };
  return fixed(bom, name, moment);
}

/** Two bills of one commit are equal. @throws Error for one that is not valid */
function fixed<T extends Bom>(bom: T, name: string, { commit, seconds }: Moment): T {
  const digest = createHash("sha256").update(`${commit} ${name}`).digest("hex");
  // A UUID of version 8 (RFC 9562).
  const parts = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ];
  bom.serialNumber = `urn:uuid:${parts.join("-")}`;
  bom.metadata.timestamp = new Date(seconds * 1000).toISOString();
  const complaints = bomComplaints(bom);
  if (complaints.length > 0)
    throw new Error(`the bill of materials of ${name} is not valid: ${complaints.join(", ")}`);
  return bom;
}

/** What in a bill of materials does not fit the schema of CycloneDX 1.5. */
export function bomComplaints(bom: object): readonly string[] {
  const schemaOf = (name: string) =>
    JSON.parse(readFileSync(join(import.meta.dirname, `schemas/${name}.schema.json`), "utf8"));
  const ajv = new Ajv({
    strict: false,
    formats: { "iri-reference": true, "idn-email": true },
    schemas: ["spdx", "jsf-0.82"].map(schemaOf),
  });
  addFormats.default(ajv);
  ajv.validate(schemaOf("bom-1.5"), bom);
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
