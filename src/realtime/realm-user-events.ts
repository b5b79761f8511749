/**
 * `realm_user` events (OpenAPI, /events; behaviour 2.1, 4.4). What a person's address and picture are depends on who looks: such
 * rows say what has changed, and what each viewer is told is built from the person's current row (S1).
 */
import type { EventRecord, UserRecord } from "../../schemas/records.ts";
import { type AddressSight, apiEmail, avatarFields, canAccessUser, deliveryEmail, userBody } from "../domain/people.ts";
import type { View } from "../domain/view.ts";
import { type EventBody, type EventKind, plain } from "./event-kind.ts";
import type { LiveQueue } from "./queue.ts";

type Build = (view: View, record: EventRecord, viewer: UserRecord, queue: LiveQueue) => readonly EventBody[];

interface Variety {
  /** Queues of people who look alike here get the same bytes. */
  readonly key: (record: EventRecord, viewer: UserRecord, queue: LiveQueue) => string;
  readonly build: Build;
}

function update(person: Readonly<Record<string, unknown>>): EventBody {
  return { type: "realm_user", op: "update", person };
}

function personOf(view: View, record: EventRecord): UserRecord | undefined {
  return view.users.get(record.body["user_id"] as number);
}

const isOwn = (record: EventRecord, viewer: UserRecord) => record.body["user_id"] === viewer.id;

const add: Variety = {
  key: (record, viewer, queue) => `${viewer.role}:${isOwn(record, viewer)}:${queue.variant}`,
  build(view, record, viewer, queue) {
    const person = personOf(view, record);
    if (person === undefined) return [];
    const profile = person.botType === null ? { profile_data: {} } : {};
    return [
      {
        type: "realm_user",
        op: "add",
        person: { ...userBody(person, viewer, queue.options.clientGravatar), ...profile },
      },
    ];
  },
};

/** The address or its visibility: the real address to whom it (dis)appeared, the one in messages to everybody. */
const updateAddress: Variety = {
  key: (record, viewer, queue) => `${viewer.role}:${isOwn(record, viewer)}:${queue.variant}`,
  build(view, record, viewer, queue) {
    const person = personOf(view, record);
    if (person === undefined) return [];
    const before = record.body["before"] as AddressSight;
    const after = record.body["after"] as AddressSight;
    const sight = (address: AddressSight) => deliveryEmail({ ...person, ...address }, viewer);
    const bodies: EventBody[] = [];
    if (sight(before) !== sight(after)) {
      bodies.push(update({ user_id: person.id, delivery_email: deliveryEmail(person, viewer) }));
    }
    if (apiEmail({ ...person, ...before }) !== apiEmail({ ...person, ...after })) {
      bodies.push(update({ user_id: person.id, new_email: apiEmail(person) }));
      bodies.push(update({ user_id: person.id, ...avatarFields(person, queue.options.clientGravatar) }));
    }
    return bodies;
  },
};

const updateAvatar: Variety = {
  key: (_record, _viewer, queue) => queue.variant,
  build(view, record, _viewer, queue) {
    const person = personOf(view, record);
    return person === undefined
      ? []
      : [update({ user_id: person.id, ...avatarFields(person, queue.options.clientGravatar) })];
  },
};

/** The API address goes with it, so it must be the one of now: a replay may come after the address was hidden. */
const updateTimezone: Variety = {
  key: () => "",
  build(view, record) {
    const person = personOf(view, record);
    if (person === undefined) return [];
    return [update({ user_id: person.id, email: apiEmail(person), timezone: person.timezone })];
  },
};

/** By the `op` of the row; others are complete as they stand. */
const varieties: Readonly<Record<string, Variety>> = {
  add,
  update_address: updateAddress,
  update_avatar: updateAvatar,
  update_timezone: updateTimezone,
};

function varietyOf(record: EventRecord): Variety | undefined {
  return varieties[String(record.body["op"])];
}

/** About somebody whom the viewer may not know of (`can_access_all_users_group`). */
function isUnknown(view: View, record: EventRecord, viewer: UserRecord): boolean {
  const { person, user_id: userId } = record.body as { person?: { user_id: number }; user_id?: number };
  const user = view.users.get(userId ?? person?.user_id ?? 0);
  return user !== undefined && !canAccessUser(view, viewer, user);
}

export const realmUser: EventKind = {
  key(view, record, viewer, queue) {
    if (isUnknown(view, record, viewer)) return null;
    const variety = varietyOf(record);
    return variety === undefined ? plain.key(view, record, viewer, queue) : variety.key(record, viewer, queue);
  },
  build(view, record, viewer, queue) {
    return (varietyOf(record)?.build ?? plain.build)(view, record, viewer, queue);
  },
};
