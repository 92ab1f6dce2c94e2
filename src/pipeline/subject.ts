import type { DescMethod, Message } from "@bufbuild/protobuf";
import { Failure, nameField } from "../core/failure.ts";

/** Fields that name an object by another word than its noun. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  app: ["client_id"],
  grant: ["client_id"],
  member: ["team_user_id"],
  "team user": ["email"],
  website: ["task_id"],
};

/** Adds to a `not_found` the field of the request that has the id of the object. The text stays. */
export function nameSubject({ input }: DescMethod, message: Message, thrown: unknown): unknown {
  if (!(thrown instanceof Failure) || thrown.noun === undefined || thrown.path !== undefined) return thrown;
  const word = thrown.noun.replaceAll(" ", "_");
  const names = [`${word}_id`, `${word}_uid`, ...(otherNames[thrown.noun] ?? []), "id", "uid"];
  const isSent = (name: string): boolean => {
    const field = input.fields.find((known) => known.name === name);
    return (
      field !== undefined &&
      Object.entries(message).some(([key, value]) => key === field.localName && value !== "")
    );
  };
  const path = names.find(isSent);
  return path === undefined ? thrown : nameField(thrown, path);
}
