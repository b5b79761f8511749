/**
 * Who reads without an account (behaviour 5.4; D27): in organizations that let spectators in, what is in web-public channels. To
 * every question about permissions a spectator is a guest who is subscribed to nothing, so that no path asks other questions.
 */
import type { UserRecord } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import type { Term } from "./narrow.ts";

export const spectator: UserRecord = {
  id: 0,
  email: "",
  fullName: "",
  role: roles.guest,
  isActive: true,
  joinedAt: 0,
  timezone: "",
  botType: null,
  botOwnerId: null,
  avatarVersion: 1,
  settings: {},
  avatarFile: null,
  canChangeUserEmails: false,
};

export function isSpectator(reader: UserRecord): boolean {
  return reader.id === spectator.id;
}

const spectatorOperators: ReadonlySet<string> = new Set([
  ...["channel", "stream", "channels", "streams", "topic", "subject", "sender", "from"],
  ...["has", "search", "near", "id", "with"],
]);

/** Whether a spectator may ask it: only about web-public channels, and nothing personal. */
export function isForSpectators(terms: readonly Term[]): boolean {
  const saysSo = terms.some(
    ({ operator, operand, negated }) =>
      (operator === "channels" || operator === "streams") && operand === "web-public" && !negated,
  );
  return saysSo && terms.every(({ operator }) => spectatorOperators.has(operator));
}
