import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CommandError } from "./failures.ts";

const above = fileURLToPath(new URL("../..", import.meta.url));
const isCheckout = existsSync(`${above}scripts/setup.mjs`);

/** How a user of this program starts it: `./atp` in a checkout, `atp` where the package is installed. */
export const programName = isCheckout ? "./atp" : "atp";

/** The folder of the checkout. @throws CommandError when this program is of the package */
export function checkoutFolder(command: string): string {
  if (!isCheckout)
    throw new CommandError(
      `atp ${command} works in a checkout of the project only: the package does not have its files`,
    );
  return above;
}
