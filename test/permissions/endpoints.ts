/**
 * The kinds of callers and audiences. The cases of the areas (test/areas) state the audience of every operation, a
 * second time without using its declaration; an operation that is missing there fails the test. Permissions of channels, groups and the organization, which are checked later, are covered by
 * model.ts and the tests of each area.
 */

/** All kinds of callers, weakest first. */
export const callers = [
  "nobody",
  "deactivated",
  "webhook bot",
  "guest",
  "bot",
  "member",
  "moderator",
  "administrator",
  "owner",
] as const;
export type Caller = (typeof callers)[number];

/** The callers that an operation admits; all others are rejected, whatever they send. */
const members: readonly Caller[] = ["member", "moderator", "administrator", "owner"];
const administrators: readonly Caller[] = ["administrator", "owner"];
const accounts: readonly Caller[] = ["guest", "bot", ...members];
export const audiences = {
  everybody: callers,
  /** Credentials that are sent must be valid. */
  spectators: ["nobody", ...accounts],
  accounts,
  senders: ["webhook bot", ...accounts],
  humans: ["guest", ...members],
  "members and bots": ["bot", ...members],
  members,
  administrators,
  owners: ["owner"],
} as const satisfies Record<string, readonly Caller[]>;
export type Audience = keyof typeof audiences;

type Parameters = Readonly<Record<string, unknown>>;

/** A request that is restricted in the turn. Its path is below /api/v1. */
export interface RestrictedRequest {
  readonly operationId: string;
  readonly method: "POST" | "PATCH" | "DELETE";
  /**
   * `{other}`: another user's account, `{email}` its address; `{gone}`: a deactivated one; `{owner}`: another owner's;
   * `{channel}`: one without the caller.
   */
  readonly path: string;
  readonly params: Parameters;
}
