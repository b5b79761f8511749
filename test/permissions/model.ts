/**
 * Permissions in a channel, stated a second time: a small model of spec 2.2, 2.4, 4.4 and behaviour 3.5 to 3.8 that
 * shares no code with the server. The matrix test compares the two for every cell.
 */

/** Spec 2.6. */
export const modelRoles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const;
export type ModelRole = keyof typeof modelRoles;

export const kinds = ["public", "web-public", "shared", "protected"] as const;
/** `shared` and `protected` are private channels, with shared and protected history. */
export type Kind = (typeof kinds)[number];

/** Permissions that a group can hold in a channel and in the organization. Nobody holds the others. */
export const channelPermissions = [
  "can_add_subscribers_group",
  "can_administer_channel_group",
  "can_delete_any_message_group",
  "can_delete_own_message_group",
  "can_move_messages_out_of_channel_group",
  "can_move_messages_within_channel_group",
  "can_remove_subscribers_group",
  "can_send_message_group",
  "can_subscribe_group",
  "can_resolve_topics_group",
] as const;
export const realmPermissions = [
  "can_add_subscribers_group",
  "can_delete_any_message_group",
  "can_delete_own_message_group",
  "can_mention_many_users_group",
  "can_move_messages_between_channels_group",
  "can_move_messages_between_topics_group",
  "can_resolve_topics_group",
] as const;
export type Held =
  | null
  | { readonly in: "channel"; readonly name: (typeof channelPermissions)[number] }
  | { readonly in: "realm"; readonly name: (typeof realmPermissions)[number] };

/** One cell of the matrix, without the operation. */
export interface PermissionCase {
  readonly role: ModelRole;
  /** In the group that holds the one granted permission. */
  readonly isHolder: boolean;
  readonly isSubscribed: boolean;
  readonly kind: Kind;
  readonly held: Held;
}

/** Permissions that no guest holds, not even a named one (behaviour 1.9, 3.7). */
const closedToGuests: readonly string[] = [
  "channel can_add_subscribers_group",
  "channel can_administer_channel_group",
  "channel can_subscribe_group",
  "realm can_add_subscribers_group",
  "realm can_delete_any_message_group",
  "realm can_move_messages_between_channels_group",
];

type Permission = `channel ${(typeof channelPermissions)[number]}` | `realm ${(typeof realmPermissions)[number]}`;

function has(facts: PermissionCase, permission: Permission): boolean {
  if (facts.held === null || `${facts.held.in} ${facts.held.name}` !== permission) return false;
  return facts.isHolder && !(facts.role === "guest" && closedToGuests.includes(permission));
}

const isGuest = ({ role }: PermissionCase) => role === "guest";
const isAdministrator = ({ role }: PermissionCase) => role === "owner" || role === "administrator";
const isPrivate = ({ kind }: PermissionCase) => kind === "shared" || kind === "protected";

function readsContent(facts: PermissionCase): boolean {
  if (facts.isSubscribed || facts.kind === "web-public") return true;
  if (isGuest(facts)) return false;
  return (
    !isPrivate(facts) || has(facts, "channel can_subscribe_group") || has(facts, "channel can_add_subscribers_group")
  );
}

function administers(facts: PermissionCase): boolean {
  return isAdministrator(facts) || has(facts, "channel can_administer_channel_group");
}

function knows(facts: PermissionCase): boolean {
  return readsContent(facts) || administers(facts);
}

function posts(facts: PermissionCase): boolean {
  const isHeldByOthers = facts.held?.in === "channel" && facts.held.name === "can_send_message_group";
  if (isHeldByOthers && !has(facts, "channel can_send_message_group")) return false;
  if (facts.isSubscribed || facts.kind === "web-public") return true;
  if (isGuest(facts)) return false;
  // Behaviour 5.1: posting to a private channel without a subscription needs shared history.
  return facts.kind === "public" || (facts.kind === "shared" && readsContent(facts));
}

/** Spec 4.4 and D18: only users who can read a private channel may open its content to others. */
function addsOthers(facts: PermissionCase): boolean {
  if (isGuest(facts) || !knows(facts)) return false;
  if (has(facts, "channel can_add_subscribers_group")) return true;
  const isGenerallyAllowed = administers(facts) || has(facts, "realm can_add_subscribers_group");
  return isGenerallyAllowed && (!isPrivate(facts) || readsContent(facts));
}

/** Public API, can_move_messages_*: a user who administers the channel may move its messages without being named. */
function movesTopics(facts: PermissionCase): boolean {
  return (
    administers(facts) ||
    has(facts, "channel can_move_messages_within_channel_group") ||
    has(facts, "realm can_move_messages_between_topics_group")
  );
}

function deletesAny(facts: PermissionCase): boolean {
  return has(facts, "channel can_delete_any_message_group") || has(facts, "realm can_delete_any_message_group");
}

/**
 * Operations by name, and whether these facts permit each. `received`: the message was sent while everybody was
 * subscribed. `old`: only its author was subscribed then.
 */
export const permits = {
  "know the channel": knows,
  "list its subscribers": knows,
  "read an old message": (facts) => readsContent(facts) && facts.kind !== "protected",
  "read a received message": readsContent,
  post: posts,
  "mention everybody in a large channel": (facts) => posts(facts) && has(facts, "realm can_mention_many_users_group"),
  "subscribe oneself": (facts) =>
    readsContent(facts) && (facts.isSubscribed || !isGuest(facts) || facts.kind === "web-public"),
  "subscribe somebody else": addsOthers,
  "unsubscribe somebody else": (facts) =>
    knows(facts) && (administers(facts) || has(facts, "channel can_remove_subscribers_group")),
  "change the description": administers,
  "change who may subscribe": (facts) => administers(facts) && readsContent(facts),
  "delete another user's message": (facts) => readsContent(facts) && deletesAny(facts),
  "delete one's own message": (facts) =>
    readsContent(facts) &&
    (deletesAny(facts) ||
      has(facts, "channel can_delete_own_message_group") ||
      has(facts, "realm can_delete_own_message_group")),
  "move a message to another topic": (facts) => readsContent(facts) && movesTopics(facts),
  "resolve a topic": (facts) =>
    readsContent(facts) &&
    (has(facts, "channel can_resolve_topics_group") || has(facts, "realm can_resolve_topics_group")),
  "move a message to another channel": (facts) =>
    readsContent(facts) &&
    (administers(facts) ||
      has(facts, "channel can_move_messages_out_of_channel_group") ||
      has(facts, "realm can_move_messages_between_channels_group")),
  "delete a topic": (facts) => isAdministrator(facts) && readsContent(facts),
} as const satisfies Record<string, (facts: PermissionCase) => boolean>;
export type Operation = keyof typeof permits;
