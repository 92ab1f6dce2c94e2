export {
  type AdvanceBy,
  type Clock,
  type FaultAim,
  type Platform,
  type PlatformOptions,
  type Space,
  startPlatform,
} from "./testing/platform.ts";
export type { ReceivedEvent, Receiver, WaitOptions } from "./testing/receiver.ts";
