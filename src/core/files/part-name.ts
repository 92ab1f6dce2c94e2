import { invalid } from "../failure.ts";

/** @throws Failure `invalid` for a name that file.upload would refuse. */
export function checkName(path: string, filename: string): string {
  if (/\.(exe|sh|bat|dmg)$/i.test(filename)) throw invalid(path, "is of a forbidden kind");
  return filename;
}
