/**
 * GET /messages and GET /messages/{id} between turns: a random narrow around a random anchor, requested by any user,
 * compared with the auditor's rows. No user sees a message they may not see (S1), no acknowledged message is missing
 * (M1), no read sees what is not on disk (M9).
 */
import type { UserRecord } from "../../schemas/users.ts";
import { messageFetchRoutes } from "../../src/http/routes/message-fetch.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { type Body, callOf, read } from "./calls.ts";
import type { Replica } from "./replica.ts";
import type { Seen, Visibility } from "./visibility.ts";
import type { World } from "./world.ts";

export interface ReadTools {
  readonly visibility: Visibility;
  readonly replica: Replica;
  readonly world: () => World;
  readonly report: (problem: string) => void;
  readonly trace: (text: string) => void;
}

/** true: must be in the response; false: must not; null: may. */
type Wanted = boolean | null;

interface Narrow {
  readonly terms: readonly { readonly operator: string; readonly operand: unknown; readonly negated?: boolean }[];
  /** null: the narrow is rejected. */
  readonly test: ((seen: Seen) => Wanted) | null;
}

const options = { apply_markdown: false, client_gravatar: true, allow_empty_topic_name: true };

/** Larger than any id. */
const newest = 10_000_000_000_000_000;

function handlerOf(operationId: string) {
  const binding = messageFetchRoutes.find(({ endpoint }) => endpoint.operationId === operationId);
  if (binding === undefined) throw new Error(`no operation ${operationId}`);
  return binding.handler;
}

const [getMessages, getMessage] = [handlerOf("get-messages"), handlerOf("get-message")];

/** Both must hold; an open answer stays open. */
function both(one: Wanted, other: Wanted): Wanted {
  if (one === false || other === false) return false;
  return one === null || other === null ? null : true;
}

/** Case-insensitive (behaviour 5.3, topic). */
function isSameTopic(one: string, other: string): boolean {
  return one.normalize("NFC").toLowerCase() === other.normalize("NFC").toLowerCase();
}

export class Reads {
  readonly #tools: ReadTools;
  /** Number of responses compared. */
  count = 0;

  constructor(tools: ReadTools) {
    this.#tools = tools;
  }

  async one(realm: Realm): Promise<void> {
    const { random, activeUsers } = {
      random: this.#tools.world().random,
      activeUsers: this.#tools.world().activeUsers(3),
    };
    const reader = this.#tools.replica.get("users", activeUsers[0]);
    const caller = reader === undefined ? undefined : realm.view.users.get(reader.id);
    if (reader === undefined || caller === undefined) return;
    this.count++;
    if (random.chance(0.15)) await this.#single(realm, caller, reader);
    else await this.#range(realm, caller, reader);
  }

  async #single(realm: Realm, caller: UserRecord, reader: UserRecord): Promise<void> {
    const { visibility, world, report } = this.#tools;
    const id = world().message();
    const seen = visibility.all().find(({ message }) => message.id === id);
    const may = seen === undefined ? false : visibility.mayRead(reader, seen);
    const params = { ...options, message_id: id };
    const { body } = read(await getMessage(callOf({ realm, caller, params })));
    const what = `GET /messages/${id} by ${reader.id}`;
    this.#tools.trace(`${what} ${body === null}`);
    if (body !== null && may === false) report(`[S1] ${what} shows ${JSON.stringify(body.message).slice(0, 200)}`);
    if (body === null && may === true) report(`[M1] ${what} finds nothing`);
    if (body !== null && seen !== undefined) this.#compare(body.message, seen, reader, what);
  }

  async #range(realm: Realm, caller: UserRecord, reader: UserRecord): Promise<void> {
    const { visibility, world, report } = this.#tools;
    const { random } = world();
    const { terms, test } = this.#narrow(reader);
    const anchor = random.pick([newest, newest, 0, world().message()]);
    const [before, after] = [random.pick([0, 5, 1000]), random.pick([0, 5, 1000])];
    const params = { ...options, narrow: terms, anchor: String(anchor), num_before: before, num_after: after };
    // Nothing happens during the read, so the expectation is that of this moment.
    const wanted = test === null ? [] : visibility.all().map((seen) => ({ ...seen, wanted: test(seen) }));
    const { code, body } = read(await getMessages(callOf({ realm, caller, params })));
    const what = `GET /messages ${JSON.stringify([terms, anchor, before, after])} by ${reader.id}`;
    this.#tools.trace(`${what} ${code ?? body.messages.map(({ id }: Body) => id)}`);
    if (code !== null || test === null) {
      if (code !== "BAD_NARROW" || test !== null) report(`[M6] ${what} was answered ${code ?? "with messages"}`);
      return;
    }
    const shown = new Map<number, Body>(body.messages.map((message: Body) => [message.id, message]));
    const ids = [...shown.keys()];
    if (ids.some((id, index) => index > 0 && id <= (ids[index - 1] ?? 0)))
      report(`[M7] ${what} is not in order: ${ids}`);
    const known = new Map(wanted.map((one) => [one.message.id, one]));
    for (const [id, message] of shown) {
      const one = known.get(id);
      if (one === undefined || one.wanted === false) report(`[S1] ${what} shows message ${id}`);
      else this.#compare(message, one, reader, what);
    }
    // A message that may match can displace one that must match, so a partial result proves less.
    const isSure = wanted.every((one) => one.wanted !== null);
    if (!isSure) return;
    const sure = wanted.filter((one) => one.wanted === true).map(({ message }) => message.id);
    const expected = [
      ...(before === 0 ? [] : sure.filter((id) => id < anchor).slice(-before)),
      ...sure.filter((id) => id === anchor),
      ...sure.filter((id) => id > anchor).slice(0, after),
    ];
    const missing = expected.filter((id) => !shown.has(id));
    if (missing.length > 0) report(`[M1] ${what} lacks ${missing.slice(0, 20)}`);
    if (ids.length !== expected.length) report(`[M1] ${what} shows ${ids} instead of ${expected}`);
  }

  #narrow(reader: UserRecord): Narrow {
    const { visibility, replica, world } = this.#tools;
    const { random } = world();
    const may = (seen: Seen) => visibility.mayRead(reader, seen);
    const received = (seen: Seen) => both(may(seen), visibility.received(reader.id, seen));
    const drawn = random.below(9);
    const senderId = world().activeUsers(4)[0] ?? reader.id;
    switch (drawn) {
      case 0:
        return { terms: [], test: received };
      case 1:
      case 2:
      case 3: {
        const channel = replica.get("channels", world().channel());
        const terms = [{ operator: "channel", operand: channel?.id ?? 99_999 }];
        const opens = channel === undefined ? false : visibility.opens(reader, channel);
        if (channel === undefined || opens !== true) {
          // If the result depends on something not modelled, the term is left out.
          return opens === null ? { terms: [], test: received } : { terms, test: null };
        }
        const isThere = ({ conversation }: Seen) => conversation.channelId === channel.id;
        if (drawn === 1) return { terms, test: (seen) => both(isThere(seen), may(seen)) };
        const topic = world().topic();
        const isOfTopic = (seen: Seen) => isThere(seen) && isSameTopic(seen.conversation.topic, topic);
        const isNegated = drawn === 3;
        return {
          terms: [...terms, { operator: "topic", operand: topic, negated: isNegated }],
          test: (seen) => both(isThere(seen) && isOfTopic(seen) !== isNegated, may(seen)),
        };
      }
      case 4: {
        const others = world().activeUsers(3);
        const wanted = [...new Set([...others, reader.id])].sort((a, b) => a - b).join();
        if (others.length === 0) return { terms: [], test: received };
        return {
          terms: [{ operator: "dm", operand: others }],
          test: ({ conversation }) => conversation.userIds?.join() === wanted,
        };
      }
      case 5:
        return {
          terms: [{ operator: "is", operand: "dm" }],
          test: (seen) => seen.conversation.userIds !== null && may(seen),
        };
      case 6:
        return {
          terms: [{ operator: "is", operand: "starred" }],
          test: (seen) => both(visibility.isStarred(reader.id, seen.message.id), may(seen)),
        };
      case 7: {
        const negated = world().flip();
        return {
          terms: [{ operator: "sender", operand: senderId, negated }],
          test: (seen) => both((seen.message.senderId === senderId) !== negated, received(seen)),
        };
      }
      default: {
        // The word index: messages with a word that begins like this must be found, others may be.
        const word = `t${1 + random.below(60)}`;
        const begins = new RegExp(`^${word}(?!\\w)`);
        const contains = new RegExp(`(?<!\\w)${word}(?!\\w)`);
        return {
          terms: [{ operator: "search", operand: word }],
          test: (seen) => both(wordIn(seen, begins, contains), received(seen)),
        };
      }
    }
  }

  /** The response shows the message as its row says. */
  #compare(shown: Body, { message, conversation }: Seen, reader: UserRecord, what: string): void {
    const { visibility, report } = this.#tools;
    const isStarred = visibility.isStarred(reader.id, message.id);
    const expected = [message.content, message.senderId, conversation.channelId ?? null, conversation.topic, isStarred];
    const found = [
      shown.content,
      shown.sender_id,
      shown.stream_id ?? null,
      shown.subject,
      shown.flags.includes("starred"),
    ];
    if (JSON.stringify(expected) !== JSON.stringify(found)) {
      report(`[M9] ${what} shows ${JSON.stringify(found)} as ${message.id}, which is ${JSON.stringify(expected)}`);
    }
  }
}

function wordIn({ message: { content } }: Seen, begins: RegExp, contains: RegExp): Wanted {
  if (begins.test(content)) return true;
  return contains.test(content) ? null : false;
}
