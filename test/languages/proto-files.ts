import { globSync } from "node:fs";
import { join } from "node:path";
import { operationTable } from "../../src/pipeline/operations.ts";
import { services } from "../../src/pipeline/services.ts";
import { root } from "../support/server-process.ts";

/** The folder that an integrator copies. */
export const protoFolder = join(root, "proto");

/** All of its files, with the paths by which they import each other. */
export const protoFiles = globSync("**/*.proto", { cwd: protoFolder }).toSorted();

/** Every method in the folder, for instance `task.v2.TaskService/GetTask`: the table of operations. */
export const operations = operationTable(services)
  .all.map(({ rpc }) => rpc)
  .toSorted();

/**
 * Without the services of other protocols: health and reflection, Agent2Agent, whose methods call operations,
 * and that of test mode.
 */
export const ofPlatform = (names: Iterable<string>): string[] =>
  [...names].filter((name) => !/^(grpc|lf\.a2a|testing)\./.test(name));

/** The operations among these methods. */
export const operationsIn = (methods: Iterable<string>): string[] => ofPlatform(methods).toSorted();
