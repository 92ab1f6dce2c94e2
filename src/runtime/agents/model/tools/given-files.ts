import type { GivenFile, Turn } from "../../../agent.ts";

/** A file that a user has sent, under a name that no other one has. */
export interface NamedFile {
  readonly name: string;
  readonly file: GivenFile;
}

/** The files that users have sent, newest first: of two with one name the older is called `name (2)`. */
export function givenFiles({ earlierAttachments, attachments }: Pick<Turn, "earlierAttachments" | "attachments">): readonly NamedFile[] {
  const seen = new Map<string, number>();
  return [...earlierAttachments, ...attachments].toReversed().map((file) => {
    const nth = (seen.get(file.filename) ?? 0) + 1;
    seen.set(file.filename, nth);
    return { name: nth === 1 ? file.filename : `${file.filename} (${nth})`, file };
  });
}
