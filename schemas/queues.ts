/** Event queues (realtime.md; public API: register-queue, get-events, delete-queue). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { flag, nullable } from "./types.ts";

const EventTypes = nullable(Type.Array(Type.String({ maxLength: 60 }), { maxItems: limits.event_types_max }));

/** Terms of a queue's narrow: pairs of operator and operand. */
const QueueNarrow = Type.Array(Type.Array(Type.String({ maxLength: 1000 }), { minItems: 2, maxItems: 2 }), {
  maxItems: limits.queue_narrow_terms_max,
});

export const registerQueue = defineEndpoint({
  operationId: "register-queue",
  method: "POST",
  path: "/register",
  authentication: "user",
  effectiveness: "volatile",
  summary: "Opens an event queue and gives the state that its events will change.",
  params: {
    apply_markdown: flag(false),
    client_gravatar: flag(true),
    include_subscribers: Type.Enum(["true", "false", "partial"], { default: "false", wire: "text" }),
    slim_presence: flag(false),
    presence_history_limit_days: Type.Optional(Type.Integer({ minimum: 0, maximum: 36_500 })),
    event_types: Type.Optional(EventTypes),
    fetch_event_types: Type.Optional(EventTypes),
    all_public_streams: Type.Optional(Type.Boolean()),
    client_capabilities: Type.Optional(nullable(Type.Record(Type.String(), Type.Boolean()))),
    narrow: Type.Optional(nullable(QueueNarrow)),
    queue_lifespan_secs: Type.Optional(Type.Integer({ minimum: 0, maximum: 604_800 })),
  },
  ok: { queue_id: Type.String(), last_event_id: Type.Integer() },
  errors: ["BAD_NARROW"],
});

export const getEvents = defineEndpoint({
  operationId: "get-events",
  method: "GET",
  path: "/events",
  authentication: "user",
  effectiveness: "read",
  summary: "Events of a queue after the given one; waits for the first when there is none.",
  params: {
    queue_id: Type.String({ maxLength: 200 }),
    last_event_id: Type.Integer({ minimum: -1 }),
    dont_block: flag(false),
  },
  ok: { events: Type.Array(Type.Record(Type.String(), Type.Unknown())), queue_id: Type.Optional(Type.String()) },
  errors: ["BAD_EVENT_QUEUE_ID"],
});

export const deleteQueue = defineEndpoint({
  operationId: "delete-queue",
  method: "DELETE",
  path: "/events",
  authentication: "user",
  effectiveness: "volatile",
  summary: "Ends a queue.",
  params: { queue_id: Type.String({ maxLength: 200 }) },
  ok: {},
  errors: ["BAD_EVENT_QUEUE_ID"],
});
