/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { UserStatus } from "./types.ts";
export interface StatusOperations {
  /** Changes the passed parts of the caller's status (spec 4.12). */
  "POST /users/me/status": {
    readonly params: {
      readonly away?: boolean;
      readonly emoji_code?: string;
      readonly emoji_name?: string;
      readonly reaction_type?: string;
      readonly status_text?: string;
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Changes the passed parts of a user's status (spec 4.11); organization administrators only. */
  "POST /users/{user_id}/status": {
    readonly params: {
      readonly user_id: number;
      readonly emoji_code?: string;
      readonly emoji_name?: string;
      readonly reaction_type?: string;
      readonly status_text?: string;
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Returns a user's status; empty if nothing is set. */
  "GET /users/{user_id}/status": {
    readonly params: { readonly user_id: number };
    readonly result: { readonly status: UserStatus };
  };
}

export interface StatusState {
  readonly user_status?: Readonly<Record<string, UserStatus>>;
}
