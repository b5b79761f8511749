/**
 * GET /messages and GET /messages/{id} between turns: a random narrow around a random anchor, requested by any user,
 * compared with the auditor's rows. No user sees a message they may not see (S1), no acknowledged message is missing
 * (M1), and what has left is what the disk says, also when a crash takes back what it has not seen (M9).
 */
import type { UserRecord } from "../../schemas/users.ts";
import { messageFetchRoutes } from "../../src/operations/routes/message-fetch.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import type { Result } from "../../src/runtime/results.ts";
import { type Body, callOf, read } from "./calls.ts";
import type { Machine } from "./machine.ts";
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
  /** @returns what a message must fulfil; "rejected" if the narrow is; null if that depends on what is not modelled */
  readonly test: (reader: UserRecord) => ((seen: Seen) => Wanted) | "rejected" | null;
}

/** What a client gets, as far as it is compared. */
interface Shown {
  readonly code: string | null;
  readonly body: Body;
}

interface Range {
  readonly caller: UserRecord;
  readonly narrow: Narrow;
  readonly anchor: number;
  readonly before: number;
  readonly after: number;
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

  async one(machine: Machine): Promise<void> {
    const { random, activeUsers } = {
      random: this.#tools.world().random,
      activeUsers: this.#tools.world().activeUsers(3),
    };
    const caller = activeUsers[0] === undefined ? undefined : machine.realm.view.users.get(activeUsers[0]);
    // Active on the disk, but perhaps deactivated since in memory: the server would not let them in.
    if (caller?.isActive !== true) return;
    this.count++;
    if (random.chance(0.4)) await this.#single(machine, caller);
    else await this.#range(machine, caller);
  }

  /**
   * @param compare is called when the rows are those that the server's memory had during the read. If a crash has taken
   *   them back: only if the answer left, because it has not seen what was lost (M9).
   */
  async #read(
    machine: Machine,
    execute: (realm: Realm) => Result | Promise<Result>,
    compare: (shown: Shown) => void,
  ): Promise<void> {
    const request = machine.receive();
    const result = execute(machine.realm);
    const isImmediate = !(result instanceof Promise);
    const shown = read(isImmediate ? result : await result);
    let hasLeft = false;
    request.answer(() => {
      hasLeft = true;
    }, isImmediate);
    // Nothing happens on the machine during a read.
    machine.turns.inThisState(
      () => compare(shown),
      () => {
        if (hasLeft) compare(shown);
      },
    );
  }

  async #single(machine: Machine, caller: UserRecord): Promise<void> {
    const { visibility, replica, world, report } = this.#tools;
    // A crash takes back the newest ones.
    const id = world().random.chance(0.5) ? machine.realm.view.counter("message") : world().message();
    const params = { ...options, message_id: id };
    const what = `GET /messages/${id} by ${caller.id}`;
    await this.#read(
      machine,
      (realm) => getMessage(callOf({ realm, caller, params })),
      ({ body }) => {
        this.#tools.trace(`${what} ${body === null}`);
        const reader = replica.get("users", caller.id);
        const seen = visibility.all().find(({ message }) => message.id === id);
        const may = seen === undefined || reader === undefined ? false : visibility.mayRead(reader, seen);
        if (body !== null && may === false) report(`[S1] ${what} shows ${JSON.stringify(body.message).slice(0, 200)}`);
        if (body === null && may === true) report(`[M1] ${what} finds nothing`);
        if (body !== null && seen !== undefined) this.#compare(body.message, seen, caller, what);
      },
    );
  }

  async #range(machine: Machine, caller: UserRecord): Promise<void> {
    const { world } = this.#tools;
    const { random } = world();
    const narrow = this.#narrow(caller.id);
    const anchor = random.pick([newest, newest, 0, world().message()]);
    const [before, after] = [random.pick([0, 5, 1000]), random.pick([0, 5, 1000])];
    const params = { ...options, narrow: narrow.terms, anchor: String(anchor), num_before: before, num_after: after };
    await this.#read(
      machine,
      (realm) => getMessages(callOf({ realm, caller, params })),
      (shown) => this.#compareRange(shown, { caller, narrow, anchor, before, after }),
    );
  }

  #compareRange({ code, body }: Shown, { caller, narrow, anchor, before, after }: Range): void {
    const { visibility, replica, report } = this.#tools;
    const what = `GET /messages ${JSON.stringify([narrow.terms, anchor, before, after])} by ${caller.id}`;
    this.#tools.trace(`${what} ${code ?? body.messages.map(({ id }: Body) => id)}`);
    const reader = replica.get("users", caller.id);
    const test = reader === undefined ? null : narrow.test(reader);
    if (reader === undefined || test === null) return;
    if (code !== null || test === "rejected") {
      if (code !== "BAD_NARROW" || test !== "rejected") report(`[M6] ${what} was answered ${code ?? "with messages"}`);
      return;
    }
    const wanted = visibility.all().map((seen) => ({ ...seen, wanted: test(seen) }));
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

  #narrow(callerId: number): Narrow {
    const { visibility, world } = this.#tools;
    const { random } = world();
    const may = (reader: UserRecord) => (seen: Seen) => visibility.mayRead(reader, seen);
    const received = (reader: UserRecord) => (seen: Seen) =>
      both(visibility.mayRead(reader, seen), visibility.received(reader.id, seen));
    const drawn = random.below(9);
    const senderId = world().activeUsers(4)[0] ?? callerId;
    switch (drawn) {
      case 0:
        return { terms: [], test: received };
      case 1:
      case 2:
      case 3:
        return this.#inChannel(drawn);
      case 4: {
        const others = world().activeUsers(3);
        if (others.length === 0) return { terms: [], test: received };
        return {
          terms: [{ operator: "dm", operand: others }],
          test: (reader) => {
            const wanted = [...new Set([...others, reader.id])].sort((a, b) => a - b).join();
            return ({ conversation }) => conversation.userIds?.join() === wanted;
          },
        };
      }
      case 5:
        return {
          terms: [{ operator: "is", operand: "dm" }],
          test: (reader) => (seen) => seen.conversation.userIds !== null && may(reader)(seen),
        };
      case 6:
        return {
          terms: [{ operator: "is", operand: "starred" }],
          test: (reader) => (seen) => both(visibility.isStarred(reader.id, seen.message.id), may(reader)(seen)),
        };
      case 7: {
        const negated = world().flip();
        return {
          terms: [{ operator: "sender", operand: senderId, negated }],
          test: (reader) => (seen) => both((seen.message.senderId === senderId) !== negated, received(reader)(seen)),
        };
      }
      default: {
        // The word index: messages with a word that begins like this must be found, others may be.
        const word = `t${1 + random.below(60)}`;
        const begins = new RegExp(`^${word}(?![a-zA-Z0-9])`);
        const contains = new RegExp(`(?<![a-zA-Z0-9])${word}(?![a-zA-Z0-9])`);
        return {
          terms: [{ operator: "search", operand: `"${word}"` }],
          test: (reader) => (seen) => both(wordIn(seen, begins, contains), received(reader)(seen)),
        };
      }
    }
  }

  /** @param kind 1: the channel, 2: a topic in it, 3: all others in it */
  #inChannel(kind: 1 | 2 | 3): Narrow {
    const { visibility, replica, world } = this.#tools;
    const channelId = world().channel();
    const topic = kind === 1 ? null : world().topic();
    const inTopic = { operator: "topic", operand: topic, negated: kind === 3 };
    return {
      terms: [{ operator: "channel", operand: channelId }, ...(topic === null ? [] : [inTopic])],
      test: (reader) => {
        const channel = replica.get("channels", channelId);
        const opens = channel === undefined ? false : visibility.opens(reader, channel);
        if (channel === undefined || opens === false) return "rejected";
        if (opens === null) return null;
        const isThere = ({ conversation }: Seen) => conversation.channelId === channelId;
        const isMeant = (seen: Seen) =>
          isThere(seen) && (topic === null || isSameTopic(seen.conversation.topic, topic) !== (kind === 3));
        return (seen) => both(isMeant(seen), visibility.mayRead(reader, seen));
      },
    };
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
