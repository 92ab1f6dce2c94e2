/** Bytes that come in pieces. */
export interface Pieces {
  /** Takes a piece; once there are two, they are copied. */
  add(piece: Uint8Array): void;
  length(): number;
  /** All that was added, in one buffer; nothing is added after that. */
  joined(): Buffer;
}

const leastBytes = 65_536;

/**
 * Joins pieces as they come in one buffer that doubles when it is full. So pieces of one byte cost a byte each, and large
 * ones are not kept beside their copy: the memory of what is replaced is given back at once, not when it is collected.
 */
export function piecesOf(): Pieces {
  let first: Uint8Array | undefined;
  let memory = new ArrayBuffer(0);
  let length = 0;

  function copy(piece: Uint8Array): void {
    const wanted = length + piece.length;
    if (wanted > memory.byteLength) memory = memory.transfer(Math.max(leastBytes, wanted, 2 * memory.byteLength));
    new Uint8Array(memory, length).set(piece);
    length = wanted;
  }

  return {
    add(piece) {
      if (piece.length === 0) return;
      if (length === 0) {
        first = piece;
        length = piece.length;
        return;
      }
      if (first !== undefined) {
        length = 0;
        copy(first);
        first = undefined;
      }
      copy(piece);
    },
    length: () => length,
    joined: () => (first === undefined ? Buffer.from(memory, 0, length) : Buffer.from(first.buffer, first.byteOffset, first.length)),
  };
}

/** Smaller ones are no burden, and may be pieces of a buffer that others use. */
const freedFrom = 1024 ** 2;

/** Frees the memory of a large body that has been read for the last time, rather than when it is collected: it is empty from then on. */
export function giveBack({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength >= freedFrom) buffer.transfer(0);
}
