import { z } from "zod";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Member, Shape } from "../warnings/shape.ts";
import { snakeCase } from "./input.ts";

/** A member that is accepted, but has no effect: requests that have it are warned of it. */
export const unused = z.unknown().optional();

const present = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== "";

/** The shape of a request that begins something, or goes on with what one of these members names. */
export function beginningOrGoingOn(beginning: z.core.$ZodType, goingOn: z.core.$ZodType, names: readonly string[]): Shape {
  const [first, later] = [inputShape(beginning), inputShape(goingOn)];
  const goesOn = (json: JsonObject) => Object.entries(json).some(([name, value]) => names.includes(snakeCase(name)) && present(value));
  return { kind: "choice", of: (json) => (goesOn(json) ? later : first) };
}

/** The shape of what a schema takes, with the names of members in any spelling that v1 takes. */
export function inputShape(schema: z.core.$ZodType): Shape {
  const member = memberOf(schema);
  if (typeof member === "string") throw new Error("a request is an object");
  return member;
}

function memberOf(schema: z.core.$ZodType): Member {
  if (schema === unused) return "unused";
  // Every schema is of one of these types; the first has a name for each.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return objectShape(def.shape);
    case "array":
      return listOf(memberOf(def.element));
    case "optional":
    case "default":
      return memberOf(def.innerType);
    case "pipe":
      return pipeMember(memberOf(def.in), memberOf(def.out));
    case "union":
      return unionMember(def);
    default:
      return "value";
  }
}

/** Either side of a pipe may be what the members are read by; the other transforms. */
const pipeMember = (from: Member, to: Member): Member => (to === "value" ? from : to);

const listOf = (item: Member): Member => (typeof item === "string" ? "value" : { kind: "list", item });

function objectShape(schemas: Readonly<Record<string, z.core.$ZodType>>): Shape {
  const members = new Map(Object.entries(schemas).map(([name, schema]) => [name, memberOf(schema)]));
  return { kind: "object", members: { get: (name) => members.get(snakeCase(name)), keys: () => members.keys() } };
}

/** Of several objects a member tells which one it is; other unions are of plain values. */
function unionMember(def: z.core.$ZodUnionDef | z.core.$ZodDiscriminatedUnionDef): Member {
  if (!("discriminator" in def)) return "value";
  const { discriminator, options } = def;
  const byWord = new Map<unknown, Shape>();
  for (const option of options) {
    const shape = inputShape(option);
    for (const word of option._zod.propValues?.[discriminator] ?? []) byWord.set(word, shape);
  }
  return { kind: "choice", of: (json) => byWord.get(json[discriminator]) };
}
