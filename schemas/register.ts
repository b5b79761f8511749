/**
 * The operations to which all areas contribute (public API: register-queue, get-events): the state of an organization
 * as one user sees it, in sections by event type, and the events that change it.
 */
import { type Static, type TOptional, type TProperties, Type } from "typebox";
import type { AllOf } from "./area.ts";
import { type Area, areas } from "./areas.ts";
import { type AnswerOf, defineEndpoint } from "./endpoint.ts";
import { type WireEvent, wireSchemas } from "./events.ts";
import { limits } from "./limits.ts";
import { marked, OtherId, OtherIds, OtherText, UserId } from "./person-marks.ts";
import { realmState } from "./realm-state.ts";
import { flag, NoItems, nullable } from "./types.ts";

/** Unread messages, by conversation. */
const UnreadMessages = Type.Object({
  count: Type.Integer(),
  pms: Type.Array(Type.Object({ other_user_id: UserId, sender_id: UserId, unread_message_ids: OtherIds })),
  streams: Type.Array(Type.Object({ stream_id: OtherId, topic: OtherText, unread_message_ids: OtherIds })),
  /** `user_ids_string`: the ids of all participants, separated by commas. */
  huddles: Type.Array(Type.Object({ user_ids_string: OtherText, unread_message_ids: OtherIds })),
  mentions: OtherIds,
  old_unreads_missing: Type.Boolean(),
});

/** Features that the server does not have: clients that ask for them learn that they are empty. */
const missingFeatures = {
  realm_billing: { realm_billing: Type.Object({ has_pending_sponsorship_request: Type.Literal(false) }) },
  realm_embedded_bots: { realm_embedded_bots: NoItems },
  realm_incoming_webhook_bots: { realm_incoming_webhook_bots: NoItems },
  default_stream_groups: { realm_default_stream_groups: NoItems },
  giphy: { giphy_api_key: Type.Literal("") },
  onboarding_steps: { onboarding_steps: NoItems, navigation_tour_video_url: Type.Null() },
  push_device: { push_devices: Type.Object({}) },
  realm_filters: { realm_filters: NoItems },
  stop_words: { stop_words: NoItems },
  video_calls: { has_zoom_token: Type.Literal(false) },
};
export type MissingFeature = keyof typeof missingFeatures;

const areaSections = Object.assign({}, ...areas.map((area) => ("state" in area ? area.state : {}))) as AllOf<
  Area,
  "state"
>;

const sections = { ...missingFeatures, ...areaSections, realm: realmState };

/** The sections of the state, by event type. */
interface SectionFields extends AllSections {}
type AllSections = typeof sections;
export type SectionName = keyof SectionFields;
/** The fields of a section. */
export type StateOf<S extends SectionName> = AnswerOf<SectionFields[S]>;

type Fields = Intersection<SectionFields[SectionName]>;
type Intersection<U> = (U extends unknown ? (part: U) => void : never) extends (all: infer All) => void ? All : never;
/** A client gets the sections that it asks for. */
const state = Object.fromEntries(
  Object.values<TProperties>(sections).flatMap((fields) =>
    Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)]),
  ),
) as { readonly [K in keyof Fields]: TOptional<Fields[K]> };

/** The state without the description of the queue. */
export type RegisterState = { -readonly [K in keyof State]: State[K] };
type State = AnswerOf<typeof state & { readonly unread_msgs: TOptional<typeof UnreadMessages> }>;

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
  summary: "Creates an event queue and returns the state that its events will change.",
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
  ok: {
    queue_id: OtherText,
    last_event_id: marked(Type.Integer({ minimum: -1 }), "none"),
    zulip_version: OtherText,
    zulip_merge_base: OtherText,
    zulip_feature_level: Type.Integer(),
    idle_queue_timeout_secs: Type.Integer(),
    unread_msgs: Type.Optional(UnreadMessages),
    ...state,
  },
  errors: ["BAD_NARROW"],
});

const Heartbeat = Type.Object({ type: Type.Literal("heartbeat"), id: OtherId });
const forms = Object.values(wireSchemas).flatMap((ops) => Object.values(ops).flat());
/** Events are redacted before they are encoded (src/edge/realtime), each by its own schema. */
const Events = Type.Unsafe<readonly (WireEvent | Static<typeof Heartbeat>)[]>(
  marked(Type.Array(Type.Union([...forms, Heartbeat])), "none"),
);

export const getEvents = defineEndpoint({
  operationId: "get-events",
  method: "GET",
  path: "/events",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the events of a queue after the given one; waits for the first if there is none yet.",
  params: {
    queue_id: Type.String({ maxLength: 200 }),
    last_event_id: Type.Integer({ minimum: -1 }),
    dont_block: flag(false),
  },
  ok: { events: Events, queue_id: Type.Optional(OtherText) },
  errors: ["BAD_EVENT_QUEUE_ID"],
});
