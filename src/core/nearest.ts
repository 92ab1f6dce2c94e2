/** Longer words are not compared, so that a comparison stays cheap. */
const lengthMax = 64;

/**
 * Finds the word that a misspelt word probably means. Two words are near when at most two
 * characters were added, left out, replaced or swapped with their neighbour; in words of fewer
 * than five characters, at most one. Upper and lower case are the same.
 *
 * @param word the word as written; above 64 characters it has no near word.
 * @param words the candidates, in any order. Of equally near candidates the first in
 *   alphabetical order is returned.
 */
export function findNearest(word: string, words: Iterable<string>): string | undefined {
  if (word.length > lengthMax) return undefined;
  let best: { word: string; distance: number } | undefined;
  for (const candidate of words) {
    const allowed = Math.min(word.length, candidate.length) < 5 ? 1 : 2;
    if (Math.abs(word.length - candidate.length) > allowed) continue;
    const distance = distanceOf(word.toLowerCase(), candidate.toLowerCase());
    if (distance > allowed) continue;
    const isBetter =
      !best || distance < best.distance || (distance === best.distance && candidate < best.word);
    if (isBetter) best = { word: candidate, distance };
  }
  return best?.word;
}

/** The Damerau-Levenshtein distance in its restricted form: no character is edited twice. */
function distanceOf(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, to.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;
