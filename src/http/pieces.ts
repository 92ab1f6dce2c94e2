/** Joins bytes that arrive in pieces. */
export interface Pieces {
  /** Adds a piece; from the second piece on, pieces are copied. */
  add(piece: Uint8Array): void;
  length(): number;
  /** Returns all bytes in one buffer. Add no piece after this call. */
  joined(): Buffer;
  /** Frees the memory of the added pieces now, before garbage collection. */
  discard(): void;
}

const leastBytes = 65_536;
/** The initial buffer: creating one costs more than reading a small body. */
const none = new ArrayBuffer(0);

/**
 * Joins pieces in one buffer that doubles when it is full, so that a piece of one byte costs one byte. A
 * large piece is not kept in addition to its copy: replaced memory is freed at once, before garbage
 * collection.
 *
 * @param expected the announced length: once an eighth of it has arrived, there is room for all of it.
 */
export function createPieces(expected = 0): Pieces {
  let first: Uint8Array | undefined;
  let memory = none;
  let length = 0;
  const free = freeWithNext();

  function copy(piece: Uint8Array): void {
    free(piece);
    const needed = length + piece.length;
    if (needed > memory.byteLength) {
      const larger = Math.max(leastBytes, needed, 2 * memory.byteLength);
      // Memory is resident once it is written: a transfer would write all of it.
      const grown = new ArrayBuffer(larger < expected && expected <= 8 * larger ? expected : larger);
      new Uint8Array(grown).set(new Uint8Array(memory, 0, length));
      if (memory !== none) memory.transfer(0);
      memory = grown;
    }
    new Uint8Array(memory, length).set(piece);
    length = needed;
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
    joined: () =>
      first === undefined
        ? Buffer.from(memory, 0, length)
        : Buffer.from(first.buffer, first.byteOffset, first.length),
    discard() {
      if (memory !== none) memory = memory.transfer(0);
      first = undefined;
      length = 0;
    },
  };
}

/**
 * Frees the memory of consecutive pieces that are no longer used, before garbage collection. A piece is freed
 * when the next one arrives: until then the parser that emitted it may still read its memory.
 */
export function freeWithNext(): (piece: Uint8Array) => void {
  let last: Uint8Array | undefined;
  return (piece) => {
    if (last !== undefined && ownsMemory(last)) last.buffer.transfer(0);
    last = piece;
  };
}

/** Whether a piece is alone in its memory. Smaller pieces may belong to a pool and are not worth freeing. */
const ownsMemory = (piece: Uint8Array): piece is Uint8Array<ArrayBuffer> =>
  piece.length >= 4096 &&
  piece.length === piece.buffer.byteLength &&
  piece.buffer instanceof ArrayBuffer &&
  !piece.buffer.detached;

/** Smaller bodies are not worth freeing, and may share a buffer with others. */
const freeMinBytes = 1024 ** 2;

/**
 * Frees the memory of a large body after its last read, before garbage collection. The body is empty from
 * then on.
 */
export function freeBody({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength >= freeMinBytes)
    buffer.transfer(0);
}
