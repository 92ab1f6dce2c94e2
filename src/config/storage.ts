import { resolve } from "node:path";
import { z } from "zod";
import { byteSize, key32, wholeNumber } from "./values.ts";
import { variable } from "./variable.ts";

/** What it keeps, and where. */
export const data = {
  DATA_DIR: variable({
    type: "folder",
    fallback: "./data",
    rule: "the path of a folder that can be written",
    example: "/var/lib/agent-task-platform",
    description:
      "Everything the server keeps on disk. It is created if missing, with mode 0700. Only the server's user can read what is written. When other users can enter the folder, the start warns and takes their access to its own files away.",
    schema: z
      .string()
      .refine((text) => !text.includes("\0"))
      .transform((text) => resolve(text)),
  }),
  DATA_DIR_SHARED: variable({
    type: "`true` or `false`",
    fallback: "false",
    rule: "true or false",
    example: "true",
    description:
      "Says that DATA_DIR is one folder for all processes, on a file system that they share and under one user. With PostgreSQL and without S3_BUCKET it is needed for `ROLE=api` and `ROLE=worker`, and for a second process on the database: otherwise the files of one process could not be read by another.",
    schema: z.enum(["true", "false"]).transform((word) => word === "true"),
  }),
  DATABASE_URL: variable({
    type: "database URL",
    fallback: null,
    unset: "`file:DATA_DIR/platform.db`",
    rule: "file:PATH for SQLite, or postgresql://…",
    example: "postgresql://platform:password@db.example.com:5432/platform",
    description:
      "The database: SQLite in a file for one process, PostgreSQL for any number. There the role needs the right to make a schema: wake-ups are kept in one named `pgboss`. A process holds up to 24 connections, one with `ROLE=api` up to 20.",
    secret: true,
    schema: z
      .string()
      .refine((text) => /^file:(?!:)[^?#\0]*[^?#\0/]$/.test(text) || (/^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(text)))
      .transform((text) => (text.startsWith("file:") ? `file:${resolve(text.slice("file:".length))}` : text)),
  }),
  ENCRYPTION_KEY: variable({
    type: "32 bytes in base64",
    fallback: null,
    unset: "the file `DATA_DIR/encryption-key`, made at the first start",
    rule: "32 bytes in standard base64; with PostgreSQL it is required",
    // Not a real key: an example that is copied must not become one.
    example: "$(openssl rand -base64 32)",
    description: "Encrypts secrets at rest. Every process on a database needs the same one, and one that is lost cannot be replaced.",
    secret: true,
    schema: key32,
  }),
  DELETED_TASK_DAYS: variable({
    type: "days",
    fallback: "0",
    rule: "a whole number from 0 to 36500",
    example: "30",
    description: "How long the events of a team's deleted tasks are kept for exports of its people's data; nothing else shows them.",
    schema: wholeNumber(0, 36_500),
  }),
  SIEM_PAYLOADS: variable({
    type: "`off` or `on`",
    fallback: "off",
    rule: "off or on",
    example: "on",
    description:
      "Whether compliance exports may hold what was said, and what tools were given and returned. With `off`, `include_payload` has no effect; `on` is your agreement that such contents go to a SIEM.",
    schema: z.enum(["off", "on"]).transform((word) => word === "on"),
  }),
  WEBHOOK_LOG_DAYS: variable({
    type: "days",
    fallback: "30",
    rule: "a whole number from 1 to 36500",
    example: "90",
    description: "How long the log of webhooks keeps what was sent, and can send it again. What is still to be delivered is always kept.",
    schema: wholeNumber(1, 36_500),
  }),
  OWNER_EMAIL: variable({
    type: "e-mail address",
    fallback: "owner@localhost",
    rule: "an e-mail address",
    example: "ann@example.com",
    description: "The first account, which owns the first team. It counts at the very first start only.",
    schema: z
      .string()
      .regex(/^[^\s@,;<>"()\\]{1,64}@[^\s@,;<>"()\\]{1,190}$/)
      .transform((text) => text.toLowerCase()),
  }),
};

/** Files that users bring. */
export const files = {
  FILE_LIMIT: variable({
    type: "bytes",
    fallback: "512MiB",
    rule: "a number of bytes from 1KiB to 100GiB, plain or with KiB, MiB or GiB",
    example: "64MiB",
    description: "The largest file that can be uploaded.",
    schema: byteSize(1024, 100 * 1024 ** 3),
  }),
  FILE_QUOTA: variable({
    type: "bytes",
    fallback: "10GiB",
    rule: "a number of bytes from 1KiB to 100000GiB, plain or with KiB, MiB or GiB",
    example: "50GiB",
    description: "What the files of one account may take together. Artefacts of agents do not count.",
    schema: byteSize(1024, 100_000 * 1024 ** 3),
  }),
};
