/** Subscribing and unsubscribing (public API: POST and DELETE /users/me/subscriptions): who may, and what it comes to. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import {
  canAddSubscribers,
  canRemoveSubscribers,
  hasContentAccess,
  hasMetadataAccess,
  isGuest,
} from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { ChannelCreate, Command } from "../commands.ts";
import { callerOf, type Outcome } from "../decide.ts";
import { announcement, checkChannelCreate, type NewChannel, newChannelEffects } from "./channels.ts";
import { changeMembers, sizeOf, type Target } from "./membership.ts";

/** Whom a request is about: ids or addresses; nobody named is the caller. */
function resolvePrincipals(
  view: View,
  caller: UserRecord,
  principals: readonly (number | string)[] | null,
): UserRecord[] | Refusal {
  if (principals === null) return [caller];
  const users = new Map<number, UserRecord>();
  for (const principal of principals) {
    const user = typeof principal === "number" ? view.users.get(principal) : view.users.byEmail(principal);
    if (user === undefined) return refuse.noSuchUser();
    if (!user.isActive) return refuse.badRequest("User is deactivated");
    users.set(user.id, user);
  }
  return [...users.values()];
}

interface Plan {
  readonly joins: Map<number, { channel: ChannelRecord; userIds: number[]; color: string | null }>;
  readonly already: Map<number, string[]>;
  readonly unauthorized: string[];
}

type WantedChannel = Command<"subscriptions.add">["params"]["channels"][number];

function plan(joins: Plan["joins"], channel: ChannelRecord, color: string | null, user: UserRecord): void {
  const target = joins.get(channel.id);
  if (target === undefined) joins.set(channel.id, { channel, userIds: [user.id], color });
  else target.userIds.push(user.id);
}

/** POST /users/me/subscriptions. Channels that do not exist are created with the request's settings. */
export function addSubscriptions(_context: unknown, asked: Command<"subscriptions.add">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const { params } = asked;
  const principals = resolvePrincipals(view, caller, params.principals);
  if (!Array.isArray(principals)) return principals;
  if (principals.length * params.channels.length > limits.subscribers_per_request_max) return tooMany();

  const planned: Plan = { joins: new Map(), already: new Map(), unauthorized: [] };
  const creations: NewChannel[] = [];
  for (const wanted of withoutRepeats(params.channels, ({ name }) => name)) {
    const existing = view.channels.byName(wanted.name);
    if (existing === undefined) {
      const creation = planCreation(view, caller, wanted, params.template, creations.length);
      if ("kind" in creation) return creation;
      creations.push(creation);
      for (const user of principals) plan(planned.joins, creation.channel, wanted.color, user);
    } else {
      const refused = planExisting(view, caller, principals, existing, wanted, planned);
      if (refused !== null && params.areErrorsFatal) return refused;
      if (refused !== null) planned.unauthorized.push(wanted.name);
    }
  }
  return carryOut(view, asked, caller, planned, creations);
}

function tooMany(): Refusal {
  return refuse.badRequest(`Too many subscriptions in one request (maximum ${limits.subscribers_per_request_max})`);
}

/** A name twice, or in two spellings, is one channel. */
function withoutRepeats<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const name = fold(nameOf(item));
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew;
  });
}

function planCreation(
  view: View,
  caller: UserRecord,
  wanted: WantedChannel,
  template: Command<"subscriptions.add">["params"]["template"],
  offset: number,
): NewChannel | Refusal {
  const creation: ChannelCreate = {
    ...template,
    name: wanted.name,
    description: wanted.description ?? "",
    renderedDescription: wanted.renderedDescription,
    subscriberIds: [],
  };
  return checkChannelCreate(view, caller, creation, offset);
}

function planExisting(
  view: View,
  caller: UserRecord,
  principals: readonly UserRecord[],
  channel: ChannelRecord,
  wanted: WantedChannel,
  planned: Plan,
): Refusal | null {
  const isForOthers = principals.some((user) => user.id !== caller.id);
  const isKnown = hasContentAccess(view, caller, channel) || (isForOthers && canAddSubscribers(view, caller, channel));
  const isAlreadyIn = !isForOthers && view.subscriptions.isSubscribed(caller.id, channel.id);
  if (!isAlreadyIn && (!isKnown || channel.isArchived || (isGuest(caller) && !channel.isWebPublic))) {
    return refuse.badRequest(`Unable to access channel (${wanted.name}).`);
  }
  if (isForOthers && !canAddSubscribers(view, caller, channel)) return refuse.insufficientPermission();
  for (const user of principals) {
    if (view.subscriptions.isSubscribed(user.id, channel.id)) noteName(planned.already, user.id, channel.name);
    else plan(planned.joins, channel, wanted.color, user);
  }
  return null;
}

function noteName(lists: Map<number, string[]>, userId: number, name: string): void {
  const names = lists.get(userId);
  if (names === undefined) lists.set(userId, [name]);
  else names.push(name);
}

/** The answer is keyed by user id (level 289 and later of the public API). */
function carryOut(
  view: View,
  asked: Command<"subscriptions.add">,
  caller: UserRecord,
  planned: Plan,
  creations: readonly NewChannel[],
): Outcome {
  const targets = [...planned.joins.values()];
  const subscribed = new Map<number, string[]>();
  for (const { channel, userIds } of targets) for (const id of userIds) noteName(subscribed, id, channel.name);
  const joiningNow = (channelId: number) =>
    sizeOf(targets) > limits.subscribers_per_command_max ? [] : (planned.joins.get(channelId)?.userIds ?? []);
  const created = creations.flatMap((creation) => [
    ...newChannelEffects(view, creation, joiningNow(creation.channel.id)),
    ...announcement(view, creation, caller),
  ]);
  const answer = {
    subscribed: Object.fromEntries(subscribed),
    already_subscribed: Object.fromEntries(planned.already),
    ...(asked.params.areErrorsFatal ? {} : { unauthorized: planned.unauthorized }),
  };
  return changeMembers(view, asked, { kind: "join", targets, answer }, created);
}

/** DELETE /users/me/subscriptions. */
export function removeSubscriptions(_context: unknown, asked: Command<"subscriptions.remove">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const { channelNames } = asked.params;
  const principals = resolvePrincipals(view, caller, asked.params.principals);
  if (!Array.isArray(principals)) return principals;
  if (principals.length * channelNames.length > limits.subscribers_per_request_max) return tooMany();

  const removed: string[] = [];
  const notRemoved: string[] = [];
  const targets: Target[] = [];
  for (const name of withoutRepeats(channelNames, (channelName) => channelName)) {
    const channel = view.channels.byName(name);
    if (channel === undefined || !hasMetadataAccess(view, caller, channel)) return refuse.channelNameUnknown(name);
    if (!mayRemove(view, caller, principals, channel)) return refuse.insufficientPermission();
    const leaving = principals.filter((user) => view.subscriptions.isSubscribed(user.id, channel.id));
    if (leaving.length > 0) removed.push(channel.name);
    if (leaving.length < principals.length) notRemoved.push(channel.name);
    targets.push({ channel, userIds: leaving.map((user) => user.id), color: null });
  }
  return changeMembers(view, asked, { kind: "leave", targets, answer: { removed, not_removed: notRemoved } }, []);
}

/** Oneself always, one's own bots where one can read, others with permission (public API: unsubscribe). */
function mayRemove(view: View, caller: UserRecord, principals: readonly UserRecord[], channel: ChannelRecord): boolean {
  const others = principals.filter((user) => user.id !== caller.id);
  if (others.length === 0 || canRemoveSubscribers(view, caller, channel)) return true;
  return others.every((user) => user.botOwnerId === caller.id) && hasContentAccess(view, caller, channel);
}
