/**
 * `realm_user` events (OpenAPI, /events; behaviour 2.1, 4.4). A log row says only what changed, because addresses and
 * avatars depend on the viewer: the event is built per viewer from the user's current row. A restricted guest gets
 * nothing about users that they may not know (S1).
 */

import {
  type AddressVisibility,
  apiEmail,
  avatarFields,
  canAccessUser,
  deliveryEmail,
  unknownName,
  unknownUserBody,
  userBody,
} from "../../../domain/people.ts";
import type { View } from "../../../domain/view.ts";
import type { WireEvent } from "../../../schemas/events.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { profileData } from "../../queries/profile-data.ts";
import { byOp, type EventKind, plain } from "./event-kind.ts";
import type { RecipientQueue } from "./recipient-queue.ts";

type Varieties = Parameters<typeof byOp<"realm_user">>[0];
type Person = Extract<WireEvent<"realm_user">, { readonly op: "update" }>["person"];

function update(person: Person): WireEvent {
  return { type: "realm_user", op: "update", person };
}

interface AboutOne {
  readonly body: { readonly user_id: number };
}

interface AboutSeveral {
  readonly body: { readonly user_ids: readonly number[] };
}

function personOf(view: View, { body }: AboutOne): UserRecord | undefined {
  return view.users.get(body.user_id);
}

/** The user of the row, or null if the viewer may not know them. */
function knownTo(view: View, record: AboutOne, viewer: UserRecord): UserRecord | null {
  const person = personOf(view, record);
  return person !== undefined && canAccessUser(view, viewer, person) ? person : null;
}

function isOwn({ body }: AboutOne, viewer: UserRecord): boolean {
  return body.user_id === viewer.id;
}

function addition(view: View, person: UserRecord, viewer: UserRecord, queue: RecipientQueue): WireEvent {
  const body = userBody(person, viewer, queue.options.clientGravatar);
  const profile = person.botType === null ? { profile_data: profileData(view, person) } : {};
  return { type: "realm_user", op: "add", person: { ...body, ...profile } };
}

/**
 * Clients without the capability `user_list_incomplete` get a placeholder for a user that they may not know (public
 * API).
 */
const add: Varieties["add"] = {
  key(view, record, viewer, queue) {
    if (knownTo(view, record, viewer) === null) return queue.can("user_list_incomplete") ? null : "unknown";
    return `${viewer.role}:${isOwn(record, viewer)}:${queue.variant}`;
  },
  build(view, record, viewer, queue) {
    const person = personOf(view, record);
    if (person === undefined) return [];
    if (canAccessUser(view, viewer, person)) return [addition(view, person, viewer, queue)];
    const placeholder = { ...unknownUserBody(person.id), profile_data: {} };
    return [{ type: "realm_user", op: "add", person: placeholder }];
  },
};

/** Users that a restricted guest can see from now on. */
const appear: Varieties["appear"] = {
  key: (_view, _record, viewer, queue) => `${viewer.id}:${queue.variant}`,
  build: (view, record, viewer, queue) =>
    peopleOf(view, record)
      .filter((person) => canAccessUser(view, viewer, person))
      .map((person) => addition(view, person, viewer, queue)),
};

/** Users that a restricted guest can no longer see. */
const vanish: Varieties["vanish"] = {
  key: (_view, _record, viewer) => String(viewer.id),
  build: (view, record, viewer) =>
    peopleOf(view, record)
      .filter((person) => !canAccessUser(view, viewer, person))
      .map(
        ({ id }) => ({ type: "realm_user", op: "remove", person: { user_id: id, full_name: unknownName } }) as const,
      ),
};

/** Email addresses that became visible or hidden with the viewer's new role. */
const addresses: Varieties["addresses"] = {
  key: (_view, _record, viewer) => String(viewer.id),
  build: (view, record, viewer) =>
    peopleOf(view, record)
      .filter((person) => canAccessUser(view, viewer, person))
      .map((person) => update({ user_id: person.id, delivery_email: deliveryEmail(person, viewer) })),
};

function peopleOf(view: View, { body }: AboutSeveral): UserRecord[] {
  return body.user_ids.flatMap((id) => view.users.get(id) ?? []);
}

/**
 * A change of the address or of its visibility. The real address is sent to viewers for whom it appeared or
 * disappeared, the API address to everyone.
 */
const updateAddress: Varieties["update_address"] = {
  key: (view, record, viewer) =>
    knownTo(view, record, viewer) === null ? null : `${viewer.role}:${isOwn(record, viewer)}`,
  build(view, record, viewer) {
    const person = personOf(view, record);
    if (person === undefined) return [];
    const { before, after } = record.body;
    const visibility = (address: AddressVisibility) => deliveryEmail({ ...person, ...address }, viewer);
    const bodies: WireEvent[] = [];
    if (visibility(before) !== visibility(after)) {
      bodies.push(update({ user_id: person.id, delivery_email: deliveryEmail(person, viewer) }));
    }
    if (apiEmail({ ...person, ...before }) !== apiEmail({ ...person, ...after })) {
      bodies.push(update({ user_id: person.id, new_email: apiEmail(person) }));
      bodies.push(update({ user_id: person.id, ...changedAvatar(person) }));
    }
    return bodies;
  },
};

/** Clients parse both avatar URLs as strings here, whatever `client_gravatar` says (OpenAPI, realm_user op: update). */
function changedAvatar(person: UserRecord) {
  return avatarFields(person, false);
}

const updateAvatar: Varieties["update_avatar"] = {
  key: (view, record, viewer) => (knownTo(view, record, viewer) === null ? null : ""),
  build(view, record) {
    const person = personOf(view, record);
    return person === undefined ? [] : [update({ user_id: person.id, ...changedAvatar(person) })];
  },
};

/** The event includes the API address, which must be the current one: at a replay the address may have been hidden. */
const updateTimezone: Varieties["update_timezone"] = {
  key: (view, record, viewer) => (knownTo(view, record, viewer) === null ? null : ""),
  build(view, record) {
    const person = personOf(view, record);
    if (person === undefined) return [];
    return [update({ user_id: person.id, email: apiEmail(person), timezone: person.timezone })];
  },
};

/** A change that looks the same to every viewer: the row is sent unchanged. */
const updatePerson: Varieties["update"] = {
  key: (view, { body }, viewer) => (knownTo(view, { body: body.person }, viewer) === null ? null : ""),
  build: plain.build,
};

export const realmUser: EventKind<"realm_user"> = byOp<"realm_user">({
  add,
  appear,
  vanish,
  addresses,
  update: updatePerson,
  update_address: updateAddress,
  update_avatar: updateAvatar,
  update_timezone: updateTimezone,
});
