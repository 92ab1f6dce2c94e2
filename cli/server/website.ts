import { buildRouteMap } from "@stricli/core";
import { systemClock } from "../../src/core/clock.ts";
import { Failure } from "../../src/core/failure.ts";
import { type Visibility, visibilities } from "../../src/core/visibility.ts";
import { UsageError } from "../frame/failures.ts";
import { argument, exactly } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";

const caps = [...visibilities, "none"];

/** Null removes the cap. */
function parseCap(input: string): Visibility | null {
  const visibility = visibilities.find((name) => name === input);
  if (visibility === undefined && input !== "none") throw new UsageError(`must be one of ${caps.join(", ")}`);
  return visibility ?? null;
}

const cap = installationCommand({
  brief: "Set the highest allowed visibility of a website",
  about:
    "The cap applies to the next request. With team, only members of the team can open the website; with private, no one can. none removes the cap.",
  examples: ["atp website cap 8wErT5yUi2oPaS1dFgHjKl private", "atp website cap 8wErT5yUi2oPaS1dFgHjKl none"],
  parameters: {
    flags: installationFlags,
    positional: exactly(argument("Id of the website", "ID"), {
      brief: `One of ${caps.join(", ")}`,
      placeholder: "VISIBILITY",
      parse: parseCap,
      proposeCompletions: () => caps,
    }),
  },
  run: async (
    { store }: OnInstallation,
    _flags: InstallationFlags,
    id: string,
    visibility: Visibility | null,
  ) => {
    if (!(await store.change((tx) => tx.websites.setOperatorCap(id, visibility, systemClock.now()))))
      throw new Failure("not_found", "there is no such website");
  },
});

export const website = buildRouteMap({ docs: { brief: "Limit who can open a website" }, routes: { cap } });
