/**
 * Figures of one organization for its administrators (D259). The cost grows with its people, channels and the logarithm
 * of its messages: a day's messages follow from the ids of the first and the last one, which a binary search finds.
 */

import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import { type Role, roles } from "../../schemas/types.ts";

const dayMs = 24 * 60 * 60 * 1000;

const placeOfRole = {
  [roles.owner]: "owners",
  [roles.administrator]: "administrators",
  [roles.moderator]: "moderators",
  [roles.member]: "members",
  [roles.guest]: "guests",
} as const satisfies Readonly<Record<Role, string>>;

const activePeriods = { day: 1, week: 7, month: 30 } as const;

/** @param connected queues whose client waits for events at this moment */
export function realmStatistics(view: View, connected: number) {
  let active = 0;
  for (const { isArchived } of view.channels.all()) if (!isArchived) active++;
  return {
    ...peopleOf(view),
    channels: { active, archived: view.channels.size - active },
    messages: { total: view.counter("message"), days: messagesByDay(view) },
    upload_bytes: view.counter("attachmentBytes"),
    event_queues: view.count("queues"),
    connected_queues: connected,
    waiting_deliveries: { emails: view.count("mails"), webhooks: view.count("webhookDeliveries") },
    dead_letters: view.count("deadLetters"),
  };
}

function peopleOf(view: View) {
  const people = { owners: 0, administrators: 0, moderators: 0, members: 0, guests: 0, bots: 0, deactivated: 0 };
  const activePeople = { day: 0, week: 0, month: 0 };
  for (const { id, role, isActive, botType } of view.users.all()) {
    if (!isActive) people.deactivated++;
    else if (botType !== null) people.bots++;
    else {
      people[placeOfRole[role]]++;
      const activeAt = view.presence(id)?.activeAt ?? null;
      for (const [period, days] of Object.entries(activePeriods)) {
        if (activeAt !== null && view.now - activeAt < days * dayMs)
          activePeople[period as keyof typeof activePeriods]++;
      }
    }
  }
  return { people, active_people: activePeople };
}

/** Oldest first; the last day is today. */
function messagesByDay(view: View): readonly { readonly date: string; readonly messages: number }[] {
  const today = Math.floor(view.now / dayMs);
  const days = Array.from({ length: limits.statistics_days }, (_, index) => today - limits.statistics_days + 1 + index);
  let from = firstSince(view, (days[0] ?? today) * dayMs, 1);
  return days.map((day) => {
    const next = firstSince(view, (day + 1) * dayMs, from);
    const [last] = view.keys("messages", { start: next - 1, end: from - 1, reverse: true, limit: 1 });
    const messages = last === undefined ? 0 : last - from + 1;
    from = next;
    return { date: new Date(day * dayMs).toISOString().slice(0, 10), messages };
  });
}

/**
 * The smallest id of a message that exists and was sent at a time or later. Ids grow with time.
 * @param above where the search begins
 * @returns one more than the last id if there is none
 */
function firstSince(view: View, at: number, above: number): number {
  const end = view.counter("message") + 1;
  let [low, high] = [above, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [found] = view.rows("messages", { start: middle, limit: 1 });
    if (found === undefined || found.row.sentAt >= at) high = middle;
    else low = found.key + 1;
  }
  const [first] = view.keys("messages", { start: low, limit: 1 });
  return first ?? end;
}
