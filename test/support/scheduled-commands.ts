/**
 * Commands of scheduled messages and reminders as requests build them, for realms without transports; and random ones.
 */
import fc from "fast-check";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import { generalId, ownerId, startedAt } from "./runtime.ts";

const origin = { client: "test", siteUrl: "http://localhost" };

function textOf(text: string) {
  return { text, parsed: parseContent(text, { linkifiers: [], translateEmoticons: false }) };
}

const self = (id: number) => ({ actor: "user", id }) as const;

export const scheduledCommands = {
  /** @param to a channel's id, or ids of users */
  schedule: (
    content: string,
    dueAt: number,
    to: number | readonly number[] = generalId,
    callerId = ownerId,
  ): Command<"scheduled-messages.add"> => {
    const type = typeof to === "number" ? ("channel" as const) : ("direct" as const);
    const draft = { type, to, topic: "lunch", content: textOf(content), dueAt, isReadBySender: null };
    return command(self(callerId), "scheduled-messages.add", { ...draft, isReadingClient: false, ...origin }, callerId);
  },
  /** null: unchanged. */
  edit: (
    id: number,
    content: string | null,
    dueAt: number | null = null,
    callerId = ownerId,
  ): Command<"scheduled-messages.update"> => {
    const wish = { id, type: null, to: null, topic: null, content: content === null ? null : textOf(content), dueAt };
    return command(self(callerId), "scheduled-messages.update", { ...wish, ...origin }, callerId);
  },
  unschedule: (id: number, callerId = ownerId): Command<"scheduled-messages.remove"> =>
    command(self(callerId), "scheduled-messages.remove", { id }, callerId),
  remind: (messageId: number, note: string, dueAt: number, callerId = ownerId): Command<"reminders.add"> =>
    command(self(callerId), "reminders.add", { messageId, dueAt, note }, callerId),
  forget: (id: number, callerId = ownerId): Command<"reminders.remove"> =>
    command(self(callerId), "reminders.remove", { id }, callerId),
} as const;

const userId = fc.constantFrom(2, 2, 3, 3, 4, 6);
const id = fc.integer({ min: 1, max: 4 });
const text = fc.constantFrom("later", "@**all** later", "**later**");
const dueAt = fc.constantFrom(20, 20_000, 320_000, 900_000).map((ms) => startedAt + ms);
const to = fc.oneof(fc.constantFrom(1, 1, 2), fc.uniqueArray(userId, { minLength: 1, maxLength: 2 }));

export const randomScheduled: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(text, dueAt, to, userId).map((args) => scheduledCommands.schedule(...args)) },
  fc.tuple(id, fc.option(text), fc.option(dueAt), userId).map((args) => scheduledCommands.edit(...args)),
  fc.tuple(id, userId).map((args) => scheduledCommands.unschedule(...args)),
  fc.tuple(id, text, dueAt, userId).map((args) => scheduledCommands.remind(...args)),
  fc.tuple(id, userId).map((args) => scheduledCommands.forget(...args)),
);
