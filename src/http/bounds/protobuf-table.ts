import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";

/** The facts about a field that the pass needs. */
interface Field {
  readonly wireType: WireType;
  /** The wire type of the elements of a list that may be packed. */
  readonly packed: WireType | null;
  readonly message: Table | null;
}

/** A message type as the pass needs it. It can be sent to a thread. */
export interface Table {
  readonly fields: Map<number, Field>;
  /** An entry of a map; the decoder does not count it as a level of nesting. */
  readonly isEntry: boolean;
}

const tables = new WeakMap<DescMessage, Table>();

/** The table of a type, compiled at its first use and cached. */
export function tableOf(desc: DescMessage): Table {
  const known = tables.get(desc);
  if (known) return known;
  const table: Table = { fields: new Map(), isEntry: false };
  // Store the table before its fields are compiled: a type may contain itself.
  tables.set(desc, table);
  for (const field of desc.fields) table.fields.set(field.number, fieldOf(field));
  return table;
}

function fieldOf(field: DescField): Field {
  if (field.fieldKind === "map") {
    const value: Field = singleField(field.mapKind === "scalar" ? field.scalar : undefined, field.message);
    const fields = new Map([
      [1, singleField(field.mapKey, undefined)],
      [2, value],
    ]);
    return { wireType: WireType.LengthDelimited, packed: null, message: { fields, isEntry: true } };
  }
  const one = singleField(field.scalar, field.message);
  return field.fieldKind === "list" && one.wireType !== WireType.LengthDelimited
    ? { ...one, packed: one.wireType }
    : one;
}

/** A single value. An enum has neither a scalar type nor a message. */
function singleField(scalar: ScalarType | undefined, message: DescMessage | undefined): Field {
  if (message) return { wireType: WireType.LengthDelimited, packed: null, message: tableOf(message) };
  return {
    wireType: scalar === undefined ? WireType.Varint : (wireTypes[scalar] ?? WireType.Varint),
    packed: null,
    message: null,
  };
}

/** The scalar types that are not varints. */
const wireTypes: Readonly<Partial<Record<ScalarType, WireType>>> = {
  [ScalarType.DOUBLE]: WireType.Bit64,
  [ScalarType.FIXED64]: WireType.Bit64,
  [ScalarType.SFIXED64]: WireType.Bit64,
  [ScalarType.FLOAT]: WireType.Bit32,
  [ScalarType.FIXED32]: WireType.Bit32,
  [ScalarType.SFIXED32]: WireType.Bit32,
  [ScalarType.STRING]: WireType.LengthDelimited,
  [ScalarType.BYTES]: WireType.LengthDelimited,
};
