/** Retries and drops dead letters (D169). Only the operator may: no request reaches these commands. */

import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import type { DeadLetterRecord } from "../../schemas/runtime.ts";
import { isWithdrawn } from "../mail/withdrawn.ts";
import {
  type Command,
  done,
  type Effect,
  effects,
  forServer,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";

const noLetter = "there is no such dead letter";
const isUnwanted =
  "its recipient has switched such emails off or is gone, or its messages are gone: nothing is left to do but to drop it";
const textIsGone =
  "its text was not stored because it contains a key: request the email again (for an invitation: invite again)";

function retryLetter(params: Params<"dead-letter.retry">, view: View): Outcome {
  const letter = view.row("deadLetters", params.id);
  if (letter === undefined) return refuse.badRequest(noLetter);
  if (isOfWithdrawn(letter, view)) return refuse.badRequest(isUnwanted);
  const again = repeated(letter, view);
  return again === null ? refuse.badRequest(textIsGone) : done({}, [...removed(letter), again]);
}

function isOfWithdrawn({ delivery }: DeadLetterRecord, view: View): boolean {
  const mail = delivery?.kind === "mail" ? view.row("deadMails", delivery.id) : undefined;
  return mail !== undefined && isWithdrawn(view, mail);
}

/** null: an email whose text was not kept. */
function repeated({ command, delivery, error }: DeadLetterRecord, view: View): Effect | null {
  if (delivery?.kind === "webhook") {
    const { kind: _kind, ...row } = delivery;
    return effects.put("webhookDeliveries", [row.botId, row.id], { ...row, attempts: 0, dueAt: view.now });
  }
  if (delivery?.kind === "mail") {
    const mail = view.row("deadMails", delivery.id);
    return mail === undefined ? null : effects.put("mails", mail.id, { ...mail, attempts: 0, dueAt: view.now });
  }
  const dead = command as Command;
  // Versions that did not record deliveries named the email in the error alone.
  return dead.type === "mail.failed" && /^mail \d+ \(/.test(error) ? null : effects.send({ ...dead, ticket: null });
}

function dropLetter(params: Params<"dead-letter.drop">, view: View): Outcome {
  const letter = view.row("deadLetters", params.id);
  return letter === undefined ? refuse.badRequest(noLetter) : done({}, removed(letter));
}

function removed({ sequence, delivery }: DeadLetterRecord): Effect[] {
  const letter = effects.remove("deadLetters", sequence);
  return delivery?.kind === "mail" ? [letter, effects.remove("deadMails", delivery.id)] : [letter];
}

export const deadLettersDecisions = {
  "dead-letter.retry": forServer(retryLetter),
  "dead-letter.drop": forServer(dropLetter),
} as const;
