import { readFileSync } from "node:fs";
import type { Build } from "../../scripts/release/clone.ts";

export type { Build };

/** `build` is in the package.json of a package only. */
const about: { version: string; build?: Build } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

/** The version of the program, as package.json has it. */
export const { version } = about;

/** The `User-Agent` of requests to receivers of webhooks and push notifications. */
export const userAgent = `agent-task-platform/${version}`;

let current: Promise<Build> | undefined;

/** What runs. In a clone git is asked, once. */
export const currentBuild = (): Promise<Build> =>
  (current ??= about.build
    ? Promise.resolve(about.build)
    : import("../../scripts/release/clone.ts").then((clone) => clone.buildOfClone()));

/** A build in one line: `0.2.0 (abcdef12)`. A version that has the commit is shown alone. */
export const buildText = ({ version: shown, commit }: Build): string =>
  commit === "" || shown.includes("+") ? shown : `${shown} (${commit.slice(0, 8)})`;
