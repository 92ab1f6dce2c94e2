import { findPackage, optionalPackages } from "../../../src/async/optional-packages.ts";
import type { Config } from "../../../src/config/config.ts";
import { packageNames, specOf } from "../packages.ts";
import { type Check, ok } from "./finding.ts";

/** The optional packages. None of them has to be installed. */
export const packages = ({ dataDir }: Pick<Config, "dataDir">): Check => ({
  name: "packages",
  advice: "Check that DATA_DIR/packages can be read.",
  run: async () =>
    packageNames.map((name) => {
      const found = findPackage(name, dataDir) ?? `not installed, atp packages add ${name} installs it`;
      return ok(`${specOf(name)} (${optionalPackages[name].why}): ${found}`);
    }),
});
