import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { isIn, type Room, rooms } from "./rooms.ts";

const marks = /(<!-- rooms -->\n)[\s\S]*?(<!-- \/rooms -->)/;

/** `core` as code; packages by their names, prefixes with a star: `@fastify/*`. */
function word(name: string): string {
  if (name === "*") return "everything";
  if (name === "node:") return "Node";
  if (name.startsWith("type ")) return `types of ${word(name.slice(5))}`;
  const isOurs =
    rooms.some((room) => isIn(name, room.name)) || name.startsWith("gen/") || name.startsWith("packages/");
  return isOurs ? `\`${name}\`` : name.endsWith("/") ? `${name}\\*` : name;
}

const root = resolve(import.meta.dirname, "../..");
const pathOf = ({ name }: Room): string =>
  existsSync(join(root, `src/${name}`)) ? `src/${name}` : `src/${name}.ts`;

/** The rooms without a separate row, in the row of the room around them. */
const inside = ({ name }: Room): readonly string[] =>
  rooms
    .filter((room) => room.does === undefined && room.name.startsWith(`${name}/`))
    .map((room) => `\`${room.name.slice(name.length + 1)}\` also ${room.may.map(word).join(", ")}`);

/**
 * The page on the architecture with the table of rooms between its marks. @throws when the page has no marks.
 */
export function withRooms(page: string): string {
  if (!marks.test(page))
    throw new Error("docs/internals/architecture.md has no marks for the table of rooms");
  const rows = rooms
    .filter(({ does }) => does !== undefined)
    .map(
      (room) =>
        `| \`${pathOf(room)}\` | ${room.does} | ${[room.may.map(word).join(", "), ...inside(room)].join("; ")} |`,
    );
  const table = ["| Module | What it does | What it may import |", "| --- | --- | --- |", ...rows].join("\n");
  return page.replace(marks, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
}
