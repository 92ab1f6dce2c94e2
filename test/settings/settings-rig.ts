import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll } from "vitest";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { type DatabaseKind, openTestStore, rowsIn, type TestStore } from "../support/database.ts";
import {
  openService,
  type Person,
  type PersonOptions,
  type Service,
  type ServiceOptions,
} from "../support/service.ts";

/** A platform of a suite, on a database that tests can read. */
export interface SettingsRig {
  readonly db: TestStore;
  readonly service: Service;
  person(options?: PersonOptions): Promise<Person>;
  /** The audit row of an operation on a subject. */
  auditRow(rpc: string, subject: string | undefined): Promise<Record<string, unknown>>;
}

export function settingsRig(database: DatabaseKind, options: ServiceOptions = {}): SettingsRig {
  let open: { db: TestStore; service: Service } | undefined;
  beforeAll(async () => {
    const db = await openTestStore(database, options.clock ? { clock: options.clock } : {});
    open = { db, service: await openService({ over: db, idle: true, ...options }) };
  });
  afterAll(async () => {
    await open?.service[Symbol.asyncDispose]();
    await open?.db[Symbol.asyncDispose]();
  });
  const rig = () => {
    if (!open) throw new Error("the platform is opened before the first test");
    return open;
  };
  return {
    get db() {
      return rig().db;
    },
    get service() {
      return rig().service;
    },
    person: (asked) => rig().service.person(asked),
    async auditRow(rpc, subject) {
      const [row] = await rowsIn(
        rig().db.url,
        `SELECT * FROM audit_event WHERE operation = '${rpc}' AND subject = '${subject}'`,
      );
      if (!row) throw new Error(`${rpc} left no audit row`);
      return row;
    },
  };
}

/** A refusal as text: its code and its message. */
export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "let in";
  } catch (thrown) {
    const { code, rawMessage } = ConnectError.from(thrown);
    return `${Code[code]}: ${rawMessage}`;
  }
}

export const appsOf = (person: Person) => person.client(OAuth2AppService);
export const keysOf = (person: Person) => person.client(ApiKeyService);

/** The required fields of an app. */
export const garden = { name: "Garden", redirectUris: ["https://a.example/cb"] };
