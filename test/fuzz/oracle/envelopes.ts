/** A piece of an answer that is in envelopes. */
export interface Envelope {
  readonly flags: number;
  readonly bytes: Buffer;
}

/** An answer's envelopes, and the bytes after the last complete one. */
export function openEnvelopes(body: Buffer): {
  readonly envelopes: readonly Envelope[];
  readonly rest: Buffer;
} {
  const envelopes: Envelope[] = [];
  let at = 0;
  while (body.length - at >= 5) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    if (end > body.length) break;
    envelopes.push({ flags: body.readUInt8(at), bytes: body.subarray(at + 5, end) });
    at = end;
  }
  return { envelopes, rest: body.subarray(at) };
}
