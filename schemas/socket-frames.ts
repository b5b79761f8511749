/**
 * The frames of the WebSocket protocol (docs/realtime.md). The server executes exactly these types, and the AsyncAPI
 * document is derived from them. In a frame, parameters are JSON values and not JSON text.
 */
import { type TProperties, Type } from "typebox";
import { limits } from "./limits.ts";
import { OtherText, UserId } from "./person-marks.ts";
import { setTypingStatus, updatePresence } from "./presence.ts";
import { registerQueue } from "./register.ts";

interface FrameDeclaration {
  /** Whether it asks for an operation of the REST API, or concerns the connection. */
  readonly kind: "operation" | "connection";
  readonly summary: string;
  /** Its fields besides `type` and `ref`. */
  readonly fields: TProperties;
  /** The fields of a successful reply besides those of every answer; null: success has no reply. */
  readonly reply: TProperties | null;
}

const LastEventId = Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER });

const { type: kindOfConversation, ...typingFields } = setTypingStatus.params;

/** Frames that clients send. */
export const clientFrames = {
  authenticate: {
    kind: "connection",
    summary: "Logs in. Only needed, and then first, if the upgrade had no Authorization header.",
    fields: { email: Type.String(), api_key: Type.String({ secret: true }) },
    reply: { user_id: UserId, realm_name: OtherText },
  },
  register: {
    kind: "operation",
    summary: "Creates an event queue, whose events follow on this socket.",
    fields: registerQueue.params,
    reply: registerQueue.ok,
  },
  resume: {
    kind: "connection",
    summary: "Continues a queue: every event after the given one follows, in order.",
    fields: { queue_id: Type.String(), last_event_id: LastEventId },
    reply: { queue_id: OtherText },
  },
  ack: {
    kind: "connection",
    summary: "Says which event was processed; the server may forget what comes before.",
    fields: { last_event_id: LastEventId },
    reply: null,
  },
  presence: {
    kind: "operation",
    summary: updatePresence.summary,
    fields: updatePresence.params,
    reply: updatePresence.ok,
  },
  typing: {
    kind: "operation",
    summary: setTypingStatus.summary,
    fields: { ...typingFields, message_type: Type.Optional(kindOfConversation) },
    reply: {},
  },
  call: {
    kind: "operation",
    summary: "Executes an operation of the REST API, other than those under /events, /register and /user_uploads.",
    fields: {
      method: Type.String(),
      /** Below /api/v1. */
      path: Type.String(),
      params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      idempotency_key: Type.Optional(Type.String({ maxLength: limits.idempotency_key_bytes_max })),
    },
    reply: {},
  },
  ping: { kind: "connection", summary: "Is answered with a pong.", fields: {}, reply: null },
} as const satisfies Readonly<Record<string, FrameDeclaration>>;

type ClientFrames = typeof clientFrames;
export type ClientFrameType = keyof ClientFrames;
type TypesOf<Kind> = {
  [T in ClientFrameType]: ClientFrames[T]["kind"] extends Kind ? T : never;
}[ClientFrameType];
export type OperationFrameType = TypesOf<"operation">;
export type ConnectionFrameType = TypesOf<"connection">;

/** A value that a client may put into each frame, to find its reply. */
export const FrameReference = Type.Optional(Type.String({ maxLength: limits.ws_ref_code_points_max }));
