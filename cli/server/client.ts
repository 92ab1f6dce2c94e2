import { join } from "node:path";
import { checkoutFolder } from "../frame/checkout.ts";
import { jsonFlags } from "../frame/parameters.ts";
import { type Here, localCommand } from "./frame/command.ts";

export const client = localCommand({
  brief: "Build the packages of both clients, in a checkout only",
  about:
    "It builds packages/client/dist, JavaScript and types as ES modules and as CommonJS, so that `npm pack ./packages/client` makes the package. Before that it generates the modules of packages/python, so that `pip install ./packages/python` finds them.",
  examples: ["atp client"],
  parameters: { flags: jsonFlags },
  run: async ({ print }: Here) => {
    const folder = join(checkoutFolder("client"), "packages/client");
    // The package does not have this module.
    const { buildClient } = await import("../../scripts/client/build.ts");
    buildClient(folder);
    print.result({ folder }, folder);
  },
});
