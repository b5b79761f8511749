/**
 * What clients were told is so, and must be so after every crash (M1): the content of messages, stars, reactions, names, settings,
 * subscriptions, snippets. A change whose request was never answered leaves two possible values; the first look decides.
 */
import type { Command, CommandType } from "../../actors/commands.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import { personalFlags } from "../../schemas/records/read-state.ts";
import type { Replica } from "./replica.ts";

type Answer = Readonly<Record<string, unknown>>;

interface Claim {
  readonly key: readonly (string | number)[];
  readonly value: unknown;
}

/** What a request brings about when it succeeds; null: what is there now is not known any more. */
interface Consequence {
  readonly claims: readonly Claim[];
  readonly forgets?: (key: readonly (string | number)[], replica: Replica) => boolean;
}

type Reader = { readonly [T in CommandType]?: (command: Command<T>, answer: Answer | null) => Consequence };

const nothing: Consequence = { claims: [] };
const starred = "starred" as const;

function messageIdOf({ to }: Command): number {
  return to.actor === "message" ? to.id : 0;
}

const forgetsSubscriptions: Consequence = { claims: [], forgets: ([kind]) => kind === "subscription" };

/** Deletions of a topic are not followed message by message: nothing is said of its channel's any more. */
function forgetsChannel(channelId: number): Consequence {
  const isThere = (key: readonly (string | number)[], replica: Replica) => {
    const message = replica.get("messages", key[1]);
    const conversation = message === undefined ? undefined : replica.get("conversations", message.conversationId);
    return conversation === undefined || conversation.channelId === channelId;
  };
  return { claims: [], forgets: (key, replica) => isOfMessage(key) && isThere(key, replica) };
}

function forgetsStars(callerId: number | null): Consequence {
  return { claims: [], forgets: ([kind, , userId]) => kind === "star" && userId === callerId };
}

function isOfMessage([kind]: readonly (string | number)[]): boolean {
  return kind === "content" || kind === "star" || kind === "reaction";
}

function reaction(command: Command<"reaction.add" | "reaction.remove">): Consequence {
  const { name } = command.params;
  if (name === null || command.params.code !== null) return nothing;
  const key = ["reaction", messageIdOf(command), command.callerId ?? 0, name];
  return { claims: [{ key, value: command.type === "reaction.add" }] };
}

const readers: Reader = {
  "message.post": ({ params }, answer) => {
    const id = answer?.["id"];
    return typeof id === "number" ? { claims: [{ key: ["content", id], value: params.content }] } : nothing;
  },
  "message.edit": (command) => {
    const { content } = command.params;
    return content === null ? nothing : { claims: [{ key: ["content", messageIdOf(command)], value: content.text }] };
  },
  "message.delete": (command) => ({
    claims: [],
    forgets: (key) => isOfMessage(key) && key[1] === messageIdOf(command),
  }),
  "topic-deletion.request": ({ to }) => forgetsChannel(to.actor === "topic-deletion" ? to.channelId : 0),
  "message-flags.update": ({ params, callerId }) =>
    params.flag !== starred || !params.mustReachAll
      ? forgetsStars(callerId)
      : { claims: params.messageIds.map((id) => ({ key: ["star", id, callerId ?? 0], value: params.op === "add" })) },
  "message-flags.continue": ({ callerId }) => forgetsStars(callerId),
  "reaction.add": reaction,
  "reaction.remove": reaction,
  "user.change-settings": ({ params, callerId }) => ({
    claims: Object.entries(params.settings)
      .filter(([name]) => name === "color_scheme")
      .map(([name, value]) => ({ key: ["setting", callerId ?? 0, name], value })),
  }),
  "saved-snippets.add": ({ params, callerId }, answer) => {
    const id = answer?.["saved_snippet_id"];
    return typeof id === "number"
      ? { claims: [{ key: ["snippet", callerId ?? 0, id], value: params.content }] }
      : nothing;
  },
  "saved-snippets.update": ({ params, callerId }) =>
    params.content === null
      ? nothing
      : { claims: [{ key: ["snippet", callerId ?? 0, params.id], value: params.content }] },
  "saved-snippets.remove": ({ params, callerId }) => ({
    claims: [{ key: ["snippet", callerId ?? 0, params.id], value: undefined }],
  }),
  "alert-words.add": ({ params, callerId }) => ({
    claims: params.words.map((word) => ({ key: ["alert", callerId ?? 0, word.toLowerCase()], value: true })),
  }),
  "alert-words.remove": ({ params, callerId }) => ({
    claims: params.words.map((word) => ({ key: ["alert", callerId ?? 0, word.toLowerCase()], value: false })),
  }),
  "status.update": ({ params, callerId }) =>
    params.text === null || !params.isOwn
      ? nothing
      : { claims: [{ key: ["status", callerId ?? 0], value: params.text }] },
  "subscription-settings.change": ({ params, callerId }) => ({
    claims: params.changes
      .filter(({ property }) => property === "color")
      .map(({ channelId, value }) => ({ key: ["color", channelId, callerId ?? 0], value })),
  }),
  "channel.create": ({ params }, answer) => {
    const id = answer?.["id"];
    return typeof id !== "number"
      ? nothing
      : { claims: params.subscriberIds.map((userId) => ({ key: ["subscription", id, userId], value: true })) };
  },
  "subscriptions.add": () => forgetsSubscriptions,
  "subscriptions.remove": () => forgetsSubscriptions,
  "subscriptions.update": () => forgetsSubscriptions,
  "members.change": () => forgetsSubscriptions,
  "user.deactivate": () => forgetsSubscriptions,
  "bot.deactivate": () => forgetsSubscriptions,
  "channel.archive": () => forgetsSubscriptions,
  "channel.update": () => forgetsSubscriptions,
};

/** A folded word, a status or a setting as the tables have it. */
function actual([kind, one, other]: readonly (string | number)[], replica: Replica): unknown {
  switch (kind) {
    case "content":
      return replica.get("messages", one)?.content;
    case "star":
      return replica.has("messageFlags", [other, personalFlags[starred], one]);
    case "setting":
      return replica.get("users", one)?.settings[String(other)] ?? 1;
    case "snippet":
      return replica.get("savedSnippets", [one, other])?.content;
    case "alert":
      return replica.has("alertWords", [one, other]);
    case "status":
      return replica.get("statuses", one)?.statusText ?? "";
    case "color":
      return replica.get("subscriptions", [one, other])?.color;
    case "subscription":
      return replica.get("subscriptions", [one, other])?.isActive === true;
    default:
      return undefined;
  }
}

/** A star ends where its holder cannot see the message: perhaps in the channel to which it was moved. */
function wentElsewhere([kind, messageId]: readonly (string | number)[], replica: Replica): boolean {
  return kind === "star" && hasTrait(replica.get("messages", messageId)?.traits ?? 0, "changedChannel");
}

function reacted([, messageId, userId, name]: readonly (string | number)[], replica: Replica): boolean {
  return replica.keys("reactions").some((key) => {
    const [id, who] = key as [number, number, string];
    return id === messageId && who === userId && replica.get("reactions", key)?.emojiName === name;
  });
}

export class Facts {
  readonly #replica: Replica;
  readonly #known = new Map<string, { readonly key: readonly (string | number)[]; values: unknown[] }>();
  /** Messages that somebody deleted, or may have: who is told late that they posted one is told of the past. */
  readonly #deleted = new Set<number>();
  #checked = 0;

  constructor(replica: Replica) {
    this.#replica = replica;
  }

  /** How many facts were compared in all. */
  get checked(): number {
    return this.#checked;
  }

  #consequence(command: Command, answer: Answer | null): Consequence {
    const read = readers[command.type] as ((command: Command, answer: Answer | null) => Consequence) | undefined;
    const consequence = read?.(command, answer) ?? nothing;
    if (command.type === "message.delete") this.#deleted.add(messageIdOf(command));
    if (consequence.forgets !== undefined) {
      for (const [name, { key }] of this.#known) if (consequence.forgets(key, this.#replica)) this.#known.delete(name);
    }
    return consequence;
  }

  /** A request was answered, and succeeded. */
  acknowledged(command: Command, answer: Answer): void {
    for (const { key, value } of this.#consequence(command, answer).claims) {
      if (isOfMessage(key) && this.#deleted.has(Number(key[1]))) continue;
      this.#known.set(key.join("/"), { key, values: [value] });
    }
  }

  /** A request went unanswered: it has happened, or not. */
  doubted(command: Command): void {
    for (const { key, value } of this.#consequence(command, null).claims)
      this.#known.get(key.join("/"))?.values.push(value);
  }

  /** Only while nothing is under way. @returns what is not as it was acknowledged */
  contradictions(): string[] {
    const found: string[] = [];
    for (const fact of this.#known.values()) {
      this.#checked++;
      const { key, values } = fact;
      const value = key[0] === "reaction" ? reacted(key, this.#replica) : actual(key, this.#replica);
      if (values.includes(value) || (value === false && wentElsewhere(key, this.#replica))) fact.values = [value];
      else
        found.push(`[M1] ${key.join(" ")} was acknowledged as ${JSON.stringify(values)}, is ${JSON.stringify(value)}`);
    }
    return found;
  }
}
