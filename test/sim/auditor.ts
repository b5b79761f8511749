/**
 * Decides from the outside which responses, events and rows are legal, from requests and responses, frames, and rows as
 * plain data. It shares no domain code with the server. Each finding is a line that starts with the broken promise.
 */
import type { Command } from "../../actors/protocol/decision.ts";
import { type ErrorCode, errorCodes } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { IdempotencyKey } from "../../src/runtime/queued-command.ts";
import type { Reply } from "../../src/runtime/results.ts";
import { decodeRow } from "../../src/store/codec.ts";
import type { Lmdb } from "../../src/store/lmdb.ts";
import { lastTurnAt } from "../../src/store/set-time.ts";
import { Audience, type Posted } from "./audience.ts";
import { Deliveries } from "./deliveries.ts";
import { Facts } from "./facts.ts";
import type { Replica, Write } from "./replica.ts";
import type { Turn } from "./turn-log.ts";

export interface Request {
  /** In the order of sending. */
  readonly serial: number;
  readonly command: Command;
  readonly idempotencyKey: IdempotencyKey | null;
  /** The disk was full during the whole request, so no stored response can be repeated (D25). */
  readonly isOnFullDisk: boolean;
}

/** Messages of the workload start with a unique word. */
const tokenShape = /^t\d+\b/;

/** D25 for 429 and 5xx: nothing was decided, and a repeat is processed anew. */
function isNeverKept(code: ErrorCode | "ok"): boolean {
  return code !== "ok" && (errorCodes[code].status === 429 || errorCodes[code].status >= 500);
}

/** Commands that cancel a notification, which then needs no timer. */
const cancelTimers = new Set(["scheduled-messages.update", "scheduled-messages.remove", "reminders.remove"]);

/** The expiry timer of an invitation or a session that the same transaction ends otherwise or reschedules. */
function isExpiryCancelled({ type, to, params }: Command, writes: readonly Write[]): boolean {
  if (type === "invitation.expire" && to.actor === "invitation") {
    return writes.some(({ table, key }) => table === "invitations" && key === to.id);
  }
  if (type !== "user.session.expire") return false;
  const { hash } = params as Command<"user.session.expire">["params"];
  return writes.some(({ table, key }) => table === "sessions" && key === hash);
}

export class Auditor {
  readonly audience: Audience;
  readonly facts: Facts;
  readonly deliveries: Deliveries;
  readonly problems: string[] = [];
  readonly #replica: Replica;
  /** The message that a token was created with. */
  readonly #created = new Map<string, number>();
  readonly #kept = new Map<string, string>();
  #newest = { serial: 0, id: 0 };
  /** Tokens of scheduled messages, by their owner. */
  readonly #scheduled = new Map<string, string>();
  /** Commands that the machine processed since the last turn ended. */
  #executed: Command[] = [];

  constructor(replica: Replica) {
    this.#replica = replica;
    this.audience = new Audience(replica);
    this.facts = new Facts(replica);
    this.deliveries = new Deliveries(replica, (problem) => this.report(problem));
  }

  report(problem: string): void {
    this.problems.push(problem);
  }

  executed(command: Command): void {
    this.#executed.push(command);
  }

  /** A turn ended. @returns the commands that ran since the one before */
  takeExecuted(): readonly Command[] {
    const executed = this.#executed;
    this.#executed = [];
    return executed;
  }

  /** The affected facts are no longer followed: they may now change in ways that are not computed here. */
  sent({ type, params, callerId }: Command): void {
    if (type === "scheduled-messages.update" || type === "scheduled-messages.remove") {
      this.#scheduled.delete(`${callerId}/${(params as { id: number }).id}`);
    }
    if (type === "user.deactivate" || type === "user.deactivate-self") this.#scheduled.clear();
  }

  /** A request was answered. */
  answered({ serial, command, idempotencyKey, isOnFullDisk }: Request, result: Reply): void {
    const code = result.kind === "ok" ? "ok" : result.code;
    if (isOnFullDisk && !isVolatile(command) && code === "ok" && !this.#isRepeated(idempotencyKey)) {
      this.report(`[M5] ${command.type} was executed on a full disk`);
    }
    if (this.#isRepeated(idempotencyKey)) {
      const first = this.#kept.get(nameOf(idempotencyKey)) ?? "";
      const again = JSON.stringify(result);
      if (first !== again) this.report(`[D25] ${command.type} was answered ${again} when repeated, ${first} before`);
      return;
    }
    if (idempotencyKey !== null && !isNeverKept(code)) this.#kept.set(nameOf(idempotencyKey), JSON.stringify(result));
    // A long change that a shutdown interrupts goes on at the next start.
    if (code === "SERVER_SHUTTING_DOWN") this.facts.doubted(command);
    if (result.kind !== "ok") return;
    this.facts.acknowledged(command, result.answer);
    if (command.type === "scheduled-messages.add") this.#schedule(command, result.answer);
    const id = result.answer["id"];
    if (command.type !== "message.post" || typeof id !== "number" || idempotencyKey !== null) return;
    if (serial < this.#newest.serial || id <= this.#newest.id) {
      this.report(
        `[M7] message ${id} of request ${serial} was answered after ${this.#newest.id} of ${this.#newest.serial}`,
      );
    }
    this.#newest = { serial, id };
  }

  #isRepeated(idempotencyKey: IdempotencyKey | null): boolean {
    return idempotencyKey !== null && this.#kept.has(nameOf(idempotencyKey));
  }

  /** The machine has restarted: for operations without a response, the disk shows whether they were executed. */
  restarted(): void {
    this.#executed = [];
  }

  /** These requests got no response: their changes were made or not. */
  unanswered(requests: Iterable<Request>): void {
    for (const { command } of requests) this.facts.doubted(command);
  }

  /** A turn is on the disk; its rows are not in the replica yet. @returns the messages posted in it */
  committed({ writes, executed }: Turn): Posted[] {
    for (const write of writes) {
      if (write.table === "messages") this.#message(write.key as number, write.bytes);
      if (write.bytes === null && (write.table === "mailbox" || write.table === "timers"))
        this.#processed(write, { writes, executed });
      if (write.table === "mailbox" && write.bytes !== null) this.#replaced(write.key as number, write.bytes, executed);
    }
    this.deliveries.committed(writes, executed);
    return this.audience.committed(writes);
  }

  #message(id: number, bytes: Uint8Array | null): void {
    if (bytes === null) {
      this.facts.removed(id);
      return;
    }
    const token = tokenShape.exec(decodeRow("messages", id, bytes).content)?.[0];
    if (token === undefined) return;
    const known = this.#created.get(token);
    if (known === undefined) this.#created.set(token, id);
    else if (known !== id) this.report(`[D25] ${token} is message ${known} and message ${id}`);
  }

  /** M3, M8: a mailbox or timer row is removed in the transaction in which its command ran or was abandoned. */
  #processed({ table, key }: Write, { writes, executed }: Pick<Turn, "writes" | "executed">): void {
    const waiting = table as "mailbox" | "timers";
    const staged = writes.find((one) => one.table === table && isSame(one.key, key) && one.bytes !== null);
    const row = staged?.bytes ? decodeRow(waiting, key, staged.bytes) : this.#replica.get(waiting, key);
    if (row === undefined || isExpiryCancelled(row.command as Command, writes)) return;
    this.#mustHaveRun(row.command as Command, { table, key }, executed);
  }

  /** The remaining part of a command reuses its row. */
  #replaced(key: number, bytes: Uint8Array, executed: readonly Command[]): void {
    const before = this.#replica.get("mailbox", key)?.command as Command | undefined;
    const after = decodeRow("mailbox", key, bytes).command as Command;
    if (before === undefined || identityOf(before) === identityOf(after)) return;
    this.#mustHaveRun(before, { table: "mailbox", key }, executed);
  }

  #mustHaveRun(waited: Command, { table, key }: Pick<Write, "table" | "key">, executed: readonly Command[]): void {
    const wanted = identityOf(waited);
    if (executed.some((command) => identityOf(command) === wanted)) return;
    if (table === "timers" && executed.some(({ type }) => cancelTimers.has(type))) return;
    this.report(`[M3] ${table} ${JSON.stringify(key)} was removed, but ${wanted.slice(0, 200)} never ran`);
  }

  #schedule({ params, callerId }: Command, answer: Readonly<Record<string, unknown>>): void {
    const { content } = params as Command<"scheduled-messages.add">["params"];
    const id = answer["scheduled_message_id"];
    const token = tokenShape.exec(content.text)?.[0];
    if (token !== undefined) this.#scheduled.set(`${callerId}/${id}`, token);
  }

  /**
   * The realm's time never decreases. If a jump were trusted for even one turn, messages would get wrong dates, and
   * timers and retention would run too early.
   */
  checkTime(lmdb: Lmdb, now: number): void {
    const aheadMs = lastTurnAt(lmdb) - now;
    if (aheadMs > limits.clock_jump_ms_max) this.report(`[D26] the realm's time is ${aheadMs} ms ahead`);
  }

  /** Called long after everything was due (M8). */
  overdue(now: number): void {
    this.deliveries.overdue(now);
    for (const key of this.#replica.keys("timers") as [number, number][]) {
      if (key[0] <= now) this.report(`[M8] timer ${key} still exists at ${now}`);
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

function nameOf(idempotencyKey: IdempotencyKey | null): string {
  return idempotencyKey === null ? "" : `${idempotencyKey.userId}:${idempotencyKey.keyHash}`;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function identityOf({ type, to, params }: Command): string {
  return JSON.stringify([type, to, params]);
}
