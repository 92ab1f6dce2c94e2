/** A protobuf varint of up to 2^53. */
export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left = Math.floor(left / 128)) bytes.push((left % 128) | 0x80);
  return Buffer.from([...bytes, left]);
}

const lengthDelimited = 2;

/** A field whose value has its length in front: a message, a string, bytes, or packed numbers. */
export const field = (number: number, value: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([varint(number * 8 + lengthDelimited), varint(bytes.length), bytes]);
};

/** The same bytes repeated, up to `size` bytes in total. */
export const filled = (size: number, pattern: Uint8Array): Buffer =>
  Buffer.alloc(Math.floor(size / pattern.length) * pattern.length, pattern);

/** A message in itself, `depth` times, in the field with this number. */
export function nested(depth: number, number: number, innermost: Uint8Array = Buffer.alloc(0)): Buffer {
  const heads: Buffer[] = [];
  let length = innermost.length;
  for (let level = 0; level < depth; level++) {
    const head = Buffer.concat([varint(number * 8 + lengthDelimited), varint(length)]);
    heads.push(head);
    length += head.length;
  }
  return Buffer.concat([...heads.reverse(), innermost]);
}
