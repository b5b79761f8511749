/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { UserTopic } from "./types.ts";
export interface UserTopicsOperations {
  /** Mutes, unmutes or follows a topic, or removes the policy, for the caller only. */
  "POST /user_topics": {
    readonly params: { readonly stream_id: number; readonly topic: string; readonly visibility_policy: 0 | 1 | 2 | 3 };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Mutes or unmutes a topic; deprecated in favor of update-user-topic. */
  "PATCH /users/me/subscriptions/muted_topics": {
    readonly params: {
      readonly stream_id?: number;
      readonly stream?: string;
      readonly topic: string;
      readonly op: "add" | "remove";
    };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface UserTopicsState {
  readonly user_topics?: readonly UserTopic[];
  readonly muted_topics?: readonly (readonly (string | number)[])[];
}
