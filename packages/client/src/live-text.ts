/** A text as far as its parts have arrived. */
export interface LiveText {
  /** The message within the task. */
  readonly key: string;
  readonly attempt: number | bigint;
  /** Empty after a gap, and after its event. */
  readonly text: string;
}

/** A part of a text: `offset` is the length of the text before it, in UTF-16 units. */
interface LivePart extends LiveText {
  readonly offset: number;
}

/**
 * The text with one more part; undefined for a part of an earlier attempt. It drops the text as the schema
 * says (`TextDelta`).
 */
export function withPart(
  before: LiveText | undefined,
  { key, attempt, offset, text }: LivePart,
): LiveText | undefined {
  if (before && attempt < before.attempt) return undefined;
  const known = before?.key === key && before.attempt === attempt ? before.text : "";
  return { key, attempt, text: offset === known.length ? known + text : offset === 0 ? text : "" };
}
