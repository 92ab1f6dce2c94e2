import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { wireOf } from "../v2/wire.ts";
import type { Member, Shape } from "./shape.ts";

/** Makes the shape of a message type in JSON; of each type once. */
export type MessageShapes = (desc: DescMessage) => Shape;

/** @param namesOf the names that a field has in this JSON. */
export function messageShapes(namesOf: (field: DescField) => Iterable<string>): MessageShapes {
  const known = new WeakMap<DescMessage, Shape>();

  function shapeOf(desc: DescMessage): Shape {
    const found = known.get(desc);
    if (found) return found;
    const members = new Map<string, Member>();
    const shape: Shape = { kind: "object", members };
    // Known before its fields are: a type may hold itself.
    known.set(desc, shape);
    for (const field of desc.fields) {
      const member = wireOf(field).unused ? "unused" : memberOf(field);
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

/** Google's types have a JSON form that is not their fields; only Empty has none of its own. */
const hasOwnJson = ({ typeName }: DescMessage): boolean => typeName.startsWith("google.protobuf.") && typeName !== "google.protobuf.Empty";
