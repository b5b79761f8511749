/**
 * `realm_user` events (OpenAPI, /events; behaviour 2.1, 4.4). What a person's address and picture are depends on who looks: such
 * rows say what has changed, and what each viewer is told is built from the person's current row. Of people whom a restricted
 * guest may not know, nothing is told (S1).
 */
import type { EventRecord, UserRecord } from "../../schemas/records.ts";
import { lookUp } from "../domain/look-up.ts";
import {
  type AddressSight,
  apiEmail,
  avatarFields,
  canAccessUser,
  deliveryEmail,
  unknownName,
  unknownUserBody,
  userBody,
} from "../domain/people.ts";
import type { View } from "../domain/view.ts";
import { profileData } from "../queries/profile-data.ts";
import { type EventBody, type EventKind, plain } from "./event-kind.ts";
import type { LiveQueue } from "./queue.ts";

type Build = (view: View, record: EventRecord, viewer: UserRecord, queue: LiveQueue) => readonly EventBody[];

interface Variety {
  /** Queues of people who look alike here get the same bytes; null: nothing. */
  readonly key: (view: View, record: EventRecord, viewer: UserRecord, queue: LiveQueue) => string | null;
  readonly build: Build;
}

function update(person: Readonly<Record<string, unknown>>): EventBody {
  return { type: "realm_user", op: "update", person };
}

function personOf(view: View, record: EventRecord): UserRecord | undefined {
  return view.users.get(record.body["user_id"] as number);
}

/** Of whom the row is; null: the viewer may not know of them. */
function knownTo(view: View, record: EventRecord, viewer: UserRecord): UserRecord | null {
  const person = personOf(view, record);
  return person !== undefined && canAccessUser(view, viewer, person) ? person : null;
}

function isOwn(record: EventRecord, viewer: UserRecord): boolean {
  return record.body["user_id"] === viewer.id;
}

function addition(view: View, person: UserRecord, viewer: UserRecord, queue: LiveQueue): EventBody {
  const body = userBody(person, viewer, queue.options.clientGravatar);
  const profile = person.botType === null ? { profile_data: profileData(view, person) } : {};
  return { type: "realm_user", op: "add", person: { ...body, ...profile } };
}

/** Clients that cannot do without get a stand-in for whom they may not know (public API: user_list_incomplete). */
const add: Variety = {
  key(view, record, viewer, queue) {
    if (knownTo(view, record, viewer) === null) return queue.can("user_list_incomplete") ? null : "unknown";
    return `${viewer.role}:${isOwn(record, viewer)}:${queue.variant}`;
  },
  build(view, record, viewer, queue) {
    const person = personOf(view, record);
    if (person === undefined) return [];
    if (canAccessUser(view, viewer, person)) return [addition(view, person, viewer, queue)];
    const standIn = { ...unknownUserBody(person.id), profile_data: {} };
    return [{ type: "realm_user", op: "add", person: standIn }];
  },
};

/** People whom a restricted guest knows from now on. */
const appear: Variety = {
  key: (_view, _record, viewer, queue) => `${viewer.id}:${queue.variant}`,
  build: (view, record, viewer, queue) =>
    peopleOf(view, record)
      .filter((person) => canAccessUser(view, viewer, person))
      .map((person) => addition(view, person, viewer, queue)),
};

/** People whom a restricted guest knows no more. */
const vanish: Variety = {
  key: (_view, _record, viewer) => String(viewer.id),
  build: (view, record, viewer) =>
    peopleOf(view, record)
      .filter((person) => !canAccessUser(view, viewer, person))
      .map(({ id }) => ({ type: "realm_user", op: "remove", person: { user_id: id, full_name: unknownName } })),
};

/** Addresses that the viewer's new role sees, or sees no more. */
const addresses: Variety = {
  key: (_view, _record, viewer) => String(viewer.id),
  build: (view, record, viewer) =>
    peopleOf(view, record)
      .filter((person) => canAccessUser(view, viewer, person))
      .map((person) => update({ user_id: person.id, delivery_email: deliveryEmail(person, viewer) })),
};

function peopleOf(view: View, record: EventRecord): UserRecord[] {
  const ids = record.body["user_ids"] as readonly number[];
  return ids.flatMap((id) => view.users.get(id) ?? []);
}

/** The address or its visibility: the real address to whom it (dis)appeared, the one in messages to everybody. */
const updateAddress: Variety = {
  key: (view, record, viewer) =>
    knownTo(view, record, viewer) === null ? null : `${viewer.role}:${isOwn(record, viewer)}`,
  build(view, record, viewer) {
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
      bodies.push(update({ user_id: person.id, ...changedAvatar(person) }));
    }
    return bodies;
  },
};

/** Clients parse both addresses as strings here, whatever `client_gravatar` says (OpenAPI, realm_user op: update). */
function changedAvatar(person: UserRecord) {
  return avatarFields(person, false);
}

const updateAvatar: Variety = {
  key: (view, record, viewer) => (knownTo(view, record, viewer) === null ? null : ""),
  build(view, record) {
    const person = personOf(view, record);
    return person === undefined ? [] : [update({ user_id: person.id, ...changedAvatar(person) })];
  },
};

/** The API address goes with it, so it must be the one of now: a replay may come after the address was hidden. */
const updateTimezone: Variety = {
  key: (view, record, viewer) => (knownTo(view, record, viewer) === null ? null : ""),
  build(view, record) {
    const person = personOf(view, record);
    if (person === undefined) return [];
    return [update({ user_id: person.id, email: apiEmail(person), timezone: person.timezone })];
  },
};

/** A change that is the same for everybody: the row is complete as it stands. */
const updatePerson: Variety = {
  key(view, record, viewer, queue) {
    const { user_id: id } = record.body["person"] as { readonly user_id: number };
    const person = view.users.get(id);
    return person !== undefined && canAccessUser(view, viewer, person) ? plain.key(view, record, viewer, queue) : null;
  },
  build: plain.build,
};

/** By the `op` of the row. */
const varieties: Readonly<Record<string, Variety>> = {
  add,
  appear,
  vanish,
  addresses,
  update: updatePerson,
  update_address: updateAddress,
  update_avatar: updateAvatar,
  update_timezone: updateTimezone,
};

function varietyOf(record: EventRecord): Variety {
  return lookUp(varieties, String(record.body["op"])) ?? plain;
}

export const realmUser: EventKind = {
  key: (view, record, viewer, queue) => varietyOf(record).key(view, record, viewer, queue),
  build: (view, record, viewer, queue) => varietyOf(record).build(view, record, viewer, queue),
};
