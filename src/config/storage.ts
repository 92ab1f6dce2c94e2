import { resolve } from "node:path";
import { z } from "zod";
import { byteSize, filePath, key32, numberSetting } from "./values.ts";
import { defineVariable } from "./variable.ts";

const postgresUrl = z.string().refine((text) => /^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(text));

/** Data, its location and its retention. */
export const data = {
  DATA_DIR: defineVariable({
    type: "folder",
    fallback: "./data",
    rule: "the path of a writable folder",
    example: "/var/lib/agent-task-platform",
    description:
      "The folder for all of the server's data on disk. It is created if missing, with mode 0700. Only the server's user can read the files in it. If other users can enter the folder, the start logs a warning and removes their access to the server's files.",
    schema: filePath,
  }),
  DATA_DIR_SHARED: defineVariable({
    type: "`true` or `false`",
    fallback: "false",
    rule: "true or false",
    example: "true",
    description:
      "Whether DATA_DIR is one folder for all processes, on a shared file system and under one user. With PostgreSQL and without S3_BUCKET, `true` is required for `ROLE=api` and `ROLE=worker`, and for a second process on the database: otherwise processes could not read each other's files.",
    schema: z.enum(["true", "false"]).transform((text) => text === "true"),
  }),
  DATABASE_URL: defineVariable({
    type: "database URL",
    fallback: null,
    unset: "`file:DATA_DIR/platform.db`",
    rule: "file:PATH for SQLite, or postgresql://…",
    example: "postgresql://platform:password@db.example.com:5432/platform",
    description:
      "The database: SQLite in a file for one process, PostgreSQL for any number of processes. The PostgreSQL role must be allowed to create a schema: the job queue is in the schema `pgboss`. A process opens up to 24 connections; with `ROLE=api`, up to 20.",
    secret: true,
    schema: z
      .string()
      .refine(
        (text) =>
          /^file:(?!:)[^?#\0]*[^?#\0/]$/.test(text) ||
          (/^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(text)),
      )
      .transform((text) => (text.startsWith("file:") ? `file:${resolve(text.slice("file:".length))}` : text)),
  }),
  DATABASE_READ_URL: defineVariable({
    type: "database URL",
    fallback: null,
    unset: "none",
    rule: "postgresql://…",
    example: "postgresql://platform:password@standby.example.com:5432/platform",
    description:
      "A standby of the PostgreSQL of `DATABASE_URL` (streaming replication) that runs reads of many rows: searches, filtered lists, reports and exports. It runs them only when it has every change that was acknowledged before, of all processes; otherwise, and when it does not answer, the primary does. A process opens up to 5 connections to it. Set it on every process.",
    secret: true,
    schema: postgresUrl,
  }),
  DATABASE_DIRECT_URL: defineVariable({
    type: "database URL",
    fallback: null,
    unset: "`DATABASE_URL`",
    rule: "postgresql://…",
    example: "postgresql://platform:password@db.example.com:5432/platform",
    description:
      "The address of PostgreSQL itself, when `DATABASE_URL` is the address of a pooler that gives a connection to each transaction, such as PgBouncer with `pool_mode = transaction`. Notifications, migrations and commands that copy the database use it. Without it, a start refuses such a pooler. A process opens one connection to it, and a few more while it starts.",
    secret: true,
    schema: postgresUrl,
  }),
  ENCRYPTION_KEY: defineVariable({
    type: "32 bytes in base64",
    fallback: null,
    unset: "the file `DATA_DIR/encryption-key`, created by the first start",
    rule: "32 bytes in standard base64; required with PostgreSQL",
    // Neither a real key nor a command: a copied example must not be a usable key, and no start may make
    // another key.
    example: "KEY-OF-44-CHARACTERS",
    description:
      "The key that encrypts secrets at rest. Every process on a database needs the same key. A lost key cannot be replaced. Create it once with `openssl rand -base64 32`, and store it: a command in a unit or a script that makes a key at each start locks you out of your data.",
    secret: true,
    schema: key32,
  }),
  ENCRYPTION_KEY_PREVIOUS: defineVariable({
    type: "32 bytes in base64",
    fallback: null,
    unset: "the file `DATA_DIR/encryption-key-previous`, if there is one",
    rule: "32 bytes in standard base64",
    example: "KEY-OF-44-CHARACTERS",
    description:
      "The key that `ENCRYPTION_KEY` replaces, while the key is rotated. Values of both keys are read. Set it on every process before `rotate-key`, and remove it after `rotate-key --finish`.",
    secret: true,
    schema: key32,
  }),
  DELETED_TASK_DAYS: defineVariable({
    ...numberSetting(0, 36_500),
    type: "days",
    fallback: "0",
    example: "30",
    description:
      "How many days the events of a team's deleted tasks are kept for exports of its members' data. Only these exports contain them.",
  }),
  SIEM_PAYLOADS: defineVariable({
    type: "`off` or `on`",
    fallback: "off",
    rule: "off or on",
    example: "on",
    description:
      "Whether compliance exports may include message texts and the inputs and results of tools. With `off`, `include_payload` has no effect. With `on`, you agree to send such contents to a SIEM.",
    schema: z.enum(["off", "on"]).transform((text) => text === "on"),
  }),
  WEBHOOK_LOG_DAYS: defineVariable({
    ...numberSetting(1, 36_500),
    type: "days",
    fallback: "30",
    example: "90",
    description:
      "How many days the webhook log keeps sent deliveries, and can resend them. Deliveries that are still pending are always kept.",
  }),
  OWNER_EMAIL: defineVariable({
    type: "e-mail address",
    fallback: "owner@localhost",
    rule: "an e-mail address",
    example: "ann@example.com",
    description:
      "The e-mail address of the first account, which owns the first team. Only the first start reads it.",
    schema: z
      .string()
      .regex(/^[^\s@,;<>"()\\]{1,64}@[^\s@,;<>"()\\]{1,190}$/)
      .transform((text) => text.toLowerCase()),
  }),
};

export const files = {
  FILE_LIMIT: defineVariable({
    type: "bytes",
    fallback: "512MiB",
    rule: "a number of bytes from 1KiB to 100GiB, plain or with KiB, MiB or GiB",
    example: "64MiB",
    description: "The maximum size of an uploaded file.",
    schema: byteSize(1024, 100 * 1024 ** 3),
  }),
  FILE_QUOTA: defineVariable({
    type: "bytes",
    fallback: "10GiB",
    rule: "a number of bytes from 1KiB to 100000GiB, plain or with KiB, MiB or GiB",
    example: "50GiB",
    description: "The maximum total size of one account's files. Artifacts of agents do not count.",
    schema: byteSize(1024, 100_000 * 1024 ** 3),
  }),
};
