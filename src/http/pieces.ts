/** Bytes that come in pieces. */
export interface Pieces {
  /** Takes a piece; once there are two, they are copied. */
  add(piece: Uint8Array): void;
  length(): number;
  /** All that was added, in one buffer; nothing is added after that. */
  joined(): Buffer;
  /** Frees the memory of what was added, rather than when it is collected. */
  discard(): void;
}

const leastBytes = 65_536;
/** What a buffer begins with: making one costs more than reading a small body. */
const none = new ArrayBuffer(0);

/**
 * Joins pieces as they come in one buffer that doubles when it is full. So pieces of one byte cost a byte each, and large
 * ones are not kept beside their copy: the memory of what is replaced is freed at once, not when it is collected.
 */
export function piecesOf(): Pieces {
  let first: Uint8Array | undefined;
  let memory = none;
  let length = 0;
  const free = freeWithNext();

  function copy(piece: Uint8Array): void {
    free(piece);
    const wanted = length + piece.length;
    if (wanted > memory.byteLength) {
      const larger = Math.max(leastBytes, wanted, 2 * memory.byteLength);
      memory = memory === none ? new ArrayBuffer(larger) : memory.transfer(larger);
    }
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
    discard() {
      if (memory !== none) memory = memory.transfer(0);
      first = undefined;
      length = 0;
    },
  };
}

/**
 * Frees the memory of pieces that come one after the other and are not used further, rather than when it is collected.
 * A piece is freed when the next one comes: until then the parser that gave it may still read its memory.
 */
export function freeWithNext(): (piece: Uint8Array) => void {
  let last: Uint8Array | undefined;
  return (piece) => {
    if (last !== undefined && ownsMemory(last)) last.buffer.transfer(0);
    last = piece;
  };
}

/** Whether nothing else is in a piece's memory. Smaller pieces may be of a pool, and are no burden. */
const ownsMemory = (piece: Uint8Array): piece is Uint8Array<ArrayBuffer> =>
  piece.length >= 4096 && piece.length === piece.buffer.byteLength && piece.buffer instanceof ArrayBuffer && !piece.buffer.detached;

/** Smaller ones are no burden, and may be pieces of a buffer that others use. */
const freedFrom = 1024 ** 2;

/** Frees the memory of a large body that has been read for the last time, rather than when it is collected: it is empty from then on. */
export function giveBack({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength >= freedFrom) buffer.transfer(0);
}
