import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Json, JsonObject } from "../../core/json.ts";
import { keyStep } from "../../pipeline/mistakes.ts";
import { wireOptions } from "../v2/wire.ts";
import { memberPath, shownName, type Warnings } from "./warnings.ts";

/** Which members a JSON value may have. */
export type Shape =
  | { readonly kind: "object"; readonly members: Members }
  | { readonly kind: "list"; readonly item: Shape }
  | { readonly kind: "map"; readonly value: Shape }
  /** The value decides which of several shapes applies. */
  | { readonly kind: "choice"; readonly of: (json: JsonObject) => Shape | undefined };

/** A known member: its shape, `value` when its content is not checked, or `unused` when it has no effect. */
export type Member = Shape | "value" | "unused";

export interface Members {
  /** Undefined for a name that is unknown. */
  get(name: string): Member | undefined;
  /** All names, for suggestions. */
  keys(): Iterable<string>;
}

/** Deeper JSON is refused elsewhere (spec/decisions.md 21). */
const depthMax = 100;

/**
 * Notes the members of `json` that have no effect: unknown ones, and those that are `unused` in `shape`. A
 * null member is absent. A value whose type differs from its shape is skipped. Stops when `warnings` is full.
 */
export function findIgnoredMembers(shape: Shape, json: Json, warnings: Warnings): void {
  visit(shape, json, "", { warnings, depth: 0 });
}

interface Search {
  readonly warnings: Warnings;
  depth: number;
}

function visit(shape: Shape, json: Json, path: string, search: Search): void {
  if (typeof json !== "object" || json === null || search.depth >= depthMax) return;
  search.depth += 1;
  if (Array.isArray(json)) visitItems(shape, json, path, search);
  else if (shape.kind === "object") visitMembers(shape.members, json, path, search);
  else if (shape.kind === "map") visitEntries(shape.value, json, path, search);
  else if (shape.kind === "choice") visitChoice(shape.of(json), json, path, search);
  search.depth -= 1;
}

function visitItems(shape: Shape, items: readonly Json[], path: string, search: Search): void {
  if (shape.kind !== "list") return;
  for (let index = 0; index < items.length && !search.warnings.isFull; index++) {
    visit(shape.item, items[index] ?? null, `${path}[${index}]`, search);
  }
}

function visitMembers(members: Members, json: JsonObject, path: string, search: Search): void {
  for (const name of Object.keys(json)) {
    if (search.warnings.isFull) return;
    const value = json[name] ?? null;
    if (value === null) continue;
    const member = members.get(name);
    if (member === undefined) search.warnings.add({ path, name, names: members });
    else if (member === "unused") search.warnings.add({ path, name, names: null });
    else if (member !== "value") visit(member, value, memberPath(path, name), search);
  }
}

function visitEntries(shape: Shape, json: JsonObject, path: string, search: Search): void {
  for (const key of Object.keys(json)) {
    if (search.warnings.isFull) return;
    visit(shape, json[key] ?? null, path + keyStep(shownName(key)), search);
  }
}

function visitChoice(shape: Shape | undefined, json: JsonObject, path: string, search: Search): void {
  if (shape !== undefined) visit(shape, json, path, search);
}

/** Returns the JSON shape of a message type; each type is compiled once. */
export type MessageShapes = (desc: DescMessage) => Shape;

/** @param namesOf returns the names of a field in this JSON. */
export function messageShapes(namesOf: (field: DescField) => Iterable<string>): MessageShapes {
  const known = new WeakMap<DescMessage, Shape>();

  function shapeOf(desc: DescMessage): Shape {
    const cached = known.get(desc);
    if (cached) return cached;
    const members = new Map<string, Member>();
    const shape: Shape = { kind: "object", members };
    // Store the shape before its fields are compiled: a type may contain itself.
    known.set(desc, shape);
    for (const field of desc.fields) {
      const member = wireOptions(field).unused ? "unused" : memberOf(field);
      for (const name of namesOf(field)) members.set(name, member);
    }
    return shape;
  }

  function memberOf({ message, fieldKind }: DescField): Member {
    if (message === undefined || hasOwnJson(message)) return "value";
    const shape = shapeOf(message);
    if (fieldKind === "list") return { kind: "list", item: shape };
    return fieldKind === "map" ? { kind: "map", value: shape } : shape;
  }

  return shapeOf;
}

/** Google's types have a JSON form other than their fields, except Empty. */
const hasOwnJson = ({ typeName }: DescMessage): boolean =>
  typeName.startsWith("google.protobuf.") && typeName !== "google.protobuf.Empty";
