import { invalidArgument } from "../failure.ts";

/** What a rule says about a use of a tool, the loosest first: use it, ask a person, or never use it. */
export const permissionDecisions = ["allow", "ask", "deny"] as const;
export type PermissionDecision = (typeof permissionDecisions)[number];

/** A rule for uses of tools (docs/guides/permissions.md). */
export interface PermissionRule {
  /** The name of a tool, or a glob: `bash`, `connector.*`. */
  readonly tool: string;
  /**
   * A glob on what the tool acts on: a command line (`bash`), a host (`web_fetch`), a path (`write`, `edit`,
   * `delete`) or the tool of a connector (`connector.NAME`). `*` for everything.
   */
  readonly pattern: string;
  readonly decision: PermissionDecision;
  /** With `ask`: a person decides each use, and no rule of a task answers in advance. */
  readonly eachTime: boolean;
}

/** Orders rules by their decisions, the loosest first. */
export const strictnessOf = ({ decision, eachTime }: Pick<PermissionRule, "decision" | "eachTime">): number =>
  permissionDecisions.indexOf(decision) + (eachTime ? 0.5 : 0);

/** A rule as a caller or an operator gives it. An absent or empty pattern is `*`. */
export interface GivenRule {
  readonly tool: string;
  readonly pattern?: string | undefined;
  readonly decision: string;
  readonly eachTime?: boolean | undefined;
}

/** The most rules of one list, and the most characters of a pattern. */
export const rulesMax = 100;
export const patternMax = 200;

const toolGlob = /^[A-Za-z0-9_.*?-]{1,100}$/;

/**
 * Reads a list of rules.
 *
 * @param path where the list is, for the failure: `permissions`.
 * @throws Failure `invalid_argument` with the member at fault: `permissions[2].tool`.
 */
export function readRules(given: readonly GivenRule[], path: string): readonly PermissionRule[] {
  if (given.length > rulesMax) throw invalidArgument(path, `must have at most ${rulesMax} rules`);
  return given.map((rule, at) => readRule(rule, `${path}[${at}]`));
}

function readRule({ tool, pattern, decision, eachTime = false }: GivenRule, path: string): PermissionRule {
  if (!toolGlob.test(tool))
    throw invalidArgument(
      `${path}.tool`,
      "must be the name of a tool (bash), or a glob (connector.*), of at most 100 letters, digits, _, ., -, * and ?",
    );
  if ((pattern ?? "").length > patternMax)
    throw invalidArgument(`${path}.pattern`, `must have at most ${patternMax} characters`);
  if (/\p{Cc}/u.test(pattern ?? "") || !(pattern ?? "").isWellFormed())
    throw invalidArgument(`${path}.pattern`, "must be plain text in one line");
  const known = permissionDecisions.find((each) => each === decision);
  if (known === undefined)
    throw invalidArgument(`${path}.decision`, `must be one of ${permissionDecisions.join(", ")}`);
  if (eachTime && known !== "ask") throw invalidArgument(`${path}.each_time`, "is only for the decision ask");
  return { tool, pattern: pattern || "*", decision: known, eachTime };
}
