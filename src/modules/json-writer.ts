import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { compileBareWriter } from "../http/v2/writer.ts";

/** Returns a function that writes messages of a type as v2 JSON. */
export function jsonWriter<Desc extends DescMessage>(
  desc: Desc,
): (message: MessageInitShape<Desc>) => string {
  const write = compileBareWriter(desc);
  return (message) => write(create(desc, message));
}
