/** The lists of a user and of the organization, changed by events as clients do (public API, GET /events). */
import { personalLists } from "../api/lists.ts";
import type { Changes, Reducers } from "./chat-state.ts";

/** A list with an entry replaced. */
function replaced<T extends object>(list: readonly T[], is: (entry: T) => boolean, change: Partial<T>): readonly T[] {
  return list.map((entry) => (is(entry) ? { ...entry, ...change } : entry));
}

/** The names of fields in the state and in events. */
interface EntryList {
  readonly list: string;
  readonly id: string;
  readonly entry: string;
  readonly changed: string;
  readonly removed: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Lists whose events add, change or remove one entry. */
const entryLists: Readonly<Record<string, EntryList>> = {
  ...personalLists,
  realm_domains: {
    ...{ list: "realm_domains", id: "domain" },
    ...{ entry: "realm_domain", changed: "realm_domain", removed: "domain" },
  },
};

function reducerOf({ list, id, entry, changed, removed }: EntryList) {
  return (state: Fields, event: Fields): Fields => {
    const known = (state[list] ?? []) as readonly Fields[];
    if (event["op"] === "add") return { [list]: [...known, event[entry]] };
    if (event["op"] === "remove") return { [list]: known.filter((one) => one[id] !== event[removed]) };
    const change = event[changed] as Fields;
    const wanted = change[id] ?? event[removed];
    return { [list]: replaced(known, (one) => one[id] === wanted, change) };
  };
}

// The names are generated from the declarations that the types of state and events are generated from.
const entryReducers = Object.fromEntries(
  Object.entries(entryLists).map(([type, list]) => [type, reducerOf(list)]),
) as Reducers;

export const listReducers: Reducers = {
  ...entryReducers,
  alert_words: (_state, { alert_words }) => ({ alert_words }),
  realm_emoji: (_state, { realm_emoji }) => ({ realm_emoji }),
  realm_linkifiers: (_state, { realm_linkifiers }) => ({ realm_linkifiers }),
  realm_playgrounds: (_state, { realm_playgrounds }) => ({ realm_playgrounds }),
  muted_users: (_state, { muted_users }) => ({ muted_users }),
  muted_topics: (_state, { muted_topics }) => ({ muted_topics }),
  drafts: ({ drafts = [] }, event) => {
    if (event.op === "add") return { drafts: [...drafts, ...event.drafts] };
    if (event.op === "remove") return { drafts: drafts.filter(({ id }) => id !== event.draft_id) };
    return { drafts: replaced(drafts, ({ id }) => id === event.draft.id, event.draft) };
  },
  channel_folder: ({ channel_folders: known = [] }, event) => {
    if (event.op === "add") return { channel_folders: [...known, event.channel_folder] };
    if (event.op === "update") {
      return { channel_folders: replaced(known, ({ id }) => id === event.channel_folder_id, event.data) };
    }
    return { channel_folders: known.map((folder) => ({ ...folder, order: event.order.indexOf(folder.id) })) };
  },
  user_status: ({ user_status: known = {} }, event) => {
    const { type: _type, id: _id, user_id: userId, ...changes } = event;
    // Empty parts are not in a state. An emoji without a name means none, whatever its type.
    const isOfEmoji = (name: string) => changes.emoji_name === "" && /^emoji_|^reaction_/.test(name);
    const merged = Object.entries({ ...known[String(userId)], ...changes });
    const kept = merged.filter(([name, value]) => value !== "" && value !== false && !isOfEmoji(name));
    const next = Object.fromEntries(kept);
    const { [String(userId)]: _before, ...others } = known;
    return { user_status: Object.keys(next).length === 0 ? others : { ...others, [String(userId)]: next } } as Changes;
  },
  scheduled_messages: ({ scheduled_messages: known = [] }, event) => {
    const isOther = (ids: readonly number[]) => known.filter((one) => !ids.includes(one.scheduled_message_id));
    if (event.op === "remove") return { scheduled_messages: isOther([event.scheduled_message_id]) };
    const records = event.op === "add" ? event.scheduled_messages : [event.scheduled_message];
    const ids = records.map((one) => one.scheduled_message_id);
    return { scheduled_messages: [...isOther(ids), ...records] };
  },
  reminders: ({ reminders: known = [] }, event) => {
    if (event.op === "remove") return { reminders: known.filter((one) => one.reminder_id !== event.reminder_id) };
    const ids = event.reminders.map((one) => one.reminder_id);
    return { reminders: [...known.filter((one) => !ids.includes(one.reminder_id)), ...event.reminders] };
  },
};
