/** What a client keeps of the lists that its user or its organization has, changed by events as the public API says (/events). */

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON whose shape is what tests find out
type Json = any;

type Apply = (state: Json, event: Json) => void;

/** A list whose events say what came, changed or went. */
function list(name: string, id: string, fields: { one: string; many?: string; changes?: string; gone: string }): Apply {
  return (state, event) => {
    const is = (wanted: unknown) => (record: Json) => record[id] === wanted;
    switch (event.op) {
      case "add":
        state[name].push(...(fields.many === undefined ? [event[fields.one]] : event[fields.many]));
        return;
      case "update": {
        const changes = event[fields.changes ?? fields.one];
        Object.assign(state[name].find(is(changes[id] ?? event[fields.gone])) ?? {}, changes);
        return;
      }
      case "remove":
        state[name] = state[name].filter((record: Json) => !is(event[fields.gone])(record));
        return;
      default:
        throw new Error(`${event.type} ${event.op}`);
    }
  };
}

/** An event that carries all of it. */
function whole(name: string): Apply {
  return (state, event) => {
    state[name] = event[name];
  };
}

const folders = list("channel_folders", "id", { one: "channel_folder", changes: "data", gone: "channel_folder_id" });

function folderOrder(state: Json, { order }: Json): void {
  for (const folder of state.channel_folders) folder.order = order.indexOf(folder.id);
}

function status(state: Json, { type: _type, id: _id, user_id: userId, ...told }: Json): void {
  const all = Object.entries({ ...state.user_status[userId], ...told });
  // An emoji without a name is none, whatever kind it is said to be of.
  const isOfEmoji = (name: string) => told.emoji_name === "" && /^emoji_|^reaction_/.test(name);
  const kept = all.filter(([name, value]) => value !== "" && value !== false && !isOfEmoji(name));
  if (kept.length === 0) delete state.user_status[userId];
  else state.user_status[userId] = Object.fromEntries(kept);
}

/** Whoever stops keeping drafts on the server has none there any more; no other event says so. */
function withoutDrafts(state: Json, { property, value }: Json): void {
  if (property === "enable_drafts_synchronization" && value === false && state.drafts !== undefined) state.drafts = [];
}

/** By type of event; each is a type of state, too. */
export const listAppliers: Readonly<Record<string, Apply>> = {
  alert_words: whole("alert_words"),
  channel_folders: () => undefined,
  channel_folder: (state, event) => (event.op === "reorder" ? folderOrder : folders)(state, event),
  drafts: list("drafts", "id", { one: "draft", many: "drafts", gone: "draft_id" }),
  muted_users: whole("muted_users"),
  navigation_views: () => undefined,
  navigation_view: list("navigation_views", "fragment", { one: "navigation_view", changes: "data", gone: "fragment" }),
  realm_domains: (state, event) => {
    const known: Json[] = state.realm_domains;
    const { op, domain, realm_domain: changed } = event;
    if (op === "add") known.push(changed);
    else if (op === "remove") state.realm_domains = known.filter((one) => one.domain !== domain);
    else state.realm_domains = known.map((one) => (one.domain === changed.domain ? changed : one));
  },
  realm_emoji: whole("realm_emoji"),
  realm_linkifiers: whole("realm_linkifiers"),
  realm_playgrounds: whole("realm_playgrounds"),
  saved_snippets: list("saved_snippets", "id", { one: "saved_snippet", gone: "saved_snippet_id" }),
  user_status: status,
};

export const listTypes = Object.keys(listAppliers);

/** Where a state has them. */
export const listKeys = [
  "alert_words",
  "channel_folders",
  "drafts",
  "muted_users",
  "navigation_views",
  "realm_domains",
  "realm_emoji",
  "realm_linkifiers",
  "realm_playgrounds",
  "saved_snippets",
  "user_status",
];

export function applyLists(state: Json, events: readonly Json[]): void {
  for (const event of events) {
    if (event.type === "user_settings") withoutDrafts(state, event);
    listAppliers[event.type]?.(state, event);
  }
}

/** In an order of its own where the order means nothing. */
export function listsPicture(state: Json): Record<string, Json> {
  const ordered = new Set([
    "drafts",
    "navigation_views",
    "saved_snippets",
    "channel_folders",
    "alert_words",
    "realm_domains",
  ]);
  return Object.fromEntries(
    listKeys.map((key) => {
      const value = state[key];
      if (!ordered.has(key)) return [key, value];
      return [key, value.map((entry: Json) => JSON.stringify(Object.entries(entry).sort())).sort()];
    }),
  );
}
