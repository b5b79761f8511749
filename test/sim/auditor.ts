/**
 * Knows which answers, events and rows are legal, from the outside: requests and answers, frames, and rows as plain data. It has
 * no domain code in common with the server. What it finds is a line that begins with the promise that was broken.
 */
import type { Command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import type { AskResult, IdempotencyClaim } from "../../src/runtime/entry.ts";
import { decodeRow } from "../../src/store/codec.ts";
import type { Environment } from "../../src/store/environment.ts";
import { lastTurnAt } from "../../src/store/set-time.ts";
import { Audience, type Posted } from "./audience.ts";
import { Deliveries } from "./deliveries.ts";
import { Facts } from "./facts.ts";
import type { Replica, Write } from "./replica.ts";

export interface Request {
  /** In the order in which they were sent. */
  readonly serial: number;
  readonly command: Command;
  readonly claim: IdempotencyClaim | null;
  /** The disk was full all the time, and no answer is kept that may be repeated (D25). */
  readonly isOnFullDisk: boolean;
}

/** Messages of the workload begin with a word that nothing else begins with. */
const tokenShape = /^t\d+\b/;

/** What D25 says of 429 and 5xx: nothing was decided, and who repeats the request is answered anew. */
const neverKept = new Set(["RATE_LIMIT_HIT", "INTERNAL_SERVER_ERROR", "STORE_REFUSES_WRITES", "OVERLOADED"]);

/** Whoever is not to be told any more needs no timer. */
const takeTimersBack = new Set(["scheduled-messages.update", "scheduled-messages.remove", "reminders.remove"]);

/** The expiry of an invitation that ends otherwise, or gets another time, in the same transaction. */
function isExpiryTakenBack({ type, to }: Command, writes: readonly Write[]): boolean {
  if (type !== "invitation.expire" || to.actor !== "invitation") return false;
  return writes.some(({ table, key }) => table === "invitations" && key === to.id);
}

export class Auditor {
  readonly audience: Audience;
  readonly facts: Facts;
  readonly deliveries: Deliveries;
  readonly problems: string[] = [];
  readonly #replica: Replica;
  /** Which message a token came into being with. */
  readonly #created = new Map<string, number>();
  readonly #kept = new Map<string, string>();
  #newest = { serial: 0, id: 0 };
  /** Tokens of messages that are to be sent later, by whose they are. */
  readonly #scheduled = new Map<string, string>();
  /** Commands that machines saw since the last transaction. */
  #driven: Command[] = [];

  constructor(replica: Replica) {
    this.#replica = replica;
    this.audience = new Audience(replica);
    this.facts = new Facts(replica);
    this.deliveries = new Deliveries(replica, (problem) => this.report(problem));
  }

  report(problem: string): void {
    this.problems.push(problem);
  }

  drove(command: Command): void {
    this.#driven.push(command);
  }

  /** What it is about is not followed any more: from now on it may change in ways that are not worked out here. */
  sent({ type, params, callerId }: Command): void {
    if (type === "scheduled-messages.update" || type === "scheduled-messages.remove") {
      this.#scheduled.delete(`${callerId}/${(params as { id: number }).id}`);
    }
    if (type === "user.deactivate" || type === "user.deactivate-self") this.#scheduled.clear();
  }

  /** A request was answered. */
  answered({ serial, command, claim, isOnFullDisk }: Request, result: AskResult): void {
    const code = result.kind === "ok" ? "ok" : result.code;
    if (isOnFullDisk && !isVolatile(command) && code === "ok" && !this.#isRepeated(claim)) {
      this.report(`[M5] ${command.type} was carried out on a full disk`);
    }
    if (this.#isRepeated(claim)) {
      const first = this.#kept.get(nameOf(claim)) ?? "";
      const again = JSON.stringify(result);
      if (first !== again) this.report(`[D25] ${command.type} was answered ${again} when repeated, ${first} before`);
      return;
    }
    if (claim !== null && !neverKept.has(code)) this.#kept.set(nameOf(claim), JSON.stringify(result));
    if (result.kind !== "ok") return;
    this.facts.acknowledged(command, result.answer);
    if (command.type === "scheduled-messages.add") this.#schedule(command, result.answer);
    const id = result.answer["id"];
    if (command.type !== "message.post" || typeof id !== "number" || claim !== null) return;
    if (serial < this.#newest.serial || id <= this.#newest.id) {
      this.report(
        `[M7] message ${id} of request ${serial} was answered after ${this.#newest.id} of ${this.#newest.serial}`,
      );
    }
    this.#newest = { serial, id };
  }

  #isRepeated(claim: IdempotencyClaim | null): boolean {
    return claim !== null && this.#kept.has(nameOf(claim));
  }

  /** The machine is up again; whose end nobody saw has been found on disk, or not. */
  restarted(): void {
    this.#driven = [];
  }

  /** Nobody was answered; what was asked for has happened, or not. */
  unanswered(requests: Iterable<Request>): void {
    for (const { command } of requests) this.facts.doubted(command);
  }

  /** A transaction is on disk; its rows are not in the replica yet. @returns messages that were posted in it */
  committed(writes: readonly Write[]): Posted[] {
    for (const write of writes) {
      if (write.table === "messages" && write.bytes !== null) this.#message(write.key as number, write.bytes);
      if (write.bytes === null && (write.table === "mailbox" || write.table === "timers"))
        this.#processed(write, writes);
      if (write.table === "mailbox" && write.bytes !== null) this.#replaced(write.key as number, write.bytes);
    }
    this.deliveries.committed(writes, this.#driven);
    this.#driven = [];
    return this.audience.committed(writes);
  }

  #message(id: number, bytes: Uint8Array): void {
    const token = tokenShape.exec(decodeRow("messages", id, bytes).content)?.[0];
    if (token === undefined) return;
    const known = this.#created.get(token);
    if (known === undefined) this.#created.set(token, id);
    else if (known !== id) this.report(`[D25] ${token} is message ${known} and message ${id}`);
  }

  /** M3, M8: a row that waits goes in the transaction in which its command ran, or gave up. */
  #processed({ table, key }: Write, writes: readonly Write[]): void {
    const waiting = table as "mailbox" | "timers";
    const staged = writes.find((one) => one.table === table && isSame(one.key, key) && one.bytes !== null);
    const row = staged?.bytes ? decodeRow(waiting, key, staged.bytes) : this.#replica.get(waiting, key);
    if (row === undefined || isExpiryTakenBack(row.command as Command, writes)) return;
    this.#mustHaveRun(row.command as Command, { table, key });
  }

  /** The rest of a command takes its row. */
  #replaced(key: number, bytes: Uint8Array): void {
    const before = this.#replica.get("mailbox", key)?.command as Command | undefined;
    const after = decodeRow("mailbox", key, bytes).command as Command;
    if (before === undefined || identityOf(before) === identityOf(after)) return;
    this.#mustHaveRun(before, { table: "mailbox", key });
  }

  #mustHaveRun(waited: Command, { table, key }: Pick<Write, "table" | "key">): void {
    const wanted = identityOf(waited);
    if (this.#driven.some((command) => identityOf(command) === wanted)) return;
    if (table === "timers" && this.#driven.some(({ type }) => takeTimersBack.has(type))) return;
    this.report(`[M3] ${table} ${JSON.stringify(key)} is gone, but ${wanted.slice(0, 200)} never ran`);
  }

  #schedule({ params, callerId }: Command, answer: Readonly<Record<string, unknown>>): void {
    const { content } = params as Command<"scheduled-messages.add">["params"];
    const id = answer["scheduled_message_id"];
    const token = tokenShape.exec(content.text)?.[0];
    if (token !== undefined) this.#scheduled.set(`${callerId}/${id}`, token);
  }

  /**
   * What the realm's time has been once, it stays: after a jump that was believed, if only for one turn, messages would be dated, timers
   * would ring and messages would expire too early.
   */
  checkTime(environment: Environment, now: number): void {
    const aheadMs = lastTurnAt(environment) - now;
    if (aheadMs > limits.clock_leap_ms_max) this.report(`[D26] the realm's time is ${aheadMs} ms ahead`);
  }

  /** Long after everything was due (M8). */
  overdue(now: number): void {
    this.deliveries.overdue(now);
    for (const key of this.#replica.keys("timers") as [number, number][]) {
      if (key[0] <= now) this.report(`[M8] timer ${key} is still there at ${now}`);
    }
    for (const { userId, id, dueAt, timer } of this.#replica.rows("scheduledMessages")) {
      if (timer !== null && dueAt <= now) this.report(`[M8] scheduled message ${id} of ${userId} was due at ${dueAt}`);
    }
    for (const [name, token] of this.#scheduled) {
      const key = name.split("/").map(Number);
      if (!this.#created.has(token) && !this.#replica.has("scheduledMessages", key)) {
        this.report(`[M8] scheduled message ${name} (${token}) was neither posted nor kept`);
      }
    }
  }
}

function isVolatile({ to }: Command): boolean {
  return to.actor === "typing" || to.actor === "presence";
}

function nameOf(claim: IdempotencyClaim | null): string {
  return claim === null ? "" : `${claim.userId}:${claim.keyHash}`;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function identityOf({ type, to, params }: Command): string {
  return JSON.stringify([type, to, params]);
}
