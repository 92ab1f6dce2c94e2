import { manifest, type RawEntry, skillZip, u64, zip64Field, zipOf } from "./zip-maker.ts";

const link = { content: "/etc/passwd", mode: 0o120777 };

/** Why it is refused, and the invalid entries, in addition to a valid SKILL.md. */
type Row = readonly [why: string, ...entries: RawEntry[]];

const paths: readonly Row[] = [
  // These lead out of the folder.
  ["a path that leaves the folder", { name: "../evil.txt", content: "x" }],
  ["a path that leaves it in the middle", { name: "a/../../evil.txt", content: "x" }],
  ["a path that leaves it and comes back", { name: "../skill/evil.txt", content: "x" }],
  ["a path that is only its parent", { name: "a/..", content: "x" }],
  ["an absolute path", { name: "/etc/passwd", content: "x" }],
  ["an absolute path of another host", { name: "//host/share/evil.txt", content: "x" }],
  ["a drive", { name: "C:/evil.txt", content: "x" }],
  ["a drive without a slash", { name: "C:evil.txt", content: "x" }],
  ["a stream of a file", { name: "SKILL.txt:evil", content: "x" }],
  ["a backslash", { name: "..\\evil.txt", content: "x" }],
  ["a share of Windows", { name: "\\\\host\\share\\evil.txt", content: "x" }],
  ["a dot as a folder", { name: "./evil.txt", content: "x" }],
  ["an empty folder name", { name: "a//b", content: "x" }],
  ["a folder that leaves it", { name: "a/../../b/" }],
  ["an absolute folder", { name: "/" }],
  // Other programs read these differently.
  ["U+0000 in a name", { name: "a\0b", content: "x" }],
  ["U+0000 before another extension", { name: "evil.txt\0.md", content: "x" }],
  ["a line feed in a name", { name: "a\nb", content: "x" }],
  ["a line separator in a name", { name: "a\u2028b", content: "x" }],
  ["an escape in a name", { name: "a\u001b[2Jb", content: "x" }],
  ["a name that is shown backwards", { name: "txt.\u202eexe", content: "x" }],
  ["a dot at a name's end", { name: "evil.txt.", content: "x" }],
  ["a blank at a name's end", { name: "evil.txt ", content: "x" }],
  ["a name without text", { name: "", content: "x" }],
  ["a name that is invalid UTF-8", { name: Uint8Array.of(0x66, 0x80, 0xff), content: "x" }],
  ["a name of overlong UTF-8", { name: Uint8Array.of(0xc0, 0xae, 0xc0, 0xae, 0x2f, 0x61), content: "x" }],
  ["a lone surrogate in a name", { name: Uint8Array.of(0x61, 0xed, 0xa0, 0x80), content: "x" }],
  [
    "a name in another encoding that does not declare it",
    { name: Uint8Array.of(0x81, 0x2e), flags: 0, content: "x" },
  ],
  ["a device of Windows", { name: "CON", content: "x" }],
  ["a device of Windows in other letters, with an extension", { name: "docs/nUl.tar.gz", content: "x" }],
  ["a device of Windows as a folder", { name: "aux/notes.txt", content: "x" }],
  ["a device of Windows with a blank", { name: "PRN .txt", content: "x" }],
  ["a port of Windows", { name: "com1.log", content: "x" }],
  ["a port of Windows by a raised digit", { name: "LPT\u00b9", content: "x" }],
  ["a long path", { name: `${"a".repeat(600)}.txt`, content: "x" }],
  ["a deep path", { name: `${"a/".repeat(30)}b`, content: "x" }],
];

const duplicates: readonly Row[] = [
  ["the same file twice", { name: "SKILL.md", content: "x" }],
  ["the same file in other letters", { name: "skill.MD", content: "x" }],
  ["the same file in another width", { name: "\uff33KILL.md", content: "x" }],
  ["the same file with something that is not shown", { name: "SKILL\u200d.md", content: "x" }],
  [
    "a file in NFC and in NFD",
    { name: "Gr\u00fc\u00dfe.txt", content: "x" },
    { name: "Gru\u0308\u00dfe.txt", content: "y" },
  ],
  [
    "a file with \u00df and with SS",
    { name: "stra\u00dfe", content: "x" },
    { name: "STRASSE", content: "y" },
  ],
  ["a file that is a folder too", { name: "SKILL.md/a", content: "x" }],
  [
    "a file that is a folder too, in other letters",
    { name: "Docs", content: "x" },
    { name: "docs/a", content: "y" },
  ],
];

const irregularFiles: readonly Row[] = [
  ["a symbolic link", { name: "link", ...link }],
  [
    "a symbolic link to a folder, and a file behind it",
    { name: "out", ...link },
    { name: "out/evil.txt", content: "x" },
  ],
  ["a symbolic link that is called a folder", { name: "link/", ...link }],
  ["a device", { name: "device", mode: 0o020666 }],
  ["a disk", { name: "disk", mode: 0o060666 }],
  ["a pipe", { name: "pipe", mode: 0o010666 }],
  ["a socket", { name: "socket", mode: 0o140777 }],
  ["a folder that is called a file", { name: "a", mode: 0o040755 }],
  ["a folder of DOS that is called a file", { name: "a", dos: 0x10 }],
  ["a file that is called a folder", { name: "a/", mode: 0o100644 }],
  ["a folder with bytes", { name: "a/", content: "x" }],
];

/** Bytes that differ from their declaration. */
const falseDeclarations: readonly Row[] = [
  ["an encrypted file", { name: "secret", content: "x", flags: 0x801 }],
  ["a strongly encrypted file", { name: "secret", content: "x", flags: 0x841 }],
  ["an encrypted file that calls itself litter", { name: "__MACOSX/secret", content: "x", flags: 0x801 }],
  ["an unknown way of packing", { name: "a", content: "x", method: 99 }],
  ["a file that is longer than it says", { name: "a", content: "x".repeat(1000), claims: 10 }],
  ["a file that is shorter than it says", { name: "a", content: "x", claims: 1000 }],
  ["a stored file of another size than it says", { name: "a", content: "xx", claims: 1, method: 0 }],
  ["another checksum", { name: "a", content: "x", sum: 1 }],
  ["another checksum of a stored file", { name: "a", content: "x", sum: 1, method: 0 }],
  ["another checksum of an empty file", { name: "a", sum: 1 }],
  ["two files of the same bytes", { name: "a", content: "x" }, { name: "b", content: "x", shares: 1 }],
  ["a file whose bytes are those of SKILL.md", { name: "b", content: manifest(), shares: 0 }],
  ["a size of ZIP64 that is not there", { name: "a", content: "x", extra: Uint8Array.of(1, 0, 0, 0) }],
  ["a size of ZIP64 beyond the archive", { name: "a", content: "x", extra: zip64Field(1, 2n ** 40n, 0) }],
  [
    "a size of ZIP64 beyond all numbers",
    { name: "a", content: "x", extra: zip64Field(2n ** 64n - 1n, 2n ** 64n - 1n, 0) },
  ],
  ["a place of ZIP64 beyond the archive", { name: "a", content: "x", extra: zip64Field(1, 3, 2n ** 50n) }],
  ["a field that is longer than it is", { name: "a", content: "x", extra: Uint8Array.of(1, 0, 255, 255) }],
];

const [first] = [{ name: "SKILL.md", content: manifest() }];

/** Archives that are not a ZIP of a skill. */
const archives: readonly (readonly [why: string, zip: Uint8Array])[] = [
  ["text", Buffer.from("hello")],
  ["nothing", new Uint8Array()],
  ["a cut end", skillZip().subarray(0, -1)],
  ["no end", skillZip().subarray(0, -22)],
  ["a missing beginning", skillZip().subarray(4)],
  ["something before its beginning", Buffer.concat([Buffer.from("#!/bin/sh\n"), skillZip()])],
  ["something after its end", Buffer.concat([skillZip(), Buffer.from("more")])],
  ["a second ZIP after its end", Buffer.concat([skillZip("One"), skillZip("Two")])],
  ["a ZIP64 with more entries than there are", zipOf([first], { entries: 2n ** 40n, offset: 0 })],
  ["a ZIP64 whose directory is elsewhere", zipOf([first], { entries: 1, offset: 2n ** 40n })],
  [
    "a ZIP64 whose numbers are beyond all numbers",
    zipOf([first], { entries: 2n ** 64n - 1n, offset: 2n ** 64n - 1n }),
  ],
  ["a ZIP64 with an invalid end", Buffer.from(skillZip()).fill(u64(7), 0, 8)],
];

const noZip = /is not a readable ZIP$/;
const rowsOf = (rows: readonly Row[], rule: RegExp) =>
  rows.map(([why, ...more]) => [why, skillZip("Hostile", more), rule] as const);

/** Each must be refused as `invalid`, with its reason, and must leave nothing behind. */
export const hostile: readonly (readonly [why: string, zip: Uint8Array, rule: RegExp])[] = [
  ...rowsOf(paths, /is not a valid path in a skill$|must be UTF-8$/),
  ...rowsOf(duplicates, /appears twice$|is in a folder that is also a file$/),
  ...rowsOf(irregularFiles, /is a link, or not a regular file$|is a folder with content$/),
  ...rowsOf(
    falseDeclarations,
    /is encrypted$|has an unsupported compression method$|checksum differs$|shares its bytes|is not a readable ZIP$/,
  ),
  ...archives.map(([why, zip]) => [why, zip, noZip] as const),
];
