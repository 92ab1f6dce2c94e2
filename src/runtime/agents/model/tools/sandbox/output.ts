/** So many bytes of the beginning are kept, and as many of the end. */
const keptBytes = 8_000;

/** Keeps the beginning and the end of what a program prints, however much that is. */
export function outputKeeper(): { readonly take: (chunk: Buffer) => void; readonly text: () => string } {
  let first = Buffer.alloc(0);
  let last = Buffer.alloc(0);
  let bytes = 0;
  return {
    take(chunk) {
      bytes += chunk.length;
      const more = keptBytes - first.length;
      if (more > 0) first = Buffer.concat([first, chunk.subarray(0, more)]);
      if (chunk.length > more) last = Buffer.concat([last, chunk.subarray(Math.max(0, more))]).subarray(-keptBytes);
    },
    text() {
      const left = bytes - first.length - last.length;
      // Half a character at a cut is shown as what it is.
      return left === 0 ? Buffer.concat([first, last]).toString() : `${first}\n… ${left} bytes left out …\n${last}`;
    },
  };
}
