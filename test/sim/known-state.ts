/** The state of a client: its initial state with all events applied equals a fresh state, whatever crashed (E2). */
import type { Command } from "../../actors/protocol/decision.ts";
import { registerSections } from "../../src/app/areas.ts";
import { registerState } from "../../src/queries/register-state.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { Mirror, mirroredTypes, snapshotOf } from "../support/mirror.ts";
import { listKeys, listsSnapshot, listTypes } from "../support/mirror-lists.ts";
import { scheduledTypes } from "../support/mirror-scheduled.ts";
import type { Replica } from "./replica.ts";

const variant = { includesSubscribers: true, isModern: true };

/** Options with which the queue is registered (capabilities of a modern client). */
export const queueOptions = {
  applyMarkdown: true,
  clientGravatar: true,
  slimPresence: true,
  allPublicStreams: false,
  includeSubscribers: true,
  eventTypes: null,
  narrow: [],
  capabilities: [
    "notification_settings_null",
    "simplified_presence_events",
    "user_list_incomplete",
    "include_deactivated_groups",
    "archived_channels",
    "linkifier_url_template",
  ],
} as const;

/** Parts in which state and events agree in every field, whatever the membership; test/realtime covers the rest. */
const compared = new Set([
  "realm",
  "realm_users",
  "realm_non_active_users",
  "realm_user_groups",
  "realm_default_streams",
  "realm_bots",
  "realm_user_settings_defaults",
  "custom_profile_fields",
  "user_settings",
  "flags",
  "subscriptions",
  "unsubscribed",
  "never_subscribed",
  "streams",
  "user_topics",
  ...scheduledTypes,
  ...listKeys,
]);

function stateOf(realm: Realm, userId: number): Record<string, unknown> | null {
  const user = realm.view.users.get(userId);
  if (user === undefined) return null;
  return registerState(registerSections, realm.view, user, [...mirroredTypes, ...listTypes], {
    clientGravatar: true,
    slimPresence: true,
    subscriberLists: "true",
    presenceHistoryDays: 14,
    allowsNullNotifications: true,
    allowsEmptyTopicName: false,
    extraEmojiType: "service_extra_emoji",
    takesSettingsObject: false,
    allowsIncompleteUserList: true,
    takesUrlTemplates: true,
    includesDeactivatedGroups: true,
    showsArchived: true,
    siteUrl: "http://localhost",
    limitsPresence: false,
    webPublicStreamsEnabled: false,
    sendsEmail: false,
    uploads: { maxFileMib: 1, quotaMib: null },
    startedAt: 0,
    presences: { all: () => [], newerThan: () => [] },
  });
}

export class KnownState {
  readonly #userId: number;
  readonly #mirror: Mirror | null;
  constructor(realm: Realm, userId: number) {
    this.#userId = userId;
    const state = stateOf(realm, userId);
    this.#mirror = state === null ? null : new Mirror(JSON.parse(JSON.stringify(state)), variant);
  }

  apply(event: unknown): void {
    this.#mirror?.apply([event]);
  }

  /** @returns the first part that differs from a fresh state, or null */
  difference(realm: Realm, replica: Replica): string | null {
    const state = stateOf(realm, this.#userId);
    if (state === null || this.#mirror === null) return null;
    const current = this.#mirror.asDerivable(JSON.parse(JSON.stringify(state)));
    const fresh = { ...snapshotOf(current), ...listsSnapshot(current) };
    const known = { ...this.#mirror.snapshot(), ...listsSnapshot(this.#mirror.state) };
    for (const [part, expected] of Object.entries(fresh)) {
      if (!compared.has(part) || (part === "flags" && isReadStateUnderWay(replica))) continue;
      const [one, other] = [sorted(known[part]), sorted(expected)];
      if (one !== other) return `${part} is known as ${around(one, other)}, is ${around(other, one)}`;
    }
    return null;
  }
}

/**
 * Read state changed by a mark, an unsubscription or a move is announced in later turns of its own (architecture, Read
 * state).
 */
function isReadStateUnderWay(replica: Replica): boolean {
  const waiting = [...replica.rows("mailbox"), ...replica.rows("timers")];
  return waiting.some(({ command }) => (command as Command).type.startsWith("read-state."));
}

/** Independent of the order of fields. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function around(text: string, other: string): string {
  let at = 0;
  while (text[at] === other[at] && at < text.length) at++;
  return text.slice(Math.max(0, at - 120), at + 120);
}
