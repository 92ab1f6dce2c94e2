/** The store was called as it must not be: a mistake of this program's, not a refusal. */
export class Misuse extends Error {
  override readonly name = "Misuse";
}
