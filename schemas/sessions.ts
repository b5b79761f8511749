/**
 * Sessions of browsers (D256): a log-in with address and password sets a cookie that scripts cannot read. A session is a
 * durable row; only the SHA-256 of its token is stored (S2).
 */
import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import type { Login } from "./authentication.ts";
import { defineEndpoint } from "./endpoint.ts";
import { commonLimits } from "./limits/common.ts";
import { emailOf, fullNameOf, OtherId, OtherText, UserId } from "./person-marks.ts";
import { Id } from "./types.ts";

const dayMs = 24 * 60 * 60 * 1000;

const limits = {
  sessions_per_user_max: 50,
  /** A session ends when it was not used for this long, */
  session_idle_ms: 30 * dayMs,
  /** and this long after its log-in in any case. */
  session_lifetime_ms: 180 * dayMs,
  /** Uses are recorded at most this often, because each record is a write. */
  session_use_recorded_ms: 60 * 60 * 1000,
  /** A Cookie header also has the cookies of other programs on the same host. */
  cookie_header_bytes_max: 8 * 1024,
  user_agent_read_characters_max: 500,
} as const;

const owner = { user_id: UserId, email: emailOf("user_id"), full_name: fullNameOf("user_id") };

export const logIn = defineEndpoint({
  operationId: "log-in",
  method: "POST",
  path: "/session",
  authentication: "none",
  effectiveness: "volatile",
  setsCookies: true,
  summary:
    "Logs a browser in with address and password. The session is in a cookie that scripts cannot read; only pages of this server can use it.",
  params: {
    username: Type.String({ maxLength: commonLimits.email_code_points_max }),
    password: Type.String({ maxLength: commonLimits.password_bytes_max, secret: true }),
  },
  ok: owner,
  errors: ["AUTHENTICATION_FAILED"],
});

export const getSession = defineEndpoint({
  operationId: "get-session",
  method: "GET",
  path: "/session",
  // Browsers report a rejection as an error, and it is none that a new visitor is not logged in.
  authentication: "optional",
  effectiveness: "read",
  summary: "Returns the caller, and the session that the request belongs to. Without credentials it names nobody.",
  params: {},
  ok: {
    user_id: Type.Optional(owner.user_id),
    email: Type.Optional(owner.email),
    full_name: Type.Optional(owner.full_name),
    session_id: Type.Union([OtherId, Type.Null()], { description: "null: no session, or an API key was used." }),
  },
  errors: [],
});

export const logOut = defineEndpoint({
  operationId: "log-out",
  method: "DELETE",
  path: "/session",
  authentication: "user",
  // After it there is no session that could ask for the stored answer.
  effectiveness: "volatile",
  setsCookies: true,
  summary: "Ends the session that the request belongs to, and closes its sockets and polls.",
  params: {},
  ok: {},
  errors: [],
});

export const getSessions = defineEndpoint({
  operationId: "get-sessions",
  method: "GET",
  path: "/sessions",
  authentication: "user",
  effectiveness: "read",
  summary: "Lists the caller's sessions, the one that was used last first.",
  params: {},
  ok: {
    sessions: Type.Array(
      Type.Object(
        {
          id: OtherId,
          client: OtherText,
          created_at: Type.Integer(),
          last_used_at: Type.Integer({ description: "Up to an hour old." }),
          current: Type.Boolean({ description: "Whether the request belongs to it." }),
        },
        { title: "Session" },
      ),
    ),
  },
  errors: [],
});

export const endSession = defineEndpoint({
  operationId: "end-session",
  method: "DELETE",
  path: "/sessions/{session_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Ends one of the caller's sessions, and closes its sockets and polls.",
  params: { session_id: Id },
  ok: {},
  errors: ["NOT_FOUND"],
});

/** Keyed by the SHA-256 of the token (S2). */
export interface SessionRecord {
  readonly hash: string;
  readonly id: number;
  readonly userId: UserId;
  readonly createdAt: number;
  /** Behind the last use by up to `session_use_recorded_ms`. */
  readonly lastUsedAt: number;
  /** The program, in words. */
  readonly client: string;
  /** The host name of the log-in. The session is valid there only, as is its cookie. */
  readonly host: string;
  /** When its timer fires, and the timer's sequence number: never after the session's end. */
  readonly dueAt: number;
  readonly timer: number;
}

/** Parameters of its commands, by type. */
export interface SessionsCommands {
  /** `passwordHash`: the hash that the password was verified against. */
  "user.session.start": {
    readonly hash: string;
    readonly client: string;
    readonly host: string;
    readonly login: Login;
    readonly passwordHash: string | null;
  };
  "user.session.end": { readonly id: number };
  "user.session.used": { readonly hash: string };
  "user.session.expire": { readonly hash: string };
}

/** Their replies, by type; other commands reply without fields. */
export interface SessionsReplies {
  readonly "user.session.start": { readonly user_id: number; readonly email: string; readonly full_name: string };
}

export const sessionsArea = defineArea({
  endpoints: [logIn, getSession, logOut, getSessions, endSession],
  commands: defineCommands<SessionsCommands, SessionsReplies>(),
  tables: {
    sessions: defineTable<string, SessionRecord>({
      fields: ["hash", "id", "userId", "createdAt", "lastUsedAt", "client", "host", "dueAt", "timer"],
      dates: ["createdAt", "lastUsedAt", "dueAt"],
    }),
  },
  counters: ["session"],
  limits,
});
