import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksIn, readPage } from "../docs/page.ts";
import { depth } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { hasTool } from "../support/tools.ts";

const run = promisify(execFile);
const [printed] = blocksIn(readPage("examples/clients/README.md"), "text");

let service: Service;
let ann: Person;
beforeAll(async () => {
  const port = `${await freePort()}`;
  service = await openService({ env: { PORT: port, BASE_URL: `http://127.0.0.1:${port}` } });
  ann = await service.person();
});
afterAll(() => service[Symbol.asyncDispose]());

// CI has Go, and does not install the packages of the others: where they are missing, the tests are skipped.
const languages = [
  { language: "Go", folder: "go", isSkipped: depth === "short" || lacks("go") },
  { language: "Java", folder: "java", isSkipped: depth === "short" || !hasTool("java") },
  { language: "Ruby", folder: "ruby", isSkipped: depth === "short" || !hasTool("ruby-grpc") },
  { language: "C++", folder: "cpp", isSkipped: depth === "short" || !hasTool("cpp") },
];

describe.each(languages)("$language with generated stubs", ({ folder, isSkipped }) => {
  test.skipIf(isSkipped)(
    "runs a task with a file, live text, a question, an approval, details of errors, a cancellation and a deadline",
    { timeout: 900_000 },
    async () => {
      const out = mkdtempSync(join(tmpdir(), `client-${folder}-`));
      try {
        const script = blocksIn(readPage(`examples/clients/${folder}/README.md`), "sh").join("\n");
        // Without this process's environment, which might name a proxy.
        const { PATH = "", HOME = out } = process.env;
        const path = [join(root, "node_modules/.bin"), PATH].join(delimiter);
        const env = { PATH: path, HOME, OUT: out, ATP_URL: service.url, ATP_KEY: ann.key };
        const { stdout } = await run("bash", ["-ec", script], { cwd: root, env });
        expect(stdout).toBe(printed);
      } finally {
        rmSync(out, { recursive: true, force: true });
      }
    },
  );
});
