/**
 * Subscribing and unsubscribing (public API: POST and DELETE /users/me/subscriptions): permission checks and the
 * resulting changes.
 *
 * Direct messages from the notification bot to users whom another user subscribed (public API, subscribe: parameter
 * `send_new_subscription_messages`): one message per user about existing channels, none to bots.
 */
import { apiEmail, canAccessUser, deliveryEmail, personByAddress } from "../../domain/people.ts";
import {
  canAddSubscribers,
  canRemoveSubscribers,
  hasContentAccess,
  hasMetadataAccess,
} from "../../domain/permissions.ts";
import { checkSubscriptionsLeft } from "../../domain/subscription-bounds.ts";
import { compareText } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import type { Answer } from "../../schemas/answer.ts";
import type { ChannelCreate, ChannelRecord, NewChannel } from "../../schemas/channels.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { SubscribeRequest } from "../../schemas/subscriptions.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { botDirectMessage, silentMention } from "../rules/notification-bot.ts";
import { announcement, type Creations, checkChannelCreate, newCreations } from "./channels.ts";
import { changeMembers, type Target } from "./membership.ts";

interface Joining {
  readonly channel: ChannelRecord;
  readonly userIds: readonly UserId[];
}

/** Whether few enough users are newly subscribed to notify each of them (`max_bulk_new_subscription_messages`). */
function mayNotifySubscribers(joins: readonly Joining[]): boolean {
  const people = new Set(joins.flatMap(({ userIds }) => userIds));
  return people.size <= limits.new_subscription_messages_max;
}

/** @param joins existing channels with their new subscribers */
function subscriptionNotices(view: View, caller: UserRecord, joins: readonly Joining[]): Command[] {
  const names = new Map<number, string[]>();
  for (const { channel, userIds } of joins) {
    for (const id of userIds) {
      const user = view.users.get(id);
      if (user === undefined || id === caller.id || user.botType !== null) continue;
      const own = names.get(id);
      if (own === undefined) names.set(id, [channel.name]);
      else own.push(channel.name);
    }
  }
  return [...names].map(([id, channels]) => notice(caller, id, channels.sort(compareText)));
}

function notice(caller: UserRecord, userId: UserId, channels: readonly string[]): Command {
  // Private channels are linked too: link access is checked for the caller, who can access all of them.
  return botDirectMessage(userId, textOf(caller, channels), { mentionsAs: caller.id });
}

function textOf(caller: UserRecord, channels: readonly string[]): string {
  const who = `${silentMention(caller)} subscribed you to`;
  const [first] = channels;
  if (channels.length === 1) return `${who} #**${first}**.`;
  return `${who} the following channels:\n\n${channels.map((name) => `* #**${name}**\n`).join("")}`;
}

type WantedChannel = SubscribeRequest["channels"][number];

/** Result of a subscription request. */
interface Additions {
  readonly targets: readonly Target[];
  readonly creations: readonly NewChannel[];
  /** Messages: announcements of new channels, and notices to users subscribed by somebody else. */
  readonly after: readonly Command[];
  readonly answer: Answer;
}

/** POST /users/me/subscriptions. Channels that do not exist are created with the request's settings. */
export function addSubscriptions(
  caller: UserRecord,
  params: Params<"subscriptions.add">,
  view: View,
  command: Command<"subscriptions.add">,
): Outcome {
  const additions = planAdditions(view, caller, params, new Set());
  return isRefusal(additions) ? additions : changeMembers(view, command, additions);
}

/** DELETE /users/me/subscriptions. */
export function removeSubscriptions(
  caller: UserRecord,
  params: Params<"subscriptions.remove">,
  view: View,
  command: Command<"subscriptions.remove">,
): Outcome {
  const { channelNames, principals } = params;
  const removals = planRemovals(view, caller, channelNames, principals, new Set());
  return isRefusal(removals) ? removals : changeMembers(view, command, { ...removals, creations: [], after: [] });
}

/** PATCH /users/me/subscriptions: subscribes, then unsubscribes. A channel in both lists is left unchanged. */
export function updateSubscriptions(
  caller: UserRecord,
  params: Params<"subscriptions.update">,
  view: View,
  command: Command<"subscriptions.update">,
): Outcome {
  const { add, removeNames } = params;
  const leaving = new Set(removeNames.map(nameKey));
  const additions = planAdditions(view, caller, add, leaving);
  if (isRefusal(additions)) return additions;
  const passing = new Set(add.channels.map(({ name }) => nameKey(name)).filter((name) => leaving.has(name)));
  const removals = planRemovals(view, caller, removeNames, null, passing);
  if (isRefusal(removals)) return removals;
  return changeMembers(view, command, {
    creations: additions.creations,
    targets: [...additions.targets, ...removals.targets],
    answer: { ...additions.answer, ...removals.answer },
    after: additions.after,
  });
}

function nameKey(name: string): string {
  return fold(name.trim());
}

/** @param leaving names of channels that the same request unsubscribes again */
function planAdditions(
  view: View,
  caller: UserRecord,
  request: SubscribeRequest,
  leaving: ReadonlySet<string>,
): Additions | Refusal {
  const principals = resolvePrincipals(view, caller, request.principals);
  if (!Array.isArray(principals)) return principals;
  if (principals.length * request.channels.length > limits.subscribers_per_request_max) return tooMany();

  const shared = newCreations(view, caller, request.template.groups);
  const creations: NewChannel[] = [];
  const unauthorized: string[] = [];
  const planned: { channel: ChannelRecord; color: string | null; isPassing: boolean }[] = [];
  for (const wanted of withoutRepeats(request.channels, ({ name }) => name)) {
    const isPassing = leaving.has(nameKey(wanted.name));
    const existing = view.channels.byName(wanted.name);
    if (existing === undefined) {
      const creation = planCreation(view, caller, wanted, request.template, { shared, offset: creations.length });
      if (isRefusal(creation)) return creation;
      creations.push(creation);
      planned.push({ channel: creation.channel, color: wanted.color, isPassing });
      continue;
    }
    const refused = checkExisting(view, caller, principals, existing, wanted.name);
    if (refused !== null && request.areErrorsFatal) return refused;
    if (refused === null) planned.push({ channel: existing, color: wanted.color, isPassing });
    else unauthorized.push(wanted.name);
  }
  const additions = additionsOf(view, caller, request, { principals, planned, creations, unauthorized });
  return checkSubscriptionsLeft(view, caller, additions.targets) ?? additions;
}

function tooMany(): Refusal {
  return refuse.badRequest(`Too many subscriptions in one request (maximum ${limits.subscribers_per_request_max})`);
}

/** Names that differ only in case denote the same channel. */
function withoutRepeats<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const name = nameKey(nameOf(item));
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew;
  });
}

function planCreation(
  view: View,
  caller: UserRecord,
  wanted: WantedChannel,
  template: SubscribeRequest["template"],
  { shared, offset }: { readonly shared: Creations; readonly offset: number },
): NewChannel | Refusal {
  const creation: ChannelCreate = {
    ...template,
    name: wanted.name,
    description: wanted.description ?? "",
    renderedDescription: wanted.renderedDescription,
    subscriberIds: [],
  };
  return checkChannelCreate(view, caller, creation, shared, offset);
}

/** Archived channels can be subscribed to and unsubscribed from like others (public API, level 362). */
function checkExisting(
  view: View,
  caller: UserRecord,
  principals: readonly UserRecord[],
  channel: ChannelRecord,
  name: string,
): Refusal | null {
  if (!hasContentAccess(view, caller, channel)) return refuse.badRequest(`Unable to access channel (${name}).`);
  const isForOthers = principals.some((user) => user.id !== caller.id);
  return isForOthers && !canAddSubscribers(view, caller, channel) ? refuse.insufficientPermission() : null;
}

/** The answer is keyed by user id (public API level 289 and later). */
function additionsOf(
  view: View,
  caller: UserRecord,
  request: SubscribeRequest,
  plan: {
    readonly principals: readonly UserRecord[];
    readonly planned: readonly { channel: ChannelRecord; color: string | null; isPassing: boolean }[];
    readonly creations: readonly NewChannel[];
    readonly unauthorized: readonly string[];
  },
): Additions {
  const subscribed = new Map<number, string[]>();
  const already = new Map<number, string[]>();
  const targets: Target[] = [];
  const notified: Target[] = [];
  const created = new Set(plan.creations.map(({ channel }) => channel.id));
  for (const { channel, color, isPassing } of plan.planned) {
    const isIn = ({ id }: UserRecord) => view.subscriptions.isSubscribed(id, channel.id);
    for (const user of plan.principals) noteName(isIn(user) ? already : subscribed, user.id, channel.name);
    const userIds = plan.principals.filter((user) => !isIn(user)).map(({ id }) => id);
    if (isPassing || userIds.length === 0) continue;
    const target = { kind: "join", channel, userIds, color } as const;
    targets.push(target);
    if (!created.has(channel.id)) notified.push(target);
  }
  const notifies = request.notifiesNewSubscribers && mayNotifySubscribers(targets);
  return {
    targets,
    creations: plan.creations,
    after: [
      ...plan.creations.flatMap((creation) => announcement(view, creation, caller)),
      ...(notifies ? subscriptionNotices(view, caller, notified) : []),
    ],
    answer: {
      subscribed: Object.fromEntries(subscribed),
      already_subscribed: Object.fromEntries(already),
      ...(request.areErrorsFatal ? {} : { unauthorized: plan.unauthorized }),
      ...(request.notifiesNewSubscribers ? { new_subscription_messages_sent: notifies } : {}),
    },
  };
}

function noteName(lists: Map<number, string[]>, userId: UserId, name: string): void {
  const names = lists.get(userId);
  if (names === undefined) lists.set(userId, [name]);
  else names.push(name);
}

/** @param passing names of channels that the same request subscribes to, and possibly creates */
function planRemovals(
  view: View,
  caller: UserRecord,
  channelNames: readonly string[],
  requestedPrincipals: readonly (number | string)[] | null,
  passing: ReadonlySet<string>,
): Pick<Additions, "targets" | "answer"> | Refusal {
  const principals = resolvePrincipals(view, caller, requestedPrincipals);
  if (!Array.isArray(principals)) return principals;
  if (principals.length * channelNames.length > limits.subscribers_per_request_max) return tooMany();

  const removed: string[] = [];
  const notRemoved: string[] = [];
  const targets: Target[] = [];
  for (const name of withoutRepeats(channelNames, (channelName) => channelName)) {
    const channel = view.channels.byName(name.trim());
    const isPassing = passing.has(nameKey(name));
    if (channel === undefined && isPassing) {
      removed.push(name.trim());
      continue;
    }
    if (channel === undefined || !hasMetadataAccess(view, caller, channel)) return refuse.channelNameUnknown(name);
    if (!mayRemove(view, caller, principals, channel)) return refuse.insufficientPermission();
    const leaving = principals.filter((user) => view.subscriptions.isSubscribed(user.id, channel.id));
    if (leaving.length > 0 || isPassing) removed.push(channel.name);
    if (leaving.length < principals.length && !isPassing) notRemoved.push(channel.name);
    const userIds = leaving.map((user) => user.id);
    if (userIds.length > 0) targets.push({ kind: "leave", channel, userIds, color: null });
  }
  return { targets, answer: { removed, not_removed: notRemoved } };
}

/**
 * Callers may always unsubscribe themselves, and their own bots where they can read; others require permission (public
 * API: unsubscribe).
 */
function mayRemove(view: View, caller: UserRecord, principals: readonly UserRecord[], channel: ChannelRecord): boolean {
  const others = principals.filter((user) => user.id !== caller.id);
  if (others.length === 0 || canRemoveSubscribers(view, caller, channel)) return true;
  return others.every((user) => user.botOwnerId === caller.id) && hasContentAccess(view, caller, channel);
}

/**
 * Each user once, in the order of the request. A user or an address that the caller may not see is treated as
 * nonexistent (S1).
 */
export function resolvePrincipals(
  view: View,
  caller: UserRecord,
  principals: readonly (number | string)[] | null,
): UserRecord[] | Refusal {
  if (principals === null || principals.length === 0) return [caller];
  const users = new Map<number, UserRecord>();
  for (const principal of principals) {
    const user = typeof principal === "number" ? view.users.get(principal) : addressed(view, caller, principal);
    if (user === undefined || !canAccessUser(view, caller, user)) return refuse.noSuchUser();
    if (!user.isActive) return refuse.badRequest("User is deactivated");
    users.set(user.id, user);
  }
  return [...users.values()];
}

function addressed(view: View, caller: UserRecord, address: string): UserRecord | undefined {
  const user = personByAddress(view, caller, address);
  if (user === undefined) return undefined;
  const isShown = deliveryEmail(user, caller) !== null || apiEmail(user) === address.toLowerCase();
  return isShown ? user : undefined;
}

export const subscriptionsDecisions = {
  "subscriptions.add": forUser(addSubscriptions),
  "subscriptions.remove": forUser(removeSubscriptions),
  "subscriptions.update": forUser(updateSubscriptions),
} as const;
