import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { type Failure, invalid } from "../failure.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Action } from "./action.ts";
import { type Decision, inputSchema, type KindName, kindOf } from "./kind.ts";

/** Compiled once per kind and variant: there are a few dozen, all our own. */
const validators = new Map<string, ValidateFunction>();
const ajv = new Ajv({ strict: true, ownProperties: true });

/**
 * The input of a decision; absent, it accepts where `accept` is the only required member (contract/decisions.md 48).
 *
 * @throws Failure `invalid` where other members are required too.
 */
export function inputOr({ kind, variant }: Pick<Action, "kind" | "variant">, input: JsonObject | undefined): JsonObject {
  if (input !== undefined) return input;
  const required = inputSchema(kind, variant)?.["required"];
  if (!Array.isArray(required) || required.join() !== "accept") throw invalid("input", "is required");
  return { accept: true };
}

/**
 * What an input decides about an action.
 *
 * @throws Failure `invalid` for an input that does not fit the kind's schema, with the path of the member at fault
 * (contract/v2.md 8.9, 9.3).
 */
export function decide({ kind, variant }: Pick<Action, "kind" | "variant">, input: JsonObject): Decision {
  const validate = validatorOf(kind, variant);
  if (!validate(input)) throw misfit(validate.errors?.[0]);
  if (input["action"] === "select" && input["client_id"] === undefined) throw invalid("input.client_id", "is required with select");
  if (input["action"] === "skip" || input["action"] === "reject") return "cancelled";
  if (input["accept"] !== false) return "accepted";
  return kindOf(kind).cancels ? "cancelled" : "undecided";
}

/** Whether a decision is also one on all that come after it in the task (contract/decisions.md 15). */
export function silences(kind: KindName, input: JsonObject): boolean {
  const { silencedBy } = kindOf(kind);
  if (silencedBy === undefined) return false;
  const said = input[silencedBy];
  return said === "do_not_show_again" || (said === true && input["accept"] === true);
}

/** An input as everybody may see it: of secrets only their names. */
export function shownInput(kind: KindName, input: JsonObject): JsonObject {
  const { secret } = kindOf(kind);
  const given = secret === undefined ? undefined : input[secret];
  if (secret === undefined || !Array.isArray(given)) return input;
  return { ...input, [secret]: given.map(nameOf) };
}

/** The schema has let nothing in but objects with a `key`. */
const nameOf = (entry: Json): JsonObject => ({ key: (entry as JsonObject)["key"] ?? "" });

function validatorOf(kind: KindName, variant: string): ValidateFunction {
  const name = `${kind} ${variant}`;
  const validate = validators.get(name) ?? ajv.compile(inputSchema(kind, variant) ?? false);
  validators.set(name, validate);
  return validate;
}

function misfit({ instancePath, params, message = "is not valid" }: Partial<ErrorObject> = {}): Failure {
  const path = `input${(instancePath ?? "").replace(/\/(\d+)/g, "[$1]").replaceAll("/", ".")}`;
  const { missingProperty, additionalProperty, allowedValues } = params ?? {};
  if (missingProperty !== undefined) return invalid(`${path}.${missingProperty}`, "is required");
  if (additionalProperty !== undefined) return invalid(path, "must not have members beside those of confirm_input_schema");
  return invalid(path, Array.isArray(allowedValues) ? `must be one of ${allowedValues.join(", ")}` : message);
}
