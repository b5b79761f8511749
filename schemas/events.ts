/**
 * All events: by type, what the log stores and what clients get (docs/realtime.md). `effects.emit`, the rows of the
 * log and the builders of `src/edge/realtime` are typed by this list.
 *
 * Events about the organization.
 */
import { type TObject, type TProperties, Type } from "typebox";
import type { AllOf } from "./area.ts";
import { type Area, areas } from "./areas.ts";
import { channelEvents } from "./channel-events.ts";
import { EmojiById } from "./emoji.ts";
import { type BodyOf, defineEvent, formsOf, type Variants } from "./event.ts";
import { Linkifier } from "./linkifiers.ts";
import { messageEvents } from "./message-events.ts";
import { OtherId } from "./person-marks.ts";
import { Playground } from "./playgrounds.ts";
import { peopleEvents } from "./user-events.ts";

/** Lists that are read on delivery store nothing. */
export const realmEvents = {
  realm_emoji: defineEvent({
    stored: { update: {} },
    wire: { update: { realm_emoji: EmojiById } },
  }),
  realm_linkifiers: defineEvent({
    stored: { "": {} },
    wire: { "": { realm_linkifiers: Type.Array(Linkifier) } },
  }),
  realm_playgrounds: defineEvent({
    stored: { "": {} },
    wire: { "": { realm_playgrounds: Type.Array(Playground) } },
  }),
} as const;

/** The events that areas declare, which are sent as they are stored. */
const areaEvents = Object.assign({}, ...areas.map((area) => ("events" in area ? area.events : {}))) as AllOf<
  Area,
  "events"
>;
export type AreaEventType = keyof typeof areaEvents;
export const areaEventTypes = Object.keys(areaEvents) as readonly AreaEventType[];

export const events = {
  ...messageEvents,
  ...channelEvents,
  ...peopleEvents,
  ...realmEvents,
  ...areaEvents,
} as const;

type Events = typeof events;
export type EventType = keyof Events;
export const eventTypes = Object.keys(events) as readonly EventType[];

/** The bodies of events that the log stores, by type. */
type StoredBodies = { readonly [T in EventType]: BodyOf<Events[T]["stored"]> };
export type StoredBody<T extends EventType = EventType> = StoredBodies[T];

/** The events that a client gets, without the `id`. */
type WireEvents = { readonly [T in EventType]: { readonly type: T } & BodyOf<Events[T]["wire"]> };
export type WireEvent<T extends EventType = EventType> = WireEvents[T];

type KeysOfEach<U> = U extends unknown ? keyof U : never;
type SameOp<B, S> = B extends { readonly op: infer Op } ? Extract<S, { readonly op: Op }> : S;
/** Makes a field that the stored body does not declare a type error, also in an object that is not a literal. */
export type Exactly<B, S> = B & { readonly [K in Exclude<keyof B, KeysOfEach<SameOp<B, S>>>]: never };

/** Schemas by type and op ("": none); several if the event has several forms. */
export type EventSchemas = Readonly<Record<string, Readonly<Record<string, readonly TObject[]>>>>;

function schemasOf(variantsOf: (type: EventType) => Variants, more: (type: EventType) => TProperties): EventSchemas {
  return Object.fromEntries(
    eventTypes.map((type) => [
      type,
      Object.fromEntries(
        Object.entries(variantsOf(type)).map(([op, fields]) => [
          op,
          formsOf(fields).map((form) =>
            Type.Object({ ...more(type), ...(op === "" ? {} : { op: Type.Literal(op) }), ...form }),
          ),
        ]),
      ),
    ]),
  );
}

/** Events as clients get them. `id` is the event's position in the log. */
export const wireSchemas = schemasOf(
  (type) => events[type].wire,
  (type) => ({ type: Type.Literal(type), id: OtherId }),
);

/** Bodies as the log stores them. */
export const storedSchemas = schemasOf(
  (type) => events[type].stored,
  () => ({}),
);
