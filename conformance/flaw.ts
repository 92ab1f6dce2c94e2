/** Something that the worker got wrong, in sentences for whoever wrote it: what was expected, and what came. */
export class Flaw extends Error {
  override readonly name = "Flaw";
}
