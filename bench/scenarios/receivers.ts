// Shared by scenarios with WebSocket receivers: their accounts, their registration, and the capture of real frames that
// a baseline then publishes unchanged.

import type { BaselineFrames } from "../baselines/publish.ts";
import type { Api, User } from "../lib/api.ts";
import { runJob } from "../lib/generator-process.ts";
import { MARKER, MARKER_DIGITS } from "../lib/http-request.ts";
import { type DeliveriesJob, type DeliveriesResult, REGISTER_REF, type Receivers } from "../lib/job.ts";
import { MARKERS_MAX, POSTS_PER_RUN_MAX, SOCKETS_PER_USER } from "../lib/limits.ts";
import { type Context, openBaseline } from "../lib/scenario.ts";
import type { Server, Target } from "../lib/target.ts";

/** Where sockets connect (realtime.md). */
const EVENTS_PATH = "/api/v1/events/ws";
/** Number of loopback source addresses that sockets use in turn; each has some 28,000 ports. */
const LOCAL_ADDRESSES = 8;
const CAPTURE_RATE_PER_SECOND = 20;
const CAPTURE_MS = 400;
const MARKER_NUMBER = new RegExp(`${MARKER.slice(0, 2)}\\d{${MARKER_DIGITS}}${MARKER.slice(-1)}`, "g");

let runsStarted = 0;

/** The first marker of the next run of deliveries; see `DeliveriesJob`. */
export function nextFirstMarker(): number {
  const first = (runsStarted * POSTS_PER_RUN_MAX) % MARKERS_MAX;
  runsStarted += 1;
  return first;
}

/** Accounts for `sockets` sockets: at least `atLeast`, and enough that none has more than SOCKETS_PER_USER. */
export function usersFor(
  api: Api,
  options: { readonly scenario: string; readonly sockets: number; readonly atLeast: number },
): Promise<User[]> {
  const count = Math.max(1, options.atLeast, Math.ceil(options.sockets / SOCKETS_PER_USER));
  return api.createUsers(count, `${options.scenario}-${Date.now().toString(36)}`);
}

/** Receivers of one event type; nothing else is fetched or pushed. */
export function receiversOf(options: {
  readonly users: readonly User[];
  readonly count: number;
  readonly eventType: "message" | "typing";
}): Receivers {
  const { users, count, eventType } = options;
  const register = {
    type: "register",
    ref: REGISTER_REF,
    event_types: [eventType],
    apply_markdown: true,
    client_gravatar: true,
    slim_presence: true,
    client_capabilities: {
      stream_typing_notifications: true,
      notification_settings_null: true,
      bulk_message_deletion: true,
    },
  };
  return {
    path: EVENTS_PATH,
    authorizations: users.map((user) => user.authorization),
    count,
    register: JSON.stringify(register),
    localAddresses: Array.from({ length: LOCAL_ADDRESSES }, (_, index) => `127.0.0.${index + 1}`),
  };
}

/** The source of a baseline's frames: the real server under the measured load. */
interface FrameSource {
  readonly server: Server;
  readonly users: readonly User[];
  readonly load: Pick<DeliveriesJob, "kind" | "cycles" | "decoder">;
  readonly eventType: "message" | "typing";
}

/** A baseline that publishes the frames that the real server pushes. */
export async function openFramesBaseline(
  context: Context,
  program: "baselines/publish" | "baselines/reconnect",
  source: FrameSource,
): Promise<Target | null> {
  const frames: BaselineFrames = await captureFrames(context, source);
  return openBaseline(context, { program, input: { variable: "FRAMES_FILE", value: frames } });
}

/**
 * Captures a few event frames of the real server with one receiver, and returns them with MARKER in place of its
 * number, for the baseline to publish. Rejects if no event arrives, because then there is nothing to measure.
 */
async function captureFrames(
  context: Context,
  { server, users, load, eventType }: FrameSource,
): Promise<BaselineFrames> {
  // Without tools: only a program in Node keeps the text of a frame.
  const captured: DeliveriesResult = await runJob(context.workspace, {
    ...load,
    address: server.address,
    watch: null,
    receivers: receiversOf({ users: users.slice(0, 1), count: 1, eventType }),
    connections: 1,
    firstMarker: nextFirstMarker(),
    pace: { warmupMs: 0, durationMs: CAPTURE_MS, ratePerSecond: CAPTURE_RATE_PER_SECOND },
  });
  const turns = load.cycles[0]?.length ?? 0;
  const frames = Array.from({ length: turns }, (_, turn) => captured.sampleFrames[turn]);
  if (!frames.every((frame): frame is string => typeof frame === "string")) {
    throw new Error(`no ${eventType} event arrived while frames were captured: ${JSON.stringify(captured.failures)}`);
  }
  return {
    frames: frames.map((frame) => frame.replace(MARKER_NUMBER, MARKER)),
    answer: eventType === "message" ? '{"result":"success","msg":"","id":123456}' : '{"result":"success","msg":""}',
  };
}
