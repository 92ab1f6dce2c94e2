import type { DescMessage, Message } from "@bufbuild/protobuf";
import { Mistakes } from "../../src/pipeline/mistakes.ts";
import { findTextMistakes } from "../../src/pipeline/text.ts";
import { refuseMistakes } from "../../src/pipeline/validate.ts";

/** Checks the texts of a message alone. @throws Failure `invalid_argument` */
export function checkText(schema: DescMessage, message: Message): void {
  const found = new Mistakes();
  findTextMistakes(schema, message, found);
  refuseMistakes(found);
}
