import type { ErrorObject, ValidateFunction } from "ajv";
import { lazy, lazyPackage } from "../../async/lazy.ts";
import type { Cipher } from "../cipher.ts";
import { type Failure, invalidArgument } from "../failure.ts";
import type { Json, JsonObject } from "../json.ts";
import type { PermissionRule } from "../permissions/rule.ts";
import { type Decision, inputSchema, type KindName, kindOf } from "./kind.ts";

/**
 * `used`: accepted, and performed by a remote worker, which may perform it once. `dismissed`: ended without a
 * decision, by a message (which answers a question) or by a stop.
 */
export type ActionState = "pending" | "accepted" | "used" | "cancelled" | "dismissed";

/** A confirmation that a task requests from its user. A task has at most one pending action. */
export interface Action {
  readonly taskId: string;
  /** The number of the event that requests it; task.confirmAction takes the id of that event. */
  readonly seq: number;
  readonly spaceId: string;
  readonly kind: KindName;
  /** Empty for a kind with one schema. */
  readonly variant: string;
  /** Links the events of one use of a tool; 22 characters. */
  readonly actionId: string;
  readonly state: ActionState;
  /** The input of the decision: encrypted JSON. Null before the decision, and when there is none. */
  readonly input: Uint8Array<ArrayBuffer> | null;
}

export interface ActionRows {
  insert(action: Action): Promise<void>;
  pending(taskId: string): Promise<Action | null>;
  /** The actions of a task with a greater number, oldest first. */
  after(taskId: string, seq: number): Promise<readonly Action[]>;
  /** Decides a pending action; false when it is no longer pending. */
  decide(
    taskId: string,
    seq: number,
    state: "accepted" | "cancelled",
    input: Uint8Array<ArrayBuffer>,
  ): Promise<boolean>;
  /** Marks an accepted action as used; false when it is used already or not accepted. */
  markUsed(taskId: string, seq: number): Promise<boolean>;
  /** Returns a used action to accepted, if the use did not happen. */
  unmarkUsed(taskId: string, seq: number): Promise<void>;
  /** Returns the kind of the dismissed action; null when none was pending. */
  dismiss(taskId: string): Promise<KindName | null>;
  deleteOfTask(taskId: string): Promise<void>;
}

/** Encrypts the input of a decision: it may hold secrets, and only the agent that requested it uses it. */
export const sealInput = (cipher: Cipher, action: ActionKey, input: JsonObject): Uint8Array<ArrayBuffer> =>
  cipher.seal(Buffer.from(JSON.stringify(input)), inputContext(action));

/** Decrypts the input of a decision; empty for an action that was allowed in advance. */
export function openInput(cipher: Cipher, action: Action): JsonObject {
  if (action.input === null) return {};
  // Safe cast: `sealInput` sealed an object.
  return JSON.parse(Buffer.from(cipher.open(action.input, inputContext(action))).toString()) as JsonObject;
}

type ActionKey = Pick<Action, "taskId" | "seq">;

/** Binds the input to its action, so that it cannot be opened as the input of another one. */
export const inputContext = ({ taskId, seq }: ActionKey): string => `action ${taskId} ${seq}`;

/** Compiled once per kind and variant: a few dozen, all defined by the platform. */
const validators = new Map<string, ValidateFunction>();
const ajvPackage = lazyPackage<typeof import("ajv")>("ajv");
const ajv = lazy(() => new (ajvPackage().Ajv)({ strict: true, ownProperties: true }));

/**
 * The input of a decision. An absent input accepts, if `accept` is the only required member
 * (spec/decisions.md 48).
 *
 * @throws Failure `invalid_argument` if other members are required too.
 */
export function inputOrAccept(
  { kind, variant }: Pick<Action, "kind" | "variant">,
  input: JsonObject | undefined,
): JsonObject {
  if (input !== undefined) return input;
  const required = inputSchema(kind, variant)?.["required"];
  if (!Array.isArray(required) || required.join() !== "accept") throw invalidArgument("input", "is required");
  return { accept: true };
}

/**
 * Returns the decision that an input makes about an action.
 *
 * @throws Failure `invalid_argument` for an input that does not match the kind's schema, with the path of the
 * member at fault (spec/api.md 8.9, 9.3).
 */
export function decide({ kind, variant }: Pick<Action, "kind" | "variant">, input: JsonObject): Decision {
  const validate = validatorOf(kind, variant);
  if (!validate(input)) throw schemaFailure(validate.errors?.[0]);
  if (input["action"] === "select" && input["client_id"] === undefined)
    throw invalidArgument("input.client_id", "is required with select");
  if (input["action"] === "skip" || input["action"] === "reject") return "cancelled";
  if (input["accept"] !== false) return "accepted";
  return kindOf(kind).cancels ? "cancelled" : "undecided";
}

/** Whether a decision also decides later actions of this kind in the task (spec/decisions.md 15). */
export function decidesLaterActions(kind: KindName, input: JsonObject): boolean {
  const { decidesLaterBy } = kindOf(kind);
  if (decidesLaterBy === undefined) return false;
  const value = input[decidesLaterBy];
  return value === "do_not_show_again" || (value === true && input["accept"] === true);
}

/** What a request for approval is about, as its event has it. */
interface Requested {
  /** The tool that waits. */
  readonly tool?: string | undefined;
  readonly params?: JsonObject | undefined;
}

/**
 * Which later actions such a decision allows, as a task stores it in `allowed`: the kind, or the kind with
 * the host of its `url` or its tool. Null: none, because the request has no address or tool.
 */
export function allowance(kind: KindName, { tool, params }: Requested): string | null {
  const { laterFor } = kindOf(kind);
  if (laterFor === undefined) return kind;
  const place = laterFor === "tool" ? tool : URL.parse(String(params?.["url"]))?.host;
  return place ? `${kind} ${place}` : null;
}

/** The tools that what a task stores in `allowed` is for, as rules name them. */
export const grantsOf = (allowed: readonly string[]): readonly Pick<PermissionRule, "tool" | "pattern">[] =>
  allowed.flatMap((each) => {
    const [kind, place = ""] = each.split(" ");
    if (kind === "terminalExecute") return [{ tool: "bash", pattern: "*" }];
    if (kind === "fetchUrl") return [{ tool: "web_fetch", pattern: place }];
    return kind === "agentToolAction" ? [{ tool: place, pattern: "*" }] : [];
  });

/** An input as users may see it: secrets show only their names. */
export function redactInput(kind: KindName, input: JsonObject): JsonObject {
  const { secret } = kindOf(kind);
  const entries = secret === undefined ? undefined : input[secret];
  if (secret === undefined || !Array.isArray(entries)) return input;
  return { ...input, [secret]: entries.map(nameOf) };
}

/** The schema allows only objects with a `key`. */
const nameOf = (entry: Json): JsonObject => ({ key: (entry as JsonObject)["key"] ?? "" });

function validatorOf(kind: KindName, variant: string): ValidateFunction {
  const name = `${kind} ${variant}`;
  const validate = validators.get(name) ?? ajv().compile(inputSchema(kind, variant) ?? false);
  validators.set(name, validate);
  return validate;
}

function schemaFailure({
  instancePath,
  params,
  message = "is not valid",
}: Partial<ErrorObject> = {}): Failure {
  const path = `input${(instancePath ?? "").replace(/\/(\d+)/g, "[$1]").replaceAll("/", ".")}`;
  const { missingProperty, additionalProperty, allowedValues } = params ?? {};
  if (missingProperty !== undefined) return invalidArgument(`${path}.${missingProperty}`, "is required");
  if (additionalProperty !== undefined)
    return invalidArgument(path, "must have only the members of confirm_input_schema");
  return invalidArgument(
    path,
    Array.isArray(allowedValues) ? `must be one of ${allowedValues.join(", ")}` : message,
  );
}
