/** Operations on deliveries and commands that failed too often. */
import { Type } from "typebox";
import { command } from "../../../actors/protocol/decision.ts";
import { limits } from "../../../schemas/limits.ts";
import { type DeadLetterSummary, shownLetter, shownLetters } from "../../store/dead-letters.ts";
import { refusedBy } from "./failures.ts";
import { AdminFailure, defineOperation, type Progress, realmParam } from "./operation.ts";
import type { AdminPorts } from "./ports.ts";
import { entryOf, withRealm } from "./realms.ts";

const realm = { actor: "realm" } as const;

export const listDeadLettersOperation = defineOperation({
  name: "dead-letters-list",
  summary: "Lists dead letters: what failed, when, how often and why. Shows no texts and no keys.",
  params: realmParam,
  async run({ realm: label }, ports) {
    return { letters: await ports.read(entryOf(ports, label), shownLetters) };
  },
});

/** The newest ones for a page in a browser: no addresses, which stand in descriptions and in answers of mail servers. */
export async function shownOnPage(
  label: string,
  ports: AdminPorts,
): Promise<{ readonly total: number; readonly letters: readonly DeadLetterSummary[] }> {
  const letters = await ports.read(entryOf(ports, label), shownLetters);
  const shown = letters.toReversed().slice(0, limits.live_letters_shown_max);
  return {
    total: letters.length,
    letters: shown.map((letter) => ({ ...letter, what: hidden(letter.what), reason: hidden(letter.reason) })),
  };
}

function hidden(text: string): string {
  return text.replace(/\S*@\S*/g, "(address)");
}

export const showDeadLetterOperation = defineOperation({
  name: "dead-letters-show",
  summary: "Shows one dead letter.",
  params: { ...realmParam, id: Type.Integer({ minimum: 1, description: "as in the list" }) },
  async run({ realm: label, id }, ports) {
    const letter = await ports.read(entryOf(ports, label), (lmdb) => shownLetter(lmdb, id));
    if (letter === null) throw new AdminFailure("refused", "there is no such dead letter");
    return { letter };
  },
});

export interface LetterOutcome {
  readonly id: number;
  /** null: it was done. */
  readonly problem: string | null;
}

const changeParams = {
  ...realmParam,
  ids: Type.Union([
    Type.Literal("all"),
    Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: limits.dead_letters_max }),
  ]),
} as const;

interface Change {
  readonly realm?: string;
  readonly ids: "all" | readonly number[];
}

/** Each letter is a command of its own, so one that cannot be retried does not keep the others. */
async function changeLetters(
  type: "dead-letter.retry" | "dead-letter.drop",
  { realm: label, ids }: Change,
  ports: AdminPorts,
  progress: Progress,
): Promise<{ readonly letters: readonly LetterOutcome[] }> {
  const chosen =
    ids === "all" ? (await ports.read(entryOf(ports, label), shownLetters)).map(({ id }) => id) : [...new Set(ids)];
  const letters: LetterOutcome[] = [];
  for (let at = 0; at < chosen.length; at += limits.admin_commands_at_once) {
    const slice = chosen.slice(at, at + limits.admin_commands_at_once);
    const replies = await withRealm(ports, label, ({ dispatcher }) =>
      Promise.all(slice.map((id) => dispatcher.ask(command(realm, type, { id }, null)))),
    );
    for (const [index, reply] of replies.entries()) {
      const failure = reply.kind === "refused" ? refusedBy(reply) : null;
      if (failure?.kind === "busy") throw failure;
      letters.push({ id: slice[index] ?? 0, problem: failure?.message ?? null });
    }
    progress(letters.length, chosen.length);
  }
  return { letters };
}

export const retryDeadLettersOperation = defineOperation({
  name: "dead-letters-retry",
  summary: "Makes failed deliveries due at once, and runs failed commands again.",
  params: changeParams,
  run: (params, ports, progress) => changeLetters("dead-letter.retry", params, ports, progress),
});

export const dropDeadLettersOperation = defineOperation({
  name: "dead-letters-drop",
  summary: "Forgets dead letters.",
  params: changeParams,
  run: (params, ports, progress) => changeLetters("dead-letter.drop", params, ports, progress),
});
