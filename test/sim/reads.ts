/**
 * GET /messages and GET /messages/{id} between turns: a random narrow around a random anchor, asked by anybody, compared with what
 * the auditor knows of rows. Nobody is shown what was not theirs (S1), nothing that was acknowledged is missing (M1), no read
 * sees what is not on disk (M9).
 */
import type { UserRecord } from "../../schemas/records.ts";
import { messageFetchRoutes } from "../../src/http/routes/message-fetch.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { type Body, callOf, read } from "./calls.ts";
import type { Replica } from "./replica.ts";
import type { Seen, Sight } from "./sight.ts";
import type { World } from "./world.ts";

export interface ReadTools {
  readonly sight: Sight;
  readonly replica: Replica;
  readonly world: () => World;
  readonly report: (problem: string) => void;
  readonly trace: (text: string) => void;
}

/** true: must be there; false: must not; null: may. */
type Wanted = boolean | null;

interface Narrow {
  readonly terms: readonly { readonly operator: string; readonly operand: unknown; readonly negated?: boolean }[];
  /** null: the narrow is refused. */
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

/** Both must hold; what may be is what may be. */
function both(one: Wanted, other: Wanted): Wanted {
  if (one === false || other === false) return false;
  return one === null || other === null ? null : true;
}

/** Whatever the case (behaviour 5.3, topic). */
function isSameTopic(one: string, other: string): boolean {
  return one.normalize("NFC").toLowerCase() === other.normalize("NFC").toLowerCase();
}

export class Reads {
  readonly #tools: ReadTools;
  /** Answers that were compared. */
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
    const { sight, world, report } = this.#tools;
    const id = world().message();
    const seen = sight.all().find(({ message }) => message.id === id);
    const may = seen === undefined ? false : sight.mayRead(reader, seen);
    const params = { ...options, message_id: id };
    const { body } = read(await getMessage(callOf({ realm, caller, params })));
    const what = `GET /messages/${id} by ${reader.id}`;
    this.#tools.trace(`${what} ${body === null}`);
    if (body !== null && may === false) report(`[S1] ${what} shows ${JSON.stringify(body.message).slice(0, 200)}`);
    if (body === null && may === true) report(`[M1] ${what} finds nothing`);
    if (body !== null && seen !== undefined) this.#compare(body.message, seen, reader, what);
  }

  async #range(realm: Realm, caller: UserRecord, reader: UserRecord): Promise<void> {
    const { sight, world, report } = this.#tools;
    const { random } = world();
    const { terms, test } = this.#narrow(reader);
    const anchor = random.pick([newest, newest, 0, world().message()]);
    const [before, after] = [random.pick([0, 5, 1000]), random.pick([0, 5, 1000])];
    const params = { ...options, narrow: terms, anchor: String(anchor), num_before: before, num_after: after };
    // Nothing happens while it is read: what is expected is of now.
    const wanted = test === null ? [] : sight.all().map((seen) => ({ ...seen, wanted: test(seen) }));
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
    // What only may be there takes the place of what must: then a part of it proves less.
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
    const { sight, replica, world } = this.#tools;
    const { random } = world();
    const may = (seen: Seen) => sight.mayRead(reader, seen);
    const received = (seen: Seen) => both(may(seen), sight.received(reader.id, seen));
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
        const opens = channel === undefined ? false : sight.opens(reader, channel);
        if (channel === undefined || opens !== true) {
          // Where it is not sure nothing is asked.
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
          test: (seen) => both(sight.isStarred(reader.id, seen.message.id), may(seen)),
        };
      case 7: {
        const negated = world().flip();
        return {
          terms: [{ operator: "sender", operand: senderId, negated }],
          test: (seen) => both((seen.message.senderId === senderId) !== negated, received(seen)),
        };
      }
      default: {
        // The index of words: what begins with the word must be found, what else has it may be.
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

  /** What is shown of a message is what its row says. */
  #compare(shown: Body, { message, conversation }: Seen, reader: UserRecord, what: string): void {
    const { sight, report } = this.#tools;
    const isStarred = sight.isStarred(reader.id, message.id);
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
