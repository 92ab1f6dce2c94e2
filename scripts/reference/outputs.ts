import type { FileRegistry } from "@bufbuild/protobuf";
import { configurationPage } from "../configuration-page.ts";
import { root } from "../documents/frame.ts";
import { readExamples } from "../documents/outputs.ts";
import { compatibilityPage } from "./compatibility.ts";
import { errorsPage, limitsPage } from "./facts.ts";
import { missingOperations, referencePages } from "./pages.ts";

/** The generated pages of `docs/reference/`, by path. @throws Error for an operation without a page */
export function pages(schema: FileRegistry): ReadonlyMap<string, string> {
  const missing = missingOperations(schema);
  if (missing.length > 0)
    throw new Error(`scripts/reference/pages.ts has no page for ${missing.map(({ rpc }) => rpc).join(", ")}`);
  const made = [
    ...referencePages(schema, readExamples()),
    ["errors.md", errorsPage()],
    ["limits.md", limitsPage()],
    ["compatibility.md", compatibilityPage(root)],
    ["configuration.md", configurationPage()],
  ] as const;
  return new Map(made.map(([name, page]) => [`docs/reference/${name}`, page]));
}
