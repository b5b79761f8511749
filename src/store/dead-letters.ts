/**
 * Dead letters: commands and deliveries that failed too often, which an operator may retry
 * (actors/realm/dead-letters.ts). The listing shows no keys,
 * message texts or parameter values (S2); error texts may come from outside, so they are truncated and stripped of
 * control characters.
 */
import { limits } from "../../schemas/limits.ts";
import type { DeadLetterRecord } from "../../schemas/runtime.ts";
import type { Lmdb } from "./lmdb.ts";

/** A dead letter as shown to an operator. */
export interface DeadLetterSummary {
  readonly id: number;
  readonly diedAt: string;
  readonly kind: "mail" | "webhook" | "command";
  readonly what: string;
  readonly attempts: number | null;
  readonly reason: string;
}

const reasonCharacters_max = 300;
const letterRows_max = limits.dead_letters_max + limits.dead_letters_pruned_max;

interface StoredCommand {
  readonly type: string;
  readonly to: { readonly actor: string } & Readonly<Record<string, unknown>>;
}

export function shownLetters(lmdb: Lmdb): DeadLetterSummary[] {
  return lmdb.rows("deadLetters", { limit: letterRows_max }).map(({ row }) => shown(row));
}

export function shownLetter(lmdb: Lmdb, id: number): DeadLetterSummary | null {
  const letter = lmdb.get("deadLetters", id);
  return letter === undefined ? null : shown(letter);
}

function shown(letter: DeadLetterRecord): DeadLetterSummary {
  const { sequence: id, diedAt, error, attempts } = letter;
  return {
    id,
    diedAt: new Date(diedAt).toISOString(),
    kind: kindOf(letter),
    what: whatOf(letter),
    attempts: attempts ?? null,
    reason: plain(error),
  };
}

/** Dead letters of versions that did not record deliveries: the error text names the email. */
function isUnnotedMail({ command, error }: DeadLetterRecord): boolean {
  return (command as StoredCommand).type === "mail.failed" && /^mail \d+ \(/.test(error);
}

function kindOf(letter: DeadLetterRecord): DeadLetterSummary["kind"] {
  return letter.delivery?.kind ?? (isUnnotedMail(letter) ? "mail" : "command");
}

function whatOf(letter: DeadLetterRecord): string {
  const { delivery } = letter;
  const { type, to } = letter.command as StoredCommand;
  if (delivery?.kind === "mail") return `email ${delivery.id} (${delivery.template}) to ${plain(delivery.to)}`;
  if (delivery?.kind === "webhook") {
    return `message ${delivery.messageId} for the outgoing webhook of bot ${delivery.botId} (${delivery.trigger})`;
  }
  const ids = Object.entries(to).filter(([, value]) => typeof value === "number");
  return [type, "for", to.actor, ...ids.map(([name, value]) => `${name}=${value}`)].join(" ");
}

/** One line that is safe to print to a terminal. */
function plain(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, reasonCharacters_max)
    .trim();
}

function removeLetter(lmdb: Lmdb, { sequence, delivery }: DeadLetterRecord): void {
  lmdb.remove("deadLetters", sequence);
  if (delivery?.kind === "mail") lmdb.remove("deadMails", delivery.id);
}

export function hasTooManyLetters(lmdb: Lmdb): boolean {
  return lmdb.count("deadLetters") > limits.dead_letters_max;
}

/** Removes the oldest ones. Must be called inside a transaction. */
export function pruneLetters(lmdb: Lmdb): void {
  const surplus = lmdb.count("deadLetters") - limits.dead_letters_max;
  const limit = Math.min(surplus, limits.dead_letters_pruned_max);
  for (const { row } of lmdb.rows("deadLetters", { limit })) removeLetter(lmdb, row);
}
