import type { Export } from "../../src/core/exports/export.ts";
import { openService, type Person, type PersonOptions, type Service } from "../support/service.ts";
import { type DatabaseKind, nodesOf, openTestStore, runOn, type TestStore } from "../support/database.ts";
import { movableClock, type MovableClock } from "../support/clock.ts";
