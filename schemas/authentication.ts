/** Exchanges a password for an API key, and replaces API keys (behaviour 11; not specified by spec 5). */
import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { commonLimits } from "./limits/common.ts";
import { emailOf, OtherText, UserId } from "./person-marks.ts";

const limits = {
  api_keys_per_user_max: 100,
  logins_per_user_max: 100,
} as const;

export const fetchApiKey = defineEndpoint({
  operationId: "fetch-api-key",
  method: "POST",
  path: "/fetch_api_key",
  authentication: "none",
  effectiveness: "volatile",
  summary: "Creates an API key for the user with the given address and password. The key is shown only once (S2).",
  params: {
    username: Type.String({ maxLength: commonLimits.email_code_points_max }),
    password: Type.String({ maxLength: commonLimits.password_bytes_max, secret: true }),
  },
  ok: { api_key: OtherText, email: emailOf("user_id"), user_id: UserId },
  errors: ["AUTHENTICATION_FAILED"],
});

export const fetchApiKeyInDevelopment = defineEndpoint({
  operationId: "dev-fetch-api-key",
  method: "POST",
  path: "/dev_fetch_api_key",
  authentication: "none",
  effectiveness: "volatile",
  summary: "Creates an API key for any user without a password; only with DEVELOPMENT_LOGINS.",
  params: { username: Type.String({ maxLength: commonLimits.email_code_points_max }) },
  ok: { api_key: OtherText, email: emailOf("user_id"), user_id: UserId },
  errors: ["AUTHENTICATION_FAILED"],
});

export const regenerateApiKey = defineEndpoint({
  operationId: "regenerate-own-api-key",
  method: "POST",
  path: "/users/me/api_key/regenerate",
  authentication: "user",
  // Answers that contain keys are not stored (architecture): a repeated request creates another key.
  effectiveness: "volatile",
  summary:
    "Creates a new API key, shown only once. All previous keys become invalid at once and their sockets are closed.",
  params: {},
  ok: { api_key: OtherText },
  errors: [],
});

/** Keyed by the SHA-256 of the key (S2). */
export interface ApiKeyRecord {
  readonly hash: string;
  readonly userId: UserId;
  readonly createdAt: number;
  /**
   * true: the key is stored in zuliprc or in a bot's configuration, so it is valid until it is replaced. false: a login
   * key, which later logins may evict, oldest first.
   */
  readonly isKept: boolean;
}

/** A program and location from which a user has logged in. A login from a new one sends an email. */
export interface LoginRecord {
  readonly seenAt: number;
}

/** Origin of a login; `fingerprint` is a hash of the client program and its approximate location. */
export interface Login {
  readonly fingerprint: string;
  readonly client: string;
  readonly address: string;
}

/** Parameters of its commands, by type. */
export interface AuthenticationCommands {
  "user.api-key.regenerate": { readonly hash: string };
  /**
   * `login`: set when the key is issued by a login. `passwordHash`: the hash that the password was verified against;
   * absent when no password was required.
   */
  "user.api-key.add": { readonly hash: string; readonly login?: Login; readonly passwordHash?: string | null };
}

/** Their replies, by type; other commands reply without fields. */
export interface AuthenticationReplies {
  readonly "user.api-key.add": { readonly email: string; readonly user_id: number };
}

export const authenticationArea = defineArea({
  endpoints: [fetchApiKey, fetchApiKeyInDevelopment, regenerateApiKey],
  commands: defineCommands<AuthenticationCommands, AuthenticationReplies>(),
  tables: {
    apiKeys: defineTable<string, ApiKeyRecord>({
      fields: ["hash", "userId", "createdAt", "isKept"],
      dates: ["createdAt"],
    }),
    logins: defineTable<readonly [userId: UserId, fingerprint: string], LoginRecord>({
      fields: ["seenAt"],
      dates: ["seenAt"],
    }),
  },
  limits,
});
