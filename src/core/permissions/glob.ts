/**
 * Whether a text is in a glob: `*` is any number of characters, also `/` and none, `?` is exactly one, and
 * every other character is itself. The time is at most the product of both lengths: a part between two `*`
 * that has matched is never moved again.
 */
export function globMatches(glob: string, text: string): boolean {
  let [at, from] = [0, 0];
  // The place after the last `*`, and where the part after it was tried last.
  let [star, tried] = [-1, 0];
  while (from < text.length) {
    const wanted = glob[at];
    if (wanted === "*") {
      at += 1;
      [star, tried] = [at, from];
    } else if (wanted !== undefined && (wanted === "?" || wanted === text[from])) {
      at += 1;
      from += 1;
    } else if (star < 0) return false;
    else {
      tried += 1;
      [at, from] = [star, tried];
    }
  }
  return /^\**$/.test(glob.slice(at));
}
