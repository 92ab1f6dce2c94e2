/** Bytes that come in pieces. */
export interface Pieces {
  add(piece: Uint8Array): void;
  length(): number;
  /** All that was added, as one copy. */
  joined(): Buffer;
}

const smallPiece = 4096;
const blockSize = 65_536;

/** Keeps large pieces as they are, and copies small ones into blocks: a piece of one byte would take a hundred otherwise. */
export function piecesOf(): Pieces {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let block = new Uint8Array();
  let used = 0;
  return {
    add(piece) {
      if (piece.length === 0) return;
      length += piece.length;
      if (pieces.length === 0 || piece.length >= smallPiece) {
        block = new Uint8Array();
        pieces.push(piece);
        return;
      }
      if (used + piece.length > block.length) {
        block = new Uint8Array(blockSize);
        used = 0;
        pieces.push(block);
      }
      block.set(piece, used);
      used += piece.length;
      pieces[pieces.length - 1] = block.subarray(0, used);
    },
    length: () => length,
    joined: () => Buffer.concat(pieces, length),
  };
}
